/*
 * ribbon.c - bumped ribbon filters: the smallest, at any rate.
 *
 * A static filter from a known set [1, 2]. There is a table Z of m slots with
 * r bits each. A key has a window of 64 slots: it begins at start(key), and a
 * random word c(key) says which of the 64 count. Of every key of the set
 *
 *     xor of Z[start + i] over all i with bit i of c set = fingerprint(key)
 *
 * holds, and of other keys with probability 2^-r. Each key is one equation
 * over bits. Sorted by start, the equations are a band along the diagonal of
 * a matrix, the ribbon, and Gaussian elimination touches the band only:
 *
 *     key 1   [ 1 . 1 1 .             ]           Z
 *     key 2   [   1 1 . . 1           ]          +-+
 *     key 3   [     1 . 1 1 .         ]     x    | |  =  fingerprints
 *     key 4   [         1 1 . 1 1     ]          | |
 *                                                +-+
 *
 * Almost as many slots as keys are needed, and in places even more. So that
 * the table need not be larger than the set, a few keys are bumped: they go to
 * another, smaller table [1]. The slots are in buckets of 128. A bucket whose
 * keys cannot all be solved bumps those whose windows begin in its first 16 or
 * 40 slots, or all. Two bits per bucket say which. They are the first to go,
 * because the keys of the bucket before reach into these slots. Here m is
 * 0.97 n: 3.2 % of the keys are bumped, and 0.17 % of the slots stay empty.
 * The next layer has 3.2 % of the keys, and so on. The last one, of at most
 * 1,024 keys, bumps none; other salts and more slots are tried until it is
 * solved. In all, with the 2 bits per 128 slots, that is 8.03 bits per key for
 * r = 8, a rate of 0.39 %, where a fuse takes 9 and a Bloom filter 11.5.
 *
 * Rates between powers of two: the first `low` blocks of the first layer have
 * one bit less per slot. With a share a of the windows beginning there,
 *
 *     rate = 2^-r (1 + a (1 - bumped share)) <= 2^-r (1 + a),
 *
 * and a = 2^r rate - 1 gives any rate. Bits that are not stored are not
 * checked, so the rate is never above the planned one; windows that reach from
 * the low blocks into the others use one bit less there.
 *
 * A block of 64 slots is r words: word j has bit j of all its slots. So the
 * xor above is, for bit j, the parity of c and word j, in two adjacent blocks:
 *
 *     block i                     block i + 1
 *    +------+------+-----+------+------+------+-----+------+
 *    |word 0|word 1| ... |  r-1 |word 0|word 1| ... |  r-1 |
 *    +------+------+-----+------+------+------+-----+------+
 *      c << offset: bits of       c >> (64 - offset): the
 *      the window in block i      rest of the window
 *
 * With r = 8 that is two adjacent cache lines, and the bumping bits of 100
 * million keys are 190 KB. The layers follow each other, then come the bumping
 * bits of each. All is determined by the set and the seed.
 *
 * [1] P. Dillinger, L. Huebschle-Schneider, P. Sanders, S. Walzer: Fast
 *     succinct retrieval and approximate membership using ribbon. SEA 2022.
 * [2] P. Dillinger, S. Walzer: Ribbon filter: practically smaller than Bloom
 *     and Xor. arXiv:2103.02515, 2021. Interleaved words: section 5.
 */
#include "ribbon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ribbon_inside.h"
#include "ribbon_parity.h"

enum { BATCH = 128 };

/* --- lookups --- */

/* The hash of a key in a layer, from that in the layer before. */
static inline uint64_t hash_in(const struct layer *l, uint64_t hash)
{
    hash = seen_mix(hash ^ l->salt);
    return l->last ? seen_mix(hash ^ l->again) : hash;
}

static inline bool is_low(const struct layer *l, uint64_t start)
{
    return start / WIDTH < l->low;
}

static inline bool is_bumped(const uint64_t *word, const struct layer *l,
                             uint64_t start)
{
    unsigned bump = bump_get(word + l->bumps, start / BUCKET);

    return start % BUCKET < bumped_slots[bump];
}

#define WIDTH_OF(name) name##_portable
#define TARGET
#define DIFFERING(q, columns) differing(q, 0, columns)
#include "ribbon_loops.h"

