/*
 * shared.h - the frontier of many workers: visits, hosts, pages, leases.
 *
 *     workers     one row per process that works, with the end of its lease
 *     visits      jobs that were accepted, with their progress
 *     hosts       due time, pages that wait, and who has it; spans visits
 *     addresses   who asks the hosts of an address; spans visits
 *     pages       one row per URL of a visit that runs, unique by its key
 *     known       what is known of pages that were fetched, by the name of
 *                 the template; spans visits
 *     robots      robots.txt per origin; spans visits
 *     shards      page records per shard of a visit
 *     aside       pages that killed their workers, by key; spans visits
 *     suspect_robots   robots.txt that were read when a worker died
 *
 * The rows are in a SQLite file, for the processes of one machine, or in
 * PostgreSQL (sql.h). The unique index (visit, key) decides what is new.
 *
 * Leases. A worker has one lease, in its own row, with a number that nobody
 * had before. It takes hosts, and a host that it has is its own until the
 * worker gives it back or its lease ends; all pages of the host are its own
 * for that time. Every commit first locks the worker's row, which must not
 * have ended, and the rows of the hosts, which must still be its own. Pages of
 * other hosts are refused: nothing of them is changed. A worker whose lease
 * has ended gets a new number by frontier_shared_join() and begins anew.
 *
 * Time. All times are those of the database (sql.h {now}) and come and go as
 * differences: `due_in` is in ms from now. No clock of a worker is compared
 * with that of another; that of the database may be set. A worker that notices
 * it takes no host for one lease, and times that cannot be are distrusted.
 *
 * Politeness. A host that is taken from a worker whose lease ended is not due
 * before that end plus the host's own delay: until then the worker may have
 * asked it. Hosts of one address belong to one worker, which limits its
 * requests per address.
 *
 * Order of locks: worker, hosts by id, addresses, visits by id. Hosts that are new are
 * inserted, in order of their names, by a transaction of its own. Each step
 * may be repeated (sql_transact()).
 *
 * Threads: as the database.
 */
#ifndef SEEN_FRONTIER_SHARED_H
#define SEEN_FRONTIER_SHARED_H

#include "frontier.h"

struct frontier_shared;

struct frontier_worker {
    const char *name;  /* "host:pid", for reports */
    unsigned lease;    /* ms */
    unsigned patience; /* ms to wait for a database that is away */
    int64_t keep;      /* ms that ended visits are kept; 0: 30 days */

    /* Does the worker have this host in memory? NULL: it is not asked, and a
       host that was taken when the answer to that was lost stays with it. */
    bool (*has)(void *owner, int64_t host);
    void *owner;

    /* This database is one of so many, if there are several: spread.h. The
       secret says which of them a host belongs to, and lives as long. */
    unsigned database, databases;
    const unsigned char *secret;
};

/*
 * Make the tables if they are missing. Those of version 1, which had no known
 * pages, become those of this version, unless a worker of that version is at
 * work: SEEN_BUSY. SEEN_MISMATCH: they are of another version.
 */
enum seen_code frontier_shared_create(struct sql *db, struct seen_error *why);

/* The database must stay open as long. The texts are copied. */
enum seen_code frontier_shared_open(struct frontier_shared **out,
                                    struct sql *db,
                                    const struct frontier_worker *worker,
                                    struct seen_error *why);
void frontier_shared_close(struct frontier_shared *f);

/* For tests: at() is called at the points that shared.c names, and may end the
   process there. */
typedef void frontier_shared_point(void *owner, const char *point);
void frontier_shared_watch(struct frontier_shared *f,
                           frontier_shared_point *at, void *owner);

/* --- the worker's own lease --- */

/* Get a lease with a new number. What an earlier lease had is given up. */
enum seen_code frontier_shared_join(struct frontier_shared *f,
                                    struct seen_error *why);
/* The same with this number, which another database of the frontier gave. */
enum seen_code frontier_shared_join_as(struct frontier_shared *f,
                                       int64_t number, struct seen_error *why);
/*
 * Begin the lease again. SEEN_ABSENT: it has ended; join again. What the
 * database says this worker has, and what it has in memory are compared: hosts
 * that it does not know are free again.
 */
enum seen_code frontier_shared_renew(struct frontier_shared *f,
                                     struct seen_error *why);
