/* aside.c - what was set aside, and what is suspect, in memory. */
#include "aside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/little.h"
#include "../../lib/text/span.h"
#include "../page/scope.h"

void crawl_aside_key(unsigned char to[CRAWL_ASIDE_KEY], uint64_t lo,
                     uint64_t hi)
{
    little_put_64(to, lo);
    little_put_64(to + 8, hi);
}

void crawl_aside_robots_key(unsigned char to[CRAWL_ASIDE_KEY],
                            struct seen_span origin)
{
    char url[CRAWL_READING_ORIGIN + sizeof "/robots.txt"];
    static char text[SEEN_KEY_TEXT];
    struct seen_key key;
    int len = snprintf(url, sizeof url, "%.*s/robots.txt", (int)origin.len,
                       origin.text);

    crawl_key(&key, text, (struct seen_span){ url, (size_t)len });
    crawl_aside_key(to, key.lo, key.hi);
}

static bool add(struct map *set, struct seen_span what)
{
    char *copy;

    if (map_get(set, what.text, what.len))
        return true;
    copy = malloc(what.len);
    if (!copy)
        return false;
    memcpy(copy, what.text, what.len);
    if (map_set(set, copy, what.len, copy))
        return true;
    free(copy);
    return false;
}

static void forget(struct map *set)
{
    char *what;

    for (size_t at = 0; (what = map_next(set, &at));)
        free(what);
    map_clear(set);
    *set = (struct map){ .slot = NULL };
}

bool crawl_aside_add(struct crawl *c, struct seen_span key)
{
    return key.len != CRAWL_ASIDE_KEY || add(&c->aside, key);
}

bool crawl_aside_suspect(struct crawl *c, struct seen_span origin)
{
    return !origin.len || add(&c->suspect_robots, origin);
}

void crawl_aside_forget(struct crawl *c)
{
    forget(&c->aside);
    forget(&c->suspect_robots);
}

enum crawl_trust crawl_aside_trust(const struct crawl *c,
                                   struct seen_span origin)
{
    unsigned char key[CRAWL_ASIDE_KEY];

    if (c->aside.used && origin.len < CRAWL_READING_ORIGIN) {
        crawl_aside_robots_key(key, origin);
        if (map_get(&c->aside, key, sizeof key))
            return CRAWL_SET_ASIDE;
    }
    return map_get(&c->suspect_robots, origin.text, origin.len)
               ? CRAWL_SUSPECT
               : CRAWL_TRUSTED;
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
