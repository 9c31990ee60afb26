/*
 * commit.c - groups of pages to files, queue and shared frontier, in the
 * order that loses nothing: see team.h.
 */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/disk/clock.h"
#include "../../lib/disk/disk.h"
#include "../../lib/text/array.h"
#include "../../lib/text/little.h"
#include "../../lib/text/span.h"
#include "../page/record.h"
#include "../page/scope.h"
#include "cache.h"

enum { PUBLISH_AGAIN = 200 }; /* ms */

struct group {
    struct crawl *c;
    struct crawl_page *pages;
    struct frontier_group rows;
    struct frontier_robots *robots;
    struct frontier_put_off *put_off;
    struct crawl_page **page; /* of done[i] */
    const struct crawl_link **link; /* of rows.link[i] */
    struct crawl_page **source;     /* that it was found on */
    char (*path)[CRAWL_PATH];
    struct crawl_host **host; /* of asked[i] */
    struct crawl_origin **origin; /* of rows.origin[i] */
    size_t origins_room, origin_room;
    struct map keys; /* of links, by visit and key */
    struct group_key {
        char bytes[24];
    } * key;
    size_t keys_used, hosts;
};

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a commit");
}

/* --- links --- */

/* Step 1: which links does the visit's filter not have? */
static enum seen_code ask(struct crawl *c, struct crawl_page *page, bool *seen,
                          struct seen_error *why)
{
    const struct seen_filter *filter = page->task->filter;
    const bool shared = c->team->settings.cache;
    const bool reads = crawl_team_cache_reads(c->team);
    enum seen_code code = SEEN_OK;
    struct seen_key key[256];

    memset(seen, 0, page->links);
    for (size_t at = 0;
         (filter || shared) && code == SEEN_OK && at < page->links;) {
        const size_t left = page->links - at, n = left < 256 ? left : 256;

        char *texts = NULL;

        for (size_t i = 0; i < n; i++)
            key[i] = page->link[at + i].key;
        if (reads && !(texts = crawl_page_keys(key, page, at, n)))
            code = no_memory(why);
        else if (shared)
            crawl_team_cache_ask(c, page->task, key, n, seen + at);
        else
            code = seen_filter_has(filter, key, n, seen + at, why);
        free(texts);
        at += n;
    }
    return code;
}

/* Is the link new to the group? Then it is part of it. */
static enum seen_code note(struct group *g, const struct crawl_page *page,
                           const struct crawl_link *link, bool *fresh,
                           struct seen_error *why)
{
    char *bytes = g->key[g->keys_used].bytes;

    little_put_64(bytes, link->key.lo);
    little_put_64(bytes + 8, link->key.hi);
    little_put_64(bytes + 16, (uint64_t)page->task->id);
    *fresh = !map_get(&g->keys, bytes, 24);
    if (!*fresh)
        return SEEN_OK;
    if (!map_set(&g->keys, bytes, 24, bytes))
        return no_memory(why);
    g->keys_used++;
    return SEEN_OK;
}

static void add_link(struct group *g, struct crawl_page *page,
                     const struct crawl_link *link, size_t from)
{
    struct frontier_group *rows = &g->rows;
    struct frontier_link *row = &rows->link[rows->links];

    *row = (struct frontier_link){
        .visit = page->task->id,
        .page = crawl_link_row(page, link, g->path[rows->links]),
    };
    row->page.via = page->robots ? 0 : page->id;
    row->host = crawl_host_of(row->page.url);
    little_put_64(row->key, link->key.lo);
    little_put_64(row->key + 8, link->key.hi);
    g->link[rows->links] = link;
    g->source[rows->links] = page;
    rows->from[rows->links++] = from;
}

static enum seen_code sift(struct group *g, struct crawl_page *page,
                           size_t from, bool *seen, struct seen_error *why)
{
    enum seen_code code = ask(g->c, page, seen, why);
    uint64_t most = page->shared->settings->max_queries;
    bool fresh;

    for (size_t i = 0; code == SEEN_OK && i < page->links; i++) {
        const struct crawl_link *link = &page->link[i];
        struct seen_span url = { page->texts.bytes + link->url,
                                 link->url_len };

        if (seen[i])
            continue;
        code = note(g, page, link, &fresh, why);
        if (code == SEEN_OK && fresh &&
            !crawl_link_is_endless(&page->task->queries, most, url))
            add_link(g, page, link, from);
    }
    return code;
}

