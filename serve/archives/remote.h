/*
 * remote.h - archives whose cells are on another server (../../remote/).
 *
 * A question to Redis is a round trip, and a server that is stopped answers
 * after a timeout of seconds. So no loop asks such an archive, and neither do
 * the threads that make the adds of other archives. Each remote archive has a
 * thread of its own, with its own connection:
 *
 *     loops ──post──> calls that wait ──> thread ──> Redis
 *       ^                                   │
 *       └───────────── done() ──────────────┘
 *
 * The thread takes all calls that wait and asks their URLs in batches, so many
 * clients share a round trip.
 *
 * While the server does not answer, the archive is *away*: calls are refused at
 * once, with the reason, and the thread tries again every second. So is a call
 * to an archive whose thread has been waiting for ARCHIVE_REMOTE_STUCK. An
 * archive that is away knows nothing: it never says "no".
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef SEEN_SERVE_ARCHIVES_REMOTE_H
#define SEEN_SERVE_ARCHIVES_REMOTE_H

#include "archive_change.h"
#include "archive_lookup.h"

enum { ARCHIVE_REMOTE_STUCK = 2000 }; /* ms */

/* A question of at most ARCHIVE_BATCH URLs, or a change. */
struct archive_call {
    struct archive_lookup *lookup; /* with copies of the URLs; or NULL: */
    struct archive_change *change; /* a copy, with those linked to it */
    size_t n;
    unsigned char *answer; /* one enum archive_answer per lookup */
    struct archive_counts counts;
    enum seen_code code; /* SEEN_OK: the archive answered */
    struct seen_error why;
    /* It is done; called in the thread of the archive. */
    void (*done)(struct archive_call *call);
    struct archive_call *next;
};

/* Give a call to the thread. False if the archive is away: call->code and why
   say so, and done() is not called. */
bool archive_remote_post(struct archive_remote *r, struct archive_call *call);

#endif
