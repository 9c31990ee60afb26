/*
 * visit.c - visits begin, and pages become due.
 *
 * A visit has a number, a seed and a cache of its own. It begins with the start
 * URLs and the known pages that are due; everything else is found by links. So
 * a page that one visit lost to a false positive is found by the next, whose
 * cache has another seed (thesis, 4.2).
 *
 * A continuous crawl is one visit that does not end. Pages that are due are
 * queued although the cache has seen them, and links to known pages are not
 * followed, since their due times decide. With --visit-every another visit
 * begins between two requests: what waits goes on waiting, and the new cache
 * has what waits and what is known. What the old cache had beyond that are
 * links that it took for seen, and those that robots.txt kept out; both get
 * another chance.
 *
 * Killed while visits change, a crawl finds the new visit without its cache,
 * and makes it again from the same rows.
 */
#include "../engine/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/text/random.h"
#include "revisit.h"
#include "../page/scope.h"

enum { DUE_BATCH = 1000 };

static bool is_continuous(const struct crawl *c)
{
    return c->settings->strategy == CRAWL_CONTINUOUS;
}

/* --- what a visit begins with --- */

static enum seen_code take_start(void *owner, int64_t id, struct seen_span url,
                                 struct seen_error *why)
{
    struct crawl *c = owner;
    const struct frontier_page page = {
        .url = url,
        .priority = crawl_scope_priority(c->scope, c->settings, url, 0, NULL),
        .flags = CRAWL_FLAG_START,
        .path = { "", 0 },
        .type = { "", 0 },
    };

    (void)id;
    return crawl_commit_start(c, &page, true, why);
}

/*
 * The priority of a known page. By priority, one that has just changed comes
 * half a link earlier, one that changed --revisit-every ago a quarter, and so
 * on: what changed lately will change soon. Depth first, known pages are
 * fetched in the order of their due times, and each before its new links.
 */
static int64_t weigh_due(const struct crawl *c,
                         const struct frontier_page *page, int64_t changed)
{
    const struct crawl_settings *s = c->settings;
    double every = 1000.0 * (double)s->revisit_every + 1;
    double age = (double)(crawl_now(c) - changed);
    int64_t priority;

    if (s->order == CRAWL_DEPTH)
        return 0;
    priority = crawl_scope_priority(c->scope, s, page->url, page->depth, NULL);
    if (s->order == CRAWL_PRIORITY && s->strategy != CRAWL_TOPICAL)
        priority -= (int64_t)(500 * every / (every + (age > 0 ? age : 0)));
    return priority;
}

static enum seen_code take_due(void *owner, const struct frontier_page *due,
                               int64_t changed, struct seen_error *why)
{
    struct crawl *c = owner;
    struct frontier_page page = *due;

    page.via = 0;
    page.flags = CRAWL_FLAG_REVISIT;
    page.priority = weigh_due(c, due, changed);
    return crawl_commit_start(c, &page, !is_continuous(c) && !c->cache.known,
                              why);
}

/* Within a transaction. *next is when the first page is due after that. With a
   fuse of what is known, links do not lead there: everything is due. */
static enum seen_code queue_due(struct crawl *c, int64_t *next,
                                struct seen_error *why)
{
    bool all = c->cache.known && !is_continuous(c);
    int64_t now = all ? INT64_MAX - 1 : crawl_now(c);
    enum seen_code code;

    do {
        code = crawl_state_due(&c->state, now, DUE_BATCH, take_due, c, why);
        if (code == SEEN_OK)
            code = crawl_state_next_due(&c->state, next, why);
    } while (code == SEEN_OK && *next <= now);
    return code;
}

/* --- --policy freshest --- */

int64_t crawl_visit_due(const struct crawl *c, const struct crawl_known *page)
{
    if (!c->freshest || page->every)
        return crawl_revisit_due(c->settings, page);
    return page->last +
           (int64_t)(1000 * crawl_freshest_interval(c->freshest, page));
}

static enum seen_code take_history(void *owner, const struct crawl_known *page,
                                   struct seen_error *why)
{
    return crawl_freshest_note(owner, page, why);
}

/* The price of a visit follows what is known: it is found again every hour,
   and while the number of known pages doubles. */
static enum seen_code plan(struct crawl *c, struct seen_error *why)
{
    enum { HOUR = 3600000, FEW = 100 };
    const struct crawl_settings *s = c->settings;
    int64_t now = crawl_now(c);
    enum seen_code code = SEEN_OK;
    uint64_t pages;

