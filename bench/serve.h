/*
 * serve.h - what seen bench serve is made of.
 *
 *     serve.c          options, the list of rows, showing them
 *     serve_peer.c     servers, ours and others, and connections to them
 *     serve_limit.c    the least that a server of HTTP can do
 *     serve_filter.c   URLs, and filters that hold every other one
 *     serve_load.c     load by redis-benchmark
 *     serve_paced.c    load by a client of our own, also at a fixed rate
 *     serve_list.c     a client that sends a list and takes the answers
 *     serve_http.c     rows of HTTP
 *     serve_redis.c    rows of the Redis protocol
 *     serve_latency.c  rows of latency, and of idle clients
 *     serve_reload.c   the row of reloading
 *
 * Everything here runs in one thread, unless it says otherwise.
 */
#ifndef SEEN_BENCH_SERVE_H
#define SEEN_BENCH_SERVE_H

#include "bench.h"
#include "process.h"

#include <math.h>
#include <stdatomic.h>
#include <sys/types.h>

enum {
    MOST_TURNS = 99,    /* of each server, which alternate */
    MOST_SLICES = 4096, /* of all turns: shorter ones */
    TURNS = 3,          /* of paced loads, and of reloading */
    CONNECTIONS = 64,   /* of HTTP */
    CLIENTS = 50,       /* of the Redis protocol */
    URL_LENGTH = 31,    /* of http://example.org/000000000000 */
    WARM_UP_SECONDS = 1
};

struct load_options {
    uint64_t capacity; /* of the filters */
    uint64_t seconds;  /* of every load */
    uint64_t threads;  /* of every server */
    uint64_t turns;    /* of every server, which alternate */
    const char *only;
    bool json, help;
    char seen[PATH_ROOM]; /* the program */
};

/* --- serve_peer.c --- */

struct peer {
    const char *name;
    pid_t pid; /* 0: does not run */
    int port;
};

/* Start a server and wait until it answers; false after a message. `more`
   are arguments of ours, up to a NULL. */
bool peer_seen(struct peer *p, const struct load_options *s,
               const char *const *more);
bool peer_nginx(struct peer *p, const struct load_options *s);
/* `fsync`: when it writes its file of changes out, as appendfsync says it;
   NULL: it has none. */
bool peer_redis(struct peer *p, const char *fsync);

/* A server that only receives and sends: serve_limit.c. */
bool peer_limit(struct peer *p);

/* Wait until a server that was just started does nothing: ours verifies its
   files first, in the background. */
void peer_settle(const struct peer *p);

/* The same for any server: a port of 127.0.0.1 that is free now, and a program
   that will listen there (p->port). */
int peer_free_port(void);
bool peer_start(struct peer *p, const char *name, const char *const *argv);

/* A connection to it from 127.0.0.`from`, or -1. */
int peer_connect(const struct peer *p, unsigned from);

/* Send a text and take what comes back, up to `room` - 1 bytes, until it
   ends with `end`; false if it does not come in time. */
bool peer_talk(const struct peer *p, const char *text, const char *end,
               char *reply, size_t room);

/* --- serve_filter.c --- */

/* URLs have numbers; those of even numbers are held by the filters. Load
   walks through the numbers below this. */
uint64_t served_range(const struct load_options *s);

/* Write URL number n: URL_LENGTH bytes, and no NUL. */
void served_url(char *to, uint64_t n);

/*
 * A filter as `seen serve` takes it, NAME=PATH, made by the first call; NULL
 * after a message. It holds every `step`-th number, and the URL
 * http://example.org/NAME, so that filters can be distinguished. The text
 * lives until seven more were made.
 */
const char *served_made(const struct load_options *s, const char *name,
                        unsigned step);

/* --- serve_load.c --- */

struct serve_load {
    double requests, seconds, spent; /* the last one: by the server */
};

/* Load by redis-benchmark, which wants to know how many requests to make.
   The first call finds out and leaves it here for the next. */
struct redis_load {
    const char *const *command; /* up to a NULL */
    unsigned depth;             /* commands at a time, on each connection */
    uint64_t range;             /* of __rand_int__ */
    const char *token;
    double rate; /* a second */
    bool known;
};
bool load_redis(const struct load_options *s, const struct peer *p,
                struct redis_load *r, struct serve_load *out);

/* --- serve_paced.c --- */

struct paced_load {
    double rate;    /* a second, in all; 0: as fast as they are answered */
    double seconds; /* or until *stop */
    const atomic_bool *stop;
    bool held; /* ask for what is held only, and count other answers */
};

struct paced_result {
    uint64_t answers, failed, wrong;
    double seconds, spent;
    double p50, p99, most; /* seconds, from when it was to be sent */
};

/* CONNECTIONS connections, with `depth` requests at a time on each, at most 16;
   NULL after a message. They serve for many loads. Safe in a thread. */
struct paced_clients;
struct paced_clients *paced_open(const struct load_options *s,
                                 const struct peer *p, unsigned depth);
bool paced_load(struct paced_clients *c, const struct paced_load *options,
                struct paced_result *out);
void paced_close(struct paced_clients *c);

/* All of that for one load, with one request at a time. */
bool paced_run(const struct load_options *s, const struct peer *p,
               const struct paced_load *options, struct paced_result *out);

/* --- serve_list.c --- */

/* POST a list of n URLs to `path`, again and again; *out counts lines of
   answers. */
bool load_list(const struct load_options *s, const struct peer *p,
               const char *path, uint64_t n, struct serve_load *out);

/* --- serve.c, showing --- */

struct serve_turn;

struct serve_row {
    const char *name;
    const char *unit;
    const char *peer;              /* its name; NULL: no peer */
    double ours, theirs;           /* in that unit; NAN: none */
    double ours_rate, theirs_rate; /* per second; NAN: does not apply */
    double ours_each, theirs_each; /* per cpu-second; 0: does not apply */
    size_t slices;                 /* loads of each server; 0: turns */
    double ratio;                  /* median of pairs; 0: ours / theirs */
    double low, high;              /* quartiles of it; 0: unknown */
    const struct serve_turn *limit; /* a third load that alternates; or NULL */
    double limit_each;             /* what it gave per cpu-second, */
    double limit_ratio;            /* and beside theirs */
    double factor;                 /* items per request; 0: 1 */
    bool clock;                    /* ours is per second, not per cpu-second */
    double asked;                  /* NAN: for information */
    bool alone;                    /* `asked` is for ours, not the ratio */
    bool most;                     /* asked is the most, not the least */
    char note[200];
};

void row_show(const struct load_options *s, const struct serve_row *r);

/* A row of two loads, which alternate, the second may be NULL: fill in the
   medians, and those of the ratios of pairs; and show it. */
struct serve_turn {
    bool (*run)(const struct load_options *s, struct peer *p, void *with,
                struct serve_load *out);
    struct peer *peer;
    void *with;
};
bool row_fill(const struct load_options *s, struct serve_row *r,
              const struct serve_turn *ours, const struct serve_turn *theirs);
bool row_turns(const struct load_options *s, struct serve_row *r,
               const struct serve_turn *ours, const struct serve_turn *theirs);

/* --- the rows: false after a message --- */

bool row_http(const struct load_options *s);
bool row_pipelined(const struct load_options *s);
bool row_agg(const struct load_options *s);
bool row_exists(const struct load_options *s);
bool row_exists_one(const struct load_options *s);
bool row_promises(const struct load_options *s);
bool row_sets(const struct load_options *s);
bool row_mexists(const struct load_options *s);
bool row_latency(const struct load_options *s);
bool row_idle(const struct load_options *s);
bool row_reload(const struct load_options *s);

#endif
