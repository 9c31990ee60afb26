/*
 * shingle.h - keys of three words in a row: words.h says what they are for.
 *
 * The key is base + K1 a + K2 b + K3 c of three hashes of 32 bits, modulo
 * 2^64. The factors are odd and fixed, and the hashes and the base, which is
 * of (URL, field), are as good as random, so that two keys are equal with a
 * chance of about 2^-64. seen_key_number() mixes them afterwards. It takes
 * three multiplications, which do not wait for each other.
 */
#ifndef SEEN_CHANGE_SHINGLE_H
#define SEEN_CHANGE_SHINGLE_H

#include <stddef.h>
#include <stdint.h>

enum { CHANGE_PAD = 0 /* the hash of the empty word */ };

static inline uint64_t change_shingle(uint64_t base, uint32_t a, uint32_t b,
                                      uint32_t c)
{
    return base + a * UINT64_C(0x9e3779b97f4a7c15) +
           b * UINT64_C(0xd6e8feb86659fd93) + c * UINT64_C(0xc2b2ae3d27d4eb4f);
}

/* Shingle `at` of a value of n words, 0 to n + 1: the one that ends there. */
static inline uint64_t change_shingle_at(uint64_t base, const uint32_t *word,
                                         size_t n, size_t at)
{
    return change_shingle(base, at >= 2 ? word[at - 2] : CHANGE_PAD,
                          at >= 1 && at - 1 < n ? word[at - 1] : CHANGE_PAD,
                          at < n ? word[at] : CHANGE_PAD);
}

#endif