#if RIBBON_X86
#define WIDTH_OF(name) name##_popcnt
#define TARGET __attribute__((target("popcnt")))
#define DIFFERING(q, columns) differing(q, 0, columns)
#include "ribbon_loops.h"

#define WIDTH_OF(name) name##_avx2
#define TARGET AVX2
#define DIFFERING differing_avx2
#include "ribbon_loops.h"

#endif

/* --- which version --- */

ribbon_look_up *ribbon_version(unsigned i)
{
#if RIBBON_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        !i--)
        return look_up_avx2;
    if (__builtin_cpu_supports("popcnt") && !i--)
        return look_up_popcnt;
#endif
    return i ? NULL : look_up_portable;
}

static enum seen_code ribbon_has(const struct seen_filter *base,
                                 const struct seen_key *key, size_t n,
                                 bool *seen, struct seen_error *why)
{
    const struct ribbon *f = (const struct ribbon *)base;

    (void)why;
    if (!base->plan.capacity) { /* made from no keys */
        memset(seen, 0, n * sizeof *seen);
        return SEEN_OK;
    }
    ribbon_version(0)(f, key, n, seen);
    return SEEN_OK;
}

/* Which layer a key is in, only the cells know: so its place in all of them.
   The words of a window adjoin, and are fewer than those of a store's block. */
static enum seen_code ribbon_reach(const struct seen_filter *base,
                                   const struct seen_key *key, uint64_t *at,
                                   size_t *n, struct seen_error *why)
{
    const struct ribbon *f = (const struct ribbon *)base;
    unsigned layers = base->plan.capacity ? f->layers : 0;
    uint64_t hash = key->lo;

    (void)why;
    *n = 0;
    for (const struct layer *l = f->layer; l < f->layer + layers; l++) {
        uint64_t start, first, words;

        hash = hash_in(l, hash);
        start = start_of(l, hash);
        first = block_at(f, l, start / WIDTH);
        words = (f->columns - is_low(l, start)) * (start % WIDTH ? 2 : 1);
        if (words) {
            at[(*n)++] = first * 8;
            at[(*n)++] = (first + words - 1) * 8;
        }
        if (!l->last)
            at[(*n)++] = (l->bumps + start / BUCKET / 32) * 8;
    }
    return SEEN_OK;
}

/* --- shape --- */

void ribbon_set_layer(struct ribbon *f, unsigned i, bool last)
{
    const uint64_t seed = f->base.plan.seed, *shape = f->base.shape;

    f->layer[i] = (struct layer){
        .salt = hash_salt(seed, i),
        .again = hash_salt(seed, i + 1 + shape[ATTEMPT]),
        .last = last,
        .starts = shape[BLOCKS + i] * WIDTH - (WIDTH - 1),
        .low = i ? 0 : shape[LOW],
    };
}

static enum seen_code wrong_shape(struct seen_error *why)
{
    return seen_fail(why, SEEN_RANGE, 0, "the shape of a ribbon is wrong");
}

enum seen_code ribbon_take_shape(struct ribbon *f, uint64_t *bits,
                                 struct seen_error *why)
{
    const uint64_t *shape = f->base.shape, *blocks = shape + BLOCKS;
    uint64_t words = 0;
    bool fits = shape[COLUMNS] == f->columns && shape[ATTEMPT] < ATTEMPTS &&
                shape[LOW] < blocks[0];

    f->layers = 0;
    for (unsigned i = 0; i < MOST_LAYERS; i++) {
        fits = fits && blocks[i] <= SEEN_BITS / WIDTH &&
               (!blocks[i] || i == f->layers);
        f->layers += blocks[i] > 0;
    }
    if (!fits)
        return wrong_shape(why);
    for (unsigned i = 0; i < f->layers; i++) {
        ribbon_set_layer(f, i, i + 1 == f->layers);
        f->layer[i].words = words;
        words += blocks[i] * f->columns - f->layer[i].low;
    }
    for (unsigned i = 0; i + 1 < f->layers; i++) {
        f->layer[i].bumps = words;
        words += (buckets(&f->layer[i]) + 31) / 32;
    }
    *bits = words * 64;
    f->base.size = (words * 8 + LINE - 1) / LINE * LINE;
    return SEEN_OK;
}

