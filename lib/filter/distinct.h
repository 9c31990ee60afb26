/*
 * distinct.h - how many different keys are there, in 64 KiB?
 *
 * HyperLogLog: a key is thrown into one of 2^16 registers by 16 of its bits,
 * and the register remembers the longest run of zeros that began the other
 * 48. Many keys make long runs [1]. The estimate is that of Ertl, algorithm
 * 6, which needs no corrections for small or large numbers [2]. Its standard
 * error is 1.04 / sqrt(2^16) = 0.41 %.
 *
 * [1] P. Flajolet, E. Fusy, O. Gandouet, F. Meunier: HyperLogLog. AofA 2007.
 * [2] O. Ertl: New cardinality estimation algorithms for HyperLogLog
 *     sketches. arXiv:1702.01284, 2017.
 *
 * Threads: each counts for itself; then distinct_merge().
 */
#ifndef SEEN_FILTER_DISTINCT_H
#define SEEN_FILTER_DISTINCT_H

#include <stddef.h>
#include <stdint.h>

enum { REGISTERS = 1 << 16 };

/* All zeroes at first. */
struct distinct {
    unsigned char longest[REGISTERS];
};

/* Count a hash, whose bits must all be good. */
static inline void distinct_add(struct distinct *d, uint64_t hash)
{
    unsigned char *longest = &d->longest[hash >> 48];
    uint64_t rest = hash << 16 | UINT64_C(1) << 15;     /* ends the run */
    unsigned char run = (unsigned char)(__builtin_clzll(rest) + 1);

    if (run > *longest)
        *longest = run;
}

void distinct_merge(struct distinct *d, const struct distinct *from);

double distinct_estimate(const struct distinct *d);

/* A capacity that the true number exceeds once in three million times: the
   estimate and five standard errors, 2 %. */
uint64_t distinct_capacity(const struct distinct *d);

#endif
