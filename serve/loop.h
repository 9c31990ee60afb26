/*
 * loop.h - one thread of the server: an event loop, its archives and its
 * connections, none of which another thread touches.
 *
 * Sockets are watched by epoll directly. libuv, which has timers, jobs and
 * wake-ups from other threads, is one more descriptor among them:
 *
 *     epoll_wait --+-- listeners, clients     loop_socket.ready()
 *                  +-- uv_backend_fd()        uv_run(), when it or a timer is
 *                                             due
 *
 * With libuv's streams, whose handles and requests are part of a connection, a
 * client took 648 bytes instead of 192, and an HTTP lookup 6 to 12 % more CPU
 * time (an EPYC of Zen 3, quiet and busy; 88 % of the time is the kernel's).
 *
 * Lookups of one turn of the loop, of all connections, are a batch, which is
 * asked together (http/http_lookup.c). It is answered before anything else
 * happens:
 *
 *     before another answer is written     conn_out() calls loop_flush()
 *     before a job or a change starts      so do loop_run() and
 *                                          serve_change_start()
 *     when a turn ends, a job is done or a client sends no more
 *                                          so does loop_turn()
 *
 * Protocols do not have to care. Archives are refreshed only after
 * loop_turn(), so the batch never points to archives that are gone.
 */
#ifndef SEEN_SERVE_LOOP_H
#define SEEN_SERVE_LOOP_H

#include <uv.h>

#include "archives/keys.h"
#include "archives/view.h"
#include "listen.h"
#include "log.h"
#include "options.h"

enum {
    LOOP_INPUT = 1 << 16, /* bytes read at a time, in the loop's memory */
    LOOP_COST = 100000,   /* of lookups per turn: about 1 ms */
    LOOP_SMALL = 500      /* of a lookup that need not be counted: 5 us */
};

struct conn;
struct loop;

/* A descriptor that a loop watches. It is the first member of a larger
   struct. */
struct loop_socket {
    int fd; /* -1 when it is closed */
    void (*ready)(struct loop *l, struct loop_socket *s, uint32_t events);
    struct loop_socket *next; /* in loop->closed */
};

struct loop_listener {
    struct loop_socket socket;
    bool redis; /* for the Redis protocol alone */
};

struct http_loop;      /* what HTTP keeps per loop: http/request.h */
struct redis_batch;    /* lookups that wait, of Redis: redis/exists.c */
struct serve_change;   /* change.h */
struct watch;          /* watch/watch.h */
struct search_set;     /* search/search.h */
struct memento;        /* memento/gather.h */
struct serve_question; /* question.h */
struct serve_mailbox;  /* mailbox.h */

/* A protocol, as loops and connections see it. */
struct protocol {
    /* Make and free what the protocol keeps per loop; both may be NULL. */
    bool (*start)(struct loop *l);
    void (*stop)(struct loop *l);
    /* Answer the batch: called if l->batched. Or NULL. */
    void (*flush)(struct loop *l);
    /* Do the first bytes of a client belong to it? */
    enum protocol_guess {
        GUESS_NO,
        GUESS_YES,
        GUESS_MORE
    } (*guess)(const char *text, size_t len);
    /*
     * Take requests from `text`, which may be changed in place, and return
     * how many bytes were used. Returns early when the connection is no
     * longer CONN_OPEN or conn_full(); it is called again then.
     */
    size_t (*read)(struct conn *c, char *text, size_t len);
    /* The client, which is WAITING, takes more: conn_send_more(). Or NULL. */
    void (*more)(struct conn *c);
    /* Is a request not done? Then the client is not idle. Or NULL. */
    bool (*busy)(const struct conn *c);
    /* How many bytes the protocol keeps for a client, besides the buffers of
       the connection. Or NULL. */
    size_t (*memory)(const struct conn *c);
    /* All clients together hold too much: refuse what this one is sending, and
       end the connection. Or NULL. */
    void (*overload)(struct conn *c);
    /* The connection is about to be freed. */
    void (*forget)(struct conn *c);
};

enum { PROTOCOL_REDIS, PROTOCOL_HTTP, PROTOCOLS }; /* asked in this order */

/* The server as its loops see it. */
struct server {
    struct serve_options options;
    const struct protocol *protocol[PROTOCOLS];
    struct archive_set *archives;
    struct archive_asker *asker;       /* of questions off the loops */
    struct watch *watch;               /* crawls for operators; or NULL */
    struct search_set *search;         /* crawls to search; or NULL */
    struct memento *memento;           /* the aggregator; or NULL */
    struct archive_troubles *troubles; /* that loop 0 has reported */
    unsigned threads;
    struct loop *loop; /* `threads` of them */
    uint64_t most;     /* connections */
    uint64_t open;     /* now, of all loops */
    uint64_t jobs;     /* waiting or running, of all loops */
    uint64_t memory;   /* bytes held for clients, of all loops */
    uint64_t started;  /* seconds since 1970 */
    uint64_t reloads;  /* by SIGHUP */
    struct log_file log;
    int statm;         /* /proc/self/statm: how much memory is used */
    int log_error;     /* errno of the log's writes that was reported, or 0 */
    struct listen_address at[SERVE_LISTENS];
    size_t listens;
};

