/*
 * look.h - what one look at a crawl found, for pages and metrics.
 *
 * Crawl folders and the databases of workers look alike here: visits with
 * their progress, hosts with what they wait for, workers, queues, and the
 * last errors. A look is made by one thread and then never changed. All its
 * texts are its own; they come from the web and from disks, so whoever shows
 * them escapes them.
 *
 *     struct watch_crawl *c = watch_look_add(look, name, where);
 *
 *     c->why = watch_text(look, span_of("the file is damaged"));
 *
 * Memory: a look that ran out of memory says so (`failed`), and has less than
 * it should.
 */
#ifndef SEEN_SERVE_WATCH_LOOK_H
#define SEEN_SERVE_WATCH_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../../frontier/status.h"

enum {
    WATCH_CRAWLS = 1000, /* per --crawls, at most */
    WATCH_HOSTS = 5000,  /* per crawl: those that need help first */
    WATCH_VISITS = 100,  /* per crawl: those that run, then the last ones */
    WATCH_WORKERS = 500,
    WATCH_QUEUES = 100,
    WATCH_ERRORS = 20
};

enum watch_visit_state {
    WATCH_RUNS,
    WATCH_STOPPED, /* it has not ended, and nobody works on it */
    WATCH_ENDING,
    WATCH_ENDED,
    WATCH_COALESCED
};

/* Times are Unix times in ms. Numbers that are not known are -1. */
struct watch_visit {
    const char *name;
    enum watch_visit_state state;
    int64_t began, ended; /* 0: not */
    int64_t pages;        /* answered, well or with an error */
    int64_t failed;       /* without an answer */
    int64_t excluded;     /* by robots.txt */
    int64_t waiting, left, links, bytes, records;
    int64_t not_due;      /* known pages that it does not fetch */
    int64_t most;         /* its budget of pages; 0: none */
    double rate; /* pages per second of the last minute */
    double mean; /* since it began */
};

struct watch_host {
    const char *name;
    const char *note; /* why it is stopped, or its last error; or "" */
    const char *by;   /* the worker that has it, or its address; or "" */
    const char *address;
    enum frontier_wait wait;
    int64_t wait_in, due_in; /* ms */
    int64_t waiting, pages, requests, bytes;
    unsigned failures; /* in a row */
};

struct watch_worker {
    const char *name;
    int64_t number, hosts, pages;
    int64_t ends_in; /* ms; below 0: its lease has ended */
    double rate;     /* pages per second of the last minute */
    double mean;     /* since it began */
};

struct watch_queue {
    const char *name;
    int64_t ready, taken, later, dead;
    int64_t oldest; /* ms */
    int64_t done;
    double rate; /* messages done per second of the last minute */
};

struct watch_error {
    const char *url, *text;
    int64_t at;
};

enum watch_kind { WATCH_FOLDER, WATCH_SHARED, WATCH_BROKER };

struct watch_crawl {
    const char *name, *where;
    const char *why; /* why it cannot be read; or NULL */
    enum watch_kind kind;
    bool runs;
    int64_t hosts[FRONTIER_WAITS]; /* how many, of all */
    int64_t failing;               /* of them */
    int64_t aside; /* pages that killed the process that read them */
    int64_t live;                  /* workers with a lease */
    /* Of the visits that are not ended, or of the last one. */
    int64_t pages, failed, waiting, left;
    double rate, mean; /* of the visits that run */
    struct watch_visit *visit;
    struct watch_host *host;
    struct watch_worker *worker;
    struct watch_queue *queue;
    struct watch_error *error;
    size_t visits, listed, workers, queues, errors; /* `listed` hosts */
    size_t visit_room, host_room, worker_room, queue_room, error_room;
};

/* Does the host need help? It is stopped, its worker died, or its last
   requests had no answer. */
bool watch_in_trouble(const struct watch_host *h);

struct watch_text;
struct watch_look {
    unsigned references;
    uint64_t at;    /* clock_ms() when it was complete */
    int64_t unix_ms;
    unsigned took; /* ms */
    bool failed;
    struct watch_crawl *crawl;
    size_t crawls, room;
    struct watch_text *texts;
};

struct watch_look *watch_look_new(void);
void watch_look_free(struct watch_look *look);

/* A row for a crawl; NULL without memory, or beyond WATCH_CRAWLS. Rows that
   were returned before must not be used any more. */
struct watch_crawl *watch_look_add(struct watch_look *look, const char *name,
                                   const char *where);

/* A copy, cut after 2,000 bytes and at its first zero; "" without memory. */
const char *watch_text(struct watch_look *look, struct seen_span text);

/* A zeroed element; NULL without memory or beyond the limits above. */
struct watch_visit *watch_add_visit(struct watch_look *look,
                                    struct watch_crawl *c);
struct watch_host *watch_add_host(struct watch_look *look,
                                  struct watch_crawl *c);
struct watch_worker *watch_add_worker(struct watch_look *look,
                                      struct watch_crawl *c);
struct watch_queue *watch_add_queue(struct watch_look *look,
                                    struct watch_crawl *c);
struct watch_error *watch_add_error(struct watch_look *look,
                                    struct watch_crawl *c);

/* Put the sums of a crawl together from its visits, and its hosts in order:
   those that need help first, then those with most pages that wait, since an
   order by due times would change with every look. */
void watch_sum(struct watch_crawl *c);

#endif
