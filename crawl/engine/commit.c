/*
 * commit.c - groups of pages into files, state and cache, in the order that
 * loses nothing.
 *
 *     1  ask the cache about all links of the group
 *     2  append to the files, and flush them
 *     3  one transaction: pages done, new links as rows, lengths of the files
 *     4  add the new links to the cache, in memory
 *
 * Killed before 3, the files are cut back and the pages are fetched again.
 * Killed after 3, the journal replays what the cache lacks. So after any end
 * every page is stored once, and a link that was found is a row or in the
 * cache with a row behind it.
 *
 * A link may be found on several pages of one group: a set of the keys of the
 * group stands for the cache until step 4.
 */
#include "group.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seen/kind.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/span.h"
#include "../page/scope.h"

/* --- a group --- */

static size_t count_links(const struct crawl_page *group)
{
    size_t n = 0;

    for (; group; group = group->next)
        n += group->links;
    return n;
}

/* Step 1. */
static enum seen_code ask(struct crawl *c, struct crawl_page *group,
                          bool *seen, struct seen_error *why)
{
    enum { BATCH = 256 };
    const bool reads = c->cache.filter &&
                       seen_filter_can(c->cache.filter, SEEN_READS_TEXT);
    enum seen_code code = SEEN_OK;

    for (; code == SEEN_OK && group; group = group->next) {
        struct seen_key key[BATCH];

        for (size_t at = 0, n; code == SEEN_OK && at < group->links; at += n) {
            char *texts = NULL;

            n = group->links - at < BATCH ? group->links - at : BATCH;
            for (size_t i = 0; i < n; i++)
                key[i] = group->link[at + i].key;
            if (reads && !(texts = crawl_page_keys(key, group, at, n)))
                code = crawl_group_no_memory(why);
            if (code == SEEN_OK)
                code = crawl_cache_ask(&c->cache, key, n, seen + at, why);
            free(texts);
        }
        seen += group->links;
    }
    return code;
}

/* Step 4. */
static enum seen_code add(struct crawl_group *g, struct seen_error *why)
{
    struct crawl_cache *cache = &g->c->cache;

    if (cache->filter && g->n &&
        seen_filter_can(cache->filter, SEEN_READS_TEXT))
        return crawl_cache_replay(cache, why);
    return crawl_cache_add(cache, g->key, g->n, g->last, why);
}

static enum seen_code write_counts(struct crawl_group *g,
                                   struct seen_error *why)
{
    struct crawl *c = g->c;
    const struct {
        const char *name;
        int64_t n;
    } more[] = {
        { "links", (int64_t)c->cache.asked },
        { "fresh", g->fresh },
        { "recovered", g->recovered },
        { "saved-bytes", g->saved },
        { "discovered", (int64_t)c->cache.discovered },
        { "audited", (int64_t)c->cache.audited },
        { "mistaken", (int64_t)c->cache.mistaken },
        { "unasked", g->unasked },
        { "costly", g->costly },
    };
    enum seen_code code = SEEN_OK;

    for (int i = 0; code == SEEN_OK && i < CRAWL_OUTCOMES; i++)
        if (g->counts[i])
            code = crawl_state_count(&c->state, crawl_outcome_names[i],
                                     g->counts[i], why);
    for (int i = 0; code == SEEN_OK && i < CRAWL_LEFT_LINKS; i++)
        if (g->left[i])
            code = crawl_state_count(&c->state, crawl_left_counters[i],
                                     g->left[i], why);
    for (size_t i = 0; code == SEEN_OK && i < sizeof more / sizeof *more; i++)
        if (more[i].n)
            code = crawl_state_count(&c->state, more[i].name, more[i].n, why);
    c->cache.asked = c->cache.discovered = 0;
    c->cache.audited = c->cache.mistaken = 0;
    if (c->cache.filter) {
        /* Of n new links (1 - rate) n came through, g->fresh. */
        double rate = crawl_cache_rate(&c->cache);

        c->state.visit.expected += rate < 1
                                       ? (double)g->fresh * rate / (1 - rate)
                                       : 0;
    }
    return code;
}

/* Origins that failed or answered again. */
static enum seen_code write_origins(struct crawl *c, struct crawl_host *host,
                                    struct seen_error *why)
{
    struct frontier *f = c->state.frontier;
    enum seen_code code = SEEN_OK;
    struct crawl_origin *o;

