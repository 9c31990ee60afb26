/*
 * fuse.c - binary fuse filters: small, and fast to ask, for publishing.
 *
 * A static filter from a known set [1]: an array of fingerprints B in which
 * every key has three cells, and
 *
 *     B[h0] xor B[h1] xor B[h2] = fingerprint(key)
 *
 * holds for all keys of the set, and for others with probability 2^-BITS. The
 * three cells are in three neighbouring segments. Because of that an array of
 * 1.125 n cells has a solution ("fuse" graphs [2]), which is found with few
 * cache misses: 9 bits per key at 0.39 %, where a Bloom filter takes 11.5.
 * With four cells (`fuse:8,4`) 1.075 n are enough, but lookups are slower.
 *
 *     segment   0        1        2        3        4
 *            +--------+--------+--------+--------+--------+
 *     cells  |  h0    |    h1  |  h2    |        |        | ...
 *            +--------+--------+--------+--------+--------+
 *
 * The solution: a cell that only one key uses can be set last, so that key is
 * put on a stack and removed, which leaves other cells with one key. If all
 * keys can be removed, the stack is processed from the top, and each key sets
 * the cell that only it used. If not, which is rare, another salt is tried. A
 * hash has 56 bits, so that the state of a cell fits into one word:
 *
 *     63                                     8 7            2 1    0
 *    +----------------------------------------+--------------+------+
 *    |       xor of the hashes of its keys    | how many     | role |
 *    +----------------------------------------+--------------+------+
 *
 * where role is the xor of the roles (0 to 3) that the cell has for its keys:
 * with one key left, hash and role are those of that key.
 *
 * h0 grows with the hash, so the hashes are sorted first: counting then passes
 * through the cells once, with three segments in the cache at a time, and
 * equal hashes are adjacent and dropped. (Removing keys in eight places in
 * turn, to overlap their cache misses, was slower than in one. Removing keys
 * while a second thread counted those before them gained nothing.)
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
#include "crew.h"
#include "probe.h"

enum {
    AHEAD = 16, /* keys between the prefetch of cells and their use */
    FAR_AHEAD = 64, /* the same for questions to FAR_FROM bytes and more */
    FAR_FROM = 1 << 23,
    ATTEMPTS = 64,
    MOST_ARITY = 4,
    MOST_SEGMENT = 1 << 15,
    STRETCH = 1 << 12, /* cells examined at a time */
    LONE = 1 << 15,    /* cells with one key, among these and others */
    FEWEST_SEGMENTS = 16, /* that are worth a thread */
    PART_BITS = 12,    /* a part has the keys whose h0 is in 2^12 cells */
    PIECE = 1 << 16,   /* removed keys in memory of their own */
    SOON = 3           /* cells between the prefetch for a key and its removal */
};
#define HASH_BITS (~UINT64_C(0xff))
#define INLINE static inline __attribute__((always_inline))

/* What `shape` records. */
enum { SEGMENT, SEGMENTS, ATTEMPT };

struct fuse {
    struct seen_filter base;
    uint64_t salt, segment, starts; /* h0 is below `starts` */
    unsigned arity, bits;
};

/* Each attempt hashes the hashes of the one before. */
static inline uint64_t hash_again(uint64_t hash, uint64_t salt)
{
    return seen_mix(hash ^ salt) & HASH_BITS;
}

static inline uint64_t hash_of(const struct fuse *f, uint64_t lo)
{
    uint64_t hash = hash_again(lo, f->salt);

    for (uint64_t a = 1; a <= f->base.shape[ATTEMPT]; a++)
        hash = hash_again(hash, hash_salt(f->base.plan.seed, a));
    return hash;
}

/* What finds the cells of a hash, in registers. */
struct fuse_grid {
    uint64_t segment, starts;
};

static inline void grid_cells(const struct fuse_grid *g, uint64_t hash,
                              unsigned arity, uint64_t at[MOST_ARITY])
{
    uint64_t mask = g->segment - 1, start = reduce(hash, g->starts);
    uint64_t x = hash * PROBE_STEP;

    at[0] = start;
    at[1] = (start + g->segment) ^ (x >> 46 & mask);
    at[2] = (start + 2 * g->segment) ^ (x >> 28 & mask);
    if (arity == 4)
        at[3] = (start + 3 * g->segment) ^ (x >> 10 & mask);
}

