/*
 * work.h - what seen bench work is made of.
 *
 *     work.c        options, the parts, showing them
 *     work_paper.c  the part that repeats an experiment of the paper
 *     work_run.c    one run: workers that come and go, until all is fetched
 *     work_log.c    what the web server's log says about a run
 *
 * Threads: one.
 */
#ifndef SEEN_BENCH_WORK_H
#define SEEN_BENCH_WORK_H

#include "servers.h"
#include "site.h"

enum { WORK_WORKERS = 32, WORK_STEPS = 8 }; /* per run, at most */
enum { WORK_DATABASES = 4 };

struct work_options {
    uint64_t pages, size, links, hosts, own; /* own: hosts per worker */
    uint64_t databases; /* of a frontier on PostgreSQL */
    const char *delay, *only, *part;
    bool json, help;
    char seen[PATH_ROOM];
};

/* --- places --- */

/* Where frontier and queue are. */
struct work_place {
    const char *name;
    char frontier[WORK_DATABASES * PATH_ROOM], queue[PATH_ROOM];
};

struct work_servers {
    struct bench_postgres postgres;
    struct bench_rabbit rabbit;
    unsigned made; /* databases */
};

/* --- runs --- */

/* From this second on, this many workers are at work. */
struct work_step {
    double at;
    unsigned workers;
};

struct work_run {
    const struct work_place *place;
    const char *delay;     /* seconds between requests to a host */
    uint64_t threads;      /* per worker; 0: one per CPU */
    uint64_t own;          /* hosts per worker; 0: no limit */
    struct work_step step[WORK_STEPS]; /* the first one at 0 */
    size_t steps;
};

struct work_figures {
    double seconds;      /* from the first worker's start to the last answer */
    double rate;         /* pages per second, from the first tenth to the last */
    double step[WORK_STEPS]; /* the same, of each step */
    double workers_cpu, database_cpu, broker_cpu; /* seconds in all */
    double memory;       /* of the largest worker */
    double requests;     /* for pages, robots.txt not counted */
    double distinct;     /* pages that were requested */
    double records;      /* that are on the queue */
    double gap;          /* the least time between two requests to a host */
    double links;        /* found */
    double sent;         /* of those, asked of the frontier */
    double commits;
    double in_database, in_queue; /* share of the workers' time */
};

/* Run workers until the site is fetched; false after a message. */
bool work_run(const struct work_options *s, struct bench_site *site,
              const struct work_servers *servers, const struct work_run *run,
              struct work_figures *out);

/* Read requests.log. `from` is when the run began, and begun[i] when step i
   did, in Unix time. */
bool work_log(const struct bench_site *site, const struct work_run *run,
              const double *begun, struct work_figures *out);

/* --- places and parts: false after a message --- */

bool work_place_make(const struct work_options *s,
                     struct work_servers *servers, struct work_place *place,
                     const char *name);
bool work_paper(const struct work_options *s, struct work_servers *servers,
                const char *name);

#endif
