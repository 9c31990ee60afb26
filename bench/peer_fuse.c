/*
 * peer_fuse.c - a peer: the binary fuse filter as its paper has it.
 *
 * `fuse` is the same filter [1] with questions in batches, hashes that are
 * sorted first and several threads. This one does what the paper and the
 * libraries of its authors do: an array of 8-byte keys is hashed, put roughly
 * in order by its first bits, and peeled; a question takes one key and reads
 * three bytes, without a batch. Three cells per key, 8 bits per cell.
 *
 * [1] T. Graf, D. Lemire: Binary fuse filters: fast and smaller than xor
 *     filters. ACM JEA 27, 2022: algorithms 1 to 3, sizes from section 4.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

enum { ATTEMPTS = 100, MOST_SEGMENT = 1 << 18 };

struct plain_fuse {
    uint64_t seed;
    uint32_t segment, mask, starts, cells;
    unsigned char *print;
};

/* The state of a cell while keys are removed: the xor of their hashes, and how
   many there are times 4, with the xor of its places in them. */
struct plain_peel {
    uint64_t *hash, *order;
    unsigned char *count, *found;
    uint32_t *alone;
};

static inline uint64_t hash_of(const struct plain_fuse *f, uint64_t key)
{
    return seen_mix(key + f->seed);
}

static inline unsigned char print_of(uint64_t hash)
{
    return (unsigned char)(hash ^ hash >> 32);
}

/* The three cells of a hash, and the first two again. */
static inline void cells_of(const struct plain_fuse *f, uint64_t hash,
                            uint32_t at[5])
{
    at[0] = (uint32_t)(((u128)hash * f->starts) >> 64);
    at[1] = (at[0] + f->segment) ^ ((uint32_t)(hash >> 18) & f->mask);
    at[2] = (at[0] + 2 * f->segment) ^ ((uint32_t)hash & f->mask);
    at[3] = at[0];
    at[4] = at[1];
}

static bool make_room(struct plain_fuse *f, size_t n)
{
    double keys = fmax((double)n, 2), factor;
    uint32_t want, segments;

    f->segment = UINT32_C(1) << (int)floor(log(keys) / log(3.33) + 2.25);
    f->segment = f->segment < MOST_SEGMENT ? f->segment : MOST_SEGMENT;
    f->mask = f->segment - 1;
    factor = fmax(1.125, 0.875 + 0.25 * log(1e6) / log(keys));
    want = (uint32_t)round(keys * factor);
    segments = (want + f->segment - 1) / f->segment;
    segments = segments > 2 ? segments - 2 : 1;
    f->starts = segments * f->segment;
    f->cells = f->starts + 2 * f->segment;
    f->print = calloc(f->cells, 1);
    return f->print;
}

/* Put hashes in order by their first `bits` bits, as far as there is room: an
   order in which counting does not leave the cache. */
static bool put_in_order(const struct plain_fuse *f, struct plain_peel *p,
                         const uint64_t *key, size_t n)
{
    unsigned bits = 1;
    size_t *start;

    while (UINT32_C(1) << bits < f->starts / f->segment)
        bits++;
    start = malloc(sizeof *start << bits);
    if (!start)
        return false;
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        start[i] = (size_t)(((u128)i * n) >> bits);
    memset(p->order, 0, n * sizeof *p->order);
    p->order[n] = 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = hash_of(f, key[i]);
        size_t part = hash >> (64 - bits);

        while (p->order[start[part]])
            part = (part + 1) & (((size_t)1 << bits) - 1);
        p->order[start[part]++] = hash;
    }
    free(start);
    return true;
}

static inline void put(struct plain_peel *p, uint32_t cell, uint64_t hash,
                       unsigned place)
{
    p->count[cell] = (unsigned char)((p->count[cell] + 4) ^ place);
    p->hash[cell] ^= hash;
}

/* False if a cell has more keys than its count holds. */
static bool count_keys(const struct plain_fuse *f, struct plain_peel *p,
                       size_t n)
{
    bool good = true;
    uint32_t at[5];

    memset(p->count, 0, f->cells);
    memset(p->hash, 0, f->cells * sizeof *p->hash);
    for (size_t i = 0; i < n; i++) {
        cells_of(f, p->order[i], at);
        for (unsigned j = 0; j < 3; j++) {
            put(p, at[j], p->order[i], j);
            good &= p->count[at[j]] >= 4;
        }
    }
    return good;
}

/* Take `hash` out of a cell, which may leave it with one key. */
static inline uint32_t take(struct plain_peel *p, uint32_t queued,
                            uint32_t cell, uint64_t hash, unsigned place)
{
    p->alone[queued] = cell;
    queued += p->count[cell] >> 2 == 2;
    p->count[cell] = (unsigned char)((p->count[cell] - 4) ^ place);
    p->hash[cell] ^= hash;
    return queued;
}

