/*
 * fuse.c - binary fuse filters: what to publish.
 *
 * A static filter from a known set [1]: an array of fingerprints B in which
 * every key has three cells, and
 *
 *     B[h0] xor B[h1] xor B[h2] = fingerprint(key)
 *
 * holds for all keys of the set, and for others with chance 2^-BITS. The
 * three cells lie in three neighbouring segments, which is why an array of
 * 1.125 n cells has a solution ("fuse" graphs [2]) and why it is found with
 * few cache misses: 9 bits a key at 0.39 %, where a Bloom filter takes 11.5.
 * With four cells (`fuse:8,4`) 1.075 n suffice, at a slower question.
 *
 *     segment   0        1        2        3        4
 *            +--------+--------+--------+--------+--------+
 *     cells  |  h0    |    h1  |  h2    |        |        | ...
 *            +--------+--------+--------+--------+--------+
 *
 * To solve: a cell that only one key has can be set last, so that key is put
 * on a stack and taken away, which leaves other cells with one key. If all
 * keys go, the stack is undone from the top, each key setting the cell that
 * was its own; if not, which is rare, another salt is tried. Each cell keeps
 * the number of its keys, the xor of their hashes, and the xor of the roles
 * (0 to 3) in which they have it: with one key left, these are that key's.
 *
 * h0 rises with the hash, so the hashes are sorted first: counting then walks
 * through the cells once, three segments at a time in the cache, and equal
 * hashes lie side by side and are dropped. With 100 million keys sorting
 * takes about 8 ns a key of the whole.
 *
 * [1] T. Graf, D. Lemire: Binary fuse filters: fast and smaller than xor
 *     filters. ACM JEA 27, 2022. Sizes of segments and arrays are theirs.
 * [2] M. Dietzfelbinger, S. Walzer: Dense peelable random uniform
 *     hypergraphs. ESA 2019.
 */
#include "fuse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "probe.h"

enum { BATCH = 32, ATTEMPTS = 64, MOST_ARITY = 4, MOST_SEGMENT = 1 << 18 };

/* What plan.shape records. */
enum { SEGMENT, SEGMENTS, ATTEMPT };

struct fuse {
    struct seen_filter base;
    uint64_t salt, segment, starts; /* h0 is below `starts` */
    unsigned arity, bits;
};

static uint64_t salt_of(const struct seen_plan *plan)
{
    return seen_mix(plan->seed +
                    plan->shape[ATTEMPT] * UINT64_C(0x9e3779b97f4a7c15));
}

/* The inverse of seen_mix(): another attempt needs the keys back. */
static uint64_t unmix(uint64_t x)
{
    x = (x ^ (x >> 31) ^ (x >> 62)) * UINT64_C(0x319642b2d24d8ec3);
    x = (x ^ (x >> 27) ^ (x >> 54)) * UINT64_C(0x96de1b173f119089);
    return x ^ (x >> 30) ^ (x >> 60);
}

static inline void cells_of(const struct fuse *f, uint64_t hash,
                            unsigned arity, uint64_t at[MOST_ARITY])
{
    uint64_t mask = f->segment - 1, start = reduce(hash, f->starts);

    at[0] = start;
    if (arity == 3) {
        at[1] = (start + f->segment) ^ (hash >> 18 & mask);
        at[2] = (start + 2 * f->segment) ^ (hash & mask);
    } else {
        uint64_t g = hash * PROBE_STEP;

        at[1] = (start + f->segment) ^ (g >> 46 & mask);
        at[2] = (start + 2 * f->segment) ^ (g >> 28 & mask);
        at[3] = (start + 3 * f->segment) ^ (g >> 10 & mask);
    }
}

