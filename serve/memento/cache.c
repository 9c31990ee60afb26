/* cache.c - a map, and a list in order of use. */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

struct memento_cached {
    struct memento_cached *newer, *older;
    struct memento_timemap *timemap;
    uint64_t until;
    size_t bytes, len;
    char key[];
};

static void unlink_entry(struct memento_cache *c, struct memento_cached *e)
{
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_newest(struct memento_cache *c, struct memento_cached *e)
{
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void forget(struct memento_cache *c, struct memento_cached *e)
{
    map_remove(&c->map, e->key, e->len);
    unlink_entry(c, e);
    c->bytes -= e->bytes;
    memento_timemap_release(e->timemap);
    free(e);
}

struct memento_timemap *memento_cache_get(struct memento_cache *c,
                                          const char *key, size_t len,
                                          uint64_t now)
{
    struct memento_cached *e = map_get(&c->map, key, len);

    if (e && e->until <= now) {
        forget(c, e);
        e = NULL;
    }
    if (!e)
        return NULL;
    unlink_entry(c, e);
    link_newest(c, e);
    return e->timemap;
}

void memento_cache_put(struct memento_cache *c, const char *key, size_t len,
                       struct memento_timemap *t, uint64_t until)
{
    const size_t slot = 2 * sizeof(struct map_slot);
    struct memento_cached *e = map_get(&c->map, key, len);
    size_t bytes = sizeof *e + len + t->bytes + slot;

    if (e)
        forget(c, e);
    if (bytes > c->most / 2)
        return;
    while (c->oldest && c->bytes + bytes > c->most)
        forget(c, c->oldest);
    e = calloc(1, sizeof *e + len);
    if (!e)
        return;
    memcpy(e->key, key, len);
    e->len = len;
    e->bytes = bytes;
    e->until = until;
    if (!map_set(&c->map, e->key, len, e)) {
        free(e);
        return;
    }
    e->timemap = memento_timemap_keep(t);
    c->bytes += bytes;
    link_newest(c, e);
}

void memento_cache_clear(struct memento_cache *c)
{
    while (c->oldest)
        forget(c, c->oldest);
    map_clear(&c->map);
}
