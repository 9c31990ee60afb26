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
 * A call is a message (mailbox.h) to the thread of the archive
 * (archives/remote.h), with copies of the URLs. For a call that takes too long,
 * and for those that are out when the loop stops, arrived() is called with
 * SEEN_IO: the thread may still be using the copies.
 *
 * Threads: belongs to one loop.
 */
#ifndef SEEN_SERVE_CALL_H
#define SEEN_SERVE_CALL_H

#include "archives/remote.h"
#include "loop.h"
#include "mailbox.h"

enum {
    SERVE_CALL_ASK_MS = 3000,  /* until the answer is "unknown" */
    SERVE_CALL_ADD_MS = 10000, /* until an add "may have been made" */
};

struct serve_call {
    struct archive_call call; /* first */
    struct serve_message message;
    struct archive_remote *remote;
    /* Called once, and does not free the call. */
    void (*arrived)(struct serve_call *call);
    void *owner;
    char *text; /* of its URLs */
    bool late;  /* it has not come back: there is an error and nothing else */
};

/* Copy n lookups, or a change and those linked to it. NULL without memory. */
struct serve_call *serve_call_ask(struct archive_remote *r,
                                  const struct archive_lookup *lookup,
                                  size_t n);
struct serve_call *serve_call_change(struct archive_remote *r,
                                     const struct archive_change *change);

/* Start it; arrived() is called later, never from here. False if the loop
   stops: then the call is freed. */
bool serve_call_start(struct loop *l, struct serve_call *call, unsigned ms);

#endif