    if (!s->freshest || (c->freshest && now - c->planned < HOUR &&
                         c->pages < 2 * (c->planned_pages + FEW)))
        return SEEN_OK;
    if (!c->freshest)
        code = crawl_freshest_new(&c->freshest, (double)s->revisit_min,
                                  (double)s->revisit_max, why);
    if (code == SEEN_OK)
        code = crawl_state_histories(&c->state, FRESHEST_SAMPLE, take_history,
                                     c->freshest, &pages, why);
    if (code != SEEN_OK)
        return code;
    crawl_freshest_settle(c->freshest, (double)(pages + 1),
                          s->budget > 0 ? s->budget
                                        : (double)(pages + 1) /
                                              (double)s->revisit_every);
    c->planned = now;
    c->planned_pages = c->pages;
    return SEEN_OK;
}

/* A seed that is given is that of the first visit; the next ones count on. */
static uint64_t choose_seed(const struct crawl *c)
{
    return c->settings->seed ? c->settings->seed + (uint64_t)c->state.visit.id
                             : random_seed();
}

/* What the last visit leaves behind is not lost: note it. */
static enum seen_code take_left(void *owner, int64_t id, struct seen_span url,
                                struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct crawl *c = owner;
    struct seen_key key;

    (void)id;
    crawl_key(&key, text, url);
    return crawl_state_unfetched(&c->state, &key, why);
}

/* Within a transaction. */
static enum seen_code number_visit(struct crawl *c, bool renew,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    int64_t now = crawl_now(c);

    if (c->state.visit.id && !renew)
        code = frontier_each(c->state.frontier, take_left, c, why);
    if (code == SEEN_OK)
        code = renew ? frontier_renew(c->state.frontier, why)
                     : frontier_reset(c->state.frontier, why);
    if (code == SEEN_OK)
        code = sql_run(
            c->state.db,
            "DELETE FROM audit; DELETE FROM traps; DELETE FROM unfetched WHERE visit "
            "< (SELECT max(id) FROM visits)",
            why);
    if (code == SEEN_OK && !renew)
        /* Pages that waited for their revisit when a budget ended. */
        code = sql_run(c->state.db,
                       "UPDATE fetched SET due = 0 WHERE due = "
                       "9223372036854775807",
                       why);
    if (code == SEEN_OK && c->state.visit.id && !c->state.visit.ended)
        code = crawl_state_end_visit(&c->state, now, why);
    return code == SEEN_OK
               ? crawl_state_begin_visit(&c->state, choose_seed(c), now, why)
               : code;
}

enum seen_code crawl_visit_begin(struct crawl *c, struct seen_error *why)
{
    const struct crawl_visit before = c->state.visit;
    bool renew = is_continuous(c) && c->state.visit.id;
    int64_t next;
    enum seen_code code = sql_begin(c->state.db, why);

    if (code == SEEN_OK)
        code = number_visit(c, renew, why);
    if (code == SEEN_OK)
        code = crawl_cache_open(&c->cache, &c->state, c->settings, true, why);
    if (code == SEEN_OK)
        code = plan(c, why);
    if (code == SEEN_OK)
        code = crawl_state_starts(&c->state, take_start, c, why);
    if (code == SEEN_OK)
        code = queue_due(c, &next, why);
    if (code == SEEN_OK)
        code = frontier_flush(c->state.frontier, why);
    if (code == SEEN_OK)
        return sql_commit(c->state.db, why);
    sql_rollback(c->state.db);
    c->state.visit = before;
    return code;
}

static void count(void *owner, const char *name, int64_t n)
{
    struct crawl *c = owner;

    for (int i = 0; i < CRAWL_OUTCOMES; i++)
        if (!strcmp(name, crawl_outcome_names[i]) && i != CRAWL_AGAIN &&
            i != CRAWL_ROBOTS && i != CRAWL_SKIPPED && i != CRAWL_CLOSED)
            c->pages += (uint64_t)n;
}

/*
 * Hosts that were given up get another chance: perhaps they answer now, or an
 * option was missing. The same command is how one asks for it. Start URLs that
 * were not given before are queued, and a visit that had ended goes on.
 */
static enum seen_code queue_more(struct crawl *c, struct seen_error *why)
{
    enum seen_code code;
    int64_t waiting, all;

    code = frontier_resume(c->state.frontier, why);
    if (code == SEEN_OK && c->cache.filter)
        code = crawl_state_starts(&c->state, take_start, c, why);
    if (code == SEEN_OK)
        code = frontier_flush(c->state.frontier, why);
    if (code == SEEN_OK)
        code = frontier_count(c->state.frontier, &waiting, &all, why);
    if (code == SEEN_OK && waiting && c->state.visit.ended)
        code = crawl_state_end_visit(&c->state, 0, why);
    return code;
}

/* A page of a path that --max-queries counts. */
static enum seen_code count_query(void *owner, int64_t id,
                                  struct seen_span url, struct seen_error *why)
{
    struct crawl *c = owner;

