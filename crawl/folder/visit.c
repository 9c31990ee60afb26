/*
 * visit.c - visits begin, and pages become due.
 *
 * A visit has a number, a seed and a cache of its own. It begins with the start
 * URLs, the known pages that are due, and what the visit before left waiting;
 * everything else is found by links. So a page that one visit lost to a false
 * positive is found by the next, whose cache has another seed (thesis, 4.2).
 *
 * The new cache has what waits and what is known, due or not. So a known page
 * is asked for when its row says so, and a link to it changes nothing: not when
 * all pages link to it, and not when no page does any more. What the old cache
 * had beyond that are links that it took for seen, and those that robots.txt
 * kept out; both get another chance when a page that has the link is read.
 *
 * A continuous crawl is one visit that does not end: pages are queued as they
 * become due. With --visit-every another visit begins between two requests.
 *
 * Killed while visits change, a crawl finds the new visit without its cache,
 * and makes it again from the same rows.
 */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/text/random.h"
#include "../page/scope.h"
#include "due.h"

enum { DUE_BATCH = 1000 };

static bool is_continuous(const struct crawl *c)
{
    return c->settings->strategy == CRAWL_CONTINUOUS;
}

/* --- what a visit begins with --- */

static enum seen_code queue_start(struct crawl *c, struct seen_span url,
                                  bool ask, struct seen_error *why)
{
    const struct frontier_page page = {
        .url = url,
        .priority = crawl_scope_priority(crawl_folder_of(c)->scope,
                                         c->settings, url, 0, NULL),
        .flags = CRAWL_FLAG_START,
        .path = { "", 0 },
        .type = { "", 0 },
    };

    return crawl_commit_start(c, &page, ask, why);
}

/* In a visit that goes on, or of a continuous crawl: unless it was queued
   before, or is known. */
static enum seen_code take_start(void *owner, int64_t id, struct seen_span url,
                                 struct seen_error *why)
{
    (void)id;
    return queue_start(owner, url, true, why);
}

/* In a visit that begins. The cache has those that are known, which are asked
   for all the same: new links are found there first. */
static enum seen_code begin_start(void *owner, int64_t id,
                                  struct seen_span url, struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct crawl *c = owner;
    struct seen_key key;
    enum seen_code code;
    bool known;

    (void)id;
    crawl_key(&key, text, url);
    code = crawl_state_knows(&crawl_folder_of(c)->state, &key, &known, why);
    return code == SEEN_OK ? queue_start(c, url, !known, why) : code;
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
    priority = crawl_scope_priority(crawl_folder_of(c)->scope, s, page->url,
                                    page->depth, NULL);
    if (s->order == CRAWL_PRIORITY && s->strategy != CRAWL_TOPICAL)
        priority -= (int64_t)(500 * every / (every + (age > 0 ? age : 0)));
    return priority;
}

static enum seen_code take_due(void *owner, const struct frontier_page *due,
                               int64_t changed, struct seen_error *why)
{
    struct crawl *c = owner;
    struct frontier_page page = *due;
    enum seen_code code = SEEN_OK;
    bool start = false; /* those are queued when a visit begins */

    page.via = 0;
    page.flags = CRAWL_FLAG_REVISIT;
    page.priority = weigh_due(c, due, changed);
    if (!is_continuous(c))
        code = crawl_state_is_start(&crawl_folder_of(c)->state, page.url,
                                    &start, why);
    return code == SEEN_OK && !start ? crawl_commit_start(c, &page, false, why)
                                     : code;
}

/* Within a transaction. *next is when the first page is due after that. */
static enum seen_code queue_due(struct crawl *c, bool all, int64_t *next,
                                struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    int64_t now = all ? INT64_MAX - 1 : crawl_now(c);
    enum seen_code code;

    do {
        code = crawl_state_due(&f->state, now, DUE_BATCH, take_due, c, why);
        if (code == SEEN_OK)
            code = crawl_state_next_due(&f->state, next, why);
    } while (code == SEEN_OK && *next <= now);
    return code;
}

/* A seed that is given is that of the first visit; the next ones count on. */
static uint64_t choose_seed(const struct crawl *c)
{
    return c->settings->seed ? c->settings->seed +
                                   (uint64_t)crawl_folder_of(c)->state.visit.id
                             : random_seed();
}