/* By how many ms the database's clock, or this machine's, was set since the
   last call; 0: they were not. No host is taken for one lease then. */
int64_t frontier_shared_was_set(struct frontier_shared *f);
/* Give back every host and address, and the lease. */
enum seen_code frontier_shared_leave(struct frontier_shared *f,
                                     struct seen_error *why);
int64_t frontier_shared_number(const struct frontier_shared *f);

/* --- visits --- */

enum frontier_visit_state {
    FRONTIER_RUNNING,
    FRONTIER_ENDING, /* no page is left; its end is to be published */
    FRONTIER_ENDED,
    FRONTIER_COALESCED /* not begun: another visit of the name was running */
};

/* Spans live until the next call. */
struct frontier_visit {
    int64_t id;
    struct seen_span visit; /* "news@1767225600" */
    struct seen_span name;  /* of the template: "news" */
    struct seen_span job;   /* the message */
    uint64_t seed;
    unsigned shards;
    int64_t most; /* pages, at most; 0: no limit */
    int64_t due;  /* the time that its name has, in Unix ms */
    int64_t terms; /* of what it asks for: see struct frontier_known */
    enum frontier_visit_state state;
    int64_t began_ago, ended_ago; /* ms; -1: not */
    int64_t queued, fetched, failed, excluded, left, links, bytes;
    int64_t records; /* page records, of all shards */
    int64_t not_due; /* known pages that it does not fetch */
    bool recalling;  /* known pages are still to come: it does not end */
    bool thorough;   /* the visit before left pages, whose links may be only
                        on pages that have not changed. In
                        frontier_shared_begin(): also if the rows of this
                        database do not say so */
};

/* A URL with its key, for a row. */
struct frontier_link {
    int64_t visit;
    struct seen_span host; /* its name */
    unsigned char key[16];
    bool wanted; /* also if the page is known and not due */
    struct frontier_page page; /* host and id are not used */
};

/*
 * Begin a visit with its start URLs, unless it was begun before (SEEN_OK: a
 * second delivery of the job changes nothing). If another visit of the name
 * is running or ending, it is noted as coalesced. *state is what it became, or
 * was.
 */
enum seen_code frontier_shared_begin(struct frontier_shared *f,
                                     const struct frontier_visit *visit,
                                     const struct frontier_link *start,
                                     size_t n,
                                     enum frontier_visit_state *state,
                                     struct seen_error *why);

typedef bool frontier_take_visit(void *owner,
                                 const struct frontier_visit *visit);
/* Visits with numbers above `after` that are in this state, in order. */
enum seen_code frontier_shared_visits(struct frontier_shared *f,
                                      enum frontier_visit_state state,
                                      int64_t after, frontier_take_visit *take,
                                      void *owner, struct seen_error *why);
/* One visit. SEEN_ABSENT. */
enum seen_code frontier_shared_visit(struct frontier_shared *f, int64_t id,
                                     frontier_take_visit *take, void *owner,
                                     struct seen_error *why);

/* --- known pages --- */

/*
 * What is known of a page that was fetched, in the visits of one name. Times
 * are Unix time in ms, by clocks of workers: they are compared with each
 * other only to see how long a page has not changed. `due` is compared with
 * the time in the name of a visit, and with no clock.
 *
 * A row counts for visits that ask for the same: with the same template, start
 * URLs and settings, which `terms` stands for. For others it is as if the page
 * were not known, but for its copy.
 */
struct frontier_known {
    unsigned char key[16];
    int64_t first, last, due, stored, checks, changes, size, terms;
    int64_t links; /* that the page had */
    int status;
    unsigned depth, flags; /* those of its row that outlive a visit */
    struct seen_span url, type, etag, modified, digest, place, history;
};

/*
 * A visit begins with its start URLs. The known pages of its name that are due
 * become rows after that, a batch per call and transaction, while its pages
 * are fetched; those that are not due are counted. The visit does not end
 * before all of them were looked at. Any worker may call this, also several at
 * once: a batch is done by one of them. weigh() gives the priority of a row.
 * *more: there are more of them.
 */
typedef int64_t frontier_weigh(void *owner, struct seen_span url,
                               unsigned depth);
enum seen_code frontier_shared_recall(struct frontier_shared *f, int64_t visit,
                                      frontier_weigh *weigh, void *owner,
                                      bool *more, struct seen_error *why);