static inline void cells_of(const struct fuse *f, uint64_t hash,
                            unsigned arity, uint64_t at[MOST_ARITY])
{
    struct fuse_grid g = { f->segment, f->starts };

    grid_cells(&g, hash, arity, at);
}

static inline uint32_t fingerprint(uint64_t hash)
{
    return (uint32_t)(hash >> 8 ^ hash >> 40);
}

static inline uint32_t get(const unsigned char *cells, unsigned bits,
                           uint64_t at)
{
    return bits == 8 ? cells[at] : ((const uint16_t *)(const void *)cells)[at];
}

static inline void put(unsigned char *cells, unsigned bits, uint64_t at,
                       uint32_t value)
{
    if (bits == 8)
        cells[at] = (unsigned char)value;
    else
        ((uint16_t *)(void *)cells)[at] = (uint16_t)value;
}

/* The arguments of "fuse", "fuse:16", "fuse:8,4"; what is not given follows
   from the rate. */
static enum seen_code arguments(const struct seen_filter *f, unsigned *bits,
                                unsigned *arity, struct seen_error *why)
{
    const struct seen_plan *plan = &f->plan;
    char first[8], second[8], third[8], other[SEEN_KIND_TEXT];
    bool given = seen_kind_arg(plan->kind, 0, first, sizeof first);

    *bits = plan->rate >= 0x1p-8 || plan->rate == 0 ? 8 : 16;
    *arity = 3;
    if (given) {
        if (strcmp(first, "8") && strcmp(first, "16"))
            return seen_fail(why, SEEN_RANGE, 0,
                             "a fuse has 8 or 16 bits, not %s", first);
        *bits = (unsigned)atoi(first);
    }
    if (seen_kind_arg(plan->kind, 1, second, sizeof second)) {
        if ((strcmp(second, "3") && strcmp(second, "4")) ||
            seen_kind_arg(plan->kind, 2, third, sizeof third))
            return seen_fail(why, SEEN_RANGE, 0,
                             "a fuse has 3 or 4 cells a key, not %s", second);
        *arity = (unsigned)atoi(second);
    }
    if (!f->recorded && plan->rate > 0 && plan->rate < ldexp(1, -(int)*bits)) {
        seen_kind_for_rate(other, plan->rate);
        return seen_fail(why, SEEN_RANGE, 0,
                         "a fuse of %u bits has a rate of %.3g, not %.3g; "
                         "for less, use %s",
                         *bits, ldexp(1, -(int)*bits), plan->rate, other);
    }
    return SEEN_OK;
}

/* Derive the numbers that lookups need from a recorded shape. */
static enum seen_code take_shape(struct fuse *f, struct seen_error *why)
{
    const struct seen_plan *plan = &f->base.plan;
    const uint64_t *shape = f->base.shape;
    uint64_t segment = shape[SEGMENT], count = shape[SEGMENTS];

    if (segment < 1 || segment > MOST_SEGMENT || (segment & (segment - 1)) ||
        count < 1 || count > SEEN_BITS / MOST_SEGMENT ||
        shape[ATTEMPT] >= ATTEMPTS ||
        plan->bits != (count + f->arity - 1) * segment * f->bits)
        return seen_fail(why, SEEN_RANGE, 0, "the shape of a fuse is wrong");
    f->segment = segment;
    f->starts = count * segment;
    f->salt = hash_salt(plan->seed, 0);
    f->base.size = (plan->bits / 8 + LINE - 1) / LINE * LINE;
    return SEEN_OK;
}

/* A key that is looked up: its cells, of which there are fewer than 2^32, and
   its fingerprint. It has 32 bytes, so that the next one is a shift away. */
struct fuse_place {
    uint32_t at[MOST_ARITY], print, unused[3];
};

