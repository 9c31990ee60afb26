/*
 * cache_grow.c - a larger cache in place of a full one, in slices.
 *
 * Nobody knows how many URLs a crawl will find. So its cache begins small, and
 * when it is nearly full, one for more URLs is made of all keys (cache_keys.h),
 * a few with each key that is added:
 *
 *     capacity   0 .............................. 15/16 ....... 1
 *     filter     is asked, and gets new keys -----------------> gone
 *     next                                        [copied ...]  is asked
 *
 * From 15/16 of the capacity on, each new key lets 16 old ones be copied, so
 * that `next` has all of them when the filter is full. So there is one filter
 * of the right size at any time but then; a question costs one line of memory
 * per part; and the rate that was planned holds for the whole visit. At 1e-6 and
 * 100 million URLs a cache that got a further part whenever it was full would
 * have 14 of them.
 *
 * Nothing waits for a whole copy: a commit that adds n keys copies at most
 * MOST * n. That is more than 16 n only if a crawl was stopped while it copied:
 * `next` is not saved, and there is less room left to copy in.
 *
 * `next` is for twice as many keys as there are, above a million for 1.5 times
 * as many. So a cache takes at most 1.9 times the bits of one that was planned
 * for exactly its URLs, and each key is copied once or twice in the long run.
 *
 * A log that was damaged is of no use, and then the filter takes more URLs than
 * it was made for, until the next run makes it again from the rows.
 *
 * A cache that a version without logs made is a bloom filter of half the rate.
 * When it is full it becomes the first part of a filter that grows by parts.
 */
#include "cache_inside.h"

#include <stdio.h>
#include <string.h>

#include <seen/share.h>

enum {
    LEAST = 16, /* keys to copy per key that is added, */
    MOST = 256, /* and at most */
    SMALL = 1000000
};

static uint64_t capacity(const struct crawl_cache *c)
{
    return seen_filter_plan(c->filter)->capacity;
}

static bool wanted(const struct crawl_cache *c)
{
    return c->keys.kept && c->keys.count >= capacity(c) - capacity(c) / 16;
}

static enum seen_code begin(struct crawl_cache *c, struct seen_error *why)
{
    struct seen_plan plan = *seen_filter_plan(c->filter);

    plan.capacity = c->keys.count < SMALL ? 2 * c->keys.count
                                          : c->keys.count + c->keys.count / 2;
    plan.bits = 0;
    plan.multiplier = 0;
    c->copied = c->sum = 0;
    return seen_filter_new(&c->next, &plan, why);
}

static void give_up(struct crawl_cache *c)
{
    crawl_keys_forget(&c->keys);
    seen_filter_free(c->next);
    c->next = NULL;
}

/* All are copied: were they those that were written? */
static void finish(struct crawl_cache *c)
{
    if (c->sum != c->keys.sum) {
        give_up(c);
        return;
    }
    seen_filter_free(c->filter);
    c->filter = c->next;
    c->next = NULL;
}

static enum seen_code copy(struct crawl_cache *c, uint64_t most,
                           struct seen_error *why)
{
    struct seen_key key[CRAWL_CACHE_BATCH];
    enum seen_code code = SEEN_OK;

    while (c->copied < c->keys.count && most && code == SEEN_OK) {
        uint64_t n = c->keys.count - c->copied;

        n = n < most ? n : most;
        n = n < CRAWL_CACHE_BATCH ? n : CRAWL_CACHE_BATCH;
        code = crawl_keys_read(&c->keys, c->copied, key, n, why);
        if (code == SEEN_OK)
            code = seen_filter_add(c->next, key, n, NULL, why);
        for (uint64_t i = 0; i < n && code == SEEN_OK; i++)
            c->sum = crawl_keys_sum(c->sum, &key[i]);
        c->copied += n;
        most -= n;
    }
    return code;
}

/* n keys were added: copy so many that all are copied before it is full. */
static enum seen_code slice(struct crawl_cache *c, size_t n,
                            struct seen_error *why)
{
    const uint64_t count = c->keys.count;
    uint64_t room, each;
    enum seen_code code = SEEN_OK;

    if (!c->next && !wanted(c))
        return SEEN_OK;
    if (!c->next)
        code = begin(c, why);
    if (code != SEEN_OK)
        return code;
    room = capacity(c) > count ? capacity(c) - count : 1;
    each = (count - c->copied) / room + 1;
    each = each < LEAST ? LEAST : each > MOST ? MOST : each;
    code = copy(c, each * n, why);
    if (code != SEEN_OK && code != SEEN_NOMEM) {
        give_up(c);
        return SEEN_OK;
    }
    if (code == SEEN_OK && c->copied == c->keys.count)
        finish(c);
    return code;
}

/* A full filter of an older version becomes the first part of one that
   grows. */
static enum seen_code add_parts(struct crawl_cache *c, struct seen_error *why)
{
    char kind[SEEN_KIND_TEXT + 16];
    struct seen_filter *grown;
    enum seen_code code;

    snprintf(kind, sizeof kind, "growing/%s",
             seen_filter_plan(c->filter)->kind);
    code = seen_filter_recast(&grown, c->filter, kind, why);
    if (code == SEEN_OK) {
        seen_filter_free(c->filter);
        c->filter = grown;
    }
    return code;
}

static enum seen_code add(struct crawl_cache *c, const struct seen_key *key,
                          size_t n, struct seen_error *why)
{
    struct seen_error detail;
    enum seen_code code = seen_filter_add(c->filter, key, n, NULL, &detail);

    if (code == SEEN_FULL && detail.at < n) {
        code = add_parts(c, &detail);
        if (code == SEEN_OK)
            code = seen_filter_add(c->filter, key + detail.at,
                                   n - (size_t)detail.at, NULL, &detail);
    }
    if (code != SEEN_OK && why)
        *why = detail;
    return code;
}

enum seen_code crawl_cache_grow_by(struct crawl_cache *c,
                                   const struct seen_key *key, size_t n,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < CRAWL_CACHE_BATCH ? n - done : CRAWL_CACHE_BATCH;
        code = crawl_keys_add(&c->keys, key + done, some, why);
        if (code == SEEN_OK)
            code = add(c, key + done, some, why);
        if (code == SEEN_OK)
            code = slice(c, some, why);
    }
    return code;
}
