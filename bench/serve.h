/*
 * serve.h - what seen bench serve is made of.
 *
 *     serve.c          settings, the list of rows, showing them
 *     serve_keep.c     no process and no file is left behind
 *     serve_peer.c     servers, ours and others: started, watched, stopped
 *     serve_filter.c   URLs, and filters that hold every other one
 *     serve_load.c     load by wrk and redis-benchmark
 *     serve_ask.c      load by a client of our own, at a fixed rate
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

#include <math.h>
#include <stdatomic.h>
#include <sys/types.h>

enum {
    TURNS = 3,        /* of each server, which alternate */
    CONNECTIONS = 64, /* of HTTP */
    CLIENTS = 50,     /* of the Redis protocol */
    PATH_ROOM = 512,  /* bytes of a path */
    URL_LENGTH = 31,  /* of http://example.org/000000000000 */
    WARM_UP_SECONDS = 1
};

struct settings {
    uint64_t capacity; /* of the filters */
    double seconds;    /* of every load */
    unsigned threads;  /* of every server */
    const char *only;
    bool json;
    char folder[PATH_ROOM / 2]; /* where everything is that we make */
    char seen[PATH_ROOM];       /* the program */
};

/* What `seen bench serve` runs. */
int bench_serve(char **argv);

/* --- serve_keep.c --- */

/*
 * Run `work` in a process of its own, in a folder of its own, and return
 * what it returns. Whatever happens to it or to us, even SIGKILL, the
 * processes that it started end; the folder is removed unless it was we who
 * were killed.
 */
int keep(int (*work)(struct settings *s), struct settings *s);

/* Start a program that ends when we do, with its output in files of the
   folder; 0 if that fails. */
pid_t keep_start(const struct settings *s, const char *const *argv,
                 const char *out, const char *err);

/* The path of a program in PATH, or where system programs are; NULL after
   saying which package has it. The text lives until the next call. */
const char *keep_tool(const char *name);

/* --- serve_peer.c --- */

struct peer {
    const char *name;
    pid_t pid; /* 0: does not run */
    int port;
};

/* Start a server and wait until it answers; false after a message. `more`
   are arguments of ours, up to a NULL. */
bool peer_seen(struct peer *p, const struct settings *s,
               const char *const *more);
bool peer_nginx(struct peer *p, const struct settings *s);
bool peer_redis(struct peer *p, const struct settings *s);

/* Show the first lines of a file of the folder, where errors went. */
void peer_said(const struct settings *s, const char *err);

/* Stop it and wait for its end. Harmless if it does not run. */
void peer_stop(struct peer *p);

/* Seconds of processor time so far, of all its threads and workers. */
double peer_spent(const struct peer *p);

/* Bytes of memory that it has in use, those of files it has mapped too. */
double peer_memory(const struct peer *p);

/* A connection to it from 127.0.0.`from`, or -1. */
int peer_connect(const struct peer *p, unsigned from);

/* Send a text and take what comes back, up to `room` - 1 bytes, until it
   ends with `end`; false if it does not come in time. */
bool peer_talk(const struct peer *p, const char *text, const char *end,
               char *reply, size_t room);

/* --- serve_filter.c --- */

/* URLs have numbers; those of even numbers are held by the filters. Load
   walks through the numbers below this. */
uint64_t filter_range(const struct settings *s);

/* Write URL number n: URL_LENGTH bytes, and no NUL. */
void filter_url(char *to, uint64_t n);

/*
 * A filter as `seen serve` takes it, NAME=PATH, which is made by the first
 * who asks; NULL after a message. It holds every `step`-th number, and the URL
 * http://example.org/NAME, so that filters can be told apart. The text lives
 * until seven more were asked for.
 */
const char *filter_made(const struct settings *s, const char *name,
                        unsigned step);

/* --- serve_load.c --- */

struct load {
    double requests, seconds, spent; /* the last one: by the server */
};

/* Load by wrk: `depth` requests at a time on each connection. */
bool load_wrk(const struct settings *s, const struct peer *p, unsigned depth,
              double seconds, struct load *out);

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
bool load_redis(const struct settings *s, const struct peer *p,
                struct redis_load *how, struct load *out);

/* --- serve_ask.c --- */

struct ask {
    double rate;    /* a second, in all; 0: as fast as they are answered */
    double seconds; /* or until *stop */
    const atomic_bool *stop;
    bool held; /* ask for what is held only, and count other answers */
};

struct asked {
    uint64_t answers, failed, wrong;
    double seconds, spent;
    double p50, p99, most; /* seconds, from when it was to be sent */
};

/* Ask over CONNECTIONS connections; safe in a thread. */
bool ask_run(const struct settings *s, const struct peer *p,
             const struct ask *how, struct asked *out);

/* --- serve_list.c --- */

/* POST a list of n URLs to `path`, again and again; *out counts lines of
   answers. */
bool list_post(const struct settings *s, const struct peer *p,
               const char *path, uint64_t n, struct load *out);

/* --- serve.c, showing --- */

struct row {
    const char *name;
    const char *unit;
    const char *peer;              /* its name; NULL: there is none */
    double ours, theirs;           /* in that unit; NAN: none */
    double ours_rate, theirs_rate; /* a second; NAN: does not apply */
    double ours_each, theirs_each; /* a cpu-second; 0: does not apply */
    double factor;                 /* what is counted, to a request; 0: 1 */
    bool clock;                    /* ours is a second, not a cpu-second */
    double asked;                  /* NAN: for information */
    bool alone;                    /* asked of ours; else of the ratio */
    bool most;                     /* asked is the most, not the least */
    char note[160];
};

void show(const struct settings *s, const struct row *r);

/* A row of two loads, which alternate, the second may be NULL: fill in the
   medians; and show it. */
struct turn {
    bool (*run)(const struct settings *s, struct peer *p, void *with,
                struct load *out);
    struct peer *peer;
    void *with;
};
bool fill_turns(const struct settings *s, struct row *r,
                const struct turn *ours, const struct turn *theirs);
bool show_turns(const struct settings *s, struct row *r,
                const struct turn *ours, const struct turn *theirs);

/* --- the rows: false after a message --- */

bool row_http(const struct settings *s);
bool row_pipelined(const struct settings *s);
bool row_agg(const struct settings *s);
bool row_exists(const struct settings *s);
bool row_exists_one(const struct settings *s);
bool row_sets(const struct settings *s);
bool row_mexists(const struct settings *s);
bool row_latency(const struct settings *s);
bool row_idle(const struct settings *s);
bool row_reload(const struct settings *s);

#endif
