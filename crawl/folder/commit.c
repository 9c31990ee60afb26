/*
 * commit.c - the commits of a folder: the cache is asked before, and all rows
 * are one transaction of its state, which knows how long the files are. The
 * disk flushes the files while rows are written; the transaction ends after
 * that.
 */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

#include <seen/kind.h>

#include "../../lib/text/span.h"
#include "../page/scope.h"
#include "rows.h"

static enum seen_code begin(struct crawl_group *g, struct seen_error *why)
{
    return sql_begin(crawl_folder_of(g->c)->state.db, why);
}

static bool reads_texts(const struct crawl *c)
{
    const struct crawl_folder *f = crawl_folder_of(c);
    return f->cache.filter &&
           seen_filter_can(f->cache.filter, SEEN_READS_TEXT);
}

static enum seen_code ask(struct crawl *c, const struct crawl_page *page,
                          const struct seen_key *key, size_t n, bool *seen,
                          struct seen_error *why)
{
    (void)page;
    return crawl_cache_ask(&crawl_folder_of(c)->cache, key, n, seen, why);
}

static enum seen_code confirm(struct crawl *c, bool *again,
                              struct seen_error *why)
{
    return crawl_cache_confirm(&crawl_folder_of(c)->cache, again, why);
}

static char *via(struct crawl *c, int64_t id)
{
    return crawl_state_url(&crawl_folder_of(c)->state, id);
}

static enum seen_code flush(struct crawl *c, struct seen_error *why)
{
    return crawl_output_flush_begin(&c->output, why);
}

/* --- rows --- */

static enum seen_code write_counts(struct crawl_rows *r,
                                   struct seen_error *why)
{
    struct crawl *c = r->g->c;
    struct crawl_folder *f = crawl_folder_of(c);
    const struct {
        const char *name;
        int64_t n;
    } more[] = {
        { "links", (int64_t)f->cache.asked },
        { "fresh", r->fresh },
        { "recovered", r->recovered },
        { "saved-bytes", r->saved },
        { "discovered", (int64_t)f->cache.discovered },
        { "audited", (int64_t)f->cache.audited },
        { "mistaken", (int64_t)f->cache.mistaken },
        { "unasked", r->unasked },
        { "costly", r->costly },
    };
    enum seen_code code = SEEN_OK;

    for (int i = 0; code == SEEN_OK && i < CRAWL_OUTCOMES; i++)
        if (r->counts[i])
            code = crawl_state_count(&f->state, crawl_outcome_names[i],
                                     r->counts[i], why);
    for (int i = 0; code == SEEN_OK && i < CRAWL_LEFT_LINKS; i++)
        if (r->left[i])
            code = crawl_state_count(&f->state, crawl_left_counters[i],
                                     r->left[i], why);
    for (size_t i = 0; code == SEEN_OK && i < sizeof more / sizeof *more; i++)
        if (more[i].n)
            code = crawl_state_count(&f->state, more[i].name, more[i].n, why);
    f->cache.asked = f->cache.discovered = 0;
    f->cache.audited = f->cache.mistaken = 0;
    if (f->cache.filter) {
        /* Of n new links (1 - rate) n came through, r->fresh. */
        double rate = crawl_cache_rate(&f->cache);

        f->state.visit.expected += rate < 1
                                       ? (double)r->fresh * rate / (1 - rate)
                                       : 0;
    }
    return code;
}

static enum seen_code write_hosts(struct crawl_group *g,
                                  struct seen_error *why)
{
    struct frontier *f = crawl_folder_of(g->c)->state.frontier;
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i < g->origins; i++)
        code = frontier_origin_keep(f, &g->origin[i], why);
    for (size_t i = 0; code == SEEN_OK && i < g->askeds; i++)
        code = frontier_spend(f, &g->asked[i], g->now, why);
    return code;
}

