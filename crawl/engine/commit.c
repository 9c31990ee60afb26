/*
 * commit.c - groups of pages into files, queue, rows and filter, in the order
 * that loses nothing; whatever the store is.
 *
 *     1  ask the filter about all links of the group, which spares rows
 *     2  append to the files, and flush them: a folder waits for the end of that
 *        only before 4 ends
 *     3  publish the page records, and wait until the queue has them
 *     4  one transaction: pages done, new links as rows, hosts
 *     5  add the new links to the filter, in memory or on a server
 *
 * Killed before 4, the files are cut back and the pages are fetched again; in a
 * team, by any worker, and records are published with the same ids. Killed
 * after 4, a folder's journal replays what its cache lacks, and a team asks the
 * frontier about links that its filter lacks. So after any end every page is
 * stored once, and a link that was found is a row, or in the filter with a row
 * behind it.
 *
 * A link may be found on several pages of one group: a set of the keys of the
 * group stands for the filter until step 5.
 */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/array.h"
#include "../../lib/text/little.h"
#include "../../lib/text/span.h"
#include "../../warc/cdxj.h"
#include "../page/scope.h"
#include "log.h"
#include "queries.h"

enum seen_code crawl_group_no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a commit");
}

/* --- a group --- */

static enum seen_code make_room(struct crawl_group *g, struct seen_error *why)
{
    size_t pages = 1, links = 1;

    for (const struct crawl_page *p = g->pages; p; p = p->next) {
        pages++;
        links += p->links;
    }
    g->part = calloc(pages, sizeof *g->part);
    g->found = malloc(links * sizeof *g->found);
    g->key = malloc(links * sizeof *g->key);
    return g->part && g->found && g->key ? SEEN_OK
                                         : crawl_group_no_memory(why);
}

static void clear(struct crawl_group *g)
{
    free(g->part);
    free(g->found);
    free(g->key);
    free(g->asked);
    free(g->host);
    free(g->origin);
    free(g->origin_of);
    map_clear(&g->keys);
}

/* Links of a page that is to be tried again are found again, too. */
static size_t links_of(const struct crawl_page *page)
{
    return page->robots ||
                   (crawl_page_is_final(page) && page->outcome != CRAWL_CLOSED)
               ? page->links
               : 0;
}

/* --- step 1 --- */

static enum seen_code ask_page(struct crawl *c, const struct crawl_page *page,
                               bool *seen, struct seen_error *why)
{
    enum { BATCH = 256 };
    const bool reads = c->store->reads_texts(c);
    const size_t links = links_of(page);
    enum seen_code code = SEEN_OK;
    struct seen_key key[BATCH];

    for (size_t at = 0, n; code == SEEN_OK && at < links; at += n) {
        char *texts = NULL;

        n = links - at < BATCH ? links - at : BATCH;
        for (size_t i = 0; i < n; i++)
            key[i] = page->link[at + i].key;
        if (reads && !(texts = crawl_page_keys(key, page, at, n)))
            code = crawl_group_no_memory(why);
        if (code == SEEN_OK)
            code = c->store->ask(c, page, key, n, seen + at, why);
        free(texts);
    }
    return code;
}

static enum seen_code ask(struct crawl *c, const struct crawl_page *pages,
                          bool *seen, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool again = true;

    while (code == SEEN_OK && again) {
        size_t at = 0;

        for (const struct crawl_page *p = pages; code == SEEN_OK && p;
             p = p->next) {
            code = ask_page(c, p, seen + at, why);
            at += links_of(p);
        }
        again = false;
        if (code == SEEN_OK && c->store->confirm)
            code = c->store->confirm(c, &again, why);
    }
    return code;
}

/* Is the link new to the group? Then it is part of it. Visits of a team have
   sets of their own: numbers of visits are spread over all bits of a key. */
static enum seen_code note(struct crawl_group *g, struct crawl_page *page,
                           const struct crawl_link *link, bool *fresh,
                           struct seen_error *why)
{
    const uint64_t visit = (uint64_t)page->shared->visit_id *
                           UINT64_C(0x9e3779b97f4a7c15);
    char *key = g->key[g->founds];

    little_put_64(key, link->key.lo);
    little_put_64(key + 8, link->key.hi ^ visit);
    *fresh = !map_get(&g->keys, key, sizeof *g->key);
    if (!*fresh)
        return SEEN_OK;
    /* The map points to the bytes, which do not move: room was made. */
    if (!map_set(&g->keys, key, sizeof *g->key, key))
        return crawl_group_no_memory(why);
    g->found[g->founds++] = (struct crawl_found){ page, link, false, false };
    return SEEN_OK;
}