INLINE void fetch_place(struct fuse_place *p, const struct fuse_grid *g,
                        uint64_t hash, const unsigned char *cells,
                        unsigned arity, unsigned bits)
{
    uint64_t at[MOST_ARITY] = { 0 };

    grid_cells(g, hash, arity, at);
#pragma GCC unroll 4
    for (unsigned j = 0; j < arity; j++) {
        __builtin_prefetch(cells + at[j] * (bits / 8));
        p->at[j] = (uint32_t)at[j];
    }
    p->print = fingerprint(hash);
}

INLINE bool is_in(const struct fuse_place *p, const unsigned char *cells,
                  unsigned arity, unsigned bits)
{
    uint32_t print = p->print;

#pragma GCC unroll 4
    for (unsigned j = 0; j < arity; j++)
        print ^= get(cells, bits, p->at[j]);
    return bits == 8 ? !(print & 0xff) : !(print & 0xffff);
}

/*
 * The cells of a key are fetched `distance` keys before they are read. `again`:
 * hashes are hashed again, for the attempt that solved the filter. Fetching 32
 * keys and then reading 32, in one loop for all arities and widths, took 5.1
 * ns per key instead of 2.7 with a million keys, and 6.3 instead of 3.8 with
 * ten million; four cells 6.5 instead of 3.3 (EPYC, Zen 5). In the cache 32
 * keys are 0.1 ns slower than 16, and 64 are 0.3. In memory, with 50 million
 * keys, 16 keys take 12.6 ns each, 32 take 8.6, 64 and 128 take 7.1.
 */
INLINE void has_as(const struct fuse *f, const struct seen_key *key, size_t n,
                   bool *seen, bool again, unsigned arity, unsigned bits,
                   const size_t distance)
{
    const unsigned char *cells = f->base.cells;
    const struct fuse_grid grid = { f->segment, f->starts };
    const uint64_t salt = f->salt;
    struct fuse_place ring[FAR_AHEAD];
    size_t i = 0, ahead = n < distance ? n : distance;

#define HASH(i) again ? hash_of(f, key[i].lo) : hash_again(key[i].lo, salt)
    for (size_t j = 0; j < ahead; j++)
        fetch_place(&ring[j], &grid, HASH(j), cells, arity, bits);
    for (; i + distance + 4 <= n; i += 4) {
        struct fuse_place *p = &ring[i % distance];

#pragma GCC unroll 4
        for (unsigned u = 0; u < 4; u++) {
            seen[i + u] = is_in(p + u, cells, arity, bits);
            fetch_place(p + u, &grid, HASH(i + distance + u), cells, arity,
                        bits);
        }
    }
    for (; i + ahead < n; i++) {
        struct fuse_place *p = &ring[i % distance];

        seen[i] = is_in(p, cells, arity, bits);
        fetch_place(p, &grid, HASH(i + distance), cells, arity, bits);
    }
#undef HASH
    for (; i < n; i++)
        seen[i] = is_in(&ring[i % distance], cells, arity, bits);
}

/* A loop for each shape. */
INLINE void has_shape(const struct fuse *f, const struct seen_key *key,
                      size_t n, bool *seen, const size_t distance)
{
    if (f->arity == 3 && f->bits == 8)
        has_as(f, key, n, seen, false, 3, 8, distance);
    else if (f->arity == 3)
        has_as(f, key, n, seen, false, 3, 16, distance);
    else if (f->bits == 8)
        has_as(f, key, n, seen, false, 4, 8, distance);
    else
        has_as(f, key, n, seen, false, 4, 16, distance);
}

static enum seen_code fuse_has(const struct seen_filter *base,
                               const struct seen_key *key, size_t n,
                               bool *seen, struct seen_error *why)
{
    const struct fuse *f = (const struct fuse *)base;

    (void)why;
    if (!base->plan.capacity) /* made from no keys */
        memset(seen, 0, n * sizeof *seen);
    else if (base->shape[ATTEMPT])
        has_as(f, key, n, seen, true, f->arity, f->bits, FAR_AHEAD);
    else if (base->size < FAR_FROM)
        has_shape(f, key, n, seen, AHEAD);
    else
        has_shape(f, key, n, seen, FAR_AHEAD);
    return SEEN_OK;
}

/*
 * One key. Its cells need no fetching ahead, and calls overlap: 5.3 ns instead
 * of 9.6 with a million keys, 46 instead of 73 with 20 million (EPYC, Zen 5).
 */
