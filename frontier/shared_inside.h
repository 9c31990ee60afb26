/*
 * shared_inside.h - what the files of the shared frontier have in common: its
 * statements, and steps that several of them need.
 */
#ifndef SEEN_FRONTIER_SHARED_INSIDE_H
#define SEEN_FRONTIER_SHARED_INSIDE_H

#include "shared.h"

#include "../lib/text/buffer.h"
#include "../lib/text/map.h"

enum {
    SHARED_VERSION = 2,
    SHARED_LIST = 64,   /* numbers, names or rows in one statement */
    SHARED_ROWS = 1024, /* rows of one sql_do_rows() */
    SHARED_BATCH = 256, /* rows per transaction where there may be many */
    SHARED_DELAY = 3000 /* ms, for hosts whose delay is not known */
};

/* Of a page: it waits, or 1 + the frontier_page_end that it had; a page that
   was set aside is left, and has a row in that table. */
#define SHARED_WAITING "0"
#define SHARED_LEFT "4"
/* Of a visit, as numbers of enum frontier_visit_state. */
#define SHARED_RUNNING "0"
#define SHARED_ENDING "1"
#define SHARED_ENDED "2"

/* Of a visit: known pages that it did not come to. */
#define SHARED_UNRECALLED \
    "CASE WHEN recalled IS NULL THEN 0 ELSE (SELECT count(*) FROM known k " \
    "WHERE k.name = visits.name AND k.terms = visits.terms AND k.key > " \
    "visits.recalled) END"

#define SHARED_PLACES \
    "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, " \
    "?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, " \
    "?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, " \
    "?44, ?45, ?46, ?47, ?48, ?49, ?50, ?51, ?52, ?53, ?54, ?55, ?56, ?57, " \
    "?58, ?59, ?60, ?61, ?62, ?63, ?64"

enum shared_statement {
    SHARED_JOIN,
    SHARED_JOIN_AS,
    SHARED_RENEW,
    SHARED_CHECK,
    SHARED_NUMBERED,
    SHARED_COMMITS,
    SHARED_WORKED,
    SHARED_END_LEASE,
    SHARED_DEAD,
    SHARED_REAP,
    SHARED_HELD,
    SHARED_FREE,
    SHARED_FREE_ADDRESSES,
    SHARED_GONE,
    SHARED_DROP_WORKERS,
    SHARED_DROP_VISITS,
    SHARED_DROP_SHARDS,
    SHARED_DROP_ROBOTS,

    SHARED_HOST_FIND,
    SHARED_HOST_ADD,
    SHARED_HOST_LOCK,
    SHARED_HOST_COUNT,
    SHARED_HOST_ASKED,
    SHARED_ORIGIN_FIND,
    SHARED_ORIGIN_KEEP,
    SHARED_HOST_ASTRAY,
    SHARED_HOST_MEND,
    SHARED_HOST_READY,
    SHARED_HOST_TAKE,
    SHARED_HOST_READ,
    SHARED_LOAD,
    SHARED_HOST_MINE,
    SHARED_HOST_UNDO,
    SHARED_HOST_RETURN,
    SHARED_HOST_ADDRESS,
    SHARED_HOST_BUSY,
    SHARED_ADDRESS_TAKE,
    SHARED_ADDRESS_DROP,

    SHARED_VISIT_ADD,
    SHARED_VISIT_COALESCE,
    SHARED_VISIT_STATE,
    SHARED_VISIT_BEGUN,
    SHARED_VISITS,
    SHARED_VISIT,
    SHARED_VISIT_STATES,
    SHARED_VISIT_LAST,
    SHARED_VISIT_MEND,
    SHARED_VISIT_COUNT,
    SHARED_VISIT_ENDED,
    SHARED_RECORDS,
    SHARED_RECORD,