/* A URL that was found: --urls-only. */
static void list_url(struct crawl *c, struct seen_span url)
{
    struct buffer *urls = &c->output.pending[CRAWL_FILE_URLS];

    if (!c->settings->urls_only)
        return;
    buffer_span(urls, url);
    buffer_byte(urls, '\n');
}

static enum seen_code sift_page(struct crawl_group *g, struct crawl_page *page,
                                const bool *seen, struct seen_error *why)
{
    const struct crawl_shared *shared = page->shared;
    const size_t links = links_of(page);
    enum seen_code code = SEEN_OK;
    bool fresh;

    if (page->flags & CRAWL_FLAG_START && !page->attempts)
        list_url(g->c, span_of(page->url));
    for (size_t i = 0; code == SEEN_OK && i < links; i++) {
        const struct crawl_link *link = &page->link[i];
        struct seen_span url = { page->texts.bytes + link->url,
                                 link->url_len };

        if (seen[i])
            continue;
        code = note(g, page, link, &fresh, why);
        if (code != SEEN_OK || !fresh)
            continue;
        if (crawl_queries_endless(shared->queries,
                                  shared->settings->max_queries, url))
            g->found[g->founds - 1].endless = true;
        else if (!link->list)
            list_url(g->c, url);
    }
    return code;
}

/* Which links are new? */
static enum seen_code sift(struct crawl_group *g, struct seen_error *why)
{
    enum seen_code code;
    size_t links = 0;
    bool *seen;

    for (const struct crawl_page *p = g->pages; p; p = p->next)
        links += links_of(p);
    seen = calloc(links + 1, sizeof *seen);
    if (!seen)
        return crawl_group_no_memory(why);
    code = ask(g->c, g->pages, seen, why);
    links = 0;
    for (struct crawl_page *p = g->pages; code == SEEN_OK && p; p = p->next) {
        struct crawl_part *part = &g->part[g->parts++];

        part->page = p;
        part->first = g->founds;
        code = sift_page(g, p, seen + links, why);
        part->end = g->founds;
        links += links_of(p);
    }
    free(seen);
    return code;
}

/* --- step 2 --- */

bool crawl_page_is_final(const struct crawl_page *page)
{
    return page->outcome != CRAWL_AGAIN;
}

bool crawl_page_was_fetched(const struct crawl_page *page)
{
    return !page->copy && crawl_page_is_final(page) &&
           page->outcome != CRAWL_ROBOTS && page->outcome != CRAWL_SKIPPED &&
           page->outcome != CRAWL_CLOSED && page->outcome != CRAWL_ASIDE;
}

struct frontier_page crawl_page_again(const struct crawl_page *page)
{
    struct frontier_page row = { .id = page->id,
                                 .host = page->host->id,
                                 .priority = page->priority,
                                 .attempts = page->attempts,
                                 .flags = page->flags };

    if (page->code == SEEN_OK && page->status >= 300 && page->status < 400) {
        row.flags |= CRAWL_FLAG_AGAIN; /* a redirect to itself */
    } else {
        row.attempts++;
        row.priority += INT64_C(1) << 40; /* after all others of the host */
    }
    return row;
}

static enum seen_code write_warc(struct crawl *c, struct crawl_page *page,
                                 struct seen_error *why)
{
    struct crawl_output *o = &c->output;
    const struct warc_exchange x = {
        .url = page->url,
        .when = (uint64_t)page->started,
        .status = page->status,
        .type = *page->mime ? page->mime : NULL,
        .revisit = !page->revisit        ? WARC_NEW
                   : page->status == 304 ? WARC_NOT_MODIFIED
                                         : WARC_IDENTICAL,
    };
    enum seen_code code;
    const char *file;
    uint64_t offset;

    code = crawl_output_warc(o, &page->packed.bytes, &file, &offset, why);
    if (code != SEEN_OK)
        return code;
    /* Replayers take a 304 for the newest capture, and show nothing. Without
       its line they show the earlier capture, which is what it means. */
    if (x.revisit != WARC_NOT_MODIFIED || c->settings->index_304)
        warc_cdxj(&o->pending[CRAWL_FILE_CDXJ], &x, &page->packed, file,
                  offset);
    snprintf(page->place, sizeof page->place, "%llu %.60s",
             (unsigned long long)(offset + page->packed.response.at), file);
    return SEEN_OK;
}

