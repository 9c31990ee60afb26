/*
 * call.h - calls to archives on other servers, for clients that wait.
 *
 *     call = serve_call_ask(l, remote, lookup, n);      or serve_call_change()
 *     call->arrived = arrived;  call->owner = q;
 *     serve_call_start(call, SERVE_CALL_ASK_MS);
 *
 *     static void arrived(struct serve_call *call)      in the loop
 *     {
 *         use(call->owner, call->call.answer, call->call.code);
 *     }
 *
 * The thread of the archive (archives/remote.h) puts calls that are done into
 * the box of the loop and wakes it. A call that takes too long has arrived()
 * called with SEEN_IO; the thread may still be using its copy of the URLs,
 * which is freed when it comes back.
 *
 * Threads: belongs to one loop; the box has a lock.
 */
#ifndef SEEN_SERVE_CALL_H
#define SEEN_SERVE_CALL_H

#include "archives/remote.h"
#include "loop.h"

enum {
    SERVE_CALL_ASK_MS = 3000,  /* until the answer is "unknown" */
    SERVE_CALL_ADD_MS = 10000, /* until an add "may have been made" */
};

struct serve_call {
    struct archive_call call; /* first */
    struct archive_remote *remote;
    struct serve_box *box;
    uint64_t until; /* of the loop's clock */
    /* Called once, and not freed by it. */
    void (*arrived)(struct serve_call *call);
    void *owner;
    char *text;              /* of its URLs */
    struct serve_call *next; /* of those that the loop waits for */
    bool given_up;
};

/* Copy n lookups, or a change and those linked to it. NULL without memory. */
struct serve_call *serve_call_ask(struct loop *l, struct archive_remote *r,
                                  const struct archive_lookup *lookup,
                                  size_t n);
struct serve_call *serve_call_change(struct loop *l, struct archive_remote *r,
                                     const struct archive_change *change);

/* Start it. arrived() is called later, never from here. */
void serve_call_start(struct loop *l, struct serve_call *call, unsigned ms);

/* One that was not started. */
void serve_call_free(struct serve_call *call);

/* For the loop: its box; take what has arrived; give up what takes too long,
   or `all`. */
struct serve_box *serve_box_new(uv_async_t *wake);
void serve_box_close(struct serve_box *box);
void serve_calls_take(struct loop *l);
void serve_calls_expire(struct loop *l, bool all);

#endif