INLINE enum seen_code has_one_as(const struct seen_filter *base,
                                 const struct seen_key *key, bool *seen,
                                 unsigned arity, unsigned bits)
{
    const struct fuse *f = (const struct fuse *)base;
    const struct fuse_grid grid = { f->segment, f->starts };
    uint64_t hash = hash_of(f, key->lo), at[MOST_ARITY] = { 0 };
    uint32_t print = fingerprint(hash);

    *seen = false;
    if (!base->plan.capacity) /* made from no keys */
        return SEEN_OK;
    grid_cells(&grid, hash, arity, at);
#pragma GCC unroll 4
    for (unsigned j = 0; j < arity; j++)
        print ^= get(base->cells, bits, at[j]);
    *seen = bits == 8 ? !(print & 0xff) : !(print & 0xffff);
    return SEEN_OK;
}

static enum seen_code has_one_of_3(const struct seen_filter *base,
                                   const struct seen_key *key, bool *seen)
{
    return has_one_as(base, key, seen, 3, 8);
}

static enum seen_code has_one(const struct seen_filter *base,
                              const struct seen_key *key, bool *seen)
{
    const struct fuse *f = (const struct fuse *)base;

    return has_one_as(base, key, seen, f->arity, f->bits);
}

static enum seen_code fuse_make(struct seen_filter *base,
                                struct seen_error *why)
{
    struct fuse *f = (struct fuse *)base;
    struct seen_plan *plan = &base->plan;
    enum seen_code code = arguments(base, &f->bits, &f->arity, why);

    if (code != SEEN_OK)
        return code;
    if (!base->recorded &&
        (plan->bits || plan->probes || plan->hostile || plan->multiplier > 0))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a fuse takes the bits that its keys need: give "
                         "a rate only");
    base->cell_bits = f->bits;
    base->limit = UINT64_MAX;
    if (!plan->keyed)
        base->has_one = f->arity == 3 && f->bits == 8 ? has_one_of_3 : has_one;
    if (base->recorded)
        code = take_shape(f, why);
    plan->probes = f->arity;
    plan->rate = ldexp(1, -(int)f->bits);
    return code;
}

static enum seen_code fuse_reach(const struct seen_filter *base,
                                 const struct seen_key *key, uint64_t *at,
                                 size_t *n, struct seen_error *why)
{
    const struct fuse *f = (const struct fuse *)base;
    uint64_t cell[MOST_ARITY];

    (void)why;
    *n = base->plan.capacity ? f->arity : 0;
    if (*n)
        cells_of(f, hash_of(f, key->lo), f->arity, cell);
    for (size_t j = 0; j < *n; j++)
        at[j] = cell[j] * (f->bits / 8);
    return SEEN_OK;
}

static void fuse_expect(const struct seen_filter *base,
                        const struct seen_key *key, size_t n)
{
    const struct fuse *f = (const struct fuse *)base;
    uint64_t at[MOST_ARITY];

    for (size_t i = 0; i < n && base->plan.capacity; i++) {
        cells_of(f, hash_of(f, key[i].lo), f->arity, at);
        for (unsigned j = 0; j < f->arity; j++)
            __builtin_prefetch(base->cells + at[j] * (f->bits / 8));
    }
}

static double fuse_rate(const struct seen_filter *base)
{
    return base->plan.capacity ? ldexp(1, -(int)base->cell_bits) : 0;
}

static double fuse_entries(const struct seen_filter *base)
{
    return (double)base->plan.capacity;
}

/* Cells that are not 0, a word of them at a time: adding 0x7f to the lower bits
   of a cell carries into its top bit unless they are 0. */
static uint64_t fuse_recount(const struct seen_filter *base)
{
    uint64_t low = base->cell_bits == 8 ? UINT64_C(0x7f7f7f7f7f7f7f7f)
                                        : UINT64_C(0x7fff7fff7fff7fff);
    uint64_t words = base->plan.bits / 64, sum = 0;

    for (uint64_t i = 0; i < words; i++) {
        uint64_t word;

        memcpy(&word, base->cells + 8 * i, sizeof word);
        sum += (uint64_t)__builtin_popcountll((((word & low) + low) | word) &
                                              ~low);
    }
    for (uint64_t i = words * 64 / base->cell_bits;
         i < base->plan.bits / base->cell_bits; i++)
        sum += get(base->cells, base->cell_bits, i) != 0;
    return sum;
}

