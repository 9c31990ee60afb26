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
#include "cells.h"
#include "crew.h"
#include "hash_sort.h"
#include "probe.h"

enum {
    BATCH = 32,
    WIDTH = 64,    /* slots of a window, and of a block */
    BUCKET = 128,  /* slots that are bumped together */
    MOST_BITS = 32,
    FEW = 1024,    /* keys of the last layer */
    AT_ONCE = 3,   /* equations that are inserted together: 2 to 4 */
    LEAD = 4096,   /* words between the first slot and the first hash */
    ATTEMPTS = 256 /* for the last layer */
};
/* Parities are most of the work of a lookup, and this instruction is quick at
   them. (Construction does not gain from it.) */
#if defined __x86_64__ && !defined SEEN_PORTABLE
#define POPCNT __attribute__((target("popcnt")))
#endif
#define INLINE static inline __attribute__((always_inline))
static const double SLOTS_PER_KEY = 0.97;

/* A key is bumped if its window begins in the first slots of a bucket. */
static const unsigned char bumped_slots[4] = { 0, 16, 40, BUCKET };

/* What `shape` records: bits per slot, blocks with one bit less, the attempt
   that solved the last layer; then the blocks of each layer. */
enum { COLUMNS, LOW, ATTEMPT, BLOCKS, MOST_LAYERS = SEEN_SHAPE - BLOCKS };

struct layer {
    uint64_t salt, again; /* the last layer hashes twice */
    bool last;
    uint64_t starts; /* where windows can begin */
    uint64_t low;    /* blocks with one bit less */
    uint64_t words;  /* offset of the first block */
    uint64_t bumps;  /* offset of the words with the bumping bits */
};

struct ribbon {
    struct seen_filter base;
    unsigned columns, layers;
    struct layer layer[MOST_LAYERS];
};

/* --- lookups --- */

/* The hash of a key in a layer, from that in the layer before. */
static inline uint64_t hash_in(const struct layer *l, uint64_t hash)
{
    hash = seen_mix(hash ^ l->salt);
    return l->last ? seen_mix(hash ^ l->again) : hash;
}

static inline uint64_t start_of(const struct layer *l, uint64_t hash)
{
    return reduce(hash, l->starts);
}

/* The first slot of a window always counts. */
static inline uint64_t coefficients(uint64_t hash)
{
    return seen_mix(hash) | 1;
}

static inline bool is_low(const struct layer *l, uint64_t start)
{
    return start / WIDTH < l->low;
}

/* The first word of a block: low blocks come first. */
static inline uint64_t block_at(const struct ribbon *f, const struct layer *l,
                                uint64_t block)
{
    uint64_t low = block < l->low ? block : l->low;

    return l->words + block * f->columns - low;
}

static inline unsigned bump_get(const uint64_t *word, uint64_t bucket)
{
    return word[bucket / 32] >> (bucket % 32 * 2) & 3;
}

static inline bool is_bumped(const uint64_t *word, const struct layer *l,
                             uint64_t start)
{
    unsigned bump = bump_get(word + l->bumps, start / BUCKET);

    return start % BUCKET < bumped_slots[bump];
}

/*
 * Do all `columns` parities at this window equal the fingerprint, the low bits
 * of the hash? A window at the first slot of a block does not reach into the
 * next, which may not exist.
 */
INLINE bool matches(const uint64_t *block, unsigned columns, unsigned offset,
                    uint64_t hash)
{
    const uint64_t *next = block + (offset ? columns : 0);
    uint64_t c = coefficients(hash), here = c << offset;
    uint64_t there = c >> 1 >> (63 - offset);
    uint64_t differs = 0;

    for (unsigned j = 0; j < columns; j++) {
        uint64_t x = (block[j] & here) ^ (next[j] & there);

        differs |= ((uint64_t)__builtin_parityll(x) ^ hash >> j) & 1;
    }
    return !differs;
}

/* Look up a key, by its hash in the first layer. */
INLINE bool found(const struct ribbon *f, uint64_t hash)
{
    const uint64_t *word = (const uint64_t *)(const void *)f->base.cells;
    const struct layer *l = &f->layer[0];
    uint64_t start = start_of(l, hash);

    while (!l->last && is_bumped(word, l, start)) {
        l++;
        hash = hash_in(l, hash);
        start = start_of(l, hash);
    }
    return matches(word + block_at(f, l, start / WIDTH),
                   f->columns - is_low(l, start), start % WIDTH, hash);
}

INLINE void look_up(const struct ribbon *f, const struct seen_key *key,
                    size_t n, bool *seen)
{
    const struct layer *first = &f->layer[0];
    const uint64_t *word = (const uint64_t *)(const void *)f->base.cells;
    uint64_t hash[BATCH];

    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        for (size_t i = 0; i < some; i++) {
            uint64_t start, at;

            hash[i] = hash_in(first, key[done + i].lo);
            start = start_of(first, hash[i]);
            at = block_at(f, first, start / WIDTH);
            for (unsigned j = 0; j < 2 * f->columns; j += LINE / 8)
                __builtin_prefetch(word + at + j);
            __builtin_prefetch(word + first->bumps + start / BUCKET / 32);
        }
        for (size_t i = 0; i < some; i++)
            seen[done + i] = found(f, hash[i]);
    }
}