static inline uint32_t fingerprint(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

static inline uint32_t get(const unsigned char *cells, unsigned bits,
                           uint64_t at)
{
    return bits == 8    ? cells[at]
           : bits == 16 ? ((const uint16_t *)(const void *)cells)[at]
                        : ((const uint32_t *)(const void *)cells)[at];
}

static inline void put(unsigned char *cells, unsigned bits, uint64_t at,
                       uint32_t value)
{
    if (bits == 8)
        cells[at] = (unsigned char)value;
    else if (bits == 16)
        ((uint16_t *)(void *)cells)[at] = (uint16_t)value;
    else
        ((uint32_t *)(void *)cells)[at] = value;
}

/* "fuse", "fuse:16", "fuse:8,4": the arguments, or those that the rate asks
   for. */
static enum seen_code arguments(const struct seen_plan *plan, unsigned *bits,
                                unsigned *arity, struct seen_error *why)
{
    char first[8], second[8], third[8];
    bool given = seen_kind_arg(plan->kind, 0, first, sizeof first);

    *bits = plan->rate >= 0x1p-8 || plan->rate == 0 ? 8
            : plan->rate >= 0x1p-16                 ? 16
                                                    : 32;
    *arity = 3;
    if (given) {
        if (strcmp(first, "8") && strcmp(first, "16") && strcmp(first, "32"))
            return seen_fail(why, SEEN_RANGE, 0,
                             "a fuse has 8, 16 or 32 bits, not %s", first);
        *bits = (unsigned)atoi(first);
    }
    if (seen_kind_arg(plan->kind, 1, second, sizeof second)) {
        if ((strcmp(second, "3") && strcmp(second, "4")) ||
            seen_kind_arg(plan->kind, 2, third, sizeof third))
            return seen_fail(why, SEEN_RANGE, 0,
                             "a fuse has 3 or 4 cells a key, not %s", second);
        *arity = (unsigned)atoi(second);
    }
    if (!plan->recorded && plan->rate > 0 &&
        plan->rate < ldexp(1, -(int)*bits))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a fuse of %u bits has a rate of %.3g, not %.3g",
                         *bits, ldexp(1, -(int)*bits), plan->rate);
    return SEEN_OK;
}

/* From a recorded shape to the numbers that questions need. */
static enum seen_code take_shape(struct fuse *f, const struct seen_plan *plan,
                                 struct seen_error *why)
{
    uint64_t segment = plan->shape[SEGMENT], count = plan->shape[SEGMENTS];

    if (segment < 1 || segment > MOST_SEGMENT || (segment & (segment - 1)) ||
        count < 1 || count > SEEN_BITS / MOST_SEGMENT ||
        plan->bits != (count + f->arity - 1) * segment * f->bits)
        return seen_fail(why, SEEN_RANGE, 0, "the shape of a fuse is wrong");
    f->segment = segment;
    f->starts = count * segment;
    f->salt = salt_of(plan);
    f->base.size = (plan->bits / 8 + LINE - 1) / LINE * LINE;
    return SEEN_OK;
}

static enum seen_code fuse_make(struct seen_filter **out,
                                struct seen_plan *plan, struct seen_error *why)
{
    unsigned bits, arity;
    enum seen_code code = arguments(plan, &bits, &arity, why);
    struct fuse *f;

    if (code != SEEN_OK)
        return code;
    if (!plan->recorded &&
        (plan->bits || plan->probes || plan->hostile || plan->multiplier > 0))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a fuse takes the bits that its keys need: give "
                         "a rate only");
    f = calloc(1, sizeof *f);
    if (!f)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    f->bits = bits;
    f->arity = arity;
    f->base.cell_bits = bits;
    f->base.limit = UINT64_MAX;
    if (plan->recorded) {
        code = take_shape(f, plan, why);
        if (code != SEEN_OK) {
            free(f);
            return code;
        }
    }
    plan->probes = arity;
    plan->rate = ldexp(1, -(int)bits);
    *out = &f->base;
    return SEEN_OK;
}

static enum seen_code fuse_has(const struct seen_filter *base,
                               const struct seen_key *key, size_t n,
                               bool *seen, struct seen_error *why)
{
    const struct fuse *f = (const struct fuse *)base;
    const uint32_t mask = (uint32_t)((UINT64_C(1) << f->bits) - 1);
    uint64_t at[BATCH][MOST_ARITY];
    uint32_t print[BATCH];

    (void)why;
    if (!base->plan.capacity) { /* made from nothing */
        memset(seen, 0, n * sizeof *seen);
        return SEEN_OK;
    }
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        for (size_t i = 0; i < some; i++) {
            uint64_t hash = seen_mix(key[done + i].lo ^ f->salt);

            print[i] = fingerprint(hash);
            cells_of(f, hash, f->arity, at[i]);
            for (unsigned j = 0; j < f->arity; j++)
                __builtin_prefetch(base->cells + at[i][j] * (f->bits / 8));
        }
        for (size_t i = 0; i < some; i++) {
            for (unsigned j = 0; j < f->arity; j++)
                print[i] ^= get(base->cells, f->bits, at[i][j]);
            seen[done + i] = !(print[i] & mask);
        }
    }
    return SEEN_OK;
}

static double fuse_rate(const struct seen_filter *base)
{
    return base->plan.capacity ? ldexp(1, -(int)base->cell_bits) : 0;
}