/* --- pages --- */

static enum frontier_page_end end_of(const struct crawl_page *page)
{
    switch (page->outcome) {
    case CRAWL_AGAIN: return FRONTIER_AGAIN;
    case CRAWL_ROBOTS: return FRONTIER_EXCLUDED;
    case CRAWL_CLOSED: return FRONTIER_LEFT;
    case CRAWL_FAILED: return FRONTIER_FAILED;
    case CRAWL_ERROR: /* 404 and 410 are news about the page, others are not */
        return page->record.len ? FRONTIER_FETCHED : FRONTIER_FAILED;
    default: return FRONTIER_FETCHED;
    }
}

static unsigned shard_of(const struct crawl_page *page)
{
    return (unsigned)(page->key.lo % page->task->job->shards);
}

static void add_page(struct group *g, struct crawl_page *page)
{
    struct frontier_done *row = &g->rows.done[g->rows.dones];

    *row = (struct frontier_done){
        .page = crawl_page_again(page),
        .visit = page->task->id,
        .end = end_of(page),
        .bytes = (int64_t)page->size,
        .shard = page->record.len ? (int)shard_of(page) : -1,
    };
    g->page[g->rows.dones++] = page;
}

static enum seen_code add_robots(struct group *g, struct crawl_page *page,
                                 struct seen_error *why)
{
    enum { DAY = 86400000 };
    struct crawl *c = g->c;
    enum seen_code code = crawl_robots_redirect(page, why);
    struct seen_span name;

    if (code != SEEN_OK)
        return code;
    if (crawl_robots_is_answer(page))
        g->robots[g->rows.robotses++] = (struct frontier_robots){
            .origin = { page->robots->name, page->robots->len },
            .status = page->status,
            .until_in = DAY,
            .body = crawl_robots_text(page),
        };
    if (crawl_robots_is_abroad(page, &name))
        g->put_off[g->rows.put_offs++] = (struct frontier_put_off){
            .name = name, .due_in = page->due - crawl_now(c)
        };
    return SEEN_OK;
}

/* --- hosts --- */

static enum seen_code add_origin(struct group *g, struct crawl_origin *o,
                                 const struct frontier_shared_origin *row,
                                 struct seen_error *why)
{
    struct frontier_group *rows = &g->rows;
    void *more = array_grow(rows->origin, &g->origins_room, rows->origins + 1,
                            sizeof *rows->origin);

    if (more)
        rows->origin = more;
    else
        return no_memory(why);
    more = array_grow(g->origin, &g->origin_room, rows->origins + 1,
                      sizeof *g->origin);
    if (!more)
        return no_memory(why);
    g->origin = more;
    g->origin[rows->origins] = o;
    rows->origin[rows->origins++] = *row;
    return SEEN_OK;
}

/* Those of a host that failed or answered again. The lock is held; they stay
   until the commit is done. */
static enum seen_code add_origins(struct group *g, struct crawl_host *host,
                                  struct seen_error *why)
{
    struct frontier_shared_origin row = { .host = host->id };
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

/* What happened at the hosts since the last commit. They may be asked again
   meanwhile: only what is copied here is forgotten when it is committed. */
static enum seen_code add_hosts(struct group *g, struct seen_error *why)
{
    struct crawl *c = g->c;
    enum seen_code code = SEEN_OK;
    struct crawl_host *host;
    int64_t now;