static enum seen_code keep_robots(struct crawl *c, struct crawl_page *page,
                                  struct seen_error *why)
{
    enum { DAY = 86400000 };
    struct seen_span origin = { page->robots->name, page->robots->len };

    if (!crawl_robots_is_answer(page))
        return SEEN_OK;
    return crawl_state_keep_robots(&crawl_folder_of(c)->state, origin,
                                   crawl_now(c) + DAY, page->status,
                                   crawl_robots_text(page), why);
}

static enum seen_code write_rows(struct crawl_rows *r, struct seen_error *why)
{
    struct crawl *c = r->g->c;
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i < r->g->parts; i++) {
        struct crawl_page *page = r->g->part[i].page;

        if (page->robots)
            code = keep_robots(c, page, why);
        if (code == SEEN_OK)
            code = crawl_rows_write(r, &r->g->part[i], why);
    }
    return code;
}

/* Pages that an archive was not asked about. */
static int64_t take_unasked(struct crawl *c)
{
    int64_t unasked;

    pthread_mutex_lock(&c->lock);
    unasked = (int64_t)c->unasked;
    c->unasked = 0;
    pthread_mutex_unlock(&c->lock);
    return unasked;
}

static enum seen_code commit(struct crawl_group *g, struct seen_error *why)
{
    struct crawl *c = g->c;
    struct crawl_folder *f = crawl_folder_of(c);
    struct crawl_rows *r = calloc(1, sizeof *r);
    enum seen_code code;

    if (!r)
        return crawl_group_no_memory(why);
    g->rows = r;
    r->g = g;
    r->last = f->cache.last;
    r->unasked = take_unasked(c);
    code = write_rows(r, why);
    if (code == SEEN_OK)
        code = write_hosts(g, why);
    if (code == SEEN_OK)
        code = write_counts(r, why);
    if (code == SEEN_OK)
        code = crawl_folder_queries_keep(c, why);
    if (code == SEEN_OK)
        code = frontier_flush(f->state.frontier, why);
    if (code == SEEN_OK)
        code = crawl_state_note_clock(&f->state, crawl_now(c), why);
    if (code == SEEN_OK) /* the transaction counts on what is in the files */
        code = crawl_output_flush_end(&c->output, &f->state.position, why);
    if (code == SEEN_OK)
        code = crawl_state_write(&f->state, why);
    return code == SEEN_OK ? sql_commit(f->state.db, why) : code;
}

static void undo(struct crawl_group *g, enum seen_code code)
{
    (void)code;
    crawl_output_flush_end(&g->c->output, NULL, NULL);
    sql_rollback(crawl_folder_of(g->c)->state.db);
}

/* --- after it --- */

/* Links without end are seen from now on, too. */
static enum seen_code added(struct crawl_group *g, struct seen_error *why)
{
    const struct crawl_rows *r = g->rows;
    struct crawl_cache *cache = &crawl_folder_of(g->c)->cache;
    struct seen_key *key;
    enum seen_code code;

    if (g->founds && reads_texts(g->c))
        return crawl_cache_replay(cache, why);
    key = malloc((g->founds + 1) * sizeof *key);
    if (!key)
        return crawl_group_no_memory(why);
    for (size_t i = 0; i < g->founds; i++)
        key[i] = g->found[i].link->key;
    code = crawl_cache_add(cache, key, g->founds, r->last, why);
    free(key);
    return code;
}

/* Hosts that got rows have more than they had. */
static void settle(struct crawl_group *g)
{
    const struct crawl_rows *r = g->rows;
    struct crawl *c = g->c;

    c->waiting += (uint64_t)r->fresh;
    for (size_t i = 0; i < g->parts; i++) {
        const struct crawl_page *page = g->part[i].page;

        c->waiting -= !page->robots && !page->copy &&
                      crawl_page_is_final(page);
    }
    for (size_t i = 0; i < r->hosts; i++) {
        struct crawl_host *host = crawl_host_get(&c->hosts, r->host[i]);

        if (!host)
            continue;
        host->drained = false;
        host->changed = true;
        host->found = frontier_found(crawl_folder_of(c)->state.frontier,
                                     host->id);
    }
}