static double fuse_entries(const struct seen_filter *base)
{
    return (double)base->plan.capacity;
}

static uint64_t fuse_recount(const struct seen_filter *base)
{
    uint64_t cells = base->plan.bits / base->cell_bits, sum = 0;

    for (uint64_t i = 0; i < cells; i++)
        sum += get(base->cells, base->cell_bits, i) != 0;
    return sum;
}

/*
 * Sort n hashes of `from` into `to`: by their top bits into buckets that fit
 * a cache, each bucket by the next 22 bits, and the few that are still out
 * of order by insertion.
 */
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

static bool sort(uint64_t *from, uint64_t *to, size_t n)
{
    unsigned top = 0;
    size_t *start;

    while (top < 16 && n >> top > 32768)
        top++;
    start = calloc(((size_t)1 << top) + 1, sizeof *start);
    if (!start)
        return false;
    for (size_t i = 0; i < n; i++)
        start[(top ? from[i] >> (64 - top) : 0) + 1]++;
    for (size_t i = 0; i < (size_t)1 << top; i++)
        start[i + 1] += start[i];
    for (size_t i = 0; i < n; i++)
        to[start[top ? from[i] >> (64 - top) : 0]++] = from[i];
    for (size_t i = 0, begin = 0; i < (size_t)1 << top; i++) {
        /* two passes: the bucket is back where it was, sorted by 22 bits */
        sort_bucket(to + begin, from, start[i] - begin, top);
        insertion_sort(to + begin, start[i] - begin);
        begin = start[i];
    }
    free(start);
    return true;
}

static size_t drop_equal(uint64_t *a, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!i || a[i] != a[i - 1])
            a[kept++] = a[i];
    return kept;
}

/* The sizes that [1] found to work, by experiment. */
static void choose_shape(const struct fuse *f, struct seen_plan *plan,
                         size_t n)
{
    double keys = fmax(2, (double)n), factor, power, cells, count;

    if (f->arity == 3) {
        power = floor(log(keys) / log(3.33) + 2.25);
        factor = fmax(1.125, 0.875 + 0.25 * log(1e6) / log(keys));
    } else {
        power = floor(log(keys) / log(2.91) - 0.5);
        factor = fmax(1.075, 0.77 + 0.305 * log(6e5) / log(keys));
    }
    plan->shape[SEGMENT] = UINT64_C(1) << (unsigned)fmin(18, fmax(2, power));
    cells = round(keys * factor);
    count = ceil(cells / (double)plan->shape[SEGMENT]) - (f->arity - 1);
    plan->shape[SEGMENTS] = (uint64_t)fmax(1, count);
    plan->bits = (plan->shape[SEGMENTS] + f->arity - 1) *
                 plan->shape[SEGMENT] * f->bits;
}

/* What is known of a cell while keys are taken away. */
struct peel {
    uint64_t *hash;  /* xor of the hashes of its keys */
    uint8_t *count;  /* 4 * keys + xor of their roles */
    uint32_t *lone;  /* cells to look at */
    uint64_t *order; /* keys in the order in which they went */
    uint8_t *role;   /* and the cell of each that was its own */
};

/* Add or take away a key with its role at a cell. */
static inline void join(struct peel *p, uint64_t at, uint64_t hash,
                        unsigned role, int by)
{
    p->count[at] = (uint8_t)((p->count[at] + 4 * by) ^ (int)role);
    p->hash[at] ^= hash;
}

static inline __attribute__((always_inline)) bool peel(
    const struct fuse *f, struct peel *p, const uint64_t *hash, size_t n,
    uint64_t cells, unsigned arity)
{
    uint64_t at[MOST_ARITY];
    size_t gone = 0, waiting = 0;

    for (size_t i = 0; i < n; i++) {
        cells_of(f, hash[i], arity, at);
        for (unsigned j = 0; j < arity; j++) {
            if (p->count[at[j]] >= 252)
                return false; /* the count would wrap */
            join(p, at[j], hash[i], j, 1);
        }
    }
    for (uint64_t i = 0; i < cells; i++) {
        p->lone[waiting] = (uint32_t)i;
        waiting += p->count[i] >> 2 == 1;
    }
    while (waiting) {
        uint32_t cell = p->lone[--waiting];
        unsigned own = p->count[cell] & 3;
        uint64_t key = p->hash[cell];

        if (p->count[cell] >> 2 != 1)
            continue; /* its key went by another cell */
        p->order[gone] = key;
        p->role[gone++] = (uint8_t)own;
        cells_of(f, key, arity, at);
        for (unsigned j = 0; j < arity; j++) {
            if (j == own)
                continue;
            p->lone[waiting] = (uint32_t)at[j];
            waiting += p->count[at[j]] >> 2 == 2;
            join(p, at[j], key, j, -1);
        }
        p->count[cell] = 0;
    }
    return gone == n;
}