/* What the files get of a page, which was found on the page `via`, or "". */
static enum seen_code write_page(struct crawl *c, struct crawl_page *page,
                                 const char *via, struct seen_error *why)
{
    struct buffer *pending = c->output.pending;
    enum seen_code code = SEEN_OK;

    if (page->copy || (!crawl_page_is_final(page) && !page->robots))
        return SEEN_OK;
    if (page->packed.bytes.len)
        code = write_warc(c, page, why);
    if (code != SEEN_OK)
        return code;
    buffer_append(&pending[CRAWL_FILE_PAGES], &page->record);
    crawl_log_line(&pending[CRAWL_FILE_LOG], page, via, crawl_now(c));
    return SEEN_OK;
}

/* Pages that one page led to mostly come in a row. */
static enum seen_code write_files(struct crawl_group *g,
                                  struct seen_error *why)
{
    struct crawl *c = g->c;
    enum seen_code code = SEEN_OK;
    char *via = NULL;
    int64_t id = 0;

    if (c->no_files)
        return SEEN_OK;
    for (struct crawl_page *p = g->pages; code == SEEN_OK && p; p = p->next) {
        bool known = c->store->via && p->via;

        if (known && p->via != id) {
            free(via);
            via = c->store->via(c, p->via);
            id = p->via;
        }
        code = write_page(c, p, known && via ? via : "", why);
    }
    free(via);
    return code == SEEN_OK ? c->store->flush(c, why) : code;
}

/* --- hosts --- */

static enum seen_code add_origin(struct crawl_group *g, struct crawl_origin *o,
                                 const struct frontier_origin *row,
                                 struct seen_error *why)
{
    void *more = array_grow(g->origin, &g->origin_room, g->origins + 1,
                            sizeof *g->origin);

    if (!more)
        return crawl_group_no_memory(why);
    g->origin = more;
    more = array_grow(g->origin_of, &g->origin_of_room, g->origins + 1,
                      sizeof *g->origin_of);
    if (!more)
        return crawl_group_no_memory(why);
    g->origin_of = more;
    g->origin_of[g->origins] = o;
    g->origin[g->origins++] = *row;
    return SEEN_OK;
}

/* Those of a host that failed or answered again. They stay until the commit is
   done. */
static enum seen_code add_origins(struct crawl_group *g,
                                  struct crawl_host *host,
                                  struct seen_error *why)
{
    struct frontier_origin row = { .host = host->id };
    enum seen_code code = SEEN_OK;
    struct crawl_origin *o;

    for (size_t at = 0;
         code == SEEN_OK && (o = map_next(&host->origins, &at));) {
        if (!o->changed)
            continue;
        row.name = (struct seen_span){ o->name, o->len };
        row.failures = o->failures;
        row.closed = o->state == CRAWL_ROBOTS_CLOSED
                         ? span_of(o->reason ? o->reason : "no memory")
                         : (struct seen_span){ "", 0 };
        code = add_origin(g, o, &row, why);
        o->changed = false;
    }
    host->changed_origins = false;
    return code;
}

static bool has_news(const struct crawl_host *host)
{
    return (host->stopped && !host->stop_written) || host->changed_origins;
}

static void add_host(struct crawl_group *g, struct crawl_host *host)
{
    g->asked[g->askeds] = (struct frontier_asked){
        .host = host->id,
        .due_in = host->due - g->now,
        .delay = host->delay,
        .requests = host->spent_requests,
        .bytes = host->spent_bytes,
        .fetched = host->spent_fetched,
        .failures = host->failures,
        .stopped = host->stop_written ? NULL : host->stopped,
        .note = { "", 0 },
    };
    g->host[g->askeds++] = host;
    host->spent_fetched = host->spent_requests = host->spent_bytes = 0;
    host->spent = false;
    host->stop_written |= host->stopped != NULL;
}

/* What happened at the hosts since the last commit. They may be asked again
   meanwhile: only what is copied here is forgotten when it is committed. */
static enum seen_code add_hosts(struct crawl_group *g, struct seen_error *why)
{
    struct crawl *c = g->c;
    enum seen_code code = SEEN_OK;
    struct crawl_host *host;

    pthread_mutex_lock(&c->lock);
    g->now = crawl_now(c);
    for (struct crawl_page *p = g->pages; p; p = p->next) {
        if (p->copy)
            continue;
        p->host->spent = true;
        if (!p->robots && crawl_page_was_fetched(p)) {
            p->host->fetched++;
            p->host->spent_fetched++;
        }
    }
    g->asked = calloc(c->hosts.by_id.used + 1, sizeof *g->asked);
    g->host = calloc(c->hosts.by_id.used + 1, sizeof *g->host);
    if (!g->asked || !g->host)
        code = crawl_group_no_memory(why);
    for (size_t at = 0;
         code == SEEN_OK && (host = map_next(&c->hosts.by_id, &at));) {
        if (frontier_database_of(host->id) != g->database ||
            (!host->spent && !has_news(host)))
            continue;
        if (host->changed_origins)
            code = add_origins(g, host, why);
        add_host(g, host);
    }
    pthread_mutex_unlock(&c->lock);
    return code;
}