static void clear(struct crawl_group *g)
{
    struct crawl_rows *r = g->rows;

    if (r)
        free(r->host);
    free(r);
}

/* --- a turn --- */

/* Is there nothing to fetch, now or later? Counting reads all hosts. */
static enum seen_code is_idle(struct crawl *c, bool *idle,
                              struct seen_error *why)
{
    enum seen_code code;
    int64_t waiting, all;

    pthread_mutex_lock(&c->lock);
    *idle = !c->active && !c->working && !c->looking && !c->done.n;
    pthread_mutex_unlock(&c->lock);
    if (!*idle)
        return SEEN_OK;
    code = frontier_count(crawl_folder_of(c)->state.frontier, &waiting, &all,
                          why);
    if (code != SEEN_OK)
        return code;
    pthread_mutex_lock(&c->lock);
    c->waiting = (uint64_t)waiting;
    pthread_mutex_unlock(&c->lock);
    *idle = !waiting;
    return SEEN_OK;
}

static enum seen_code rest(struct crawl *c, bool closing,
                           enum crawl_next *next, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool idle = false;

    *next = CRAWL_GO_ON;
    if (!closing)
        code = is_idle(c, &idle, why);
    if (code == SEEN_OK)
        code = crawl_cache_save(&crawl_folder_of(c)->cache, false, why);
    if (code == SEEN_OK && crawl_recover_goes_on(c))
        *next = CRAWL_AT_ONCE;
    if (code != SEEN_OK || !idle || crawl_recover_goes_on(c))
        return code;
    if (c->settings->strategy != CRAWL_CONTINUOUS)
        *next = CRAWL_NOTHING_LEFT;
    else if (crawl_visit_skip(c))
        *next = CRAWL_AT_ONCE;
    return SEEN_OK;
}

const struct crawl_store crawl_folder_store = {
    .tend = crawl_visit_continue,
    .rest = rest,
    .begin = begin,
    .reads_texts = reads_texts,
    .ask = ask,
    .confirm = confirm,
    .via = via,
    .flush = flush,
    .commit = commit,
    .undo = undo,
    .added = added,
    .settle = settle,
    .clear = clear,
    .hosts = crawl_folder_hosts,
    .host = crawl_folder_host,
    .pages = crawl_folder_pages,
    .prepare = crawl_folder_prepare,
    .origin = crawl_folder_origin,
    .robots = crawl_folder_robots,
};

/* --- start URLs --- */

enum seen_code crawl_commit_start(struct crawl *c,
                                  const struct frontier_page *page,
                                  bool ask_first, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    static char text[SEEN_KEY_TEXT];
    struct frontier_page row = *page;
    enum seen_code code = SEEN_OK;
    struct crawl_host *host;
    struct seen_key key;
    bool seen = false;
    int64_t last = 0;

    crawl_key(&key, text, row.url);
    if (ask_first) {
        code = crawl_cache_ask(&f->cache, &key, 1, &seen, why);
        f->cache.asked--; /* it counts links, which this is not */
    }
    if (code != SEEN_OK || seen)
        return code;
    code = frontier_host_id(f->state.frontier, crawl_host_of(row.url),
                            &row.host, why);
    if (code == SEEN_OK)
        code = frontier_add(f->state.frontier, &row, ask_first ? &last : NULL,
                            why);
    if (code == SEEN_OK && ask_first)
        code = crawl_cache_add(&f->cache, &key, 1, last, why);
    pthread_mutex_lock(&c->lock);
    host = crawl_host_get(&c->hosts, row.host);
    if (host)
        host->drained = false;
    pthread_mutex_unlock(&c->lock);
    return code;
}