/*
 * The sizes that [1] found by experiment, but segments have at most 2^15 cells:
 * three segments, with a word per cell, then fit into the L2 cache, and a set
 * of 100 million keys was solved in four fifths of the time.
 */
static void choose_shape(struct fuse *f, size_t n)
{
    uint64_t *shape = f->base.shape;
    double keys = fmax(2, (double)n), factor, power, cells, count;

    if (f->arity == 3) {
        power = floor(log(keys) / log(3.33) + 2.25);
        factor = fmax(1.125, 0.875 + 0.25 * log(1e6) / log(keys));
    } else {
        power = floor(log(keys) / log(2.91) - 0.5);
        factor = fmax(1.075, 0.77 + 0.305 * log(6e5) / log(keys));
    }
    shape[SEGMENT] = UINT64_C(1) << (unsigned)fmin(15, fmax(2, power));
    cells = round(keys * factor);
    count = ceil(cells / (double)shape[SEGMENT]) - (f->arity - 1);
    shape[SEGMENTS] = (uint64_t)fmax(1, count);
    f->base.plan.bits = (shape[SEGMENTS] + f->arity - 1) * shape[SEGMENT] *
                        f->bits;
}

/* The keys of a word: see the drawing at the top. */
static inline unsigned keys_in(uint64_t word)
{
    return (unsigned)word >> 2 & 63;
}

/* Note all keys at their cells; false if a count would overflow. */
INLINE bool count_keys(const struct fuse *f, uint64_t *word,
                       const uint64_t *hash, size_t n, unsigned arity)
{
    uint64_t at[MOST_ARITY];
    unsigned most = 0;

    for (size_t i = 0; i < n; i++) {
        cells_of(f, hash[i], arity, at);
        for (unsigned j = 0; j < arity; j++) {
            uint64_t w = (word[at[j]] ^ hash[i] ^ j) + 4;

            most |= keys_in(w);
            word[at[j]] = w;
        }
        if (most > 61)
            return false;
    }
    return true;
}

/* Begin to fetch the cells of the key that a word has left. */
INLINE void fetch_cells(const struct fuse *f, const uint64_t *word, uint64_t w,
                        unsigned arity)
{
    uint64_t at[MOST_ARITY];

    cells_of(f, w & HASH_BITS, arity, at);
    for (unsigned j = 0; j < arity; j++)
        __builtin_prefetch(&word[at[j]], 1);
}

/* The number of sorted hashes whose h0 is below a cell. */
static size_t keys_below(const struct fuse *f, const uint64_t *hash, size_t n,
                         uint64_t cell)
{
    return hashes_below(hash, n, f->starts, cell);
}

/*
 * Keys that are removed, in their order, in pieces. The sorted hashes are
 * counted by then, and are needed again only if some keys cannot be removed.
 * So when all keys of a part are removed, the memory of its hashes becomes a
 * piece for keys that are removed later:
 *
 *     parts     |     0     |     1     |     2     |     3     |     4     |
 *     memory    |  hashes   |  hashes   |  hashes   |  piece 1  |  piece 0  |
 *
 * If no part is free, which is so at first, a piece has memory of its own.
 * All keys of other parts are still among the hashes, so that none is lost if
 * another attempt is needed.
 */
struct removed {
    uint64_t *hash;       /* sorted */
    size_t parts, *first; /* hash of each part; one more for the end */
    uint32_t *left;       /* keys of each part that are not removed */
    uint32_t *idle;       /* parts that are free */
    size_t idles;
    struct fuse_piece {
        uint64_t *key;
        size_t room, n;
        bool own;
    } * piece;
    size_t pieces;
};

static void removed_clear(struct removed *r)
{
    while (r->pieces)
        if (r->piece[--r->pieces].own)
            free(r->piece[r->pieces].key);
    free(r->piece);
    free(r->first);
    free(r->left);
    free(r->idle);
    memset(r, 0, sizeof *r);
}

