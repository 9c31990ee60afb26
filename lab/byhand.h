/*
 * byhand.h - Bloom filters by hand, for what the library's do not do.
 *
 * The library hashes under eight salts at once, stops at the first bit that
 * is not set, and has good functions only. Here k hashes of one function,
 * each under a salt of its own, are computed one after the other, as the
 * thesis does (its Algorithms 1 to 4), over any function, however bad; and
 * hashes that were computed before may be used for many filters.
 *
 * With lookup2 the bits are those of "bloom:jenkins" of the same seed.
 *
 * Threads: any number may ask, one may add. Hashing with lookup2 belongs to
 * one thread.
 */
#ifndef SEEN_LAB_BYHAND_H
#define SEEN_LAB_BYHAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/key.h>

/* A function that takes text bit by bit: a hash begins and ends with a state.
   The salt, 4 bytes, goes before the text. */
struct byhand_function {
    const char *name;
    uint32_t begin;
    uint32_t (*more)(uint32_t state, const char *text, size_t len);
};

/* FNV-1a, CRC-32, Adler-32 and h = 31 h + c; ends with a NULL name. */
extern const struct byhand_function byhand_functions[];

struct byhand {
    const struct byhand_function *function; /* NULL: lookup2 */
    bool modulo;         /* a hash h is bit h mod m; else h m / 2^32 */
    bool whole;          /* ask for all bits, though one is not set */
    unsigned filters, k; /* how many, all of which must have a text */
    uint64_t m;          /* bits of each */
    uint64_t *word;      /* of all filters */
    uint64_t *salt;      /* of all filters; NULL if hashes are given */
    struct seen_hash *lookup2;
};

/* Make the cells of b, which has function, modulo, whole, filters, k and m;
   and the salts of a seed. */
void byhand_init(struct byhand *b, uint64_t seed);
void byhand_clear(struct byhand *b);

void byhand_add(struct byhand *b, const char *text, size_t len);
bool byhand_has(const struct byhand *b, const char *text, size_t len);

/* Salt j of a seed, as the library has them. */
static inline uint64_t byhand_salt(uint64_t seed, unsigned j)
{
    return seen_mix(seen_mix(seed) + j);
}

/* --- hashes that were computed before, k of them, for one filter --- */

static inline bool byhand_has_hashes(const struct byhand *b,
                                     const uint32_t *hash)
{
    for (unsigned j = 0; j < b->k; j++) {
        uint64_t at = hash[j] * b->m >> 32;

        if (!(b->word[at / 64] >> (at % 64) & 1))
            return false;
    }
    return true;
}

static inline void byhand_add_hashes(struct byhand *b, const uint32_t *hash)
{
    for (unsigned j = 0; j < b->k; j++) {
        uint64_t at = hash[j] * b->m >> 32;

        b->word[at / 64] |= UINT64_C(1) << (at % 64);
    }
}

#endif
