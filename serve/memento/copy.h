/*
 * copy.h - one memento, fetched from its archive to be passed on.
 *
 * The archive may be slow, broken or hostile, as for TimeMaps (ask.h): the
 * guarded client fetches it, and its bytes are bounded.
 *
 *     c->url = url, c->done = done;
 *     if (!memento_fetch(m, c))                gather.h; from any thread
 *         answer(503);
 *     ...                                      done(c), in the thread of m
 *     memento_copy_clear(c);
 *
 * Threads: between memento_fetch() and done() it belongs to the aggregator.
 */
#ifndef SEEN_SERVE_MEMENTO_COPY_H
#define SEEN_SERVE_MEMENTO_COPY_H

#include "ask.h"

enum { MEMENTO_COPY_BYTES = 16 << 20 }; /* of a memento, unpacked */

/* Zeroed but for the first two, it is ready. */
struct memento_copy {
    const char *url; /* the caller's, as long as it is in use */
    void (*done)(struct memento_copy *c);

    int status;         /* 200: here it is. Otherwise what the archive has
                           answered, or 0, and `why` */
    char type[256];     /* Content-Type as the archive sent it, or "" */
    struct buffer body; /* its bytes */
    struct seen_error why;

    /* Inside. */
    struct memento_client *client;
    void (*ended)(struct memento_copy *c);
    void *owner;
    size_t held;
    struct memento_copy *next;
};

/* For the thread of the client: ended() is called once, maybe before this
   returns. `timeout` is in seconds. */
void memento_copy_begin(struct memento_copy *c, unsigned timeout);

void memento_copy_clear(struct memento_copy *c);

#endif