/* False: no memory. */
static bool removed_init(struct removed *r, const struct fuse *f,
                         uint64_t *hash, size_t n)
{
    r->hash = hash;
    r->parts = (f->starts >> PART_BITS) + 1;
    r->first = malloc((r->parts + 1) * sizeof *r->first);
    r->left = malloc(r->parts * sizeof *r->left);
    r->idle = malloc(r->parts * sizeof *r->idle);
    r->piece = malloc((r->parts + n / PIECE + 1) * sizeof *r->piece);
    if (!r->first || !r->left || !r->idle || !r->piece)
        return false;
    for (size_t i = 0; i <= r->parts; i++)
        r->first[i] = keys_below(f, hash, n, (uint64_t)i << PART_BITS);
    for (size_t i = 0; i < r->parts; i++)
        r->left[i] = (uint32_t)(r->first[i + 1] - r->first[i]);
    return true;
}

/* Begin another piece, for some of `more` keys; NULL: no memory. */
static struct fuse_piece *next_piece(struct removed *r, size_t more)
{
    struct fuse_piece *p = &r->piece[r->pieces];

    if (r->idles) {
        size_t part = r->idle[--r->idles];

        p->key = r->hash + r->first[part];
        p->room = r->first[part + 1] - r->first[part];
        p->own = false;
    } else {
        p->room = more < PIECE ? more : PIECE;
        p->key = malloc(p->room * sizeof *p->key);
        p->own = true;
    }
    p->n = 0;
    if (!p->key)
        return NULL;
    r->pieces++;
    return p;
}

/* Copy all keys, removed or not, to other memory. */
static void copy_keys(const struct fuse *f, const struct removed *r,
                      uint64_t *to)
{
    for (size_t i = 0; i < r->parts; i++)
        if (r->left[i])
            for (size_t j = r->first[i]; j < r->first[i + 1]; j++)
                *to++ = r->hash[j];
    for (size_t i = 0; i < r->pieces; i++)
        for (size_t j = 0; j < r->piece[i].n; j++) {
            uint64_t key = r->piece[i].key[j] & HASH_BITS;

            if (!r->left[reduce(key, f->starts) >> PART_BITS])
                *to++ = key;
        }
}

/*
 * Remove keys until no more can be removed; false: no memory. Cells are
 * examined in stretches from the end. Cells that are left with one key are
 * examined next, while they are in the cache. If there is no room to note
 * one, a later round finds it.
 *
 * Waiting for the cells of keys takes most of the time, so they are fetched
 * when a cell is noted, and again a few cells before its turn. Whether a cell
 * is noted is a branch: the CPU guesses it and goes on with the next key,
 * which without a branch depends on the cells of this one. Both together took
 * 55 ns instead of 80 per key.
 */
INLINE bool peel(const struct fuse *f, uint32_t *lone, uint64_t *word,
                 struct removed *r, size_t n, uint64_t cells, unsigned arity,
                 size_t *removed)
{
    uint64_t at[MOST_ARITY], *to = NULL, *full = NULL;
    uint32_t *left_in = r->left;
    struct fuse_piece *piece = NULL;
    size_t gone = 0, before;

    do {
        before = gone;
        for (uint64_t end = cells; end;) {
            uint64_t begin = end > STRETCH ? end - STRETCH : 0;
            size_t waiting = 0;

            for (uint64_t i = begin; i < end; i++) {
                lone[waiting] = (uint32_t)i;
                waiting += keys_in(word[i]) == 1;
            }
            end = begin;
            while (waiting) {
                uint64_t w = word[lone[--waiting]], key = w & HASH_BITS;

                if (waiting >= SOON)
                    fetch_cells(f, word, word[lone[waiting - SOON]], arity);
                if (keys_in(w) != 1)
                    continue; /* its key was removed through another cell */
                if (to == full) {
                    if (piece)
                        piece->n = piece->room;
                    piece = next_piece(r, n - gone);
                    if (!piece)
                        return false;
                    to = piece->key;
                    full = to + piece->room;
                }
                *to++ = key | (w & 3);
                gone++;
                cells_of(f, key, arity, at);
                if (!--left_in[at[0] >> PART_BITS])
                    r->idle[r->idles++] = (uint32_t)(at[0] >> PART_BITS);
                for (unsigned j = 0; j < arity; j++) {
                    uint64_t left = (word[at[j]] ^ key ^ j) - 4;

                    word[at[j]] = left;
                    if (keys_in(left) == 1) {
                        lone[waiting++] = (uint32_t)at[j];
                        fetch_cells(f, word, left, arity);
                    }
                }
                if (waiting > LONE - MOST_ARITY)
                    waiting = STRETCH;
            }
        }
    } while (gone != before);
    if (piece)
        piece->n = (size_t)(to - piece->key);
    *removed = gone;
    return true;
}

