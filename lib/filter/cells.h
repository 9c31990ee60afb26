/*
 * cells.h - the memory of a filter, and bits in it.
 *
 * Cells begin at a cache line. Large arrays are on huge pages if the system
 * has any: with pages of 4 KiB, a lookup in a filter of 100 million keys
 * spends a fifth to a third of its time in page table walks.
 *
 *   bit      0                      63 64                    127
 *           +------------------------+------------------------+---
 *   word    |           0            |           1            | ...
 *           +------------------------+------------------------+---
 *
 * Bit b is bit (b % 64), counted from the least significant, of word b / 64.
 * Files hold the words in this order, little endian, so that they can be
 * mapped: a change here is a change of the file format.
 */
#ifndef SEEN_FILTER_CELLS_H
#define SEEN_FILTER_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/kind_writer.h>

enum { LINE = 64, LINE_BITS = 512 }; /* a cache line, in bytes and bits */

/* Zeroed memory, or NULL. */
void *cells_new(size_t size);
void cells_free(void *cells, size_t size);

/*
 * Few cells of this memory are about to change, if `few`: use small pages for
 * them. With huge ones a thousand keys clear all of the memory of a filter
 * for 100 million: 124 MB instead of 4.
 */
void cells_expect_few(void *cells, size_t size, bool few);

/*
 * Which pages of CELLS_PAGE bytes of this memory, all of which is from
 * cells_new(), were touched? Bit i % 8 of touched[i / 8] stands for page i. All
 * others are zero. Return the number of touched pages, or of all pages, with
 * all bits set, if the system does not say it.
 */
enum { CELLS_PAGE = 4096 };
size_t cells_touched(const void *cells, size_t size, unsigned char *touched);

/* The number of bits set in `size` bytes (whole words). */
uint64_t cells_count(const void *cells, size_t size);

static inline bool bit_get(const uint64_t *word, uint64_t at)
{
    return __atomic_load_n(&word[at / 64], __ATOMIC_RELAXED) >> (at % 64) & 1;
}

/* Set a bit; return whether it was clear. */
static inline bool bit_set(uint64_t *word, uint64_t at)
{
    uint64_t bit = UINT64_C(1) << (at % 64), old = word[at / 64];

    word[at / 64] = old | bit;
    return !(old & bit);
}

/* The same if other threads do so, too. */
static inline bool bit_set_shared(uint64_t *word, uint64_t at)
{
    uint64_t bit = UINT64_C(1) << (at % 64);

    return !(__atomic_fetch_or(&word[at / 64], bit, __ATOMIC_RELAXED) & bit);
}

static inline uint64_t set_cells(const struct seen_filter *f)
{
    return __atomic_load_n(&f->set, __ATOMIC_RELAXED);
}

#endif