    for (size_t at = 0;
         code == SEEN_OK && (o = map_next(&host->origins, &at));) {
        struct frontier_origin row = { .name = { o->name, o->len },
                                       .failures = o->failures,
                                       .closed = { "", 0 } };

        if (!o->changed)
            continue;
        if (o->state == CRAWL_ROBOTS_CLOSED)
            row.closed = span_of(o->reason ? o->reason : "no memory");
        code = frontier_origin_keep(f, &row, why);
        o->changed = false;
    }
    host->changed_origins = false;
    return code;
}

static enum seen_code write_hosts(struct crawl_group *g,
                                  const struct crawl_page *pages,
                                  struct seen_error *why)
{
    struct crawl *c = g->c;
    enum seen_code code = SEEN_OK;
    struct crawl_host *host;

    pthread_mutex_lock(&c->lock);
    g->unasked = (int64_t)c->unasked;
    c->unasked = 0;
    for (; pages; pages = pages->next)
        if (!pages->robots && crawl_page_was_fetched(pages)) {
            pages->host->fetched++;
            pages->host->spent_fetched++;
            pages->host->spent = true;
        }
    for (size_t at = 0;
         code == SEEN_OK && (host = map_next(&c->hosts.by_id, &at));) {
        const struct frontier_spent spent = { host->id,
                                              host->due,
                                              host->spent_fetched,
                                              host->spent_requests,
                                              host->spent_bytes,
                                              host->failures };

        if (host->stopped && !host->stop_written) {
            code = frontier_stop_host(c->state.frontier, host->id,
                                      host->stopped, why);
            host->stop_written = true;
        }
        if (code == SEEN_OK && host->changed_origins)
            code = write_origins(c, host, why);
        if (!host->spent || code != SEEN_OK)
            continue;
        code = frontier_spend(c->state.frontier, &spent, why);
        host->spent_fetched = host->spent_requests = host->spent_bytes = 0;
        host->spent = false;
    }
    pthread_mutex_unlock(&c->lock);
    return code;
}

static enum seen_code transact(struct crawl_group *g, struct crawl_page *pages,
                               const bool *seen, struct seen_error *why)
{
    struct crawl *c = g->c;
    enum seen_code code = SEEN_OK;

    for (struct crawl_page *p = pages; code == SEEN_OK && p; p = p->next) {
        if (p->robots) {
            code = crawl_robots_put_off(c, p, why);
            if (code == SEEN_OK)
                code = crawl_robots_keep(c, p, why);
            if (code == SEEN_OK)
                code = crawl_group_leave_out(g, p, 0, why);
            if (code == SEEN_OK)
                code = crawl_group_insert_links(g, p, seen, 0, why);
        } else
            code = crawl_group_write_rows(g, p, seen, why);
        seen += p->links;
    }
    if (code == SEEN_OK)
        code = write_hosts(g, pages, why);
    if (code == SEEN_OK)
        code = write_counts(g, why);
    if (code == SEEN_OK)
        code = frontier_flush(c->state.frontier, why);
    if (code == SEEN_OK)
        code = crawl_state_note_clock(&c->state, crawl_now(c), why);
    return code == SEEN_OK ? crawl_state_write(&c->state, why) : code;
}

/* Perhaps it was a 429 in disguise, which only the worker saw. */
void crawl_page_put_off(struct crawl *c, const struct crawl_page *page)
{
    struct crawl_host *host = page->host;
    int64_t hold;

    if (page->outcome != CRAWL_AGAIN || page->status != 429 || page->after)
        return;
    hold = crawl_now(c) + (int64_t)page->shared->settings->pause * 1000;
    host->hold = host->hold > hold ? host->hold : hold;
    host->spent = true;
    if (host->place)
        crawl_host_set_due(&c->hosts, host, host->due);
}

void crawl_page_charge_rows(struct crawl *c, const struct crawl_page *page)
{
    if (!page->charged)
        crawl_host_charge(
            c, page, crawl_delay_charge_rows(page->host->delay, page->fresh));
}