INLINE void assign(const struct fuse *f, const struct removed *r,
                   unsigned arity, unsigned bits)
{
    unsigned char *cells = f->base.cells;
    uint64_t at[MOST_ARITY];

    for (size_t i = r->pieces; i--;)
        for (size_t n = r->piece[i].n; n--;) {
            uint64_t entry = r->piece[i].key[n];
            uint32_t value = fingerprint(entry);

            cells_of(f, entry & HASH_BITS, arity, at);
            for (unsigned j = 0; j < arity; j++)
                value ^= get(cells, bits,
                             at[j]); /* the cell of this key is still 0 */
            put(cells, bits, at[entry & 3], value);
        }
}

/* Keys to count, and whether no count has overflowed. */
struct fuse_share {
    const struct fuse *f;
    uint64_t *word;
    const uint64_t *hash;
    size_t n;
    bool fits;
};

static void count_share(void *share)
{
    struct fuse_share *s = share;

    s->fits = s->f->arity == 3 ? count_keys(s->f, s->word, s->hash, s->n, 3)
                               : count_keys(s->f, s->word, s->hash, s->n, 4);
}

/*
 * Note all keys at their cells, in several threads: each has a range of
 * segments. Keys of the last few segments of a range have cells in the next
 * one, so they are counted at the end.
 */
static bool count_all(const struct fuse *f, uint64_t *word,
                      const uint64_t *hash, size_t n, unsigned threads)
{
    const uint64_t segments = f->starts / f->segment;
    struct fuse_share share[MOST_THREADS];
    unsigned shares = 1;
    bool fits = true;

    while (shares < threads && shares < MOST_THREADS &&
           segments / FEWEST_SEGMENTS > shares)
        shares++;
    for (unsigned i = 0; i < shares; i++) {
        uint64_t end = segments * (i + 1) / shares;
        size_t from = keys_below(f, hash, n,
                                 segments * i / shares * f->segment);
        size_t to = i + 1 == shares
                        ? n
                        : keys_below(f, hash, n,
                                     (end - (f->arity - 1)) * f->segment);

        share[i] = (struct fuse_share){ f, word, hash + from, to - from,
                                        false };
    }
    crew_run(count_share, share, sizeof *share, shares);
    for (unsigned i = 0; i < shares && fits; i++) {
        struct fuse_share rest = share[i];

        fits = rest.fits;
        if (!fits || i + 1 == shares)
            break;
        rest.hash += rest.n;
        rest.n = (size_t)(share[i + 1].hash - rest.hash);
        count_share(&rest);
        fits = rest.fits;
    }
    return fits;
}

/* What solving needs besides the filter. */
struct work {
    uint64_t *hash, *word;
    size_t given, n, cells;
    uint32_t *lone;
    struct removed removed;
};

static void work_clear(struct work *w)
{
    removed_clear(&w->removed);
    cells_free(w->word, w->cells * sizeof *w->word);
    cells_free(w->hash, (w->given + 1) * sizeof *w->hash);
    free(w->lone);
}

/* Put all keys in the order in which they can be removed. *solved is whether
   that can be done; false: no memory. */
static bool solve(const struct fuse *f, struct work *w, unsigned threads,
                  bool *solved)
{
    size_t gone = 0;

    *solved = false;
    if (!removed_init(&w->removed, f, w->hash, w->n))
        return false;
    if (!count_all(f, w->word, w->hash, w->n, threads))
        return true;
    if (!(f->arity == 3 ? peel(f, w->lone, w->word, &w->removed, w->n,
                               w->cells, 3, &gone)
                        : peel(f, w->lone, w->word, &w->removed, w->n,
                               w->cells, 4, &gone)))
        return false;
    *solved = gone == w->n;
    return true;
}