    pthread_mutex_lock(&c->lock);
    now = crawl_now(c);
    for (struct crawl_page *p = g->pages; p; p = p->next) {
        p->host->spent = true;
        if (!p->robots && crawl_page_was_fetched(p)) {
            p->host->fetched++;
            p->host->spent_fetched++;
        }
    }
    g->rows.asked = calloc(c->hosts.by_id.used + 1, sizeof *g->rows.asked);
    g->host = calloc(c->hosts.by_id.used + 1, sizeof *g->host);
    if (!g->rows.asked || !g->host)
        code = no_memory(why);
    for (size_t at = 0;
         code == SEEN_OK && (host = map_next(&c->hosts.by_id, &at));) {
        struct frontier_asked *row = &g->rows.asked[g->rows.askeds];

        if (!host->spent && (!host->stopped || host->stop_written) &&
            !host->changed_origins)
            continue;
        if (host->changed_origins)
            code = add_origins(g, host, why);
        *row = (struct frontier_asked){
            .host = host->id,
            .due_in = host->due - now,
            .delay = host->delay,
            .requests = host->spent_requests,
            .bytes = host->spent_bytes,
            .fetched = host->spent_fetched,
            .failures = host->failures,
            .stopped = host->stop_written ? NULL : host->stopped,
            .note = { "", 0 },
        };
        c->team->report.requests += (uint64_t)host->spent_requests;
        host->spent_fetched = host->spent_requests = host->spent_bytes = 0;
        host->spent = false;
        host->stop_written |= host->stopped != NULL;
        g->host[g->rows.askeds++] = host;
    }
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* The last error of each host, for reports. */
static void add_notes(struct group *g)
{
    for (size_t i = 0; i < g->rows.askeds; i++)
        for (struct crawl_page *p = g->pages; p; p = p->next)
            if (p->host == g->host[i] && p->outcome != CRAWL_ROBOTS &&
                (*p->fault || *p->costly))
                g->rows.asked[i].note = span_of(*p->fault ? p->fault
                                                          : p->costly);
}

/* --- steps --- */

static enum seen_code make_room(struct group *g, struct seen_error *why)
{
    size_t pages = 1, links = 1;

    for (const struct crawl_page *p = g->pages; p; p = p->next) {
        pages++;
        links += p->links;
    }
    g->page = calloc(pages, sizeof *g->page);
    g->robots = calloc(pages, sizeof *g->robots);
    g->put_off = calloc(pages, sizeof *g->put_off);
    g->rows.done = calloc(pages, sizeof *g->rows.done);
    g->rows.link = calloc(links, sizeof *g->rows.link);
    g->rows.from = calloc(links, sizeof *g->rows.from);
    g->rows.fresh = calloc(links, sizeof *g->rows.fresh);
    g->link = calloc(links, sizeof *g->link);
    g->source = calloc(links, sizeof *g->source);
    g->path = calloc(links, sizeof *g->path);
    g->key = calloc(links, sizeof *g->key);
    g->rows.robots = g->robots;
    g->rows.put_off = g->put_off;
    return g->page && g->robots && g->put_off && g->rows.done &&
                   g->rows.link && g->rows.from && g->rows.fresh && g->link &&
                   g->source && g->path && g->key
               ? SEEN_OK
               : no_memory(why);
}

static void clear(struct group *g)
{
    free(g->page);
    free(g->robots);
    free(g->put_off);
    free(g->rows.done);
    free(g->rows.asked);
    free(g->rows.link);
    free(g->rows.from);
    free(g->rows.fresh);
    free(g->link);
    free(g->source);
    free(g->path);
    free(g->host);
    free(g->origin);
    free(g->rows.origin);
    free(g->key);
    map_clear(&g->keys);
}

static enum seen_code collect(struct group *g, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t most = 1;
    bool *seen;

    for (struct crawl_page *p = g->pages; p; p = p->next)
        most = p->links > most ? p->links : most;
    seen = malloc(most);
    if (!seen)
        return no_memory(why);
    for (struct crawl_page *p = g->pages; code == SEEN_OK && p; p = p->next) {
        size_t from = p->robots ? SIZE_MAX : g->rows.dones;

        g->c->team->report.links += p->links;
        if (p->robots)
            code = add_robots(g, p, why);
        else
            add_page(g, p);
        if (code == SEEN_OK && end_of(p) != FRONTIER_AGAIN)
            code = sift(g, p, from, seen, why);
    }
    free(seen);
    g->c->team->report.asked += g->rows.links;
    if (code == SEEN_OK)
        code = add_hosts(g, why);
    if (code == SEEN_OK)
        add_notes(g);
    return code;
}

/* Step 2. */
static enum seen_code write_files(struct group *g, struct seen_error *why)
{
    struct crawl *c = g->c;
    enum seen_code code = SEEN_OK;