/* Remove keys from cells with one key, until there are none: true if all n
   could be removed. */
static bool peel(const struct plain_fuse *f, struct plain_peel *p, size_t n)
{
    uint32_t queued = 0, at[5];
    size_t removed = 0;

    for (uint32_t i = 0; i < f->cells; i++) {
        p->alone[queued] = i;
        queued += p->count[i] >> 2 == 1;
    }
    while (queued) {
        uint32_t cell = p->alone[--queued];
        uint64_t hash = p->hash[cell];
        unsigned place = p->count[cell] & 3;

        if (p->count[cell] >> 2 != 1)
            continue;
        cells_of(f, hash, at);
        p->found[removed] = (unsigned char)place;
        p->order[removed++] = hash;
        queued = take(p, queued, at[place + 1], hash, (place + 1) % 3);
        queued = take(p, queued, at[place + 2], hash, (place + 2) % 3);
    }
    return removed == n;
}

static void fill(struct plain_fuse *f, const struct plain_peel *p, size_t n)
{
    uint32_t at[5];

    for (size_t i = n; i-- > 0;) {
        unsigned place = p->found[i];

        cells_of(f, p->order[i], at);
        f->print[at[place]] = (unsigned char)(print_of(p->order[i]) ^
                                              f->print[at[place + 1]] ^
                                              f->print[at[place + 2]]);
    }
}

/* Keys must be distinct. */
static bool solve(struct plain_fuse *f, const uint64_t *key, size_t n)
{
    struct plain_peel p = { 0 };
    bool solved = false;

    if (make_room(f, n)) {
        p.order = malloc((n + 1) * sizeof *p.order);
        p.found = malloc(n + 1);
        p.hash = malloc(f->cells * sizeof *p.hash);
        p.count = malloc(f->cells);
        p.alone = malloc(f->cells * sizeof *p.alone);
    }
    for (int i = 0; i < ATTEMPTS && !solved; i++) {
        f->seed = seen_mix((uint64_t)i);
        if (!p.order || !p.found || !p.hash || !p.count || !p.alone ||
            !put_in_order(f, &p, key, n))
            break;
        solved = count_keys(f, &p, n) && peel(f, &p, n);
    }
    if (solved)
        fill(f, &p, n);
    free(p.order);
    free(p.found);
    free(p.hash);
    free(p.count);
    free(p.alone);
    return solved;
}

static inline bool contains(const struct plain_fuse *f, uint64_t key)
{
    uint64_t hash = hash_of(f, key);
    uint32_t at[5];

    cells_of(f, hash, at);
    return !(unsigned char)(print_of(hash) ^ f->print[at[0]] ^
                            f->print[at[1]] ^ f->print[at[2]]);
}

/* --- as a contender --- */

static const char *fuse_open(struct contender *s, const char *kind,
                             uint64_t keys, unsigned threads)
{
    (void)s, (void)kind, (void)keys, (void)threads;
    return "it is built once";
}

static void fuse_close(struct contender *s)
{
    struct plain_fuse *f = s->state;

    if (f)
        free(f->print);
    free(f);
    s->state = NULL;
}

static bool fuse_build(struct contender *s, const char *kind, uint64_t keys,
                       bool urls, unsigned threads, double *ns)
{
    struct plain_fuse *f = calloc(1, sizeof *f);
    uint64_t *key = malloc(keys * sizeof *key);
    bool solved = false;

    (void)kind;
    fuse_close(s);
    s->state = f;
    for (uint64_t i = 0; f && key && i < keys; i++)
        key[i] = seen_mix(i);
    if (f && key && !urls && threads == 1 && keys < UINT32_MAX / 2) {
        double begin = bench_work_ns(1);

        solved = solve(f, key, keys);
        *ns = (bench_work_ns(1) - begin) / (double)keys;
    }
    free(key);
    if (!solved)
        fuse_close(s);
    return solved;
}

static void fuse_has(struct contender *s, struct chunk *c, bool urls)
{
    const struct plain_fuse f = *(const struct plain_fuse *)s->state;

    (void)urls;
    for (unsigned i = 0; i < CHUNK; i++)
        c->answer[i] = contains(&f, c->hash[i]);
}

static double fuse_bits(const struct contender *s)
{
    const struct plain_fuse *f = s->state;

    return 8.0 * f->cells;
}

const struct contender contender_plain_fuse = {
    .name = "plain fuse",
    .open = fuse_open,
    .has = fuse_has,
    .build = fuse_build,
    .close = fuse_close,
    .bits = fuse_bits,
};
