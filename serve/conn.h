/*
 * conn.h - a client.
 *
 * Bytes come into memory of the loop; only what is left over of a request
 * that is not whole is kept by the connection, and only what the client did
 * not take yet of its answers. An idle one has neither.
 *
 *              +-- http.c, web.c    answers go to loop->out, and from there
 *     bytes ---|                    to the client as soon as what came in
 *              +-- resp.c, redis.c  was read
 *
 * A request that needs time (a job, a file) says conn_wait(), and nothing
 * more of the client is read until conn_go_on(). So does one that does not
 * take its answers: no more than CONN_OUTPUT of them wait.
 *
 * Threads: belongs to one loop.
 */
#ifndef SEEN_SERVE_CONN_H
#define SEEN_SERVE_CONN_H

#include "loop.h"

enum {
    CONN_OUTPUT = 1 << 18, /* bytes of answers that may wait */
    HEAD_MS = 10000,       /* for a head, from its first byte */
    STILL_MS = 30000,      /* without a byte of a body, or taken */
    IDLE_MS = 75000        /* between requests of HTTP */
};

enum speaks { SPEAKS_UNKNOWN, SPEAKS_HTTP, SPEAKS_RESP };

struct web;          /* an HTTP request that is not done: web.h */
struct redis_client; /* what a Redis connection remembers: redis.h */

struct conn {
    uv_tcp_t tcp;
    struct loop *loop;
    struct conn *next, **prev;
    enum speaks speaks;
    bool reading, waiting, closing, closed;
    bool last;      /* no more requests: close when all is sent */
    bool ended;     /* the client sends no more */
    unsigned jobs;  /* that will come back to it */
    uint64_t moved; /* when bytes came or went last */
    uint64_t begun; /* when the head that is being read began; 0: none */

    char *in; /* what is left over */
    size_t in_len, in_room;
    struct out unsent; /* is being written, so it stays where it is */
    struct out later;  /* what comes after it */
    uv_write_t write;
    bool writing;
    size_t queued; /* bytes of it, when we looked last */

    struct web *web;
    struct redis_client *redis;
};

/* Where answers go; only while the connection is at work. */
static inline struct out *conn_out(struct conn *c)
{
    return &c->loop->out;
}

/* Give a client these answers, and empty `o`. */
void conn_send(struct conn *c, struct out *o);

/* More has been answered than the client has taken: time to wait. */
bool conn_full(const struct conn *c);

/* Send what there is, and close. */
void conn_end(struct conn *c);

/* Close at once. */
void conn_drop(struct conn *c);

/*
 * Nothing more is read until conn_go_on(). For jobs conn_hold() as well, so
 * that the connection outlives them; done() then calls conn_back(), which is
 * false if the client has gone meanwhile. Between conn_back() and
 * conn_go_on() answers may be written.
 */
void conn_wait(struct conn *c);
void conn_hold(struct conn *c);
bool conn_back(struct conn *c);
void conn_go_on(struct conn *c);

/* Take a client that connected, or refuse it. */
void conn_accept(uv_stream_t *listener, int status);

/* The seconds have moved on: those that are too slow are dropped. */
void conn_check(struct conn *c);

#endif