static inline __attribute__((always_inline)) void assign(const struct fuse *f,
                                                         const struct peel *p,
                                                         size_t n,
                                                         unsigned arity,
                                                         unsigned bits)
{
    unsigned char *cells = f->base.cells;
    uint64_t at[MOST_ARITY];

    while (n--) {
        uint64_t own;
        uint32_t value = fingerprint(p->order[n]);

        cells_of(f, p->order[n], arity, at);
        own = at[p->role[n]];
        for (unsigned j = 0; j < arity; j++)
            value ^= get(cells, bits, at[j]); /* its own is still 0 */
        put(cells, bits, own, value);
    }
}

static bool solve(struct fuse *f, struct peel *p, const uint64_t *hash,
                  size_t n, uint64_t cells)
{
    bool solved = f->arity == 3 ? peel(f, p, hash, n, cells, 3)
                                : peel(f, p, hash, n, cells, 4);

    if (!solved)
        return false;
    if (f->arity == 3 && f->bits == 8)
        assign(f, p, n, 3, 8);
    else
        assign(f, p, n, f->arity, f->bits);
    return true;
}

enum seen_code fuse_fill(struct seen_filter *base, uint64_t *lo, size_t n,
                         struct seen_error *why)
{
    struct fuse *f = (struct fuse *)base;
    struct seen_plan *plan = &base->plan;
    size_t given = n, cells = 0, waits = 0;
    struct peel p = { 0 };
    enum seen_code code;
    uint64_t *hash = cells_new((n + 1) * sizeof *hash);
    bool solved = n == 0;

    if (!hash)
        goto no_memory;
    f->salt = salt_of(plan);
    for (size_t i = 0; i < n; i++)
        lo[i] = seen_mix(lo[i] ^ f->salt);
    if (!sort(lo, hash, n))
        goto no_memory;
    n = drop_equal(hash, n);
    choose_shape(f, plan, n);
    if (plan->bits / f->bits > UINT32_MAX) {
        code = seen_fail(why, SEEN_RANGE, 0,
                         "a fuse of more than 2^32 cells is too large: use "
                         "routed:16/fuse");
        goto free_all;
    }
    cells = plan->bits / f->bits;
    waits = cells + 1; /* a cell is lone once at most */
    p.hash = cells_new(cells * sizeof *p.hash);
    p.count = cells_new(cells);
    p.lone = cells_new(waits * sizeof *p.lone);
    p.role = cells_new(n + 1);
    p.order = lo;
    code = take_shape(f, plan, why);
    if (code != SEEN_OK)
        goto free_all;
    base->cells = cells_new(base->size);
    if (!p.hash || !p.count || !p.lone || !p.role || !base->cells)
        goto no_memory;

    for (;;) {
        uint64_t old = f->salt;

        solved = solved || solve(f, &p, hash, n, cells);
        if (solved || plan->shape[ATTEMPT] + 1 == ATTEMPTS)
            break;
        plan->shape[ATTEMPT]++;
        f->salt = salt_of(plan);
        for (size_t i = 0; i < n; i++)
            lo[i] = seen_mix(unmix(hash[i]) ^ old ^ f->salt);
        if (!sort(lo, hash, n))
            goto no_memory;
        memset(p.hash, 0, cells * sizeof *p.hash);
        memset(p.count, 0, cells);
    }
    code = SEEN_OK;
    if (!solved)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "no arrangement of %zu keys was found", n);
    plan->capacity = n;
    base->set = fuse_recount(base);
    goto free_all;

no_memory:
    code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a fuse of %zu keys",
                     given);
free_all:
    cells_free(p.hash, cells * sizeof *p.hash);
    cells_free(p.count, cells);
    cells_free(p.lone, waits * sizeof *p.lone);
    cells_free(p.role, n + 1);
    cells_free(hash, (given + 1) * sizeof *hash);
    return code;
}

const struct seen_kind filter_fuse = {
    .name = "fuse",
    .once = true,
    .make = fuse_make,
    .has = fuse_has,
    .rate = fuse_rate,
    .entries = fuse_entries,
    .recount = fuse_recount,
};
