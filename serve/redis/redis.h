/*
 * redis.h - the Redis protocol on a connection.
 *
 * conn.c hands over what came; what is not a whole command stays and comes
 * again with what follows it. Replies go to conn_out(c), in the order of the
 * commands. A command that writes runs as a job:
 *
 *     struct add { struct job job; struct conn *conn; ... };
 *
 *     add->job.run = add_keys;          in a thread: writer_get(), adds,
 *     add->job.done = tell_added;       in the loop: if (conn_back(conn)) {
 *     conn_hold(c);                         resp_number(conn_out(conn), n);
 *     conn_wait(c);                         conn_go_on(conn); }  free(add)
 *     loop_run(c->loop, &add->job);
 *
 * and no further command is looked at until conn_go_on().
 */
#ifndef SEEN_SERVE_REDIS_REDIS_H
#define SEEN_SERVE_REDIS_REDIS_H

#include "../conn.h"
#include "resp.h"

/*
 * Take commands from `text`, which may be changed in place, and return how
 * many bytes of it are done with. Stops early when c->waiting, c->last or
 * conn_full(c) becomes true; will be called again then.
 */
size_t redis_drive(struct conn *c, char *text, size_t len);

/* Does a client that is not HTTP speak to us? `line` is the first line that
   it sent; true if its first word is a command we know. */
bool redis_inline(const char *line, size_t len);

/* Free c->redis. */
void redis_forget(struct conn *c);

#endif
