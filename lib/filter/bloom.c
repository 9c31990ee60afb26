/*
 * bloom.c - the classic Bloom filter.
 *
 * An array of m bits and k probes per key [1]. For n keys and a wanted
 * false-positive rate p, k = -log2 p is best and sets half of the bits; k
 * must be whole, so m is what the rounded k needs:
 *
 *     p = (1 - e^(-kn/m))^k         m = -kn / ln(1 - p^(1/k))
 *
 * probe.h finds the k cells of a key, kind.h says when the filter is full.
 * The number of keys is not counted: the set bits are, and tell it.
 *
 * [1] B. Bloom: Space/time trade-offs in hash coding with allowable
 *     errors. CACM 13(7), 1970.
 */
#include <seen/kind.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "probe.h"
#include "stripes.h"

/* In a filter of 1 GB, adding took 164 ns a key by 16, 192 ns one by one. */
enum { BATCH = 16 };

struct bloom {
    struct seen_filter base;    /* first: see kind.h */
    uint64_t salt;
};

extern const struct seen_kind filter_bloom;

static double formula(double n, double m, unsigned k)
{
    return pow(-expm1(-(double)k * n / m), k);
}

static enum seen_code bloom_make(struct seen_filter **out,
                                 struct seen_plan *plan,
                                 struct seen_error *why)
{
    enum seen_code code = seen_plan_size(plan, 1, MAX_PROBES, formula, why);
    struct bloom *b;

    if (code != SEEN_OK)
        return code;
    b = calloc(1, sizeof *b);
    if (!b)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    b->salt = seen_mix(plan->seed);
    b->base.cell_bits = 1;
    b->base.size = (plan->bits + LINE_BITS - 1) / LINE_BITS * LINE;
    b->base.limit = seen_plan_limit(plan, plan->bits);
    *out = &b->base;
    return SEEN_OK;
}

/* Find the positions of up to BATCH keys, and start to fetch their cells. */
static size_t locate(const struct bloom *b, const struct seen_key *key,
                     size_t n, uint64_t at[BATCH][MAX_PROBES])
{
    const struct seen_plan *plan = &b->base.plan;
    const uint64_t *word = (const uint64_t *)b->base.cells;
    size_t some = n < BATCH ? n : BATCH;

    for (size_t i = 0; i < some; i++) {
        struct probe p = probe_first(&key[i], b->salt);

        for (unsigned j = 0; j < plan->probes; j++) {
            at[i][j] = probe_next(&p, plan->bits);
            __builtin_prefetch(&word[at[i][j] / 64]);
        }
    }
    return some;
}

static bool all_set(const struct bloom *b, const uint64_t *at)
{
    const uint64_t *word = (const uint64_t *)b->base.cells;

    for (unsigned j = 0; j < b->base.plan.probes; j++)
        if (!bit_get(word, at[j]))
            return false;
    return true;
}

static void set_all(struct bloom *b, const uint64_t *at)
{
    uint64_t *word = (uint64_t *)b->base.cells, more = 0;

    for (unsigned j = 0; j < b->base.plan.probes; j++)
        more += b->base.stripes ? bit_set_shared(word, at[j])
                                : bit_set(word, at[j]);
    if (b->base.stripes)
        __atomic_fetch_add(&b->base.set, more, __ATOMIC_RELAXED);
    else
        b->base.set += more;
}

static enum seen_code bloom_has(const struct seen_filter *f,
                                const struct seen_key *key, size_t n,
                                bool *seen, struct seen_error *why)
{
    const struct bloom *b = (const struct bloom *)f;
    uint64_t at[BATCH][MAX_PROBES];

    (void)why;                  /* memory always answers */
    for (size_t done = 0, some; done < n; done += some) {
        some = locate(b, key + done, n - done, at);
        for (size_t i = 0; i < some; i++)
            seen[done + i] = all_set(b, at[i]);
    }
    return SEEN_OK;
}

/* Add one key; false if it is new and the filter is full. */
static bool add_one(struct bloom *b, const uint64_t *at, bool *fresh)
{
    bool known = all_set(b, at);

    if (!known && set_cells(&b->base) >= b->base.limit)
        return false;
    if (!known)
        set_all(b, at);
    if (fresh)
        *fresh = !known;
    return true;
}

static enum seen_code bloom_add(struct seen_filter *f,
                                const struct seen_key *key, size_t n,
                                bool *fresh, struct seen_error *why)
{
    struct bloom *b = (struct bloom *)f;
    uint64_t at[BATCH][MAX_PROBES];

    for (size_t done = 0, some; done < n; done += some) {
        some = locate(b, key + done, n - done, at);
        for (size_t i = 0; i < some; i++) {
            bool added;

            if (f->stripes)
                stripe_lock(f, key[done + i].lo);
            added = add_one(b, at[i], fresh ? fresh + done + i : NULL);
            if (f->stripes)
                stripe_unlock(f, key[done + i].lo);
            if (!added)
                return seen_fail(why, SEEN_FULL, done + i,
                                 "the filter holds all it was planned for");
        }
    }
    return SEEN_OK;
}

/* A key never added is found when all k of its probes hit a set bit. */
static double bloom_rate(const struct seen_filter *f)
{
    return pow((double)set_cells(f) / (double)f->plan.bits, f->plan.probes);
}

const struct seen_kind filter_bloom = {
    .name = "bloom",
    .make = bloom_make,
    .has = bloom_has,
    .add = bloom_add,
    .rate = bloom_rate,
};