bool crawl_has_news(struct crawl *c)
{
    struct crawl_host *host;
    bool news = false;

    pthread_mutex_lock(&c->lock);
    for (size_t at = 0; !news && (host = map_next(&c->hosts.by_id, &at));)
        news = has_news(host);
    pthread_mutex_unlock(&c->lock);
    return news;
}

/* --- after a commit --- */

/* Perhaps it was a 429 in disguise, which only the reader saw. */
static void put_off(struct crawl *c, const struct crawl_page *page)
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

/* Its links became many rows: its host is charged for them, unless it was when
   the page was read. */
static void charge_rows(struct crawl *c, const struct crawl_page *page)
{
    if (!page->charged)
        crawl_host_charge(
            c, page, crawl_delay_charge_rows(page->host->delay, page->fresh));
}

static void release_page(struct crawl *c, const struct crawl_part *part)
{
    struct crawl_page *page = part->page;
    struct crawl_host *host = page->host;

    crawl_host_forget_out(host, page->id);
    if (part->refused)
        return;
    host->drained &= crawl_page_is_final(page);
    if (crawl_page_was_fetched(page)) {
        c->pages++;
        c->run_pages++;
    }
    put_off(c, page);
    charge_rows(c, page);
}

/* The group is committed: hosts may go on. */
static enum seen_code release(struct crawl_group *g, struct seen_error *why)
{
    struct crawl *c = g->c;
    enum seen_code code = SEEN_OK;

    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < g->founds; i++)
        g->found[i].page->fresh += g->found[i].fresh;
    c->store->settle(g);
    for (size_t i = 0; i < g->parts; i++) {
        struct crawl_page *page = g->part[i].page;

        if (page->copy)
            continue;
        if (!page->robots)
            release_page(c, &g->part[i]);
        else if (code == SEEN_OK)
            code = crawl_robots_settle(c, page, why);
        c->made -= page->made;
    }
    c->committing = 0;
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* Where a robots.txt was moved to. */
static enum seen_code redirect(struct crawl_group *g, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (struct crawl_page *p = g->pages; code == SEEN_OK && p; p = p->next)
        if (p->robots)
            code = crawl_robots_redirect(p, why);
    return code;
}

static enum seen_code commit(struct crawl_group *g, struct seen_error *why)
{
    const struct crawl_store *store = g->c->store;
    enum seen_code code = make_room(g, why);

    if (code == SEEN_OK && store->begin)
        code = store->begin(g, why);
    if (code == SEEN_OK)
        code = sift(g, why);
    if (code == SEEN_OK)
        code = write_files(g, why);
    if (code == SEEN_OK && store->publish)
        code = store->publish(g, why);
    if (code == SEEN_OK)
        code = redirect(g, why);
    if (code == SEEN_OK)
        code = add_hosts(g, why);
    if (code == SEEN_OK)
        code = store->commit(g, why);
    if (code != SEEN_OK) {
        store->undo(g, code);
        return code;
    }
    code = store->added(g, why);
    return code == SEEN_OK ? release(g, why) : code;
}

static enum seen_code commit_group(struct crawl *c, struct crawl_page *pages,
                                   unsigned database, struct seen_error *why)
{
    struct crawl_group g = { .c = c, .pages = pages, .database = database };
    enum seen_code code;

    memcpy(g.length, c->output.length, sizeof g.length);
    code = commit(&g, why);
    c->store->clear(&g);
    crawl_pages_free(pages);
    clear(&g);
    return code;
}

/* Databases of a frontier are few: a bit each. */
static uint64_t databases_with_news(struct crawl *c)
{
    struct crawl_host *host;
    uint64_t found = 0;

    pthread_mutex_lock(&c->lock);
    for (size_t at = 0; (host = map_next(&c->hosts.by_id, &at));)
        if (host->spent || has_news(host))
            found |= UINT64_C(1) << frontier_database_of(host->id);
    pthread_mutex_unlock(&c->lock);
    return found;
}

enum seen_code crawl_commit_news(struct crawl *c, struct seen_error *why)
{
    const uint64_t found = databases_with_news(c);
    enum seen_code code = found ? SEEN_OK : commit_group(c, NULL, 0, why);