#ifdef POPCNT
POPCNT
static void look_up_popcnt(const struct ribbon *f, const struct seen_key *key,
                           size_t n, bool *seen)
{
    look_up(f, key, n, seen);
}
#endif

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
#ifdef POPCNT
    if (__builtin_cpu_supports("popcnt")) {
        look_up_popcnt(f, key, n, seen);
        return SEEN_OK;
    }
#endif
    look_up(f, key, n, seen);
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

static uint64_t buckets(const struct layer *l)
{
    return (l->starts + BUCKET - 1) / BUCKET;
}

/* Layer i as in the shape, but its place. */
static void set_layer(struct ribbon *f, unsigned i, bool last)
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

/* Derive the numbers that lookups need from the shape, and the number of bits
   that it takes. */
static enum seen_code take_shape(struct ribbon *f, uint64_t *bits,
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
        set_layer(f, i, i + 1 == f->layers);
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

/* The bits per slot: those of "ribbon:8", or as many as the rate needs. */
static enum seen_code arguments(struct ribbon *f, struct seen_error *why)
{
    struct seen_plan *plan = &f->base.plan;
    enum seen_code code = arg_last(plan->kind, 1, NULL, NULL, why);
    char arg[4], other[SEEN_KIND_TEXT];

    if (code != SEEN_OK)
        return code;
    if (seen_kind_arg(plan->kind, 0, arg, sizeof arg)) {
        code = arg_number(plan->kind, 0, 1, MOST_BITS, 8, &f->columns, why);
        if (code != SEEN_OK || f->base.recorded)
            return code;
        if (plan->rate > 0 && plan->rate < ldexp(1, -(int)f->columns))
            return seen_fail(why, SEEN_RANGE, 0,
                             "a ribbon of %u bit%s has a rate of %.3g, not "
                             "%.3g; without :%u it takes the bits of the rate",
                             f->columns, f->columns == 1 ? "" : "s",
                             ldexp(1, -(int)f->columns), plan->rate,
                             f->columns);
        plan->rate = ldexp(1, -(int)f->columns);
        return SEEN_OK;
    }
    if (f->base.recorded &&
        (f->base.shape[COLUMNS] < 1 || f->base.shape[COLUMNS] > MOST_BITS))
        return wrong_shape(why);
    if (f->base.recorded) {
        f->columns = (unsigned)f->base.shape[COLUMNS];
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
    f->columns = 1;
    while (ldexp(1, -(int)f->columns) > plan->rate)
        f->columns++;
    return SEEN_OK;
}

static enum seen_code ribbon_make(struct seen_filter *base,
                                  struct seen_error *why)
{
    struct ribbon *f = (struct ribbon *)base;
    struct seen_plan *plan = &base->plan;
    enum seen_code code = arguments(f, why);
    uint64_t bits;

    if (code != SEEN_OK)
        return code;
    if (!base->recorded &&
        (plan->bits || plan->probes || plan->hostile || plan->multiplier > 0))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a ribbon takes the bits that its keys need: give "
                         "a rate only");
    base->cell_bits = 1;
    base->limit = UINT64_MAX;
    plan->probes = (2 * f->columns * 8 + LINE - 1) / LINE;
    if (base->recorded)
        code = take_shape(f, &bits, why);
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

/* --- construction --- */

/* The equations of a stretch of slots after elimination: the one whose first
   slot is origin + i, or coefficients of 0. */
struct equations {
    uint64_t *c;
    uint32_t *print;
    uint64_t origin;
};

/* An equation that is being inserted. Its first coefficient, bit 0 of c, is
   that of slot origin + `at`. A row with c = 0 is done. */
struct ribbon_row {
    uint64_t c, at;
    uint32_t print;
};

/* The slots that got an equation: never more than the windows of the keys of
   a bucket have. */
struct filled {
    size_t n;
    uint64_t slot[BUCKET + WIDTH];
};

/* Subtract the equation of the slot, and go to the first slot that is left. */
INLINE void eliminate(const struct equations *band, struct ribbon_row *r,
                      uint64_t c)
{
    unsigned zeros;

    r->c ^= c;
    r->print ^= band->print[r->at];
    zeros = (unsigned)__builtin_ctzll(r->c);
    r->c >>= zeros;
    r->at += zeros;
}

/* One step of a row; false if it contradicts the others. */
INLINE bool step(const struct equations *band, struct ribbon_row *r,
                 struct filled *filled)
{
    uint64_t c = band->c[r->at];

    if (!c) {
        band->c[r->at] = r->c;
        band->print[r->at] = r->print;
        filled->slot[filled->n++] = r->at;
        r->c = 0;
    } else if (c == r->c) { /* it follows from the others, or contradicts */
        r->c = 0;
        return r->print == band->print[r->at];
    } else {
        eliminate(band, r, c);
    }
    return true;
}

/*
 * Insert rows, a few at a time, because each step of a row waits for the one
 * before. Where one row ends, the next takes its place. One row at a time took
 * 90 ns per key, two 72, three 68, and four as much, for want of registers.
 */
static bool insert_rows(const struct equations *band,
                        const struct ribbon_row *row, size_t n,
                        struct filled *filled)
{
    struct ribbon_row r[AT_ONCE] = { { 0 } };
    size_t next = 0;
    bool full = n >= AT_ONCE, fits = true;

#pragma GCC unroll 4
    for (unsigned i = 0; i < AT_ONCE; i++)
        if (next < n)
            r[i] = row[next++];
    while (full && fits) {
        uint64_t c[AT_ONCE];
        bool go_on = true;

#pragma GCC unroll 4
        for (unsigned i = 0; i < AT_ONCE; i++) {
            c[i] = band->c[r[i].at];
            go_on = go_on & (c[i] != 0) & (c[i] != r[i].c);
        }
        if (__builtin_expect(go_on, true)) {
#pragma GCC unroll 4
            for (unsigned i = 0; i < AT_ONCE; i++)
                eliminate(band, &r[i], c[i]);
            continue;
        }
#pragma GCC unroll 4
        for (unsigned i = 0; i < AT_ONCE; i++) {
            if (r[i].c)
                fits = step(band, &r[i], filled) && fits;
            if (!r[i].c && next < n)
                r[i] = row[next++];
            full = full && r[i].c;
        }
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < AT_ONCE; i++)
        while (r[i].c && fits)
            fits = step(band, &r[i], filled);
    return fits;
}

/* Insert keys: at their first slots those that find them empty, then the
   others. False if they contradict each other or what is there. */
static bool insert_keys(const struct layer *l, const struct equations *band,
                        uint32_t mask, const uint64_t *hash, size_t n,
                        struct filled *filled)
{
    struct ribbon_row row[BUCKET];
    bool fits = true;

    for (size_t done = 0; done < n && fits;) {
        size_t end = n - done < BUCKET ? n : done + BUCKET, rows = 0;

        for (; done < end; done++) {
            uint64_t at = start_of(l, hash[done]) - band->origin;
            uint64_t c = coefficients(hash[done]);
            uint32_t print = (uint32_t)hash[done] & mask;
            uint64_t there = band->c[at];

            row[rows] = (struct ribbon_row){ c, at, print };
            rows += there != 0;
            band->c[at] = there ? there : c;
            band->print[at] = there ? band->print[at] : print;
            filled->slot[filled->n] = at;
            filled->n += !there;
        }
        fits = insert_rows(band, row, rows, filled);
    }
    return fits;
}

/*
 * Insert the keys of a bucket; return how many, of those at its beginning, are
 * bumped. Those that are never bumped alone come first. Within each of the
 * three groups the order does not matter: which slots get an equation, and so
 * the table, depends on the set of keys only. A group that cannot be solved is
 * taken out again, and is bumped with those before it.
 */
static size_t insert_bucket(const struct layer *l,
                            const struct equations *band, uint32_t mask,
                            const uint64_t *hash, size_t n, unsigned *bump)
{
    size_t end = n;

    for (*bump = 3; *bump; --*bump) {
        struct filled filled;
        size_t from = end;

        filled.n = 0;
        while (from &&
               start_of(l, hash[from - 1]) % BUCKET >= bumped_slots[*bump - 1])
            from--;
        if (!insert_keys(l, band, mask, hash + from, end - from, &filled)) {
            while (filled.n)
                band->c[filled.slot[--filled.n]] = 0;
            return end;
        }
        end = from;
    }
    return 0;
}

/*
 * Sorted hashes, and the coefficients of equations in the same memory:
 *
 *     +---------------------------+---------------+---------------------+
 *     |  coefficients of slots    |       0       |  hashes to come     |
 *     +---------------------------+---------------+---------------------+
 *     0                       slots done     LEAD + keys done
 *
 * There are fewer slots than keys, so slots get ahead of the hashes only if
 * the hashes are not random. Then the hashes to come move to `rest`.
 */
struct sorted {
    uint64_t *hash;
    size_t n;
    bool shared; /* with the coefficients */
    uint64_t salt; /* what they were made with, of `given` values in blocks */
    size_t given;
    uint64_t *rest;
    size_t moved, rest_size; /* it begins with hash number `moved` */
};

/* Make room for the coefficients of all slots; false: no memory. */
static bool move_rest(struct sorted *s, size_t done)
{
    size_t size = (s->n - done) * sizeof *s->hash;

    s->rest = cells_new(size);
    if (!s->rest)
        return false;
    s->moved = done;
    s->rest_size = size;
    memcpy(s->rest, s->hash + done, size);
    memset(s->hash + done, 0, size);
    s->shared = false;
    return true;
}

/*
 * Insert the sorted keys, bucket by bucket, and write the bumping bits. Bumped
 * keys are collected in the blocks; *bumped is their number. Without `bumps`,
 * stop at the first that would be bumped. False: no memory.
 */
static bool insert_all(const struct layer *l, const struct equations *band,
                       uint32_t mask, struct sorted *s, uint64_t *bumps,
                       uint64_t *const *block, size_t *bumped)
{
    size_t done = 0;

    *bumped = 0;
    for (uint64_t end = BUCKET; done < s->n; end += BUCKET) {
        const uint64_t *hash;
        size_t some = 0, gone;
        unsigned bump;

        if (s->shared && end + WIDTH > LEAD + done && !move_rest(s, done))
            return false;
        hash = s->rest ? s->rest + (done - s->moved) : s->hash + done;
        while (done + some < s->n && start_of(l, hash[some]) < end)
            some++;
        gone = insert_bucket(l, band, mask, hash, some, &bump);
        if (gone && !bumps) {
            *bumped = gone;
            return true;
        }
        for (size_t i = 0; i < gone; i++, ++*bumped)
            block[*bumped / HASH_BLOCK][*bumped % HASH_BLOCK] = hash[i];
        if (gone) {
            uint64_t bucket = end / BUCKET - 1;

            bumps[bucket / 32] |= (uint64_t)bump << (bucket % 32 * 2);
        }
        if (s->shared)
            memset(s->hash + done, 0, some * sizeof *s->hash);
        done += some;
    }
    return true;
}

/* A layer before it has its place among the cells. */
struct solved {
    uint64_t *word, *bumps;
    size_t words, bump_words;
};

/* --- in several threads --- */

/*
 * The buckets of a layer in stretches, one for each thread. What a bucket
 * takes from those before it are the equations whose first slot is one of its
 * own first 64, at most. A thread does not know those of the stretch before,
 * so it begins ribbon_warm_up buckets earlier, with none:
 *
 *     stretch 0   |-------------------------------|edge
 *     stretch 1                          warm up  |before----------------|
 *
 * Two bands that begin with other equations mostly span the same space after
 * some buckets, as a bucket that is too full bumps what they differ in. Of 40
 * layers 22 still differed after 50 buckets, 11 after 100, and 0, 1 and 0
 * after 200, 300 and 400. Which slots get an equation, which keys are bumped
 * and the table depend on the space only. So in the end `edge` is compared
 * with `before`: if they span the same, the result is that of one thread. If
 * not, one thread does all again, with hashes that are sorted once more.
 *
 * The hashes of a warm-up are copied, as two threads read them. The
 * coefficients of the next stretch begin where they were: see struct sorted.
 *
 * The thread that took longest used 30 ns of CPU time per key with two threads
 * and 51 with one (20 million keys, EPYC, Zen 5); 44 and 49 when threads only
 * shared the sorting.
 */
unsigned ribbon_warm_up = 1024;

enum { STRETCH = 8 }; /* times the warm-up: less is not worth a thread */

/* Equations that reach into the next bucket, by their first slot in it. */
struct ribbon_overhang {
    uint64_t c[WIDTH];
    uint32_t print[WIDTH];
};

/* One bucket, and what reaches behind it. */
struct ribbon_window {
    uint64_t c[BUCKET + WIDTH];
    uint32_t print[BUCKET + WIDTH];
};

struct ribbon_stretch {
    const struct layer *layer;
    struct equations band;
    uint32_t mask;
    uint64_t first, last; /* buckets */
    uint64_t *hash;       /* behind `lead` words that are 0 */
    size_t n, lead;
    uint64_t *warm, *tail; /* hashes before the first one, and those of the
                              last buckets */
    size_t warm_n, tail_n;
    uint64_t *bumps;
    struct ribbon_overhang before, edge;
    uint64_t *bumped;
    size_t bumps_n, room;
    bool failed;
};

static void set_overhang(struct ribbon_window *w,
                         const struct ribbon_overhang *o)
{
    memset(w, 0, sizeof *w);
    memcpy(w->c, o->c, sizeof o->c);
    memcpy(w->print, o->print, sizeof o->print);
}

static void get_overhang(struct ribbon_overhang *o, const uint64_t *c,
                         const uint32_t *print)
{
    memcpy(o->c, c, sizeof o->c);
    memcpy(o->print, print, sizeof o->print);
}

/* Reduce equations until none has the first slot of another. What is left
   depends on the space only. A slot without an equation has c = 0. */
static void reduce_overhang(struct ribbon_overhang *o, u128 row[WIDTH])
{
    for (unsigned i = 0; i < WIDTH; i++)
        row[i] = (u128)o->c[i] << i;
    for (unsigned i = WIDTH; i--;)
        for (unsigned j = 0; j < i && o->c[i]; j++)
            if (row[j] >> i & 1) {
                row[j] ^= row[i];
                o->print[j] ^= o->print[i];
            }
}

static bool same_overhang(const struct ribbon_overhang *one,
                          const struct ribbon_overhang *other)
{
    struct ribbon_overhang a = *one, b = *other;
    u128 row[WIDTH], row2[WIDTH];

    reduce_overhang(&a, row);
    reduce_overhang(&b, row2);
    for (unsigned i = 0; i < WIDTH; i++)
        if (row[i] != row2[i] || (row[i] && a.print[i] != b.print[i]))
            return false;
    return true;
}

/* The keys of a bucket that ends before slot `end`. */
static size_t keys_before(const struct layer *l, const uint64_t *hash,
                          size_t n, uint64_t end)
{
    size_t some = 0;

    while (some < n && start_of(l, hash[some]) < end)
        some++;
    return some;
}

/* Insert a bucket beside its band, with what reaches into it; *o becomes what
   reaches into the next one. */
static size_t insert_aside(const struct ribbon_stretch *s,
                           struct ribbon_window *w, uint64_t bucket,
                           struct ribbon_overhang *o, const uint64_t *hash,
                           size_t n, unsigned *bump)
{
    const struct equations band = { w->c, w->print, bucket * BUCKET };
    size_t gone;

    set_overhang(w, o);
    gone = insert_bucket(s->layer, &band, s->mask, hash, n, bump);
    get_overhang(o, w->c + BUCKET, w->print + BUCKET);
    return gone;
}

static void warm_up(struct ribbon_stretch *s)
{
    uint64_t bucket = s->first - ribbon_warm_up;
    struct ribbon_window w;
    unsigned bump;

    memset(&s->before, 0, sizeof s->before);
    for (size_t done = 0, some; bucket < s->first; bucket++, done += some) {
        some = keys_before(s->layer, s->warm + done, s->warm_n - done,
                           (bucket + 1) * BUCKET);
        insert_aside(s, &w, bucket, &s->before, s->warm + done, some, &bump);
    }
    memcpy(s->band.c, s->before.c, sizeof s->before.c);
    memcpy(s->band.print, s->before.print, sizeof s->before.print);
}

/* Note the keys of a bucket that are bumped; false: no memory. */
static bool note_bumped(struct ribbon_stretch *s, uint64_t bucket,
                        unsigned bump, const uint64_t *hash, size_t n)
{
    if (s->bumps_n + n > s->room) {
        size_t room = 2 * s->room + BUCKET + n;
        uint64_t *more = realloc(s->bumped, room * sizeof *more);

        if (!more)
            return false;
        s->bumped = more;
        s->room = room;
    }
    if (n)
        memcpy(s->bumped + s->bumps_n, hash, n * sizeof *hash);
    s->bumps_n += n;
    s->bumps[bucket / 32] |= (uint64_t)(n ? bump : 0) << (bucket % 32 * 2);
    return true;
}

/* The last bucket of a stretch: what reaches behind it has no place there. */
static size_t insert_last(struct ribbon_stretch *s, uint64_t bucket,
                          const uint64_t *hash, size_t n, unsigned *bump)
{
    uint64_t at = bucket * BUCKET - s->band.origin;
    struct ribbon_window w;
    size_t gone;

    get_overhang(&s->edge, s->band.c + at, s->band.print + at);
    gone = insert_aside(s, &w, bucket, &s->edge, hash, n, bump);
    memcpy(s->band.c + at, w.c, BUCKET * sizeof *w.c);
    memcpy(s->band.print + at, w.print, BUCKET * sizeof *w.print);
    return gone;
}

static void insert_stretch(void *share)
{
    struct ribbon_stretch *s = share;
    size_t done = 0, done_tail = 0;

    if (s->warm)
        warm_up(s);
    for (uint64_t i = s->first; i < s->last && !s->failed; i++) {
        uint64_t end = (i + 1) * BUCKET;
        bool tail = done == s->n && s->tail;
        uint64_t *hash = s->hash + done;
        const uint64_t *from = tail ? s->tail + done_tail : hash;
        size_t left = tail ? s->tail_n - done_tail : s->n - done, gone;
        size_t some = keys_before(s->layer, from, left, end);
        unsigned bump;

        /* hashes that are not random: see move_rest() */
        s->failed = !tail && end - s->band.origin + WIDTH > s->lead + done;
        if (s->failed)
            return;
        if (i + 1 == s->last && s->tail)
            gone = insert_last(s, i, from, some, &bump);
        else
            gone = insert_bucket(s->layer, &s->band, s->mask, from, some,
                                 &bump);
        s->failed = !note_bumped(s, i, bump, from, gone);
        if (!tail)
            memset(hash, 0, some * sizeof *hash);
        done += tail ? 0 : some;
        done_tail += tail ? some : 0;
    }
}

/* Where the stretches of a layer begin and end among its sorted hashes. */
struct ribbon_cut {
    uint64_t bucket;
    size_t key, tail; /* the first ones of the stretch and, of the stretch
                         before, of its last buckets */
    size_t lead;      /* words before its hashes that are its own */
};

/* Choose stretches; returns their number, 1 if it is not worth threads or the
   hashes are not random. */
static unsigned cut_layer(const struct layer *l, const struct sorted *s,
                          uint64_t slots, unsigned threads,
                          struct ribbon_cut *cut)
{
    uint64_t all = buckets(l), fewest = STRETCH * (uint64_t)ribbon_warm_up;
    unsigned n = 1;
    bool fits = true;

    while (n < threads && n < MOST_THREADS && all / (n + 1) > fewest + 32)
        n++;
    for (unsigned i = 0; i < n; i++) {
        uint64_t bucket = all * i / n / 32 * 32; /* a word of bumping bits */
        uint64_t warm = bucket - (i ? ribbon_warm_up : 0);
        size_t key = hashes_below(s->hash, s->n, l->starts, bucket * BUCKET);
        size_t tail = hashes_below(s->hash, s->n, l->starts, warm * BUCKET);

        cut[i] = (struct ribbon_cut){ bucket, key, tail,
                                      i && key - tail < LEAD ? key - tail
                                                             : LEAD };
    }
    cut[n] = (struct ribbon_cut){ slots / BUCKET + 1, s->n, s->n, 0 };
    for (unsigned i = 0; i < n; i++)
        fits = fits &&
               (cut[i + 1].bucket - cut[i].bucket) * BUCKET <=
                   cut[i + 1].key - cut[i + 1].lead - cut[i].key + cut[i].lead;
    return fits ? n : 1;
}

/* Copy the hashes of warm-ups out of the way; false: no memory. */
static bool copy_tails(struct ribbon_stretch *stretch, unsigned n,
                       const struct ribbon_cut *cut, uint64_t *hash)
{
    for (unsigned i = 1; i < n; i++) {
        size_t some = cut[i].key - cut[i].tail;
        uint64_t *copy = malloc((some + 1) * sizeof *copy);

        if (!copy)
            return false;
        memcpy(copy, hash + cut[i].tail, some * sizeof *copy);
        stretch[i].warm = stretch[i - 1].tail = copy;
        stretch[i].warm_n = stretch[i - 1].tail_n = some;
    }
    for (unsigned i = 1; i < n; i++)
        memset(hash + cut[i].tail, 0,
               (cut[i].key - cut[i].tail) * sizeof *hash);
    return true;
}

/* Move the bumped keys to the blocks. */
static size_t gather_bumped(const struct ribbon_stretch *stretch, unsigned n,
                            uint64_t *const *block)
{
    size_t at = 0;

    for (unsigned i = 0; i < n; i++)
        for (size_t j = 0; j < stretch[i].bumps_n; j++, at++)
            block[at / HASH_BLOCK][at % HASH_BLOCK] = stretch[i].bumped[j];
    return at;
}

/*
 * As insert_all(), in n threads; band[] has the equations of n stretches then.
 * False: it is to be done again by one thread, from the blocks.
 */
static bool insert_shared(const struct layer *l, struct equations *band,
                          uint32_t mask, struct sorted *s, uint64_t *bumps,
                          uint64_t *const *block, size_t *bumped,
                          const struct ribbon_cut *cut, unsigned n)
{
    struct ribbon_stretch *stretch = calloc(n, sizeof *stretch);
    const struct equations whole = band[0];
    bool able = stretch && copy_tails(stretch, n, cut, s->hash);

    for (unsigned i = 0; i < n && able; i++) {
        struct ribbon_stretch *t = &stretch[i];

        t->layer = l;
        t->mask = mask;
        t->first = cut[i].bucket;
        t->last = i + 1 < n ? cut[i + 1].bucket : buckets(l);
        t->hash = s->hash + cut[i].key;
        t->n = cut[i + 1].tail - cut[i].key;
        t->lead = cut[i].lead;
        t->bumps = bumps;
        band[i].c = t->hash - t->lead;
        band[i].origin = cut[i].bucket * BUCKET;
        band[i].print = whole.print + band[i].origin;
        t->band = band[i];
    }
    if (able)
        crew_run(insert_stretch, stretch, sizeof *stretch, n);
    for (unsigned i = 0; i < n && able; i++)
        able = !stretch[i].failed &&
               (!i || same_overhang(&stretch[i - 1].edge, &stretch[i].before));
    if (able)
        *bumped = gather_bumped(stretch, n, block);
    for (unsigned i = 0; i < n && stretch; i++) {
        free(stretch[i].warm);
        free(stretch[i].bumped);
    }
    free(stretch);
    band[0] = able ? band[0] : whole;
    return able;
}

/* The inverse of seen_mix(). */
static uint64_t unmixed(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * UINT64_C(0x319642b2d24d8ec3);
    x = (x ^ x >> 27 ^ x >> 54) * UINT64_C(0x96de1b173f119089);
    return x ^ x >> 30 ^ x >> 60;
}

/* Sort the hashes once more, in the memory of equations that are not wanted;
   false: no memory. */
static bool sort_once_more(struct sorted *s, uint64_t *const *block,
                           unsigned threads)
{
    size_t n = s->given;

    memset(s->hash - LEAD, 0, (LEAD + n) * sizeof *s->hash);
    for (size_t i = 0; i < n; i++) {
        uint64_t *value = &block[i / HASH_BLOCK][i % HASH_BLOCK];

        *value = unmixed(*value) ^ s->salt;
    }
    return hash_sort(block, s->hash, &n, s->salt, UINT64_MAX, threads);
}

/* Insert the keys of a layer, in several threads if that is worth it. *bands
   is then the number of stretches in band[]. False: no memory. */
static bool insert_layer(const struct layer *l, struct equations *band,
                         unsigned *bands, uint32_t mask, uint64_t slots,
                         struct sorted *s, struct solved *to,
                         uint64_t *const *block, size_t *bumped,
                         unsigned threads)
{
    struct ribbon_cut cut[MOST_THREADS + 1];
    unsigned n = s->shared && to->bumps ? cut_layer(l, s, slots, threads, cut)
                                        : 1;

    *bands = n;
    if (n > 1) {
        if (insert_shared(l, band, mask, s, to->bumps, block, bumped, cut, n))
            return true;
        *bands = 1;
        memset(to->bumps, 0, to->bump_words * sizeof *to->bumps);
        if (!sort_once_more(s, block, threads))
            return false;
    }
    return insert_all(l, band, mask, s, to->bumps, block, bumped);
}

/* --- the slots --- */

/* Columns that a thread finds, of all stretches. */
struct ribbon_columns {
    const struct ribbon *f;
    const struct layer *l;
    const struct equations *band;
    unsigned bands, from, to;
    uint64_t *word;
};

/*
 * From the last slot to the first, each slot is determined by its equation and
 * the 63 slots behind it, which `column` holds. Slots without an equation are
 * 0. Columns do not depend on each other.
 */
static void substitute(void *share)
{
    const struct ribbon_columns *s = share;
    const struct layer *l = s->l;
    const struct equations *band = s->band + s->bands - 1;
    uint64_t column[MOST_BITS] = { 0 };

    for (uint64_t block = (l->starts + WIDTH - 1) / WIDTH; block--;) {
        unsigned kept = s->f->columns - (block < l->low);
        uint64_t *word = s->word + block_at(s->f, l, block);

        while (block * WIDTH < band->origin)
            band--;
        for (uint64_t at = (block + 1) * WIDTH; at-- > block * WIDTH;) {
            uint64_t c = band->c[at - band->origin];
            uint64_t print = c ? band->print[at - band->origin] : 0;

            for (unsigned j = s->from; j < s->to; j++) {
                uint64_t behind = column[j] << 1;

                column[j] = behind |
                            (((uint64_t)__builtin_parityll(behind & c) ^
                              print >> j) &
                             1);
            }
        }
        for (unsigned j = s->from; j < s->to && j < kept; j++)
            word[j] = column[j];
    }
}

static void substitute_all(const struct ribbon *f, const struct layer *l,
                           const struct equations *band, unsigned bands,
                           uint64_t *word, unsigned threads)
{
    struct ribbon_columns share[MOST_BITS];
    unsigned n = threads < f->columns ? threads : f->columns;

    for (unsigned i = 0; i < n; i++)
        share[i] = (struct ribbon_columns){
            f,   l, band, bands, f->columns * i / n, f->columns * (i + 1) / n,
            word
        };
    crew_run(substitute, share, sizeof *share, n);
}

/* With the coefficients in memory of their own, or before the hashes. */
static bool equations_init(struct equations *band, uint64_t slots,
                           const struct sorted *s)
{
    band->c = s->shared ? s->hash - LEAD : cells_new(slots * sizeof *band->c);
    band->print = cells_new(slots * sizeof *band->print);
    band->origin = 0;
    return band->c && band->print;
}

static void equations_clear(struct equations *band, uint64_t slots, bool own)
{
    if (own)
        cells_free(band->c, slots * sizeof *band->c);
    cells_free(band->print, slots * sizeof *band->print);
}

/* Set the number of blocks of layer i, of the first also how many are low. */
static void set_blocks(struct ribbon *f, unsigned i, double slots, bool last)
{
    const struct seen_plan *plan = &f->base.plan;
    uint64_t *shape = f->base.shape;
    double share = ldexp(plan->rate, (int)f->columns) - 1, starts;

    shape[BLOCKS + i] = (uint64_t)fmax(1, ceil(slots / WIDTH));
    starts = (double)shape[BLOCKS + i] * WIDTH - (WIDTH - 1);
    if (!i)
        shape[LOW] = (uint64_t)fmax(0, floor(share * starts / WIDTH));
    set_layer(f, i, last);
}

/*
 * Solve layer i. Bumped hashes are moved to the blocks, and *bumped is their
 * number. false: no memory.
 */
static bool solve(struct ribbon *f, unsigned i, struct sorted *s,
                  uint64_t *const *block, struct solved *to, size_t *bumped,
                  unsigned threads)
{
    const struct layer *l = &f->layer[i];
    const uint32_t mask = (uint32_t)((UINT64_C(1) << f->columns) - 1);
    uint64_t slots = f->base.shape[BLOCKS + i] * WIDTH;
    struct equations band[MOST_THREADS], whole;
    bool own = !s->shared, able = equations_init(&whole, slots, s);
    unsigned bands;

    to->words = slots / WIDTH * f->columns - l->low;
    to->bump_words = l->last ? 0 : (buckets(l) + 31) / 32;
    to->word = cells_new(to->words * sizeof *to->word);
    to->bumps = l->last ? NULL : cells_new(to->bump_words * sizeof *to->bumps);
    able = able && to->word && (l->last || to->bumps);
    band[0] = whole;
    able = able && insert_layer(l, band, &bands, mask, slots, s, to, block,
                                bumped, threads);
    if (able && !(l->last && *bumped))
        substitute_all(f, l, band, bands, to->word, threads);
    equations_clear(&whole, slots, own);
    cells_free(s->rest, s->rest_size);
    return able;
}

static void solved_clear(struct solved *s)
{
    cells_free(s->word, s->words * sizeof *s->word);
    cells_free(s->bumps, s->bump_words * sizeof *s->bumps);
    memset(s, 0, sizeof *s);
}

/*
 * Solve the last layer: each attempt has other hashes and 1/128 more slots
 * than the one before, beginning with one slot per key.
 */
static enum seen_code solve_last(struct ribbon *f, unsigned i,
                                 const uint64_t *hash, size_t n,
                                 uint64_t *const *block, struct solved *to,
                                 struct seen_error *why)
{
    size_t bumped = 1, room = (n + 1) * sizeof(uint64_t);
    uint64_t *again = cells_new(room);
    bool able = again;

    for (unsigned a = 0; able && bumped && a < ATTEMPTS; a++) {
        struct sorted sorted = { .hash = again };

        solved_clear(to);
        f->base.shape[ATTEMPT] = a;
        set_blocks(f, i, (double)n * (1 + a / 128.0), true);
        for (size_t j = 0; j < n; j++)
            block[j / HASH_BLOCK][j % HASH_BLOCK] = hash[j];
        able = hash_sort(block, again, &n, f->layer[i].again, UINT64_MAX, 1);
        sorted.n = n;
        able = able && solve(f, i, &sorted, block, to, &bumped, 1);
    }
    cells_free(again, room);
    if (!able)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory");
    return bumped ? seen_fail(why, SEEN_RANGE, 0,
                              "no arrangement of %zu keys was found", n)
                  : SEEN_OK;
}

/* Lay the solved layers out as cells. */
static enum seen_code assemble(struct ribbon *f, const struct solved *solved,
                               struct seen_error *why)
{
    uint64_t *word, bits;
    enum seen_code code = take_shape(f, &bits, why);

    if (code == SEEN_OK && bits > SEEN_BITS)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "a ribbon of more than 2^48 bits is too large");
    if (code != SEEN_OK)
        return code;
    f->base.plan.bits = bits;
    word = cells_new(f->base.size);
    if (!word)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory");
    f->base.cells = (unsigned char *)word;
    for (unsigned i = 0; i < f->layers; i++) {
        const struct layer *l = &f->layer[i];

        memcpy(word + l->words, solved[i].word, solved[i].words * 8);
        if (!l->last)
            memcpy(word + l->bumps, solved[i].bumps, solved[i].bump_words * 8);
    }
    f->base.set = cells_count(word, f->base.size);
    return SEEN_OK;
}

enum seen_code ribbon_fill(struct seen_filter *base, uint64_t *const *block,
                           size_t n, unsigned threads, struct seen_error *why)
{
    struct ribbon *f = (struct ribbon *)base;
    struct solved solved[MOST_LAYERS] = { 0 };
    size_t given = n, room = (LEAD + n + 1) * sizeof(uint64_t);
    uint64_t *memory = cells_new(room), *hash = memory ? memory + LEAD : NULL;
    enum seen_code code = SEEN_OK;
    bool able = memory, last = false;

    base->shape[COLUMNS] = f->columns;
    for (unsigned i = 0; able && !last && code == SEEN_OK; i++) {
        uint64_t salt = hash_salt(base->plan.seed, i);
        size_t sort_n = n;

        able = hash_sort(block, hash, &n, salt, UINT64_MAX, threads);
        if (!i)
            base->plan.capacity = n;
        last = n <= FEW || i + 1 == MOST_LAYERS;
        if (able && last)
            code = solve_last(f, i, hash, n, block, &solved[i], why);
        if (able && !last) {
            struct sorted sorted = { hash, n, .shared = !i, .given = sort_n,
                                     .salt = salt };

            set_blocks(f, i, (double)n * SLOTS_PER_KEY, false);
            able = solve(f, i, &sorted, block, &solved[i], &n, threads);
        }
    }
    cells_free(memory, room);
    if (able && code == SEEN_OK)
        code = assemble(f, solved, why);
    for (unsigned i = 0; i < MOST_LAYERS; i++)
        solved_clear(&solved[i]);
    if (!able || code == SEEN_NOMEM)
        return seen_fail(why, SEEN_NOMEM, 0,
                         "no memory for a ribbon of %zu keys", given);
    return code;
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
