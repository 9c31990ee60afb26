/*
 * inside.h - what the parts of a team's worker share.
 *
 *     team.c          open, run, the committing thread, the lease
 *     visits.c    visits in memory, jobs, ends of visits
 *     hosts.c     hosts and pages from the shared frontier
 *     commit.c    groups of pages to files, queue and frontier
 *     folder.c    the files of a worker, and of those that died
 *     aside.c     pages that killed their workers
 *     cache.c     filters in Redis, which all workers share
 *
 * Threads: the committing one only, but for what engine.h has under its lock.
 */
#ifndef SEEN_CRAWL_TEAM_INSIDE_H
#define SEEN_CRAWL_TEAM_INSIDE_H

#include <stdatomic.h>

#include <seen/filter.h>

#include "../../frontier/spread.h"
#include "../cache/growth.h"
#include "../cache/server.h"
#include "../engine/queries.h"
#include "../engine/store.h"
#include "../job/job.h"
#include "team.h"

/* A visit. It is freed when it is over and has no page in memory. */
struct crawl_team_visit {
    int64_t id;
    struct crawl_job *job;
    struct seen_filter *filter; /* of links whose rows are there; or NULL */
    struct crawl_growth growth; /* of one in memory */
    struct crawl_queries queries; /* pages per path with a query */
    atomic_size_t pages;        /* in memory */
    int64_t fetched;            /* by all workers, as far as is known */
    uint64_t met;               /* clock_ms() */
    bool runs;                  /* when somebody last looked */
    bool thorough;              /* see struct frontier_visit */
};

struct crawl_team {
    struct crawl_team_settings settings;
    struct crawl_posts posts;
    struct sql *db; /* the home of the frontier */
    struct frontier_spread *frontier;
    unsigned database; /* of the frontier, that the next commit is about */
    struct map visits; /* by id */
    char *folder, *name;
    char *note; /* its path: folder.c */
    int note_fd, note_lock;
    bool undecided;  /* was the last commit done? Then none may follow */
    uint64_t mended; /* clock_ms(): folders of others were looked at */
    int reading_lock;     /* of the notes of readers: aside.c */
    uint64_t aside_looked; /* clock_ms(): at notes of others */
    uint64_t renewed, looked, shared, warned; /* clock_ms() of the last time */
    int64_t share;    /* hosts that this worker may have; -1: all */
    int64_t workers;
    bool idle;        /* no visit is left */
    bool more;        /* jobs are left, as far as is known */
    unsigned looks;   /* in a row that found none */
    uint64_t waits;   /* clock_ms(): for jobs of others, since then; 0: not */
    bool lost;        /* the lease has ended */
    struct crawl_server server; /* that has the filters: cache.h */
    char *token;            /* of the frontier */
    uint64_t cache_until;   /* clock_ms(): Redis is not asked before */
    unsigned cache_timeout; /* ms */
    struct crawl_team_report report;
};

static inline struct crawl_team *crawl_team_of(const struct crawl *c)
{
    return c->owned_by_store;
}

/* The visit of a page. */
static inline struct crawl_team_visit *crawl_team_visit_of(
    const struct crawl_page *page)
{
    return page->shared->owned_by_store;
}

/* --- visits --- */

/* The visit with this number, read from the frontier if it is not known. */
enum seen_code crawl_team_visit_find(struct crawl *c, int64_t id,
                                     struct crawl_team_visit **out,
                                     struct seen_error *why);

/* Take jobs, publish the ends of visits, forget visits that are over. */
enum seen_code crawl_team_visits_tend(struct crawl *c, struct seen_error *why);
void crawl_team_visits_clear(struct crawl *c);

/* --- hosts and pages --- */

/* Functions of the store: see engine/store.h. */
enum seen_code crawl_team_hosts(struct crawl *c, struct seen_error *why);
enum seen_code crawl_team_host(struct crawl *c, struct seen_span name,
                               struct crawl_origin *of,
                               enum crawl_coming *coming,
                               struct seen_error *why);
enum seen_code crawl_team_pages(struct crawl *c, const struct crawl_host *host,
                                unsigned most, crawl_take_row *take,
                                void *owner, struct seen_error *why);
enum seen_code crawl_team_prepare(struct crawl *c, struct crawl_page *page,
                                  struct seen_error *why);
enum seen_code crawl_team_origin(struct crawl *c,
                                 struct frontier_origin *origin,
                                 struct seen_error *why);
enum seen_code crawl_team_robots(struct crawl *c, struct seen_span origin,
                                 size_t most, struct crawl_kept_robots *kept,
                                 struct seen_error *why);

/* Forget pages at hand whose visit does not run any more. */
void crawl_team_drop_pages(struct crawl *c);

/* --- commits --- */

extern const struct crawl_store crawl_team_store;

/* Publish, and go on trying while the lease lasts. SEEN_ABSENT: it has
   ended. */
enum seen_code crawl_team_publish(struct crawl *c,
                                  const struct crawl_post *post, size_t n,
                                  struct seen_error *why);

/* Something is away, and may come back. */
void crawl_team_warn(struct crawl *c, const struct seen_error *why);

/* --- files --- */

/* Nothing happens here without --into. */
enum seen_code crawl_team_folder_open(struct crawl *c, struct seen_error *why);
void crawl_team_folder_close(struct crawl_team *t);

/* Append what is pending, and flush it, with a note of the commit that makes
   it count. */
enum seen_code crawl_team_folder_write(struct crawl *c,
                                       struct seen_error *why);

/* The commit was not done: cut the files back to these lengths. */
void crawl_team_folder_undo(struct crawl *c,
                            const uint64_t length[CRAWL_FILES]);
/* The commit failed: undo it, unless it was done. */
void crawl_team_folder_settle(struct crawl *c,
                              const uint64_t length[CRAWL_FILES]);

/* Cut off lines that do not count in the folders of workers that died. */
void crawl_team_folder_mend(struct crawl *c);

/* --- pages that kill their worker --- */

/* Note what dead workers were reading, and begin notes of this one. Without
   notes it goes on, with a warning. */
enum seen_code crawl_team_aside_open(struct crawl *c, struct seen_error *why);
/* The same for those who died since, once per lease. */
enum seen_code crawl_team_aside_tend(struct crawl *c, struct seen_error *why);
void crawl_team_aside_close(struct crawl_team *t);

/* --- the lease --- */

/* Renew it, if a third of it has passed. SEEN_ABSENT: it has ended. */
enum seen_code crawl_team_renew(struct crawl *c, struct seen_error *why);
/* It has: forget everything that this worker had, and get another. */
enum seen_code crawl_team_begin_anew(struct crawl *c, struct seen_error *why);

/* After a turn: what next? */
enum seen_code crawl_team_rest(struct crawl *c, bool closing,
                               enum crawl_next *next, struct seen_error *why);

#endif
