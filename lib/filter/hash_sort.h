/* hash_sort.h - the hashes of a fuse or a ribbon, in blocks, to be sorted. */
#ifndef SEEN_FILTER_HASH_SORT_H
#define SEEN_FILTER_HASH_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/key.h>

/* The number of hashes in a block; blocks never move. */
enum { HASH_BLOCK = 1 << 20 };

/* The salt of attempt or layer i. */
static inline uint64_t hash_salt(uint64_t seed, uint64_t i)
{
    return seen_mix(seed + i * UINT64_C(0x9e3779b97f4a7c15));
}

/*
 * Replace each of *n values by seen_mix(value ^ salt) & mask, and sort these
 * into `to`, one of each; *n is then their number. With several threads the
 * result is the same. False if there is no memory.
 */
bool hash_sort(uint64_t *const *block, uint64_t *to, size_t *n, uint64_t salt,
               uint64_t mask, unsigned threads);

/* How many of n sorted hashes are mapped to a number below `at` by reduce(hash,
   m). */
size_t hashes_below(const uint64_t *hash, size_t n, uint64_t m, uint64_t at);

#endif