/* The group is committed: hosts may go on. */
static enum seen_code release(struct crawl *c, struct crawl_page *pages,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct crawl_page *page;

    pthread_mutex_lock(&c->lock);
    while ((page = pages)) {
        struct crawl_host *host = page->host;

        pages = page->next;
        c->waiting -= !page->robots && crawl_page_is_final(page);
        if (page->robots && code == SEEN_OK) {
            code = crawl_robots_settle(c, page, why);
        } else if (!page->robots) {
            crawl_host_forget_out(host, page->id);
            host->drained &= crawl_page_is_final(page);
            if (crawl_page_was_fetched(page)) {
                c->pages++;
                c->run_pages++;
            }
            crawl_page_put_off(c, page);
            crawl_page_charge_rows(c, page);
        }
        c->made -= page->made;
        crawl_page_free(page);
    }
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* Hosts that got rows have more than they had. */
static void wake_hosts(struct crawl_group *g)
{
    struct crawl *c = g->c;

    pthread_mutex_lock(&c->lock);
    c->waiting += (uint64_t)g->fresh;
    for (size_t i = 0; i < g->hosts; i++) {
        struct crawl_host *host = crawl_host_get(&c->hosts, g->host[i]);

        if (host) {
            host->drained = false;
            host->changed = true;
            host->found = frontier_found(c->state.frontier, host->id);
        }
    }
    pthread_mutex_unlock(&c->lock);
}

static enum seen_code make_room(struct crawl_group *g, size_t n,
                                struct seen_error *why)
{
    g->key = malloc((n + 1) * sizeof *g->key);
    g->bytes = malloc((n + 1) * sizeof *g->bytes);
    return g->key && g->bytes ? SEEN_OK : crawl_group_no_memory(why);
}

/* Step 2. Pages that one page led to mostly come in a row. */
static enum seen_code write_files(struct crawl *c, struct crawl_page *pages,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    char *via = NULL;
    int64_t id = 0;

    for (struct crawl_page *p = pages; code == SEEN_OK && p; p = p->next) {
        if (p->via && p->via != id) {
            free(via);
            via = crawl_state_url(&c->state, p->via);
            id = p->via;
        }
        code = crawl_group_write_files(c, p, p->via && via ? via : "", why);
    }
    free(via);
    return code;
}

enum seen_code crawl_commit_group(struct crawl *c, struct crawl_page *pages,
                                  struct seen_error *why)
{
    struct crawl_group g = { .c = c, .last = c->cache.last };
    size_t links = count_links(pages), sifted = 0;
    bool again = true;
    bool *seen = malloc(links + 1);
    enum seen_code code;

    code = seen ? make_room(&g, links, why) : crawl_group_no_memory(why);
    if (code == SEEN_OK)
        code = sql_begin(c->state.db, why);
    while (code == SEEN_OK && again) {
        code = ask(c, pages, seen, why);
        if (code == SEEN_OK)
            code = crawl_cache_confirm(&c->cache, &again, why);
    }
    for (struct crawl_page *p = pages; code == SEEN_OK && p; p = p->next) {
        code = crawl_group_sift(&g, p, seen + sifted, why);
        sifted += p->links;
    }
    if (code == SEEN_OK)
        code = write_files(c, pages, why);
    if (code == SEEN_OK)
        code = crawl_output_flush(&c->output, &c->state.position, why);
    if (code == SEEN_OK)
        code = transact(&g, pages, seen, why);
    if (code == SEEN_OK)
        code = sql_commit(c->state.db, why);
    else
        sql_rollback(c->state.db);
    if (code == SEEN_OK)
        code = add(&g, why);
    if (code == SEEN_OK) {
        wake_hosts(&g);
        code = release(c, pages, why);
    } else {
        crawl_pages_free(pages);
    }
    map_clear(&g.keys);
    free(g.key);
    free(g.bytes);
    free(g.host);
    free(seen);
    return code;
}

/* --- start URLs --- */

enum seen_code crawl_commit_start(struct crawl *c,
                                  const struct frontier_page *page,
                                  bool ask_first, struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct frontier_page row = *page;
    enum seen_code code = SEEN_OK;
    struct crawl_host *host;
    struct seen_key key;
    bool seen = false;
    int64_t last = 0;

    crawl_key(&key, text, row.url);
    if (ask_first) {
        code = crawl_cache_ask(&c->cache, &key, 1, &seen, why);
        c->cache.asked--; /* it counts links, which this is not */
    }
    /* Rows decide: a known page that is due is queued whatever the cache says,
       unless it is a start URL, which was queued before. */
    if (code == SEEN_OK && seen && row.flags & CRAWL_FLAG_REVISIT)
        code = crawl_state_is_start(&c->state, row.url, &seen, why);
    if (code != SEEN_OK || seen)
        return code;
    code = frontier_host_id(c->state.frontier, crawl_host_of(row.url),
                            &row.host, why);
    if (code == SEEN_OK)
        code = frontier_add(c->state.frontier, &row, ask_first ? &last : NULL,
                            why);
    if (code == SEEN_OK && ask_first)
        code = crawl_cache_add(&c->cache, &key, 1, last, why);
    pthread_mutex_lock(&c->lock);
    host = crawl_host_get(&c->hosts, row.host);
    if (host)
        host->drained = false;
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* --- the thread --- */

/* By the clock that to_commit has, which nobody sets. */
static void wait_ms(struct crawl *c, int ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += (long)ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&c->to_commit, &c->lock, &t);
}

/* Is there a reason not to wait for a larger group? */
static bool is_due(const struct crawl *c, uint64_t since)
{
    return c->quit || c->done.n >= CRAWL_GROUP ||
           (c->done.n && c->made >= CRAWL_MADE_MOST / 2) ||
           (c->done.n && ((!c->active && !c->working) ||
                          clock_ms() - since >= CRAWL_GROUP_MS));
}

struct crawl_page *crawl_next_group(struct crawl *c, uint64_t ms)
{
    uint64_t since = clock_ms(), begun = since;
    struct crawl_page *group;

    pthread_mutex_lock(&c->lock);
    if (c->answers.n || c->filed.n ||
        c->costly.n) /* readers wait for commits: engine.h */
        pthread_cond_broadcast(&c->to_work);
    while (!is_due(c, since) && clock_ms() - begun < ms) {
        bool empty = !c->done.n;

        wait_ms(c, 20);
        if (empty && c->done.n)
            since = clock_ms();
    }
    group = c->done.first;
    c->committing = c->done.n;
    c->done = (struct crawl_list){ .first = NULL };
    pthread_mutex_unlock(&c->lock);
    return group;
}

static bool is_over(struct crawl *c, bool idle, bool *closing)
{
    bool over;

    pthread_mutex_lock(&c->lock);
    c->committing = 0;
    *closing = c->closing;
    if (idle && c->settings->strategy != CRAWL_CONTINUOUS)
        c->ended = true;
    over = c->quit || c->ended ||
           (c->closing && !c->active && !c->working && !c->looking &&
            !c->done.n);
    pthread_mutex_unlock(&c->lock);
    return over;
}

bool crawl_has_news(struct crawl *c)
{
    struct crawl_host *host;
    bool news = false;

    pthread_mutex_lock(&c->lock);
    for (size_t at = 0; !news && (host = map_next(&c->hosts.by_id, &at));)
        news = (host->stopped && !host->stop_written) || host->changed_origins;
    pthread_mutex_unlock(&c->lock);
    return news;
}

void *crawl_commit_thread(void *crawl)
{
    struct crawl *c = crawl;
    struct seen_error why;
    enum seen_code code = SEEN_OK;
    bool over = false, idle = false, closing = false, skipped = false;
    bool first = true;

    while (!over) {
        struct crawl_page *group = first
                                       ? NULL
                                       : crawl_next_group(
                                             c, skipped ? 0 : CRAWL_GROUP_MS);

        first = false;
        if (group || crawl_has_news(c))
            code = crawl_commit_group(c, group, &why);
        if (code == SEEN_OK && !closing)
            code = crawl_visit_continue(c, &why);
        if (code == SEEN_OK && !closing)
            code = crawl_refill(c, &idle, &why);
        if (code == SEEN_OK)
            code = crawl_cache_save(&c->cache, false, &why);
        if (code != SEEN_OK) {
            crawl_fault(c, code, &why);
            return NULL;
        }
        over = is_over(c, idle, &closing);
        skipped = idle && !over && crawl_visit_skip(c);
        fetch_wakeup(c->web);
    }
    /* Requests that were cancelled have a due time, too. */
    code = crawl_commit_group(c, NULL, &why);
    if (code != SEEN_OK)
        crawl_fault(c, code, &why);
    return NULL;
}
