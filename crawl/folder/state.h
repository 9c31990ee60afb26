/*
 * state.h - the folder of a crawl, and what survives any end of it.
 *
 *     DIR/state.db          settings, visits, hosts, frontier, fetched pages
 *     DIR/cache-N.seen      the filter of visit N
 *     DIR/cache-N.keys      its keys, to make a larger one of
 *     DIR/warc/             WARC files
 *     DIR/index.cdxj        one line per response
 *     DIR/pages.jsonl       one page record per line
 *     DIR/crawl.log         one line per URL, in the columns of Heritrix
 *     DIR/lock              held while a crawl runs
 *     DIR/reading           the same: what its readers read (aside.h)
 *
 * The four outputs grow by appending. The state records how long each was at
 * the last commit; what a killed process wrote after that is cut off when the
 * crawl resumes, and fetched again. So every page is stored exactly once.
 *
 * Threads: a state belongs to one thread at a time.
 */
#ifndef SEEN_CRAWL_STATE_H
#define SEEN_CRAWL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/key.h>
#include <seen/span.h>

#include "../../frontier/frontier.h"
#include "../../sql/sql.h"
#include "../engine/output.h"
#include "../page/known.h"

/* Of the state. A state of version 1, which has no packed pages, becomes one of
   version 2 when it is opened to be written. */
enum { CRAWL_VERSION = 2 };

struct crawl_visit {
    int64_t id;
    uint64_t seed;
    int64_t began, ended; /* Unix time in ms; ended 0: it goes on */
    double expected;      /* pages lost to false positives */
    char name[64];        /* "2@1767225600" */
};

struct crawl_state {
    char *folder;
    int lock;
    struct sql *db;
    struct frontier *frontier;
    struct crawl_position position;
    struct crawl_visit visit;
    struct sql_statement *st[32];
    unsigned traps; /* that this run kept */
    struct crawl_left_memory *left; /* of left_out.h; NULL: nothing kept yet */
    bool bare;      /* the folder had no other files when it was opened */
    bool made;      /* state.db was made when it was opened, */
    bool made_folder; /* and so was the folder */
    bool unwanted;  /* what was made is to be removed when it is closed */
};

/* Is there a state.db? */
bool crawl_state_exists(const char *folder);

/*
 * Open or make a folder. SEEN_BUSY: a crawl runs in it. SEEN_MISMATCH: it is
 * of a later version, or not the folder of a crawl. SEEN_CORRUPT: the state is
 * damaged.
 */
enum seen_code crawl_state_open(struct crawl_state *s, const char *folder,
                                struct seen_error *why);

/* The same to look at it, also while a crawl runs. */
enum seen_code crawl_state_look(struct crawl_state *s, const char *folder,
                                struct seen_error *why);
/* Of a state that is unwanted, the files and the folder that this process made
   are removed, while it has the lock: another crawl may begin here after
   that. Keeps errno. */
void crawl_state_close(struct crawl_state *s);

/* "folder/name", for the caller to free(). */
char *crawl_state_path(const struct crawl_state *s, const char *name);

/* Values by name. A value that is returned is for the caller to free();
   *value is NULL if there is none. */
enum seen_code crawl_state_get(struct crawl_state *s, const char *name,
                               char **value, struct seen_error *why);
enum seen_code crawl_state_set(struct crawl_state *s, const char *name,
                               const char *value, struct seen_error *why);

/*
 * The clock of a run: noted with each commit, within its transaction. A run that
 * begins earlier than that knows that the clock was set back, or was ahead. Then
 * hosts and robots.txt get times that are as far from `now` as they were from
 * the clock of that commit, and so do visits and pages that were fetched later
 * than now. *back is how far it was set back, in ms, or 0.
 */
enum seen_code crawl_state_note_clock(struct crawl_state *s, int64_t now,
                                      struct seen_error *why);
enum seen_code crawl_state_set_back(struct crawl_state *s, int64_t now,
                                    int64_t *back, struct seen_error *why);

/* Begin a visit, in a transaction of the caller; s->visit becomes it. */
enum seen_code crawl_state_begin_visit(struct crawl_state *s, uint64_t seed,
                                       int64_t now, struct seen_error *why);
enum seen_code crawl_state_end_visit(struct crawl_state *s, int64_t now,
                                     struct seen_error *why);

/* The position and s->visit.expected, within a transaction. */
enum seen_code crawl_state_write(struct crawl_state *s,
                                 struct seen_error *why);

/* Fetched pages. *found is false if the key is not known; otherwise the texts
   of `page` are one piece of memory to free by crawl_known_clear(). */
enum seen_code crawl_state_find(struct crawl_state *s,
                                const struct seen_key *key, bool *found,
                                struct crawl_known *page,
                                struct seen_error *why);
enum seen_code crawl_state_keep(struct crawl_state *s,
                                const struct seen_key *key,
                                struct crawl_known *page,
                                struct seen_error *why);

/* Known pages, with nothing but their history: up to `most` of them, evenly
   over all. *all is how many there are, but for gaps in their numbers. */
typedef enum seen_code crawl_state_take_history(void *owner,
                                                const struct crawl_known *page,
                                                struct seen_error *why);
enum seen_code crawl_state_histories(struct crawl_state *s, uint64_t most,
                                     crawl_state_take_history *take,
                                     void *owner, uint64_t *all,
                                     struct seen_error *why);

/* Fetched pages that are due, at most `most`; each is due never after that,
   until it is kept again. `via` of a row is the page's own number, `changed`
   the time of its last change that was seen. */
