/*
 * hash_sort.c - sort hashes, with several threads.
 *
 * By the top bits into buckets that fit into a cache, each bucket by the next
 * 22 bits, and the few that are still out of order by insertion. Each thread
 * takes a share of the hashes to the buckets, and then a share of the buckets:
 *
 *     blocks    |  thread 0   |  thread 1   |  thread 2   |
 *                      \      /      |      \      /
 *     buckets   |  0  |  1  |  2  |  3  |  4  |  5  |  6  |
 *               |  thread 0 |    thread 1     | thread 2  |
 *
 * Equal hashes are in one bucket, so each thread drops those of its share.
 */
#include "hash_sort.h"

#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "crew.h"
#include "probe.h"

enum {
    BUCKET = 1 << 17, /* hashes to sort at a time: 1 MiB */
    SHARE = 1 << 17   /* hashes that are worth a thread */
};

struct sorter {
    struct sorting *all;
    size_t from, to;         /* the hashes that this thread distributes */
    size_t *next;            /* where the next hash of each bucket goes */
    size_t first, last;      /* the buckets that it sorts */
    uint64_t *spare;         /* room for one bucket */
    size_t kept;
};

struct sorting {
    uint64_t *const *block;
    uint64_t *to, salt, mask;
    unsigned top;            /* bits that decide about the bucket */
    size_t *start;           /* where each bucket begins; and the end */
    size_t widest;
    unsigned threads;
    struct sorter sorter[MOST_THREADS];
};

static void run(struct sorting *all, void (*step)(void *share))
{
    crew_run(step, all->sorter, sizeof *all->sorter, all->threads);
}

static size_t bucket_of(const struct sorting *all, uint64_t hash)
{
    return all->top ? (size_t)(hash >> (64 - all->top)) : 0;
}

static void hash_and_count(void *share)
{
    struct sorter *s = share;
    const struct sorting *all = s->all;

    for (size_t i = s->from; i < s->to; i++) {
        uint64_t *value = &all->block[i / HASH_BLOCK][i % HASH_BLOCK];

        *value = seen_mix(*value ^ all->salt) & all->mask;
        s->next[bucket_of(all, *value)]++;
    }
}

static void move_to_buckets(void *share)
{
    struct sorter *s = share;
    const struct sorting *all = s->all;

    for (size_t i = s->from; i < s->to; i++) {
        uint64_t hash = all->block[i / HASH_BLOCK][i % HASH_BLOCK];

        all->to[s->next[bucket_of(all, hash)]++] = hash;
    }
}

/* Sort by 22 bits below the top ones, in two passes of 11. */
static void sort_bucket(uint64_t *a, uint64_t *spare, size_t n, unsigned top)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        unsigned shift = 64 - top - 22 + 11 * pass;
        uint32_t start[2049] = { 0 };
        uint64_t *swap;

        for (size_t i = 0; i < n; i++)
            start[(a[i] >> shift & 2047) + 1]++;
        for (int i = 0; i < 2048; i++)
            start[i + 1] += start[i];
        for (size_t i = 0; i < n; i++)
            spare[start[a[i] >> shift & 2047]++] = a[i];
        swap = a, a = spare, spare = swap;
    }
}

static void insertion_sort(uint64_t *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t x = a[i];
        size_t j = i;

        for (; j && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
}

static void sort_buckets(void *share)
{
    struct sorter *s = share;
    const struct sorting *all = s->all;
    uint64_t *to = all->to + all->start[s->first];

    for (size_t i = s->first; i < s->last; i++) {
        size_t n = all->start[i + 1] - all->start[i];
        uint64_t *hash = all->to + all->start[i];

        sort_bucket(hash, s->spare, n, all->top);
        insertion_sort(hash, n);
        for (size_t j = 0; j < n; j++)
            if (!s->kept || hash[j] != to[s->kept - 1])
                to[s->kept++] = hash[j];
    }
}

/* Turn the counts of all threads into places, and divide the buckets. */
static void place_buckets(struct sorting *all, size_t n)
{
    size_t at = 0, buckets = (size_t)1 << all->top;
    unsigned given = 0;

    for (size_t i = 0; i < buckets; i++) {
        while (given < all->threads && at >= all->sorter[given].from)
            all->sorter[given++].first = i;
        all->start[i] = at;
        for (unsigned j = 0; j < all->threads; j++) {
            size_t count = all->sorter[j].next[i];

            all->sorter[j].next[i] = at;
            at += count;
        }
        if (at - all->start[i] > all->widest)
            all->widest = at - all->start[i];
    }
    all->start[buckets] = n;
    while (given < all->threads)
        all->sorter[given++].first = buckets;
    for (unsigned j = 0; j < all->threads; j++)
        all->sorter[j].last = j + 1 < all->threads ? all->sorter[j + 1].first
                                                   : buckets;
}

/* Close the gaps that dropped hashes left between the shares. */
static size_t join(const struct sorting *all)
{
    size_t kept = 0;

    for (unsigned i = 0; i < all->threads; i++) {
        const struct sorter *s = &all->sorter[i];
        size_t at = all->start[s->first];

        if (kept != at)
            memmove(all->to + kept, all->to + at, s->kept * sizeof *all->to);
        kept += s->kept;
    }
    return kept;
}

size_t hashes_below(const uint64_t *hash, size_t n, uint64_t m, uint64_t at)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (reduce(hash[middle], m) < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool hash_sort(uint64_t *const *block, uint64_t *to, size_t *n, uint64_t salt,
               uint64_t mask, unsigned threads)
{
    struct sorting all = { block, to, salt, mask, .threads = 1 };
    size_t buckets;
    bool able;

    while (all.top < 16 && *n >> all.top > BUCKET / 2)
        all.top++;
    buckets = (size_t)1 << all.top;
    while (all.threads < threads &&
           all.threads<MOST_THREADS && * n / SHARE> all.threads)
        all.threads++;
    all.start = calloc(buckets + 1, sizeof *all.start);
    able = all.start;
    for (unsigned i = 0; i < all.threads; i++) {
        struct sorter *s = &all.sorter[i];

        s->all = &all;
        s->from = *n / all.threads * i;
        s->to = i + 1 < all.threads ? *n / all.threads * (i + 1) : *n;
        s->next = calloc(buckets, sizeof *s->next);
        able = able && s->next;
    }
    if (able) {
        run(&all, hash_and_count);
        place_buckets(&all, *n);
    }
    for (unsigned i = 0; i < all.threads && able; i++) {
        all.sorter[i].spare = cells_new((all.widest + 1) * sizeof *to);
        able = all.sorter[i].spare;
    }
    if (able) {
        run(&all, move_to_buckets);
        run(&all, sort_buckets);
        *n = join(&all);
    }
    for (unsigned i = 0; i < all.threads; i++) {
        cells_free(all.sorter[i].spare, (all.widest + 1) * sizeof *to);
        free(all.sorter[i].next);
    }
    free(all.start);
    return able;
}
