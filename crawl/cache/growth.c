/*
 * growth.c - a larger cache in place of a full one, in slices.
 *
 * Nobody knows how many URLs a crawl will find. So its cache begins small, and
 * when it is nearly full, one for more URLs is made of all keys (keys.h),
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
 * The first keys go one by one: each makes the system find and clear three pages
 * of memory, of 2 MiB, until all have been found. Otherwise a batch of 256 keys
 * would wait for all of them: 34 ms in a cache of 5 million URLs.
 *
 * `next` is for twice as many keys as there are, above a million for 1.5 times
 * as many. So a cache takes at most 1.9 times the bits of one that was planned
 * for exactly its URLs, and each key is copied once or twice in the long run.
 *
 * If that is impossible (no memory, a disk that is full, a damaged log), the
 * filter takes more URLs than it was made for, and the rate rises, until the next
 * run makes it again from the rows.
 *
 * A cache that a version without logs made is a bloom filter of half the rate.
 * When it is full it becomes the first part of a filter that grows by parts.
 */
#include "growth.h"

#include <stdio.h>
#include <string.h>

#include <seen/share.h>

enum {
    BATCH = 256,
    LEAST = 16, /* keys to copy per key that is added, */
    MOST = 256, /* and at most */
    FIRST = 65536, /* one in so many is among the first, */
    SOME = 2,      /* of which a batch copies so many */
    SMALL = 1000000
};

static uint64_t capacity(const struct seen_filter *f)
{
    return seen_filter_plan(f)->capacity;
}

static bool wanted(const struct crawl_growth *g, const struct seen_filter *f)
{
    return g->keys.kept && g->keys.count >= capacity(f) - capacity(f) / 16;
}

static enum seen_code begin(struct crawl_growth *g,
                            const struct seen_filter *f)
{
    struct seen_plan plan = *seen_filter_plan(f);

    plan.capacity = g->keys.count < SMALL ? 2 * g->keys.count
                                          : g->keys.count + g->keys.count / 2;
    plan.bits = 0;
    plan.multiplier = 0;
    g->copied = g->sum = 0;
    return seen_filter_new(&g->next, &plan, NULL);
}

static enum seen_code copy(struct crawl_growth *g, uint64_t most)
{
    struct seen_key key[BATCH];
    enum seen_code code = SEEN_OK;

    while (g->copied < g->keys.count && most && code == SEEN_OK) {
        uint64_t n = g->keys.count - g->copied;

        n = n < most ? n : most;
        n = n < BATCH ? n : BATCH;
        code = crawl_keys_read(&g->keys, g->copied, key, n, NULL);
        if (code == SEEN_OK)
            code = seen_filter_add(g->next, key, n, NULL, NULL);
        for (uint64_t i = 0; i < n && code == SEEN_OK; i++)
            g->sum = crawl_keys_sum(g->sum, &key[i]);
        g->copied += n;
        most -= n;
    }
    return code;
}

/* n keys were added: copy enough that all are copied before the filter is full.
   False if that is impossible. */
static bool slice(struct crawl_growth *g, struct seen_filter **filter,
                  size_t n)
{
    const uint64_t count = g->keys.count;
    uint64_t room, each;

    if (g->next && !g->keys.kept)
        return false; /* the log has stopped */
    if (!g->next && !wanted(g, *filter))
        return true;
    if (!g->next && begin(g, *filter) != SEEN_OK)
        return false;
    room = capacity(*filter) > count ? capacity(*filter) - count : 1;
    each = (count - g->copied) / room + 1;
    each = each < LEAST ? LEAST : each > MOST ? MOST : each;
    if (copy(g, g->copied < count / FIRST ? SOME : each * n) != SEEN_OK)
        return false;
    if (g->copied < g->keys.count)
        return true;
    if (g->sum != g->keys.sum)
        return false; /* they are not those that were written */
    seen_filter_free(*filter);
    *filter = g->next;
    g->next = NULL;
    return true;
}

/* A full filter of an older version becomes the first part of one that
   grows. */
static enum seen_code add_parts(struct seen_filter **filter,
                                struct seen_error *why)
{
    char kind[SEEN_KIND_TEXT + 16];
    struct seen_filter *grown;
    enum seen_code code;

    snprintf(kind, sizeof kind, "growing/%s", seen_filter_plan(*filter)->kind);
    code = seen_filter_recast(&grown, *filter, kind, why);
    if (code == SEEN_OK) {
        seen_filter_free(*filter);
        *filter = grown;
    }
    return code;
}

static enum seen_code add(struct seen_filter **filter,
                          const struct seen_key *key, size_t n,
                          struct seen_error *why)
{
    struct seen_error detail;
    enum seen_code code = seen_filter_add(*filter, key, n, NULL, &detail);

    if (code == SEEN_FULL && detail.at < n) {
        code = add_parts(filter, &detail);
        if (code == SEEN_OK)
            code = seen_filter_add(*filter, key + detail.at,
                                   n - (size_t)detail.at, NULL, &detail);
    }
    if (code != SEEN_OK && why)
        *why = detail;
    return code;
}

/* Go on past the capacity. */
static void give_up(struct crawl_growth *g)
{
    crawl_keys_forget(&g->keys);
    seen_filter_free(g->next);
    g->next = NULL;
}

enum seen_code crawl_growth_add(struct crawl_growth *g,
                                struct seen_filter **filter,
                                const struct seen_key *key, size_t n,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        code = crawl_keys_add(&g->keys, key + done, some, why);
        if (code == SEEN_OK)
            code = add(filter, key + done, some, why);
        if (code == SEEN_OK && !slice(g, filter, some))
            give_up(g);
    }
    return code;
}

void crawl_growth_close(struct crawl_growth *g)
{
    seen_filter_free(g->next);
    g->next = NULL;
    crawl_keys_close(&g->keys);
}
