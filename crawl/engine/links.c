/*
 * links.c - rows of links, and paths that have pages without end.
 *
 * A calendar or a search form makes a new URL for each question: many pages of
 * one path that differ only in their query. They are counted per path, for
 * 100,000 paths at most.
 */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/span.h"

/* How many pages a path has, with different queries. */
struct counter {
    uint64_t path, pages;
};

enum { COUNTED = 100000 }; /* paths, at most */

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