    SHARED_PAGE_ADD,
    SHARED_PAGE_DONE,
    SHARED_PAGE_NEXT,
    SHARED_PAGE_STOP_COUNT,
    SHARED_PAGE_STOP,
    SHARED_PAGE_REST,
    SHARED_PAGE_DROP,
    SHARED_PAGE_SUSPECT,
    SHARED_ROBOTS_SUSPECT,
    SHARED_ROBOTS_SUSPECTS,
    SHARED_ROBOTS_ASIDE,
    SHARED_ROBOTS_FORGET,
    SHARED_ASIDE_ADD,
    SHARED_ASIDE_READ,
    SHARED_ASIDE_FORGET,

    SHARED_KNOWN_KEEP,
    SHARED_RECALL_AT,
    SHARED_RECALL,
    SHARED_RECALLED,

    SHARED_ROBOTS_FIND,
    SHARED_ROBOTS_KEEP,

    /* Of a database that is one of several: */
    SHARED_SPREAD,
    SHARED_SENT = SHARED_SPREAD,
    SHARED_VISIT_COPIED,
    SHARED_VISIT_COPY,
    SHARED_VISIT_SUMS,
    SHARED_VISIT_LEFT,
    SHARED_OUTBOX_ADD,
    SHARED_OUTBOX_TARGETS,
    SHARED_OUTBOX_TAKE,
    SHARED_OUTBOX_DROP,
    SHARED_OUTBOX_DROP_VISIT,
    SHARED_CLAIM,
    SHARED_CLAIM_FIND,
    SHARED_CLAIM_DROP,
    SHARED_CLAIMS_FREE,
    SHARED_ADDRESS_SET,
    SHARED_ADDRESS_YIELD,
    SHARED_HOST_YIELD,
    SHARED_STATEMENTS
};

struct frontier_shared {
    struct sql *db;
    struct sql_statement *st[SHARED_STATEMENTS];
    char *name;
    unsigned lease, patience;
    int64_t keep;       /* ms that ended visits are kept */
    int64_t number;     /* the number of the lease, or 0 */
    unsigned database, databases; /* see struct frontier_worker */
    const unsigned char *secret;
    uint64_t sent_to; /* a bit per database that links were sent to */
    int64_t commits;    /* groups that this lease has begun to commit */
    bool (*has)(void *memory, int64_t host);
    void *memory;
    /* The database's clock is ahead of clock_boot_ms() by something between
       these, since they were last compared. */
    bool compared;
    int64_t ahead_least, ahead_most;
    int64_t was_set; /* ms by which a clock was set, to be reported; or 0 */
    /* By clock_boot_ms(): */
    int64_t taking;     /* no host is taken before this time */
    int64_t strange;    /* since when leases seem renewed later than now; 0 */
    int64_t mended;     /* when times were last looked at */
    struct map hosts;   /* ids by names */
    struct buffer text; /* what the last call returned */
    frontier_shared_point *at;
    void *owner;
};

/* For the tests: the process may be killed here. */
void frontier_shared_reach(struct frontier_shared *f, const char *point);

/* Is this database one of several? And which of them has this host, or this
   address? */
static inline bool frontier_shared_is_spread(const struct frontier_shared *f)
{
    return f->databases > 1;
}
unsigned frontier_shared_database(const struct frontier_shared *f,
                                  struct seen_span name);

/* Make the tables that each frontier has, in a transaction. */
enum seen_code frontier_shared_tables(struct sql *db, struct seen_error *why);

/* Run a step that may be repeated. */
enum seen_code frontier_shared_step(struct frontier_shared *f, sql_work *work,
                                    void *owner, struct seen_error *why);

/* The same for one that only reads. */
enum seen_code frontier_shared_read(struct frontier_shared *f, sql_work *work,
                                    void *owner, struct seen_error *why);

/* Lock the worker's row, in a transaction. SEEN_ABSENT: its lease ended. */
enum seen_code frontier_shared_hold(struct frontier_shared *f,
                                    struct seen_error *why);

/* Lock hosts, in the order of their ids, which are sorted and differ. */
struct frontier_locked {
    int64_t id;
    int64_t worker, barred; /* as the row has them */
    int64_t queued;         /* by how many more pages wait than before */
    bool found;
};
enum seen_code frontier_shared_lock(struct frontier_shared *f,
                                    struct frontier_locked *host, size_t n,
                                    struct seen_error *why);