/* Records per shard of a visit: records[i] for i < shards. */
enum seen_code frontier_shared_records(struct frontier_shared *f,
                                       int64_t visit, int64_t *records,
                                       unsigned shards,
                                       struct seen_error *why);

/* A budget of time or bytes is spent: the visit is ending, and what waits is
   left. Repeating this changes nothing. */
enum seen_code frontier_shared_close_visit(struct frontier_shared *f,
                                           int64_t visit,
                                           struct seen_error *why);

/* The end of the visit was published: it has ended, and its pages are
   deleted. Repeating this changes nothing. */
enum seen_code frontier_shared_ended(struct frontier_shared *f, int64_t visit,
                                     struct seen_error *why);

/* --- hosts --- */

struct frontier_leased {
    int64_t id;
    int64_t due_in; /* ms; below 0: it is due */
    int64_t queued, fetched;
    unsigned failures;
    struct seen_span name;
    struct seen_span address; /* that it had last time, or "" */
    int64_t worker; /* frontier_shared_take(): who had it before, or 0 */
};
typedef bool frontier_take_leased(void *owner,
                                  const struct frontier_leased *host);

/*
 * Take up to `most` hosts that have pages and are due within `ahead` ms, those
 * first that are due first: hosts that nobody has, or whose worker's lease has
 * ended, and whose address no other worker has.
 */
enum seen_code frontier_shared_lease(struct frontier_shared *f, unsigned most,
                                     int64_t ahead, frontier_take_leased *take,
                                     void *owner, struct seen_error *why);

/* The address of a host that the worker has. *mine is false if another worker
   asks the hosts of this address: then the host is given back, and goes to
   that worker. */
enum seen_code frontier_shared_address(struct frontier_shared *f, int64_t host,
                                       struct seen_span address, bool *mine,
                                       struct seen_error *why);

/*
 * With several databases one of them, chosen by the address, says who asks the
 * hosts of an address; spread.c calls the steps. *holder is the worker that
 * asks them, maybe this one.
 */
enum seen_code frontier_shared_claim(struct frontier_shared *f,
                                     struct seen_span address, int64_t *holder,
                                     struct seen_error *why);
/* Then where the host is, instead of frontier_shared_address(). The holder is
   0 if nobody knows; NULL: claim the address here, in the same transaction. */
enum seen_code frontier_shared_apply(struct frontier_shared *f, int64_t host,
                                     struct seen_span address,
                                     const int64_t *holder, bool *mine,
                                     struct seen_error *why);
/* This worker has no host of the address any more. */
enum seen_code frontier_shared_unclaim(struct frontier_shared *f,
                                       struct seen_span address,
                                       struct seen_error *why);

/*
 * Take this one host, whether it has pages or not, and whoever has its address:
 * for a robots.txt that was moved there. A host that is not known is added.
 * SEEN_BUSY: another worker has it. Then the host whose robots.txt it is, unless
 * that is 0, is given back, and goes to that worker, as if it had the same
 * address. *given is false if that address is not known yet.
 */
enum seen_code frontier_shared_take(struct frontier_shared *f,
                                    struct seen_span name, int64_t of,
                                    struct frontier_leased *host, bool *given,
                                    struct seen_error *why);

/* How much there is to do, and for how many. */
struct frontier_load {
    int64_t workers; /* whose lease has not ended */
    int64_t hosts;   /* that have pages, with anybody or nobody; 100,000 at
                        most */
};
enum seen_code frontier_shared_load(struct frontier_shared *f,
                                    struct frontier_load *load,
                                    struct seen_error *why);

/* Give hosts back, each with its due time; and addresses that no host of this
   worker has any more. */
struct frontier_return {
    int64_t host, due_in;
};
enum seen_code frontier_shared_release(struct frontier_shared *f,
                                       const struct frontier_return *host,
                                       size_t n, struct seen_error *why);

/* A page that waits. */
struct frontier_shared_page {
    struct frontier_page page;
    int64_t visit;
    unsigned char key[16];
    const struct frontier_known *known; /* NULL: it is not */
};
typedef bool frontier_take_shared(void *owner,
                                  const struct frontier_shared_page *page);
/* Pages of a host that wait, in order: at most `most`. */
enum seen_code frontier_shared_next(struct frontier_shared *f, int64_t host,
                                    unsigned most, frontier_take_shared *take,
                                    void *owner, struct seen_error *why);