/*
 * What the last visit leaves goes on waiting. It was not lost: note that.
 * But known pages and start URLs are queued anew by their own rows; if they
 * stayed, there would be two requests. Mostly frontier_renew() knows them by
 * their flag; earlier versions queued known pages as links, without one.
 */
static enum seen_code take_left(void *owner, int64_t id, struct seen_span url,
                                struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct crawl *c = owner;
    struct crawl_folder *f = crawl_folder_of(c);
    struct seen_key key;
    bool known, start = false;
    int64_t host;
    enum seen_code code;

    crawl_key(&key, text, url);
    code = crawl_state_knows(&f->state, &key, &known, why);
    if (code == SEEN_OK && !known)
        code = crawl_state_unfetched(&f->state, &key, why);
    if (code == SEEN_OK && !known)
        code = crawl_state_is_start(&f->state, url, &start, why);
    if (code != SEEN_OK || is_continuous(c) || !(known || start))
        return code;
    code = frontier_host_id(f->state.frontier, crawl_host_of(url), &host, why);
    return code == SEEN_OK ? frontier_remove(f->state.frontier, host, id, why)
                           : code;
}

/* Within a transaction. */
static enum seen_code number_visit(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    int64_t now = crawl_now(c);
    unsigned queued_anew = is_continuous(c) ? 0 : CRAWL_FLAG_REVISIT;
    enum seen_code code = f->state.visit.id
                              ? frontier_renew(f->state.frontier, queued_anew,
                                               why)
                              : frontier_reset(f->state.frontier, why);

    if (code == SEEN_OK && f->state.visit.id)
        code = frontier_each(f->state.frontier, take_left, c, why);
    if (code == SEEN_OK)
        code = frontier_flush(f->state.frontier, why);
    if (code == SEEN_OK)
        code = sql_run(
            f->state.db,
            "DELETE FROM audit; DELETE FROM traps; DELETE FROM unfetched WHERE visit "
            "< (SELECT max(id) FROM visits)",
            why);
    if (code == SEEN_OK && !is_continuous(c))
        code = crawl_state_due_anew(&f->state, why);
    if (code == SEEN_OK && f->state.visit.id && !f->state.visit.ended)
        code = crawl_state_end_visit(&f->state, now, why);
    return code == SEEN_OK
               ? crawl_state_begin_visit(&f->state, choose_seed(c), now, why)
               : code;
}

static enum seen_code begin(struct crawl *c, bool all, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    const struct crawl_visit before = f->state.visit;
    bool recover;
    int64_t next;
    enum seen_code code = sql_begin(f->state.db, why);

    if (code == SEEN_OK)
        code = crawl_recover_wanted(c, &recover, why);
    if (code == SEEN_OK)
        code = crawl_recover_begin(c, recover, why);
    if (code == SEEN_OK)
        code = number_visit(c, why);
    if (code == SEEN_OK)
        code = crawl_cache_open(&f->cache, &f->state, c->settings, true, why);
    if (code == SEEN_OK)
        code = crawl_due_plan(c, why);
    if (code == SEEN_OK)
        code = crawl_state_starts(
            &f->state, is_continuous(c) ? take_start : begin_start, c, why);
    if (code == SEEN_OK)
        code = queue_due(c, all, &next, why);
    if (code == SEEN_OK)
        code = crawl_folder_queries_count(c, why);
    if (code == SEEN_OK)
        code = frontier_flush(f->state.frontier, why);
    if (code == SEEN_OK)
        return sql_commit(f->state.db, why);
    sql_rollback(f->state.db);
    f->state.visit = before;
    return code;
}

enum seen_code crawl_visit_begin(struct crawl *c, struct seen_error *why)
{
    return begin(c, c->settings->revisit_all, why);
}

static void count(void *owner, const char *name, int64_t n)
{
    struct crawl *c = owner;

    for (int i = 0; i < CRAWL_OUTCOMES; i++)
        if (!strcmp(name, crawl_outcome_names[i]) && i != CRAWL_AGAIN &&
            i != CRAWL_ROBOTS && i != CRAWL_SKIPPED && i != CRAWL_CLOSED &&
            i != CRAWL_ASIDE)
            c->pages += (uint64_t)n;
}

/*
 * Hosts that were given up get another chance: perhaps they answer now, or an
 * option was missing. The same command is how one asks for it. Start URLs that
 * were not given before are queued, and a visit that had ended goes on.
 */