    if (!c->team->folder)
        return SEEN_OK;
    for (struct crawl_page *p = g->pages; code == SEEN_OK && p; p = p->next)
        code = disk_named(crawl_group_write_files(c, p, "", why),
                          c->team->folder, why);
    return code == SEEN_OK ? crawl_team_folder_write(c, why) : code;
}

/* The fetching thread says it, once per minute. */
void crawl_team_warn(struct crawl *c, const struct seen_error *why)
{
    enum { OFTEN = 60000 };
    struct crawl_team *t = c->team;

    if (t->warned && clock_ms() - t->warned < OFTEN)
        return;
    t->warned = clock_ms();
    pthread_mutex_lock(&c->lock);
    snprintf(c->warning, sizeof c->warning, "%s", why->text);
    pthread_mutex_unlock(&c->lock);
}

enum seen_code crawl_team_publish(struct crawl *c,
                                  const struct crawl_post *post, size_t n,
                                  struct seen_error *why)
{
    struct crawl_team *t = c->team;
    double began = clock_seconds();
    enum seen_code code;

    for (;;) {
        const struct timespec pause = { .tv_nsec = PUBLISH_AGAIN * 1000000L };
        enum seen_code lease;

        code = t->posts.publish(t->posts.owner, post, n, why);
        if (code != SEEN_IO && code != SEEN_BUSY)
            break;
        if (atomic_load(&c->stop)) /* what is not committed comes again */
            break;
        crawl_team_warn(c, why);
        lease = crawl_team_renew(c, why);
        if (lease != SEEN_OK) {
            code = lease;
            break;
        }
        nanosleep(&pause, NULL);
    }
    t->report.in_queue += clock_seconds() - began;
    t->report.records += code == SEEN_OK ? n : 0;
    return code;
}

/* Step 3. */
static enum seen_code publish(struct group *g, struct seen_error *why)
{
    char(*id)[CRAWL_RECORD_ID] = calloc(g->rows.dones + 1, sizeof *id);
    struct crawl_post *post = calloc(g->rows.dones + 1, sizeof *post);
    enum seen_code code = id && post ? SEEN_OK : no_memory(why);
    size_t n = 0;