/* Sort by id, and remove what is there twice. Returns how many are left. */
size_t frontier_shared_sort(struct frontier_locked *host, size_t n);
struct frontier_locked *frontier_shared_find(struct frontier_locked *host,
                                             size_t n, int64_t id);

/* In a transaction that holds the worker's row: free the hosts that are this
   worker's by their rows, and not in its memory. */
enum seen_code frontier_shared_free_unknown(struct frontier_shared *f,
                                            struct seen_error *why);

/* False for one lease after a clock was set. */
bool frontier_shared_may_take(const struct frontier_shared *f);

/* Free the hosts of workers whose lease ended. */
enum seen_code frontier_shared_reap_dead(struct frontier_shared *f,
                                         struct seen_error *why);

/* Delete the rows of old workers, visits and robots.txt. */
enum seen_code frontier_shared_clean(struct frontier_shared *f,
                                     struct seen_error *why);

/* The ids of hosts, which are added if they are not known. Not in a
   transaction. */
enum seen_code frontier_shared_host_ids(struct frontier_shared *f,
                                        const struct seen_span *name, size_t n,
                                        int64_t *id, struct seen_error *why);

/* The same for the hosts of links. Those of other databases get 0. */
enum seen_code frontier_shared_link_hosts(struct frontier_shared *f,
                                          const struct frontier_link *link,
                                          size_t n, int64_t *id,
                                          struct seen_error *why);

/* The table of pages set aside, if it is missing; and in a commit, a row of
   it. */
enum seen_code frontier_shared_aside_create(struct sql *db,
                                            struct seen_error *why);
enum seen_code frontier_shared_set_aside(struct frontier_shared *f,
                                         int64_t page, struct seen_error *why);

/* Empty the memory of ids. */
void frontier_shared_forget(struct frontier_shared *f);

/* The columns of a visit, as SHARED_VISIT has them. */
void frontier_shared_read_visit(struct sql_statement *st,
                                struct frontier_visit *visit);

/* --- several databases: outbox.c --- */

/* The tables that a database has beside the others if it is one of several. */
enum seen_code frontier_outbox_create(struct sql *db, struct seen_error *why);

/* In a transaction: these links, to hosts of other databases, are on their
   way. Sorts them. */
enum seen_code frontier_outbox_send(struct frontier_shared *f,
                                    const struct frontier_link **link,
                                    size_t n, struct seen_error *why);
/* In the transaction that begins a visit: every other database is to know it,
   and to have its start URLs. */
enum seen_code frontier_outbox_announce(struct frontier_shared *f,
                                        int64_t visit, struct seen_error *why);

/* What one database counted of a visit, and another one. */
void frontier_shared_add(struct frontier_visit *to,
                         const struct frontier_visit *from);

/* A link that is to be inserted, once its host is locked. */
struct frontier_insert {
    const struct frontier_link *link;
    int64_t visit, host;
    int state;
    bool wanted; /* also if the page is known and not due */
    size_t i;   /* for the caller's use */
    bool fresh; /* set: no row had this key */
};
/* Sorts them by visit and key. */
enum seen_code frontier_shared_insert(struct frontier_shared *f,
                                      struct frontier_insert *insert, size_t n,
                                      struct seen_error *why);

/* The columns of a known page, from this one on. False: they are NULL. */
#define SHARED_KNOWN_COLUMNS \
    "k.first, k.last, k.due, k.stored, k.checks, k.changes, k.size, k.terms, " \
    "k.links, k.status, k.depth, k.flags, k.url, k.type, k.etag, k.modified, " \
    "k.digest, k.place, k.history"
bool frontier_shared_read_known(struct sql_statement *st, int column,
                                struct frontier_known *known);

/* In a commit that has locked the hosts of these pages: keep what is known of
   them, in the order of their keys. */
enum seen_code frontier_shared_keep(struct frontier_shared *f,
                                    const struct frontier_done **done,
                                    size_t n, struct seen_error *why);

/* Write the changes of `queued` to the rows of hosts. */
enum seen_code frontier_shared_count(struct frontier_shared *f,
                                     struct frontier_locked *host, size_t n,
                                     struct seen_error *why);

#endif