/* Hash and sort all keys once more, for another attempt; false: no memory. */
static bool sort_again(const struct fuse *f, struct work *w, uint64_t salt,
                       unsigned threads)
{
    size_t size = w->n * sizeof *w->hash;
    uint64_t *key = cells_new(size);
    uint64_t **block = malloc((w->n / HASH_BLOCK + 1) * sizeof *block);
    bool able = key && block;

    if (able) {
        copy_keys(f, &w->removed, key);
        for (size_t i = 0; i < w->n; i += HASH_BLOCK)
            block[i / HASH_BLOCK] = key + i;
        able = hash_sort(block, w->hash, &w->n, salt, HASH_BITS, threads);
    }
    removed_clear(&w->removed);
    memset(w->word, 0, w->cells * sizeof *w->word);
    cells_free(key, size);
    free(block);
    return able;
}

enum seen_code fuse_fill(struct seen_filter *base, uint64_t **block, size_t n,
                         unsigned threads, struct seen_error *why)
{
    struct fuse *f = (struct fuse *)base;
    struct seen_plan *plan = &base->plan;
    struct work w = { .given = n, .n = n };
    bool solved = n == 0;
    enum seen_code code;

    w.hash = cells_new((n + 1) * sizeof *w.hash);
    w.lone = malloc(LONE * sizeof *w.lone);
    if (!w.hash || !w.lone)
        goto no_memory;
    f->salt = hash_salt(plan->seed, 0);
    if (!hash_sort(block, w.hash, &w.n, f->salt, HASH_BITS, threads))
        goto no_memory;
    for (size_t i = 0; i * HASH_BLOCK < n; i++) {
        cells_free(block[i], HASH_BLOCK * sizeof **block);
        block[i] = NULL;
    }
    choose_shape(f, w.n);
    w.cells = plan->bits / f->bits;
    if (w.cells > UINT32_MAX) {
        code = seen_fail(why, SEEN_RANGE, 0,
                         "a fuse of more than 2^32 cells is too large: use "
                         "routed:16/fuse");
        goto free_all;
    }
    code = take_shape(f, why);
    if (code != SEEN_OK)
        goto free_all;
    w.word = cells_new(w.cells * sizeof *w.word);
    if (!w.word)
        goto no_memory;

    while (!solved) {
        if (!solve(f, &w, threads, &solved))
            goto no_memory;
        if (solved || base->shape[ATTEMPT] + 1 == ATTEMPTS)
            break;
        base->shape[ATTEMPT]++;
        if (!sort_again(f, &w, hash_salt(plan->seed, base->shape[ATTEMPT]),
                        threads))
            goto no_memory;
    }
    plan->capacity = w.n;
    if (!solved) {
        code = seen_fail(why, SEEN_RANGE, 0,
                         "no arrangement of %zu keys was found", w.n);
        goto free_all;
    }
    /* The cells then get pages that were in use, which are the cheapest. */
    cells_free(w.word, w.cells * sizeof *w.word);
    w.word = NULL;
    base->cells = cells_new(base->size);
    if (!base->cells)
        goto no_memory;
    if (f->arity == 3 && f->bits == 8)
        assign(f, &w.removed, 3, 8);
    else
        assign(f, &w.removed, f->arity, f->bits);
    base->set = fuse_recount(base);
    goto free_all;

no_memory:
    code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a fuse of %zu keys",
                     w.given);
free_all:
    work_clear(&w);
    return code;
}

const struct seen_kind filter_fuse = {
    .name = "fuse",
    .synopsis = "fuse[:BITS[,ARITY]]",
    .summary = "small and fast; built once, from all keys",
    .traits = SEEN_BUILT_ONCE | SEEN_SIZES_ITSELF,
    .state = sizeof(struct fuse),
    .make = fuse_make,
    .has = fuse_has,
    .expect = fuse_expect,
    .rate = fuse_rate,
    .entries = fuse_entries,
    .recount = fuse_recount,
    .reach = fuse_reach,
};