    (void)id;
    (void)why;
    crawl_link_is_endless(&c->queries, c->settings->max_queries, url);
    return SEEN_OK;
}

/* --max-queries is for a visit, however often it is interrupted. */
static enum seen_code count_queries(struct crawl *c, struct seen_error *why)
{
    enum seen_code code;

    code = crawl_state_each(&c->state,
                            is_continuous(c) ? 0 : c->state.visit.id,
                            count_query, c, why);
    return code == SEEN_OK
               ? frontier_each(c->state.frontier, count_query, c, why)
               : code;
}

enum seen_code crawl_visit_resume(struct crawl *c, struct seen_error *why)
{
    enum seen_code code;
    bool again;

    code = crawl_cache_open(&c->cache, &c->state, c->settings, false, why);
    if (code == SEEN_OK)
        code = crawl_state_counts(&c->state, count, c, why);
    if (code == SEEN_OK)
        code = count_queries(c, why);
    if (code == SEEN_OK)
        code = plan(c, why);
    if (code == SEEN_OK)
        code = sql_begin(c->state.db, why);
    if (code != SEEN_OK)
        return code;
    code = queue_more(c, why);
    if (code == SEEN_OK)
        code = crawl_cache_confirm(&c->cache, &again, why);
    if (code == SEEN_OK && again) /* what the cache said does not count */
        code = seen_fail(why, SEEN_IO, 0,
                         "the server of --cache was replaced while the crawl "
                         "began; give the same command again");
    if (code == SEEN_OK)
        return sql_commit(c->state.db, why);
    sql_rollback(c->state.db);
    return code;
}

/* --- continuous --- */

/* Nothing is under way: the next visit may begin. */
static enum seen_code change_visit(struct crawl *c, struct seen_error *why)
{
    enum seen_code code = crawl_cache_save(&c->cache, true, why);

    crawl_cache_close(&c->cache);
    if (code == SEEN_OK)
        code = crawl_visit_begin(c, why);
    pthread_mutex_lock(&c->lock);
    crawl_hosts_clear(&c->hosts);
    c->shared.visit_id = c->state.visit.id;
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* Stop starting requests, and look whether those under way have ended. */
static bool pause_requests(struct crawl *c)
{
    bool quiet;

    pthread_mutex_lock(&c->lock);
    c->pausing = true;
    quiet = !c->active && !c->working && !c->done.n && !c->looking;
    pthread_mutex_unlock(&c->lock);
    return quiet;
}

static enum seen_code renew_visit(struct crawl *c, struct seen_error *why)
{
    int64_t every = (int64_t)c->settings->visit_every * 1000;
    enum seen_code code = SEEN_OK;

    if (!every || crawl_now(c) - c->state.visit.began < every)
        return SEEN_OK;
    if (!pause_requests(c))
        return SEEN_OK;
    code = change_visit(c, why);
    pthread_mutex_lock(&c->lock);
    c->pausing = false;
    pthread_mutex_unlock(&c->lock);
    return code;
}

enum seen_code crawl_visit_continue(struct crawl *c, struct seen_error *why)
{
    enum seen_code code;
    int64_t next;

    code = plan(c, why);
    if (code != SEEN_OK || !is_continuous(c))
        return code;
    code = renew_visit(c, why);
    if (code == SEEN_OK)
        code = crawl_state_next_due(&c->state, &next, why);
    if (code == SEEN_OK && next <= crawl_now(c)) {
        code = sql_begin(c->state.db, why);
        if (code == SEEN_OK)
            code = queue_due(c, &next, why);
        if (code == SEEN_OK)
            code = frontier_flush(c->state.frontier, why);
        if (code == SEEN_OK)
            code = sql_commit(c->state.db, why);
        else
            sql_rollback(c->state.db);
    }
    if (code != SEEN_OK)
        return code;
    pthread_mutex_lock(&c->lock);
    c->next_due = next;
    pthread_mutex_unlock(&c->lock);
    return SEEN_OK;
}

bool crawl_visit_skip(struct crawl *c)
{
    const struct crawl_settings *s = c->settings;
    bool skipped = false;
    int64_t to, end;

    pthread_mutex_lock(&c->lock);
    to = c->next_due;
    end = c->began + (int64_t)s->time * 1000;
    if (s->time && end < to)
        to = end;
    end = c->state.visit.began + (int64_t)s->visit_every * 1000;
    if (s->visit_every && end < to)
        to = end;
    if (c->injected && !c->active && !c->working && !c->done.n &&
        !c->looking && to != INT64_MAX && to > crawl_now(c)) {
        atomic_fetch_add(&c->offset, to - crawl_now(c));
        skipped = true;
    }
    pthread_mutex_unlock(&c->lock);
    return skipped;
}