static enum seen_code queue_more(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code;
    int64_t waiting, all;

    code = frontier_resume(f->state.frontier, why);
    if (code == SEEN_OK && f->cache.filter)
        code = crawl_state_starts(&f->state, take_start, c, why);
    if (code == SEEN_OK)
        code = frontier_flush(f->state.frontier, why);
    if (code == SEEN_OK)
        code = frontier_count(f->state.frontier, &waiting, &all, why);
    if (code == SEEN_OK && waiting && f->state.visit.ended)
        code = crawl_state_end_visit(&f->state, 0, why);
    return code == SEEN_OK ? crawl_folder_queries_keep(c, why) : code;
}

enum seen_code crawl_visit_resume(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code;
    bool again;

    code = crawl_cache_open(&f->cache, &f->state, c->settings, false, why);
    if (code == SEEN_OK)
        code = crawl_state_counts(&f->state, count, c, why);
    if (code == SEEN_OK)
        code = crawl_folder_queries_open(c, why);
    if (code == SEEN_OK)
        code = crawl_due_plan(c, why);
    if (code == SEEN_OK)
        code = sql_begin(f->state.db, why);
    if (code != SEEN_OK)
        return code;
    code = queue_more(c, why);
    if (code == SEEN_OK)
        code = crawl_cache_confirm(&f->cache, &again, why);
    if (code == SEEN_OK && again) /* what the cache said does not count */
        code = seen_fail(why, SEEN_IO, 0,
                         "the server of --cache was replaced while the crawl "
                         "began; give the same command again");
    return sql_end(f->state.db, code, why);
}

/* --- continuous --- */

/* Nothing is under way: the next visit may begin. */
static enum seen_code change_visit(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code = crawl_cache_save(&f->cache, true, why);

    crawl_cache_close(&f->cache);
    if (code == SEEN_OK)
        code = begin(c, false, why);
    pthread_mutex_lock(&c->lock);
    crawl_hosts_clear(&c->hosts);
    f->shared.visit_id = f->state.visit.id;
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* Stop starting requests, and look whether those under way have ended. */
static bool pause_requests(struct crawl *c)
{
    bool quiet;

    pthread_mutex_lock(&c->lock);
    if (c->phase == CRAWL_FETCHES)
        c->phase = CRAWL_PAUSES;
    quiet = !c->active && !c->working && !c->done.n && !c->looking;
    pthread_mutex_unlock(&c->lock);
    return quiet;
}

static enum seen_code renew_visit(struct crawl *c, struct seen_error *why)
{
    int64_t every = (int64_t)c->settings->visit_every * 1000;
    enum seen_code code = SEEN_OK;

    if (!every || crawl_now(c) - crawl_folder_of(c)->state.visit.began < every)
        return SEEN_OK;
    if (!pause_requests(c))
        return SEEN_OK;
    code = change_visit(c, why);
    pthread_mutex_lock(&c->lock);
    if (c->phase == CRAWL_PAUSES)
        c->phase = CRAWL_FETCHES;
    pthread_mutex_unlock(&c->lock);
    return code;
}

enum seen_code crawl_visit_continue(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code;
    int64_t next;

    code = crawl_due_plan(c, why);
    if (code == SEEN_OK && !is_continuous(c))
        return crawl_recover_some(c, why);
    if (code != SEEN_OK)
        return code;
    code = renew_visit(c, why);
    if (code == SEEN_OK)
        code = crawl_state_next_due(&f->state, &next, why);
    if (code == SEEN_OK && next <= crawl_now(c)) {
        code = sql_begin(f->state.db, why);
        if (code == SEEN_OK)
            code = queue_due(c, false, &next, why);
        if (code == SEEN_OK)
            code = frontier_flush(f->state.frontier, why);
        if (code == SEEN_OK)
            code = sql_commit(f->state.db, why);
        else
            sql_rollback(f->state.db);
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
    end = crawl_folder_of(c)->state.visit.began +
          (int64_t)s->visit_every * 1000;
    if (s->visit_every && end < to)
        to = end;
    if (c->injected_clock && !c->active && !c->working && !c->done.n &&
        !c->looking && to != INT64_MAX && to > crawl_now(c)) {
        atomic_fetch_add(&c->offset, to - crawl_now(c));
        skipped = true;
    }
    pthread_mutex_unlock(&c->lock);
    return skipped;
}
