/*
 * probe.h - from a key to cells: the hashing that most kinds share.
 *
 * The halves of the key are mixed with the seed, so that filters with other
 * seeds err on other keys, and two hashes give all probes [1]. But plain
 * x + iy falls on few cells when y is near a simple fraction of 2^64, which
 * costs about one key in m: a filter planned for 1,000 keys at 1e-6 was
 * measured at 5.2e-6. So each step multiplies, by a constant from [2]:
 *
 *     x(0) = lo'      x(i+1) = C x(i) + hi'      mod 2^64
 *
 * which gave 0.8e-6 in the same measurement (1e8 lookups). A probe becomes a
 * position by multiplication, not modulo: the high 64 bits of x * m are
 * uniform in 0..m-1 if x is uniform, and several times cheaper. All of this is
 * hash version 1 of the file format and never changes.
 *
 * [1] A. Kirsch, M. Mitzenmacher: Less hashing, same performance:
 *     building a better Bloom filter. ESA 2006.
 * [2] G. Steele, S. Vigna: Computationally easy, spectrally good multipliers
 *     for congruential pseudorandom number generators. SPE 52(2), 2022.
 */
#ifndef SEEN_FILTER_PROBE_H
#define SEEN_FILTER_PROBE_H

#include <seen/key.h>

__extension__ typedef unsigned __int128 u128;

#define PROBE_STEP UINT64_C(0xd1342543de82ef95)

enum { MAX_PROBES = 64 };

struct probe {
    uint64_t x, y;
};

/* x uniform in 0..2^64-1 becomes a number uniform in 0..m-1. */
static inline uint64_t reduce(uint64_t x, uint64_t m)
{
    return (uint64_t)(((u128)x * m) >> 64);
}

/* The probes of a key in a filter whose seen_mix(seed) is `salt`. */
static inline struct probe probe_first(const struct seen_key *key,
                                       uint64_t salt)
{
    struct probe p;

    p.x = seen_mix(key->lo ^ salt);
    p.y = seen_mix(key->hi ^ p.x);
    return p;
}

static inline uint64_t probe_next(struct probe *p, uint64_t m)
{
    uint64_t at = reduce(p->x, m);

    p->x = p->x * PROBE_STEP + p->y;
    return at;
}

/* The seed of part i of a combinator: no two levels use the same bits. */
static inline uint64_t part_seed(uint64_t seed, unsigned i)
{
    return seen_mix(seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

#endif