typedef enum seen_code crawl_take_due(void *owner,
                                      const struct frontier_page *page,
                                      int64_t changed, struct seen_error *why);
enum seen_code crawl_state_due(struct crawl_state *s, int64_t now,
                               unsigned most, crawl_take_due *take,
                               void *owner, struct seen_error *why);
/* Pages that are due never, because they were queued and not fetched, are due
   at once. */
enum seen_code crawl_state_due_anew(struct crawl_state *s,
                                    struct seen_error *why);
/* When the next one is due; INT64_MAX: none is. */
enum seen_code crawl_state_next_due(struct crawl_state *s, int64_t *due,
                                    struct seen_error *why);

/* All known pages that do not wait get the due time that due_of() returns. It
   gets what due times are made from: the history, the last visit, `every`. */
typedef int64_t crawl_due_of(void *owner, const struct crawl_known *page);
enum seen_code crawl_state_date(struct crawl_state *s, crawl_due_of *due_of,
                                void *owner, struct seen_error *why);

/*
 * Pages that this visit has neither fetched nor queued, with numbers above
 * `after`, where their copies are and what digests these have. `via` of a row
 * is the page's own number. Until take() says that it wants no more.
 */
typedef enum seen_code crawl_take_copy(void *owner,
                                       const struct frontier_page *page,
                                       struct seen_span place,
                                       struct seen_span digest, bool *more,
                                       struct seen_error *why);
enum seen_code crawl_state_copies(struct crawl_state *s, int64_t after,
                                  crawl_take_copy *take, void *owner,
                                  struct seen_error *why);

/* Was a page with this key fetched? */
enum seen_code crawl_state_knows(struct crawl_state *s,
                                 const struct seen_key *key, bool *found,
                                 struct seen_error *why);

/* The URLs of pages that were fetched in this visit or later; 0: of all. */
enum seen_code crawl_state_each(struct crawl_state *s, int64_t visit,
                                frontier_take_url *take, void *owner,
                                struct seen_error *why);

/* The URLs with a query of fetched pages that do not wait. */
enum seen_code crawl_state_each_query(struct crawl_state *s,
                                      frontier_take_url *take, void *owner,
                                      struct seen_error *why);

/*
 * URLs that a visit's cache has, and that the visit did not fetch for a reason
 * that is known: robots.txt, --skip, a budget. Of this visit, and of the one
 * before it.
 */
enum seen_code crawl_state_unfetched(struct crawl_state *s,
                                     const struct seen_key *key,
                                     struct seen_error *why);
enum seen_code crawl_state_was_unfetched(struct crawl_state *s,
                                         const struct seen_key *key,
                                         bool *found, struct seen_error *why);
/* Those of this visit. Keys have no text. */
typedef enum seen_code crawl_take_key(void *owner, const struct seen_key *key,
                                      struct seen_error *why);
enum seen_code crawl_state_each_unfetched(struct crawl_state *s,
                                          crawl_take_key *take, void *owner,
                                          struct seen_error *why);

/* A page that an earlier visit lost to a false positive, for the report. */
enum seen_code crawl_state_recovered(struct crawl_state *s, const char *url,
                                     struct seen_error *why);

/* The URL of a fetched page, for the caller to free(); "" if unknown. */
char *crawl_state_url(struct crawl_state *s, int64_t id);

/* Start URLs. */
enum seen_code crawl_state_start(struct crawl_state *s, struct seen_span url,
                                 struct seen_error *why);
enum seen_code crawl_state_starts(struct crawl_state *s,
                                  frontier_take_url *take, void *owner,
                                  struct seen_error *why);
enum seen_code crawl_state_is_start(struct crawl_state *s,
                                    struct seen_span url, bool *start,
                                    struct seen_error *why);

/* robots.txt of an origin, if there is one that counts until `now`: see
   engine/store.h. A body of more than `most` bytes is not read: NULL. The
   caller frees it. */
struct crawl_kept_robots;
enum seen_code crawl_state_robots(struct crawl_state *s,
                                  struct seen_span origin, int64_t now,
                                  size_t most, struct crawl_kept_robots *kept,
                                  struct seen_error *why);
enum seen_code crawl_state_keep_robots(struct crawl_state *s,
                                       struct seen_span origin, int64_t until,
                                       int status, struct seen_span body,
                                       struct seen_error *why);

/*
 * A link that looks like a trap, and why: it is kept, up to some thousand, for
 * `seen crawl why`, and counted by its reason `n` times.
 */
enum seen_code crawl_state_trap(struct crawl_state *s, struct seen_span url,
                                struct seen_span reason, int64_t n,
                                struct seen_error *why);
/* The reason, for the caller to free(); NULL if there is none. */
enum seen_code crawl_state_trap_find(struct crawl_state *s,
                                     struct seen_span url, char **reason,
                                     struct seen_error *why);

/* Is there a table of this name? Some are made with their first row: that of
   pages that were set aside, of links that were left out, of the full-text
   index ("search"). */
enum seen_code crawl_state_has_table(struct crawl_state *s, const char *name,
                                     bool *found, struct seen_error *why);

/* Counters by name, of the visit. Those of traps are this and the reason. */
#define CRAWL_TRAP "trap: "
enum seen_code crawl_state_count(struct crawl_state *s, const char *name,
                                 int64_t more, struct seen_error *why);
enum seen_code crawl_state_counts(struct crawl_state *s,
                                  void (*take)(void *owner, const char *name,
                                               int64_t n),
                                  void *owner, struct seen_error *why);

#endif
