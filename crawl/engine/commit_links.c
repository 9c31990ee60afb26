/* commit_links.c - which links of a group are new, and their rows. */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/array.h"
#include "../../lib/text/little.h"
#include "../../lib/text/span.h"
#include "../page/scope.h"

enum seen_code crawl_group_no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for links");
}

/* Of the pages that a path has with different queries. */
struct counter {
    uint64_t path, pages;
};

enum { COUNTED = 100000 }; /* paths */

bool crawl_link_is_endless(struct map *queries, uint64_t most,
                           struct seen_span url)
{
    const char *query = memchr(url.text, '?', url.len);
    struct seen_key key;
    struct counter *counter;

    if (!query)
        return false;
    seen_key_hash(&key, url.text, (size_t)(query - url.text));
    counter = map_get(queries, &key.lo, sizeof key.lo);
    if (!counter) {
        if (queries->used >= COUNTED ||
            !(counter = calloc(1, sizeof *counter)))
            return false;
        counter->path = key.lo;
        if (!map_set(queries, &counter->path, sizeof key.lo, counter)) {
            free(counter);
            return false;
        }
    }
    return ++counter->pages > most;
}

void crawl_queries_clear(struct map *queries)
{
    void *counter;

    for (size_t at = 0; (counter = map_next(queries, &at));)
        free(counter);
    map_clear(queries);
}

static void path_of(char to[CRAWL_PATH], const struct crawl_page *page,
                    char letter)
{
    size_t n = strlen(page->path);

    if (n > 50) { /* as Heritrix does: the last hops, and a number */
        snprintf(to, CRAWL_PATH, "%s%c", page->path + (n - 50), letter);
        return;
    }
    snprintf(to, CRAWL_PATH, "%s%c", page->path, letter);
}

struct frontier_page crawl_link_row(const struct crawl_page *page,
                                    const struct crawl_link *link,
                                    char path[CRAWL_PATH])
{
    path_of(path, page, link->letter);
    return (struct frontier_page){
        .priority = link->priority,
        .url = { page->texts.bytes + link->url, link->url_len },
        .type = { page->texts.bytes + link->type, link->type_len },
        .path = span_of(path),
        .depth = page->depth + (link->letter != 'R' && !link->list),
        .flags = (link->letter == 'E' ? CRAWL_FLAG_REQUISITE
                  : link->list        ? CRAWL_FLAG_SITEMAP
                                      : 0) |
                 link->minutes << CRAWL_FLAG_MINUTES,
    };
}

static enum seen_code note_host(struct crawl_group *g, int64_t host,
                                struct seen_error *why)
{
    int64_t *more;

    if (g->hosts && g->host[g->hosts - 1] == host)
        return SEEN_OK;
    more = array_grow(g->host, &g->host_room, g->hosts + 1, sizeof *more);
    if (!more)
        return crawl_group_no_memory(why);
    g->host = more;
    more[g->hosts++] = host;
    return SEEN_OK;
}

/* Insert a link that is new as a row. */
static enum seen_code insert(struct crawl_group *g, struct crawl_page *page,
                             const struct crawl_link *link, int64_t via,
                             struct seen_error *why)
{
    struct crawl *c = g->c;
    char path[CRAWL_PATH];
    struct frontier_page row = crawl_link_row(page, link, path);
    enum seen_code code;

    row.via = via;
    code = frontier_host_id(c->state.frontier, crawl_host_of(row.url),
                            &row.host, why);
    if (code != SEEN_OK)
        return code;
    code = frontier_add(c->state.frontier, &row, &g->last, why);
    g->fresh++;
    page->fresh++;
    return code == SEEN_OK ? note_host(g, row.host, why) : code;
}

/* Is the key new to the group? Then it is part of it. */
static enum seen_code note(struct crawl_group *g, const struct seen_key *key,
                           bool *fresh, struct seen_error *why)
{
    char bytes[16];

    little_put_64(bytes, key->lo);
    little_put_64(bytes + 8, key->hi);
    *fresh = !map_get(&g->keys, bytes, 16);
    if (!*fresh)
        return SEEN_OK;
    /* The map points to the bytes, so they must not move: room was made. */
    memcpy(g->bytes[g->n], bytes, 16);
    g->key[g->n] = *key;
    if (!map_set(&g->keys, g->bytes[g->n], 16, g->bytes[g->n]))
        return crawl_group_no_memory(why);
    g->n++;
    return SEEN_OK;
}

static enum seen_code note_endless(struct crawl_group *g, struct seen_span url,
                                   struct seen_error *why)
{
    char reason[80];

    snprintf(reason, sizeof reason,
             "%llu pages differ in their query only; see --max-queries",
             (unsigned long long)g->c->settings->max_queries);
    g->left[CRAWL_LEFT_TRAP]++;
    return crawl_state_trap(&g->c->state, url, span_of(reason), 1, why);
}

/* The traps that a worker noticed; it remembers some, and counts all. */
static enum seen_code insert_traps(struct crawl_group *g,
                                   const struct crawl_page *page,
                                   struct seen_error *why)
{
    struct seen_span rest = { page->traps.bytes, page->traps.len };
    int64_t more = (int64_t)page->excluded[CRAWL_LEFT_TRAP] -
                   (int64_t)page->trapped;
    struct seen_span reason, url;
    enum seen_code code = SEEN_OK;

    while (code == SEEN_OK && span_cut(&rest, '\0', &reason) &&
           span_cut(&rest, '\0', &url)) {
        code = crawl_state_trap(&g->c->state, url, reason, 1 + more, why);
        more = 0;
    }
    return code;
}

enum seen_code crawl_group_leave_out(struct crawl_group *g,
                                     const struct crawl_page *page,
                                     int64_t via, struct seen_error *why)
{
    enum seen_code code = insert_traps(g, page, why);

    for (int i = 0; i < CRAWL_LEFT_LINKS; i++)
        g->left[i] += (int64_t)page->excluded[i];
    for (size_t i = 0; code == SEEN_OK && i < page->lefts; i++)
        code = crawl_left_keep(&g->c->state, page->left[i].key,
                               page->left[i].reason, via, why);
    return code;
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

/* Which links of a page are new, to the cache and to the group? Mark all
   others as seen. */
enum seen_code crawl_group_sift(struct crawl_group *g,
                                const struct crawl_page *page, bool *seen,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool fresh;

    if (page->flags & CRAWL_FLAG_START && !page->attempts)
        list_url(g->c, span_of(page->url));
    for (size_t i = 0; code == SEEN_OK && i < page->links; i++) {
        const struct crawl_link *link = &page->link[i];
        struct seen_span url = { page->texts.bytes + link->url,
                                 link->url_len };

        if (seen[i])
            continue;
        code = note(g, &link->key, &fresh, why);
        seen[i] = !fresh;
        if (code == SEEN_OK && fresh &&
            crawl_link_is_endless(&g->c->queries, g->c->settings->max_queries,
                                  url)) {
            code = note_endless(g, url, why);
            if (code == SEEN_OK)
                code = crawl_state_unfetched(&g->c->state, &link->key, why);
            seen[i] = true;
        }
        if (!seen[i] && !link->list)
            list_url(g->c, url);
    }
    return code;
}

enum seen_code crawl_group_insert_links(struct crawl_group *g,
                                        struct crawl_page *page,
                                        const bool *seen, int64_t via,
                                        struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i < page->links; i++)
        if (!seen[i])
            code = insert(g, page, &page->link[i], via, why);
    return code;
}
