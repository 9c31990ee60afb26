/*
 * loop.h - one thread of the server: an event loop, its archives and its
 * connections, none of which another thread touches.
 */
#ifndef SEEN_SERVE_LOOP_H
#define SEEN_SERVE_LOOP_H

#include <uv.h>

#include "log.h"
#include "server.h"
#include "archives/view.h"

enum {
    LOOP_INPUT = 1 << 16, /* bytes read at a time, in memory of the loop */
    LOOP_BATCH = 256,     /* keys asked at once */
    LOOP_TEXT = 1 << 18   /* bytes of their texts */
};

/* Counted by one loop, read by any: relaxed atomics. */
struct counts {
    uint64_t connections, refused;        /* ever */
    uint64_t open;                        /* now */
    uint64_t requests[6];                 /* by the status' first digit */
    uint64_t commands, errors;            /* of the Redis protocol */
    uint64_t asked, held, added, removed; /* URLs */
    uint64_t bytes_in, bytes_out;
};
#define COUNT(loop, what, n) \
    __atomic_store_n(&(loop)->counts.what, \
                     (loop)->counts.what + (uint64_t)(n), __ATOMIC_RELAXED)

/* Keys on their way to a filter, with the texts that they point to. */
struct keys {
    size_t n, used;
    struct seen_key key[LOOP_BATCH];
    bool seen[LOOP_BATCH];
    char text[LOOP_TEXT + SEEN_KEY_TEXT];
};

/*
 * Lookups of one turn, of all connections, are asked together when the turn
 * ends: of a filter that is larger than the cache each alone would wait for
 * memory, which took a tenth of the time of a request.
 */
struct lookups {
    struct archive *archive; /* whom they are for */
    struct keys keys;
    struct conn *conn[LOOP_BATCH]; /* and who asks */
    struct out out;
};

struct loop {
    struct server *server;
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t tick;
    uv_prepare_t turn;
    uv_check_t answer;
    uv_tcp_t listener[2];
    uv_thread_t thread;
    int spare; /* descriptor, to refuse a client with when none is left */
    bool started, draining;
    bool told; /* by another thread, to drain */

    struct shelf *shelf;
    bool looked; /* at the shelf, in this turn */

    struct conn *conns; /* all that are open */
    uint64_t now;       /* in milliseconds, of this turn */
    uint64_t drained;   /* when to stop being patient */
    char date[64];      /* "Date: Mon, 16 Nov 2026 00:00:00 GMT\r\n" */
    size_t date_len;
    struct log log;
    struct counts counts;

    struct conn *at_work;
    struct out out;   /* its answers */
    struct keys keys; /* and questions */
    int status;       /* of the last answer, and how long it was */
    uint64_t length;
    struct lookups lookups;
    struct span head; /* of the request at work */
    char in[LOOP_INPUT];
};

/* What changed in the archives is taken in, once in each turn. */
void loop_look(struct loop *l);

/* Make a key of a URL in l->keys, after those that are there. */
enum seen_code keys_add(struct keys *k, const char *url, size_t len,
                        const struct seen_profile *profile,
                        struct seen_error *why);

/*
 * Work that may take long, in a thread of libuv's pool. run() must not touch
 * the loop; done() is called in it afterwards. To be the first member of a
 * larger struct, which done() frees.
 */
struct job {
    uv_work_t work;
    struct loop *loop;
    void (*run)(struct job *j);
    void (*done)(struct job *j);
};
/* False if there is too much to do already (then neither is called). */
bool loop_run(struct loop *l, struct job *j);

bool loop_start(struct loop *l, struct server *s);
void loop_drain(struct loop *l); /* from any thread */
void loop_close(struct loop *l); /* when its thread has ended, or never was */

#endif
