/*
 * inside.h - what the parts of a crawl in a folder share.
 *
 *     open.c       begin a crawl, or go on where one ended
 *     visit.c      visits begin and end, pages become due
 *     due.c        when known pages are due
 *     recover.c    stored copies are read for their links
 *     queries.c    how many pages paths have that differ in their query
 *     commit.c     the store's table, and what a commit writes, with rows.c
 *     hosts.c      hosts and pages that come into memory
 *     aside.c      pages that killed their process
 *     state.c      the folder and its database
 *     cache.c      the filter of links that were seen
 *
 * Threads: the committing one only, but for what engine.h has under its lock.
 */
#ifndef SEEN_CRAWL_FOLDER_INSIDE_H
#define SEEN_CRAWL_FOLDER_INSIDE_H

#include "../engine/queries.h"
#include "../engine/store.h"
#include "../page/focus.h"
#include "../template/template.h"
#include "cache.h"
#include "folder.h"
#include "freshest.h"
#include "recover.h"
#include "search.h"
#include "state.h"

/* What a crawl in a folder has besides the engine. */
struct crawl_folder {
    void *kept; /* what the texts of the settings point into */

    /* what its pages share; read-only while it runs */
    struct crawl_scope *scope;
    struct crawl_template *template; /* or NULL */
    struct crawl_focus *focus;       /* or NULL */
    struct crawl_shared shared;

    struct crawl_state state;
    struct crawl_cache cache;
    struct crawl_search *search; /* NULL: without --index */
    struct crawl_recover recover;
    struct crawl_queries queries; /* pages per path with a query, */
    struct sql_statement *keep_query; /* which the state has; NULL: not yet */

    struct crawl_freshest *freshest; /* NULL: without --policy freshest */
    int64_t planned;                 /* when its price was found, */
    uint64_t planned_pages;          /* and for how many pages */

    int64_t starts;    /* start URLs */
    bool nothing_due;  /* --revisit began no visit, */
    int64_t first_due; /* because the first page is due then */
};

static inline struct crawl_folder *crawl_folder_of(const struct crawl *c)
{
    return c->owned_by_store;
}

/* --- the store: see engine/store.h --- */

extern const struct crawl_store crawl_folder_store;

/* Functions of that table. */
enum seen_code crawl_folder_hosts(struct crawl *c, struct seen_error *why);
enum seen_code crawl_folder_host(struct crawl *c, struct seen_span name,
                                 struct crawl_origin *of,
                                 enum crawl_coming *coming,
                                 struct seen_error *why);
enum seen_code crawl_folder_pages(struct crawl *c,
                                  const struct crawl_host *host, unsigned most,
                                  crawl_take_row *take, void *owner,
                                  struct seen_error *why);
enum seen_code crawl_folder_prepare(struct crawl *c, struct crawl_page *page,
                                    struct seen_error *why);
enum seen_code crawl_folder_origin(struct crawl *c,
                                   struct frontier_origin *origin,
                                   struct seen_error *why);
enum seen_code crawl_folder_robots(struct crawl *c, struct seen_span origin,
                                   size_t most, struct crawl_kept_robots *kept,
                                   struct seen_error *why);

/* --- --max-queries --- */

/* Of a visit that begins, in a transaction: count anew. Of one that goes on: as
   they were kept. */
enum seen_code crawl_folder_queries_count(struct crawl *c,
                                          struct seen_error *why);
enum seen_code crawl_folder_queries_open(struct crawl *c,
                                         struct seen_error *why);
/* Write what has changed, in a transaction. */
enum seen_code crawl_folder_queries_keep(struct crawl *c,
                                         struct seen_error *why);

/* --- visits --- */

/* Queue a URL: if the cache has not seen it, or whether it has or not. */
enum seen_code crawl_commit_start(struct crawl *c,
                                  const struct frontier_page *page, bool ask,
                                  struct seen_error *why);

/* Begin a visit, or go on with one: before the threads run. */
enum seen_code crawl_visit_begin(struct crawl *c, struct seen_error *why);
enum seen_code crawl_visit_resume(struct crawl *c, struct seen_error *why);

/* When the page that was just visited is due again. */
int64_t crawl_visit_due(const struct crawl *c, const struct crawl_known *page);

/* A continuous crawl: queue pages that are due, change the visit when its time
   is over. The lock is not held. */
enum seen_code crawl_visit_continue(struct crawl *c, struct seen_error *why);
/* Nothing is to be fetched before the next page is due: with an injected
   clock, go there. True if that was done. */
bool crawl_visit_skip(struct crawl *c);

#endif