/* Does `given` equal the token? Takes the same time for every wrong one.
   False if there is no token. */
bool server_knows(const struct server *s, struct seen_span given);

/* Stop as SIGTERM does; from any thread. */
void server_stop(void);

/* Counted by one loop, read by any: relaxed atomics. */
struct counts {
    uint64_t connections, refused;        /* ever */
    uint64_t overloads;                   /* refused for want of memory */
    uint64_t open;                        /* now */
    uint64_t requests[6];                 /* by the status' first digit */
    uint64_t commands, errors;            /* of the Redis protocol */
    uint64_t asked, held, added, removed; /* URLs */
    uint64_t bytes_in, bytes_out;
};
#define COUNT(loop, what, n) \
    __atomic_store_n(&(loop)->counts.what, \
                     (loop)->counts.what + (uint64_t)(n), __ATOMIC_RELAXED)

/* The sum over all loops. */
struct counts server_counts(const struct server *s);

struct loop {
    struct server *server;
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t tick;
    int poll; /* descriptor of epoll */
    struct loop_socket uv_socket;
    bool uv_due;                                  /* libuv has events */
    struct loop_socket *closed;                   /* in this turn */
    struct loop_listener listener[SERVE_LISTENS]; /* as server->at */
    uv_thread_t thread;
    int spare; /* a descriptor, closed to refuse a client when none is left */
    bool started, draining;
    bool stop; /* set by another thread: drain */

    struct archive_view *view;
    bool refreshed;  /* the view, in this turn */
    size_t batched;  /* lookups and groups of them that wait to be asked */

    struct conn *conns; /* all that are open */
    struct conn *hand;  /* the one that drop_guest() looks at next */
    uint64_t now;       /* in milliseconds, of this turn */
    uint64_t drained;   /* when draining ends, at the latest */
    char date[64];      /* "Date: Mon, 16 Nov 2026 00:00:00 GMT\r\n" */
    size_t date_len;
    struct log log;
    struct counts counts;

    struct conn *active; /* whose requests are being read */
    struct buffer out;   /* its answers: conn_out() */
    struct archive_keys keys;
    struct http_loop *http;
    struct redis_batch *lookups;
    struct serve_change *changes;     /* those under way: change.c */
    struct serve_change *soon;        /* those of this turn */
    void (*turn_ends)(struct loop *l); /* is called then, once; or NULL */
    struct serve_question *questions; /* those that wait: question.c */
    bool asking;                      /* a question is under way */
    struct serve_mailbox *mail;       /* what other threads do for it */
    uint64_t work;                    /* cost of lookups in this turn */
    char in[LOOP_INPUT];
};

/*
 * May a lookup of this cost be made in this turn of the loop? If so, its cost
 * is counted; if not, the lookup is made off the loop (question.h). Lookups of
 * the batch cost little and are not counted.
 */
static inline bool loop_affords(struct loop *l, uint64_t cost)
{
    if (cost > LOOP_COST || l->work + cost > LOOP_COST)
        return false;
    l->work += cost;
    return true;
}

/* Answer the batch. */
static inline void loop_flush(struct loop *l)
{
    const struct protocol *const *p = l->server->protocol;

    for (int i = 0; l->batched && i < PROTOCOLS; i++)
        if (p[i]->flush)
            p[i]->flush(l);
}

/* A turn ends and another begins: answer the batch, and follow what
   changed in the archives before the next request is read. */
void loop_turn(struct loop *l);

/* Follow what changed in the archives, once per turn. */
void loop_refresh(struct loop *l);

/* Set the clocks of a new second. */
void loop_clock(struct loop *l);

/* --- sockets --- */

/* Begin to watch, and end it. */
bool loop_open(struct loop *l);
void loop_close(struct loop *l);

/*
 * Call s->ready() with the events of epoll. With EPOLLET it is called once
 * when something changes, and after loop_watch_again() if s is ready. False if
 * the system refuses.
 */
bool loop_watch(struct loop *l, struct loop_socket *s, uint32_t events);
bool loop_watch_again(struct loop *l, struct loop_socket *s, uint32_t events);

/* Close the descriptor now. No more events come, and when the turn ends
   closed(), unless it is NULL, is called, which may free s. */
void loop_unwatch(struct loop *l, struct loop_socket *s,
                  void (*closed)(struct loop *l, struct loop_socket *s,
                                 uint32_t none));

/* Make turns until libuv has nothing more to do. */
void loop_serve(struct loop *l);

/*
 * Work that may take long, in a thread of libuv's pool. run() must not touch
 * the loop; done() is called in the loop afterwards. To be the first member
 * of a larger struct, which done() frees.
 */
struct job {
    uv_work_t work;
    struct loop *loop;
    void (*run)(struct job *j);
    void (*done)(struct job *j);
};
/* False if there is too much to do already: neither is called. */
bool loop_run(struct loop *l, struct job *j);

#endif
