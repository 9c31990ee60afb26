/*
 * conn.h - a client.
 *
 * Bytes are read into memory of the loop. The connection keeps only the rest
 * of a request that is not complete, and answers that the client has not
 * taken yet; an idle one has neither.
 *
 *                      +-- http/     answers go to conn_out(), and from there
 *     bytes -> read() -|             to the client when all that came in was
 *                      +-- redis/    read
 *
 * Its states:
 *
 *     accepted -> OPEN <--------> WAITING     conn_wait_for(), conn_go_on():
 *                  |                 |        its answer is made elsewhere
 *                  +--------+--------+
 *                           | conn_finish()
 *                           v
 *                         LAST                no more requests are read
 *                           | all answers are sent
 *                           v
 *                         SHUT                our side is shut; what the
 *                           |                 client still sends is dropped
 *     conn_drop(),          | the client closes, or takes too long
 *     from any state        v
 *     ----------------> CLOSING               until the turn ends
 *                           |
 *                           v
 *                        CLOSED               only while a request is pending
 *
 * A request whose body is refused is the LAST one; if its answer has to wait
 * it is WAITING first, and conn_finish() is called again.
 *
 * Nothing is read from a client that is WAITING, nor from one that does not
 * take its answers: at most CONN_OUTPUT bytes of them wait, and then some.
 *
 * The memory of a client is what these buffers and its protocol hold. All
 * clients together get --memory bytes: a client that wants more than
 * CONN_SMALL beyond that is refused, and others go on.
 *
 * Threads: belongs to one loop.
 */
#ifndef SEEN_SERVE_CONN_H
#define SEEN_SERVE_CONN_H

#include "loop.h"

enum {
    CONN_OUTPUT = 1 << 18, /* bytes of answers that may wait */
    CONN_LINE = 8704,      /* bytes by which a protocol is recognised */
    CONN_SMALL = 1 << 15,  /* bytes of memory that a client always gets */
};

enum conn_state {
    CONN_OPEN,
    CONN_WAITING,
    CONN_LAST,
    CONN_SHUT,
    CONN_CLOSING,
    CONN_CLOSED
};

struct http_exchange; /* an HTTP request that is not done: http/request.h */
struct redis_client;  /* what a Redis connection remembers: redis/command.h */

/*
 * A request whose answer is made elsewhere: by a job, by a change or a question
 * of archives, by the aggregator, or by a look at the crawls. It is a part of
 * what makes the answer, and this is the only way in which a client waits for
 * one; conn_wait() is for files, which only the client delays.
 *
 *     p->done = done;
 *     conn_wait_for(c, p);     nothing more is read from the client
 *     ...                      in any thread, which does not touch p
 *     conn_answer(p);          in the loop, once: it calls done(p, there)
 *
 * What may end it:
 *
 *     the answer is made       conn_answer(), by its maker
 *     it takes too long        the same: the maker has the deadline, since only
 *                              the maker knows who still uses the URLs
 *     the server stops         the same: the loop waits for its jobs, and gives
 *                              up messages (mailbox.h)
 *     the client goes away     nothing ends. The connection lives on without
 *                              its socket, and `there` will be false
 *
 * done() frees what p is a part of. If the client is there, it writes the
 * answer and calls conn_go_on(), or conn_wait_for() if the request needs
 * something else. If not, it writes nothing; only a transaction of Redis goes
 * on (redis/multi.c).
 *
 * A connection has at most one pending request.
 */
struct pending {
    struct conn *conn;
    void (*done)(struct pending *p, bool there);
    void *owner;          /* what it is a part of */
    struct pending *next; /* that waits for the same answer */
};

struct conn {
    struct loop_socket socket;
    struct loop *loop;
    const struct protocol *protocol; /* NULL: not known yet */
    enum conn_state state;
    struct pending *pending; /* its request; or NULL */
    bool unread;         /* there may be bytes that were not read */
    bool ended;          /* the client sends no more */
    bool own_port;       /* came to the port of its protocol alone */
    bool trusted;        /* has the token: its requests may take their time */
    bool patient;        /* may be idle */
    bool asked;          /* has sent a whole request */
    bool is_unix;        /* came to a Unix socket */
    bool loopback;       /* came to an address of this machine alone */
    uint64_t moved;      /* when bytes came or went last */
    uint64_t head_since; /* when the head that is being read began, or 0 */
    uint64_t until;      /* dropped then, if not 0: see redis/multi.c */

    struct buffer in;     /* what is left over */
    struct buffer unsent; /* answers that the client did not take, */
    size_t sent;          /* without these first bytes */
    size_t held;          /* bytes of memory: conn_measure() */

    struct http_exchange *http;
    struct redis_client *redis;
    struct conn *next, **prev;
};

/* Where answers go, while the requests of the connection are read or in done()
   of a pending one. Lookups that wait are answered first. */
static inline struct buffer *conn_out(struct conn *c)
{
    if (c->loop->batched)
        loop_flush(c->loop);
    return &c->loop->out;
}

/* Has the client answers that it did not take yet? */
static inline bool conn_writing(const struct conn *c)
{
    return c->unsent.len;
}

/* Are there more than should wait? */
bool conn_full(const struct conn *c);

/* Give a client these answers, and empty `b`. */
void conn_send(struct conn *c, struct buffer *b);

/* Call protocol->more(), now or when the client has taken all answers, if it
   is WAITING. */
void conn_send_more(struct conn *c);

/* Read no more requests; close when all answers are sent. */
void conn_finish(struct conn *c);

/* Close at once. */
void conn_drop(struct conn *c);

/* Read nothing more until conn_go_on(). */
void conn_wait(struct conn *c);
void conn_go_on(struct conn *c);

/* The same for a pending request, and its end: see struct pending. */
void conn_wait_for(struct conn *c, struct pending *p);
void conn_answer(struct pending *p);

/*
 * Count the memory of a client again. False if all clients together hold too
 * much and this one is not small. Called whenever requests were read; protocols
 * that take memory at other times call it themselves.
 */
bool conn_measure(struct conn *c);

/* The address of the client, and the one that it reached: AF_UNSPEC if the
   client has gone. */
void conn_peer(const struct conn *c, struct sockaddr_storage *to);
void conn_reached(const struct conn *c, struct sockaddr_storage *to);

/* Accept clients that connected, or refuse them. */
void conn_accept(struct loop *l, struct loop_socket *listener,
                 uint32_t events);

/* Once per second: drop clients that are too slow. */
void conn_check(struct conn *c);

#endif
