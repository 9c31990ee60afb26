/* queries.c - how many pages a path has, with different queries. */
#include "queries.h"

#include <stdlib.h>
#include <string.h>

#include <seen/key.h>

struct crawl_path {
    uint64_t path, pages;
    struct crawl_path *next; /* of those that changed */
    bool changed;
};

enum { COUNTED = 100000 }; /* paths, at most */

static struct crawl_path *find(struct crawl_queries *q, uint64_t path)
{
    struct crawl_path *p = map_get(&q->paths, &path, sizeof path);

    if (p)
        return p;
    if (q->paths.used >= COUNTED || !(p = calloc(1, sizeof *p)))
        return NULL;
    p->path = path;
    if (map_set(&q->paths, &p->path, sizeof p->path, p))
        return p;
    free(p);
    return NULL;
}

bool crawl_queries_endless(struct crawl_queries *q, uint64_t most,
                           struct seen_span url)
{
    const char *query = memchr(url.text, '?', url.len);
    struct crawl_path *p;
    struct seen_key key;

    if (!query)
        return false;
    seen_key_hash(&key, url.text, (size_t)(query - url.text));
    p = find(q, key.lo);
    if (!p)
        return false;
    if (p->pages >= most)
        return true;
    p->pages++;
    if (!p->changed) {
        p->changed = true;
        p->next = q->changed;
        q->changed = p;
    }
    return false;
}

bool crawl_queries_recall(struct crawl_queries *q, uint64_t path,
                          uint64_t pages)
{
    struct crawl_path *p = find(q, path);

    if (p)
        p->pages = pages;
    return p != NULL;
}

enum seen_code crawl_queries_changed(struct crawl_queries *q,
                                     crawl_take_count *take, void *owner,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    while (q->changed && code == SEEN_OK) {
        struct crawl_path *p = q->changed;

        code = take(owner, p->path, p->pages, why);
        q->changed = p->next;
        p->changed = false;
    }
    return code;
}

void crawl_queries_clear(struct crawl_queries *q)
{
    struct crawl_path *p;

    for (size_t at = 0; (p = map_next(&q->paths, &at));)
        free(p);
    map_clear(&q->paths);
    q->changed = NULL;
}
