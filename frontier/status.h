/*
 * status.h - what crawls are doing and what they wait for, for operators.
 *
 * It reads a shared frontier (shared.h: a SQLite file, or PostgreSQL) or the
 * state of a crawl folder, and writes nothing. Both are shown in the same
 * words: visits with their progress, hosts with what they wait for, workers.
 *
 *     code = frontier_status_open(&s, "postgresql://db.example/seen", &why);
 *     code = frontier_status_visits(s, 100, take_visit, owner, &why);
 *     code = frontier_status_hosts(s, 100, take_host, owner, &why);
 *     frontier_status_close(s);
 *
 * Each function reads the tables as they are at that moment. Spans live until
 * take() returns. A connection that was lost is made again by the next call.
 *
 * Threads: a status belongs to one thread at a time.
 */
#ifndef SEEN_FRONTIER_STATUS_H
#define SEEN_FRONTIER_STATUS_H

#include "shared.h"

struct frontier_status;

/*
 * `where` is as for sql_connect(), or the folder of a crawl, or the databases
 * of a frontier (spread.h). Of those some may be away: frontier_status_away().
 * SEEN_MISMATCH: it is neither a shared frontier nor the state of a crawl, or
 * of another version.
 */
enum seen_code frontier_status_open(struct frontier_status **out,
                                    const char *where, struct seen_error *why);
void frontier_status_close(struct frontier_status *s);

/* Is it a shared frontier, with workers, or a crawl folder? */
bool frontier_status_is_shared(const struct frontier_status *s);

/* The database, for messages; without a password. */
const char *frontier_status_name(const struct frontier_status *s);

/* Why one of several databases is missing in what follows, or NULL. */
const char *frontier_status_away(const struct frontier_status *s);

/* --- visits --- */

/* Those that run first, then the others, the last ones first; at most `most`.
   What a crawl folder does not know is -1: the bytes and the pages that were
   left of earlier visits, records; and the pages that are not due, since it
   would count all known pages at each look. Its `job` is empty. */
enum seen_code frontier_status_visits(struct frontier_status *s, unsigned most,
                                      frontier_take_visit *take, void *owner,
                                      struct seen_error *why);

/* Pages per second since the visit began; 0 if that was just now. */
double frontier_status_rate(const struct frontier_visit *visit);

/* --- hosts --- */

/* What a host waits for. */
enum frontier_wait {
    FRONTIER_WAIT_STOPPED, /* it is not asked any more: `stopped` says why */
    FRONTIER_WAIT_LEASE,   /* its worker died: for the end of the lease, or,
                              if that was, for anybody to notice */
    FRONTIER_WAIT_ADDRESS, /* for the worker that asks its address: `by` */
    FRONTIER_WAIT_TAKEN,   /* `by` has it, and asks it when it is due */
    FRONTIER_WAIT_DUE,     /* until it is due */
    FRONTIER_WAIT_WORKER,  /* it is due: for any worker */
    FRONTIER_WAIT_NOTHING, /* no page waits */
    FRONTIER_WAITS
};
extern const char *const frontier_wait_names[FRONTIER_WAITS];

struct frontier_status_host {
    int64_t id;
    enum frontier_wait wait;
    int64_t wait_in;   /* ms until that is over; 0: not known, or now */
    int64_t due_in;    /* ms; below 0: it is due */
    int64_t asked_ago; /* ms; -1: never, or not known */
    int64_t delay;     /* ms between requests; -1: not known */
    int64_t queued, fetched, requests, bytes;
    unsigned failures;   /* in a row */
    int64_t worker;      /* its number, or 0 */
    struct seen_span by; /* the name of the worker above; or "" */
    struct seen_span name, address;
    struct seen_span stopped; /* why, or "" */
    struct seen_span note;    /* the last error, or "" */
};
typedef bool frontier_take_status_host(
    void *owner, const struct frontier_status_host *host);

/* Those that need help first: stopped, failing, with pages by their due time,
   then those without pages; at most `most`. */
enum seen_code frontier_status_hosts(struct frontier_status *s, unsigned most,
                                     frontier_take_status_host *take,
                                     void *owner, struct seen_error *why);

/* "due in 2.5 s", "address 192.0.2.1 is asked by a:17", ...: what the host
   waits for, in words. Cut if there is no room. */
void frontier_status_words(const struct frontier_status_host *host, char *to,
                           size_t room);

/* --- workers: none in a crawl folder --- */

struct frontier_status_worker {
    int64_t number;
    struct seen_span name;
    int64_t ends_in; /* ms of its lease; below 0: it ended */
    int64_t began_ago, renewed_ago;
    int64_t hosts; /* that it has */
    int64_t commits, pages, links, bytes;
    double rate; /* pages per second since it began */
};
typedef bool frontier_take_status_worker(
    void *owner, const struct frontier_status_worker *worker);
/* Those with a lease first, then those whose lease ended, the last first. */
enum seen_code frontier_status_workers(struct frontier_status *s,
                                       unsigned most,
                                       frontier_take_status_worker *take,
                                       void *owner, struct seen_error *why);

/* --- pages set aside --- */

/* Pages that were set aside, since they killed the process that read them:
   those of the last visits first. `visit` is "" if it is not known any more. */
typedef bool frontier_take_aside(void *owner, struct seen_span url,
                                 struct seen_span visit);
enum seen_code frontier_status_aside(struct frontier_status *s, unsigned most,
                                     frontier_take_aside *take, void *owner,
                                     struct seen_error *why);

/* --- sums --- */

struct frontier_status_sums {
    int64_t workers;               /* with a lease */
    int64_t visits;                /* that run or are ending */
    int64_t hosts[FRONTIER_WAITS]; /* by what they wait for */
    int64_t failing;               /* hosts whose last request failed */
    int64_t queued;                /* pages */
    int64_t aside;                 /* pages, of all visits */
};
enum seen_code frontier_status_sum(struct frontier_status *s,
                                   struct frontier_status_sums *sums,
                                   struct seen_error *why);

#endif