    for (size_t i = 0; code == SEEN_OK && i < g->rows.dones; i++) {
        const struct crawl_page *page = g->page[i];

        if (!page->record.len)
            continue;
        if (!crawl_record_id(id[n], page->shared->visit, span_of(page->url),
                             1))
            code = no_memory(why);
        post[n] = (struct crawl_post){ .shard = shard_of(page),
                                       .id = id[n],
                                       .body = { page->record.bytes,
                                                 page->record.len } };
        n++;
    }
    if (code == SEEN_OK && n)
        code = crawl_team_publish(g->c, post, n, why);
    free(id);
    free(post);
    return code;
}

/* Links of one visit that follow one another, to a filter on a server. Returns
   where the next visit's begin. */
static size_t add_to_shared(struct group *g, size_t from)
{
    enum { BATCH = 512 };
    const bool reads = crawl_team_cache_reads(g->c->team);
    struct crawl_task *task = g->source[from]->task;
    const struct crawl_page *page[BATCH];
    const struct crawl_link *link[BATCH];
    struct seen_key key[BATCH];
    size_t n = 0, at = from;
    char *texts = NULL;

    for (; at < g->rows.links && n < BATCH && g->source[at]->task == task;
         at++) {
        size_t of = g->rows.from[at];

        g->c->team->report.inserted += g->rows.fresh[at];
        if (of == SIZE_MAX || !g->rows.done[of].refused) {
            page[n] = g->source[at];
            link[n] = g->link[at];
            key[n++] = g->link[at]->key;
        }
    }
    if (reads && n && !(texts = crawl_link_keys(key, page, link, n)))
        n = 0; /* without memory they are asked of the frontier again */
    if (n)
        crawl_team_cache_add(g->c, task, key, n);
    free(texts);
    return at;
}

/* Step 5. What is in the filter is a row: new, or found before. */
static enum seen_code add_to_filters(struct group *g, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; g->c->team->settings.cache && i < g->rows.links;)
        i = add_to_shared(g, i);
    if (g->c->team->settings.cache)
        return SEEN_OK;
    for (size_t i = 0; code == SEEN_OK && i < g->rows.links; i++) {
        struct crawl_page *page = g->source[i];
        size_t from = g->rows.from[i];

        g->c->team->report.inserted += g->rows.fresh[i];
        if ((from != SIZE_MAX && g->rows.done[from].refused) ||
            !page->task->filter)
            continue;
        code = seen_filter_add(page->task->filter, &g->link[i]->key, 1, NULL,
                               why);
    }
    return code;
}

/* The group is committed: hosts may go on. */
static enum seen_code release(struct group *g, struct seen_error *why)
{
    struct crawl *c = g->c;
    struct crawl_team *t = c->team;
    enum seen_code code = SEEN_OK;

    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < g->rows.askeds; i++)
        if (g->rows.asked[i].refused)
            t->lost = true; /* which cannot be while the lease lasts */
    for (size_t i = 0; i < g->rows.origins; i++)
        if (g->origin[i]->state == CRAWL_ROBOTS_CLOSED &&
            g->rows.origin[i].closed.len)
            g->origin[i]->barred = g->rows.origin[i].barred;
    for (size_t i = 0; i < g->rows.links; i++)
        g->source[i]->fresh += g->rows.fresh[i];
    for (size_t i = 0; i < g->rows.dones; i++) {
        struct crawl_page *page = g->page[i];
        struct crawl_host *host = page->host;

        crawl_host_forget_out(host, page->id);
        if (g->rows.done[i].refused) {
            t->report.refused++;
            continue;
        }
        host->drained &= crawl_page_is_final(page) && !page->links;
        if (crawl_page_was_fetched(page)) {
            c->pages++;
            c->run_pages++;
            t->report.bytes += page->size;
            page->task->fetched++;
        }
        crawl_page_put_off(c, page);
        crawl_page_charge_rows(c, page);
    }
    for (struct crawl_page *p = g->pages; p; p = p->next) {
        if (p->robots && code == SEEN_OK) {
            p->host->drained &= !p->links;
            code = crawl_robots_settle(c, p, why);
        }
        c->made -= p->made;
    }
    pthread_mutex_unlock(&c->lock);
    t->report.commits++;
    return code;
}

static void free_all(struct crawl *c, struct crawl_page *pages)
{
    crawl_pages_free(pages);
    pthread_mutex_lock(&c->lock);
    c->committing = 0;
    pthread_mutex_unlock(&c->lock);
}

enum seen_code crawl_team_commit(struct crawl *c, struct crawl_page *pages,
                                 struct seen_error *why)
{
    struct crawl_team *t = c->team;
    struct group g = { .c = c, .pages = pages };
    uint64_t length[CRAWL_FILES];
    enum seen_code code = make_room(&g, why);
    bool tried = false;
    double began;

    memcpy(length, c->output.length, sizeof length);
    if (code == SEEN_OK)
        code = collect(&g, why);
    if (code == SEEN_OK)
        code = write_files(&g, why);
    if (code == SEEN_OK)
        code = publish(&g, why);
    began = clock_seconds();
    if (code == SEEN_OK && (g.rows.dones || g.rows.askeds || g.rows.links ||
                            g.rows.robotses || g.rows.put_offs)) {
        code = frontier_shared_commit(t->frontier, &g.rows, why);
        tried = true;
    }
    if (code != SEEN_OK && tried && code != SEEN_ABSENT)
        crawl_team_folder_settle(c, length);
    else if (code != SEEN_OK)
        crawl_team_folder_undo(c, length);
    t->report.in_database += clock_seconds() - began;
    if (code == SEEN_OK)
        code = add_to_filters(&g, why);
    if (code == SEEN_OK)
        code = release(&g, why);
    if (code == SEEN_ABSENT)
        t->report.refused += g.rows.dones;
    free_all(c, pages);
    clear(&g);
    return code;
}