/* robots.txt of an origin; SEEN_ABSENT: it is not known, or too old. */
struct frontier_robots {
    struct seen_span origin;
    int status;
    int64_t until_in; /* ms */
    struct seen_span body;
};
enum seen_code frontier_shared_robots(struct frontier_shared *f,
                                      struct seen_span origin,
                                      struct frontier_robots *robots,
                                      struct seen_error *why);

/*
 * Fill in what is known of an origin. The span lives until the next call. Origins
 * are rows among the hosts, as in frontier.h, but their pages end. The worker
 * that has the host writes them.
 */
enum seen_code frontier_shared_origin(struct frontier_shared *f,
                                      struct frontier_origin *origin,
                                      struct seen_error *why);

/* --- pages that kill their worker: shared_aside.c --- */

/* A page that a worker was reading when it died. If it still waits, that is
   noted in its flags: frontier.h. */
struct frontier_suspect {
    int64_t id, visit;
    unsigned char key[16];
    bool alone; /* nothing else was being read: it is a death of this page */
    struct seen_span
        origin; /* of a robots.txt, whose URL has the key; or "" */
};
enum seen_code frontier_shared_suspect(struct frontier_shared *f,
                                       const struct frontier_suspect *suspect,
                                       size_t n, struct seen_error *why);

/* The keys of pages that were set aside, in any visit. take() returns false to
   stop. */
typedef bool frontier_take_key(void *owner, struct seen_span key);
enum seen_code frontier_shared_aside(struct frontier_shared *f,
                                     frontier_take_key *take, void *owner,
                                     struct seen_error *why);
/* The origins whose robots.txt was being read when a worker died, also those
   that are set aside since. */
enum seen_code frontier_shared_suspects(struct frontier_shared *f,
                                        frontier_take_key *take, void *owner,
                                        struct seen_error *why);
/* Forget them: visits that find them from now on ask for them again. */
enum seen_code frontier_shared_retry_aside(struct frontier_shared *f,
                                           struct seen_error *why);

/* --- commits --- */

enum frontier_page_end {
    FRONTIER_FETCHED,  /* it was answered, well or with an error */
    FRONTIER_FAILED,   /* no answer after all attempts */
    FRONTIER_EXCLUDED, /* by robots.txt */
    FRONTIER_LEFT,     /* its host or origin is not asked any more, or the
                          budget of the visit is spent */
    FRONTIER_AGAIN,    /* it waits again: page.attempts, flags, priority */
    FRONTIER_ASIDE     /* it kills the workers that read it: it is noted in
                          the table of such pages, and counted as left */
};

struct frontier_done {
    struct frontier_page page; /* id, host; for AGAIN also the rest */
    int64_t visit;
    enum frontier_page_end end;
    int64_t bytes;
    int shard;    /* its record was published to; -1: there is none */
    const struct frontier_known *known; /* what is known of it now; or NULL */
    bool refused; /* out: the host is not this worker's any more */
};

/* Pages of `done` differ, and so do hosts of `asked`. */
struct frontier_group {
    struct frontier_done *done;
    size_t dones;
    struct frontier_asked *asked;
    size_t askeds;
    struct frontier_link *link; /* found on pages of the group */
    size_t links;
    size_t *from; /* link i was found on done[from[i]], and is not inserted
                       if that one is refused; SIZE_MAX: on a robots.txt */
    bool *fresh;  /* out: link i is a new row */
    const struct frontier_robots *robots;
    size_t robotses;
    struct frontier_origin *origin;
    size_t origins;
};

/*
 * Commit a group. SEEN_ABSENT: the worker's lease has ended, and nothing was
 * changed. When a commit leaves no page of a visit, or its budget is spent,
 * the visit is ending.
 */
enum seen_code frontier_shared_commit(struct frontier_shared *f,
                                      struct frontier_group *group,
                                      struct seen_error *why);

/* Commits are numbered, from 1 in each lease. This is the number of the next
   one, if it is tried. */
int64_t frontier_shared_next_commit(const struct frontier_shared *f);

/* The number of the last commit of a lease that was done; one that is under
   way is waited for. SEEN_ABSENT: nobody knows any more. */
enum seen_code frontier_shared_last_commit(struct frontier_shared *f,
                                           int64_t lease, int64_t *commit,
                                           struct seen_error *why);

#endif