enum seen_code ribbon_columns(struct seen_filter *base, unsigned *columns,
                              struct seen_error *why)
{
    struct seen_plan *plan = &base->plan;
    enum seen_code code = arg_last(plan->kind, 1, NULL, NULL, why);
    char arg[4], other[SEEN_KIND_TEXT];

    if (code != SEEN_OK)
        return code;
    if (!base->recorded &&
        (plan->bits || plan->probes || plan->hostile || plan->multiplier > 0))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a ribbon takes the bits that its keys need: give "
                         "a rate only");
    if (seen_kind_arg(plan->kind, 0, arg, sizeof arg)) {
        code = arg_number(plan->kind, 0, 1, MOST_BITS, 8, columns, why);
        if (code != SEEN_OK || base->recorded)
            return code;
        if (plan->rate > 0 && plan->rate < ldexp(1, -(int)*columns))
            return seen_fail(why, SEEN_RANGE, 0,
                             "a ribbon of %u bit%s has a rate of %.3g, not "
                             "%.3g; without :%u it takes the bits of the rate",
                             *columns, *columns == 1 ? "" : "s",
                             ldexp(1, -(int)*columns), plan->rate, *columns);
        plan->rate = ldexp(1, -(int)*columns);
        return SEEN_OK;
    }
    if (base->recorded &&
        (base->shape[COLUMNS] < 1 || base->shape[COLUMNS] > MOST_BITS))
        return wrong_shape(why);
    if (base->recorded) {
        *columns = (unsigned)base->shape[COLUMNS];
        return SEEN_OK;
    }
    if (!(plan->rate > 0))
        plan->rate = 0x1p-8;
    if (plan->rate < ldexp(1, -MOST_BITS)) {
        seen_kind_for_rate(other, plan->rate);
        return seen_fail(why, SEEN_RANGE, 0,
                         "a ribbon has a rate of %.3g or more, not %.3g; for "
                         "less, use %s",
                         ldexp(1, -MOST_BITS), plan->rate, other);
    }
    *columns = 1;
    while (ldexp(1, -(int)*columns) > plan->rate)
        ++*columns;
    return SEEN_OK;
}

static enum seen_code ribbon_make(struct seen_filter *base,
                                  struct seen_error *why)
{
    struct ribbon *f = (struct ribbon *)base;
    struct seen_plan *plan = &base->plan;
    enum seen_code code = ribbon_columns(base, &f->columns, why);
    uint64_t bits;

    if (code != SEEN_OK)
        return code;
    base->cell_bits = 1;
    base->limit = UINT64_MAX;
    plan->probes = (2 * f->columns * 8 + LINE - 1) / LINE;
    if (base->recorded)
        code = ribbon_take_shape(f, &bits, why);
    if (base->recorded && code == SEEN_OK && plan->bits != bits)
        code = wrong_shape(why);
    return code;
}

/* The share of keys that are checked with one bit less: see the top. */
static double low_share(const struct ribbon *f)
{
    const uint64_t *word = (const uint64_t *)(const void *)f->base.cells;
    const struct layer *l = &f->layer[0];
    uint64_t end = l->low * WIDTH, kept = 0;

    for (uint64_t at = 0; at < end; at += BUCKET) {
        uint64_t slots = end - at < BUCKET ? end - at : BUCKET, gone = 0;

        if (f->layers > 1)
            gone = bumped_slots[bump_get(word + l->bumps, at / BUCKET)];
        kept += gone < slots ? slots - gone : 0;
    }
    return (double)kept / (double)l->starts;
}

static double ribbon_rate(const struct seen_filter *base)
{
    const struct ribbon *f = (const struct ribbon *)base;

    if (!base->plan.capacity)
        return 0;
    return ldexp(1 + low_share(f), -(int)f->columns);
}

static double ribbon_entries(const struct seen_filter *base)
{
    return (double)base->plan.capacity;
}

const struct seen_kind filter_ribbon = {
    .name = "ribbon",
    .synopsis = "ribbon[:BITS]",
    .summary = "the smallest; built once, from all keys",
    .traits = SEEN_BUILT_ONCE | SEEN_SIZES_ITSELF,
    .state = sizeof(struct ribbon),
    .make = ribbon_make,
    .has = ribbon_has,
    .rate = ribbon_rate,
    .entries = ribbon_entries,
    .reach = ribbon_reach,
};
