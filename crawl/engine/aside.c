/* aside.c - the keys of pages that were set aside. */
#include "aside.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/little.h"

void crawl_aside_key(unsigned char to[CRAWL_ASIDE_KEY], uint64_t lo,
                     uint64_t hi)
{
    little_put_64(to, lo);
    little_put_64(to + 8, hi);
}

bool crawl_aside_add(struct crawl *c, struct seen_span key)
{
    char *copy;

    if (key.len != CRAWL_ASIDE_KEY || map_get(&c->aside, key.text, key.len))
        return true;
    copy = malloc(CRAWL_ASIDE_KEY);
    if (!copy)
        return false;
    memcpy(copy, key.text, CRAWL_ASIDE_KEY);
    if (map_set(&c->aside, copy, CRAWL_ASIDE_KEY, copy))
        return true;
    free(copy);
    return false;
}

void crawl_aside_forget(struct crawl *c)
{
    char *key;

    for (size_t at = 0; (key = map_next(&c->aside, &at));)
        free(key);
    map_clear(&c->aside);
    c->aside = (struct map){ .slot = NULL };
}

void crawl_aside_mark(const struct crawl *c, struct crawl_page *page)
{
    unsigned char key[CRAWL_ASIDE_KEY];

    if (!c->aside.used)
        return;
    crawl_aside_key(key, page->key.lo, page->key.hi);
    if (map_get(&c->aside, key, sizeof key))
        page->flags |= FRONTIER_DEATHS;
}
