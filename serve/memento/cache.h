/*
 * cache.h - TimeMaps for a while, in bounded memory.
 *
 *     t = memento_cache_get(&cache, key, len, now);
 *     if (!t)
 *         memento_cache_put(&cache, key, len, t = gather(), now + 600000);
 *
 * What was not used for longest goes first. An entry that is too old goes when
 * it is asked for, or in its turn.
 *
 * Threads: belongs to one thread.
 */
#ifndef SEEN_SERVE_MEMENTO_CACHE_H
#define SEEN_SERVE_MEMENTO_CACHE_H

#include "../../lib/text/map.h"
#include "memento_timemap.h"

struct memento_cached;

/* Zeroed but for `most`, it is an empty cache. */
struct memento_cache {
    size_t most, bytes; /* of memory: at most, and now */
    struct map map;
    struct memento_cached *newest, *oldest;
};

/* The TimeMap, which the caller has to keep if it is to outlive the next call;
   NULL if there is none, or it is too old. */
struct memento_timemap *memento_cache_get(struct memento_cache *c,
                                          const char *key, size_t len,
                                          uint64_t now);

/* Keep a TimeMap until a time. One that would take more than half of the
   memory is not kept; nor is any if there is no memory. */
void memento_cache_put(struct memento_cache *c, const char *key, size_t len,
                       struct memento_timemap *t, uint64_t until);

void memento_cache_clear(struct memento_cache *c);

#endif
