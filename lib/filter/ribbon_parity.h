/*
 * ribbon_parity.h - does a window have the fingerprint of a key?
 *
 * Bit j of the fingerprint is the parity of the window's coefficients and word
 * j, in two adjacent blocks: see ribbon.c. Here are the parities of a question
 * for each width of SIMD; ribbon_match.h is the question.
 */
#ifndef SEEN_FILTER_RIBBON_PARITY_H
#define SEEN_FILTER_RIBBON_PARITY_H

#include <stdint.h>

#if defined __x86_64__ && !defined SEEN_PORTABLE
#include <immintrin.h>
#define RIBBON_X86 1
#else
#define RIBBON_X86 0
#endif

#define INLINE static inline __attribute__((always_inline))

/* A window that is asked for: two blocks, the coefficients in each, and the
   fingerprint in the low bits of `hash`. */
struct ribbon_question {
    const uint64_t *block, *next;
    uint64_t here, there, hash;
};

/* Columns from `from` on that differ from the fingerprint. */
INLINE uint64_t differing(const struct ribbon_question *q, unsigned from,
                          unsigned columns)
{
    uint64_t differs = 0;

    for (unsigned j = from; j < columns; j++) {
        uint64_t x = (q->block[j] & q->here) ^ (q->next[j] & q->there);

        differs |= ((uint64_t)__builtin_parityll(x) ^ q->hash >> j) & 1;
    }
    return differs;
}

#if RIBBON_X86

#define AVX2 __attribute__((target("avx2,popcnt,bmi2")))

/*
 * Four columns at a time. The parity of a byte is that of the xor of its
 * halves, which a table has; psadbw adds those of the eight bytes of a word,
 * and the lowest bit of the sum is the parity of the word.
 */
AVX2
static inline __attribute__((always_inline)) uint64_t differing_avx2(
    const struct ribbon_question *q, unsigned columns)
{
    const __m256i here = _mm256_set1_epi64x((long long)q->here);
    const __m256i there = _mm256_set1_epi64x((long long)q->there);
    const __m256i half = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    const __m256i odd = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0));
    uint64_t differs = 0;
    unsigned j = 0;

    for (; j + 4 <= columns; j += 4) {
        const __m256i *a = (const __m256i *)(const void *)(q->block + j);
        const __m256i *b = (const __m256i *)(const void *)(q->next + j);
        __m256i x = _mm256_xor_si256(
            _mm256_and_si256(_mm256_loadu_si256(a), here),
            _mm256_and_si256(_mm256_loadu_si256(b), there));
        unsigned parity;

        x = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 4)),
                             half);
        x = _mm256_sad_epu8(_mm256_shuffle_epi8(odd, x), zero);
        parity = (unsigned)_mm256_movemask_pd(
            _mm256_castsi256_pd(_mm256_slli_epi64(x, 63)));
        differs |= (parity ^ q->hash >> j) & 15;
    }
    return differs | differing(q, j, columns);
}

#endif
#endif