    for (unsigned i = 0; code == SEEN_OK && i < 64; i++)
        if (found >> i & 1)
            code = commit_group(c, NULL, i, why);
    return code;
}

static unsigned database_of(const struct crawl_page *page)
{
    return page->copy ? 0 : frontier_database_of(page->host->id);
}

/* Move the pages of the first one's database out of the list, in order. */
static struct crawl_page *take_group(struct crawl_page **pages)
{
    const unsigned database = database_of(*pages);
    struct crawl_page *group, **end = &group, **at = pages;

    while (*at)
        if (database_of(*at) == database) {
            *end = *at;
            end = &(*at)->next;
            *at = *end;
        } else {
            at = &(*at)->next;
        }
    *end = NULL;
    return group;
}

enum seen_code crawl_commit(struct crawl *c, struct crawl_page *pages,
                            struct seen_error *why)
{
    enum seen_code code = pages ? SEEN_OK : crawl_commit_news(c, why);

    while (code == SEEN_OK && pages) {
        const unsigned database = database_of(pages);

        code = commit_group(c, take_group(&pages), database, why);
    }
    crawl_pages_free(pages);
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

static unsigned groups_of(const struct crawl *c)
{
    enum { MOST = 4 };

    return c->databases > MOST ? MOST : c->databases ? c->databases : 1;
}

/* Is there a reason not to wait for a larger group? */
static bool is_due(const struct crawl *c, uint64_t since)
{
    return c->phase == CRAWL_QUITS ||
           c->done.n >= CRAWL_GROUP * groups_of(c) ||
           (c->done.n && c->made >= CRAWL_MADE_MOST / 2) ||
           (c->done.n &&
            ((!c->active && !c->working) ||
             clock_ms() - since >= CRAWL_GROUP_MS * groups_of(c)));
}

struct crawl_page *crawl_next_group(struct crawl *c, uint64_t ms)
{
    uint64_t since = clock_ms(), begun = since;
    struct crawl_page *group;

    pthread_mutex_lock(&c->lock);
    if (c->answers.n || c->filed.n || c->costly.n ||
        c->suspects.n) /* readers wait for commits: engine.h */
        pthread_cond_broadcast(&c->to_work);
    while (!is_due(c, since) &&
           clock_ms() - begun < (c->done.n ? ms * groups_of(c) : ms)) {
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

static bool is_over(struct crawl *c, enum crawl_next next, bool *closing)
{
    bool over;

    pthread_mutex_lock(&c->lock);
    c->committing = 0;
    *closing = c->phase >= CRAWL_CLOSES;
    if (next == CRAWL_NOTHING_LEFT)
        crawl_enter_phase(c, CRAWL_ENDS);
    over = c->phase >= CRAWL_ENDS ||
           (c->phase == CRAWL_CLOSES && !c->active && !c->working &&
            !c->looking && !c->done.n);
    pthread_mutex_unlock(&c->lock);
    return over;
}

static enum seen_code turn(struct crawl *c, struct crawl_page *group,
                           bool closing, enum crawl_next *next,
                           struct seen_error *why)
{
    const struct crawl_store *store = c->store;
    enum seen_code code = store->renew ? store->renew(c, why) : SEEN_OK;

    if (code != SEEN_OK) {
        crawl_pages_free(group);
        return code;
    }
    if (group || crawl_has_news(c))
        code = crawl_commit(c, group, why);
    if (code == SEEN_OK && !closing)
        code = store->tend(c, why);
    if (code == SEEN_OK && !closing)
        code = crawl_refill(c, why);
    return code == SEEN_OK ? store->rest(c, closing, next, why) : code;
}

void *crawl_commit_thread(void *crawl)
{
    struct crawl *c = crawl;
    enum crawl_next next = CRAWL_AT_ONCE;
    bool over = false, closing = false, first = true;
    struct seen_error why;

    while (!over) {
        struct crawl_page *group = first ? NULL
                                         : crawl_next_group(
                                               c, next == CRAWL_AT_ONCE
                                                      ? 0
                                                      : CRAWL_GROUP_MS);
        enum seen_code code = turn(c, group, closing, &next, &why);

        first = false;
        if (code == SEEN_ABSENT && c->store->begin_anew)
            code = c->store->begin_anew(c, &why);
        if (code != SEEN_OK) {
            crawl_fault(c, code, &why);
            return NULL;
        }
        over = is_over(c, next, &closing);
        fetch_wakeup(c->web);
    }
    return NULL;
}
