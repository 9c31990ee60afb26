/*
 * fast_x86.c - the fast path for AVX2, and for SSE2, which every CPU of x86-64
 * has.
 *
 * Measured on 16,384 different URLs of 114 bytes, half of them with a query,
 * the best of 40 rounds on an EPYC (Zen 5). ns per key, 8 of them for XXH3:
 *
 *             AVX2   SSE2   byte by byte   without a query   only with one
 *     whatwg    28     35            100                27              28
 *     surt      91    100            219                37             107
 *
 * What a query costs are branches that nobody can foresee: how many parameters
 * it has, and in which order. Four out of five of these have to be sorted.
 */
#include "fast.h"

#if defined __x86_64__ && !defined SEEN_PORTABLE

#include <immintrin.h>
#include <string.h>

#include <seen/url.h>

enum {
    SHORT = 96, /* bytes of a URL that is copied: scheme, host, 16 more */
    BEFORE_COPY = 64,
    ROOM_OF_COPY = BEFORE_COPY + SHORT + 64
};

/* One bit per byte. */
struct host_bits {
    uint64_t name, dot, dash;
};

struct surt_bits {
    uint64_t odd, slash;
    uint64_t dots; /* "." and "/" */
    uint64_t mark; /* "?" */
};

struct whatwg_bits {
    uint64_t odd, slash;
    uint64_t dots; /* "." and "%" */
};

/* The lowest n bits, n < 64. */
static inline uint64_t lowest(size_t n)
{
    return (UINT64_C(1) << n) - 1;
}

/* Which bit is the highest; there is one. */
static inline size_t highest(uint64_t bits)
{
    return 63 - (size_t)__builtin_clzll(bits);
}

/* Copy a URL, so that 64 bytes before and after it may be read. */
static inline const char *copy_short(char *copy, const char *url, size_t len)
{
    return memcpy(copy + BEFORE_COPY, url, len);
}

/* Copy a label, in pieces of 16 bytes: more may be read and written. */
static inline void put_label(char *to, const char *p, size_t len)
{
    for (size_t i = 0; i < len; i += 16)
        _mm_storeu_si128(
            (__m128i *)(void *)(to + i),
            _mm_loadu_si128((const __m128i *)(const void *)(p + i)));
}

/* How much of a host is "www." or "www12.", unless it is all of it. */
static inline size_t without_www(const char *p, uint64_t dots)
{
    size_t i = 3;

    if (!dots || p[0] != 'w' || p[1] != 'w' || p[2] != 'w')
        return 0;
    while (ascii_digit(p[i]))
        i++;
    return p[i] == '.' ? i + 1 : 0;
}

/*
 * Of 64 bytes at p `odd` may not stand in a path or in a query, and at
 * `begin` a segment begins with "." or "%". Are these all escapes that are no
 * dots?
 */
__attribute__((noinline)) static bool whatwg_escapes(const char *p,
                                                     const char *end,
                                                     uint64_t odd,
                                                     uint64_t begin)
{
    for (; begin; begin &= begin - 1) {
        const char *at = p + __builtin_ctzll(begin);

        if (*at == '.' || end - at < 3 ||
            (at[1] == '2' && (at[2] | 32) == 'e'))
            return false;
    }
    return !odd;
}

/* --- AVX2 --- */

#define WIDTH(name) name##_avx2
#define TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#define VEC __m256i
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, x) _mm256_storeu_si256((__m256i *)(void *)(p), x)
#define ALL(c) _mm256_set1_epi8((char)(c))
#define SAME _mm256_cmpeq_epi8
#define ABOVE _mm256_cmpgt_epi8
#define PLUS _mm256_add_epi8
#define AND _mm256_and_si256
#define OR _mm256_or_si256
#define MASK(x) (uint32_t) _mm256_movemask_epi8(x)
/* A table by the lower half of a byte: is the byte the one of its half? */
#define AMONG(x, ...) \
    SAME(x, _mm256_shuffle_epi8( \
                _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__)), x))
#define SURT_ODD(x) \
    AMONG(x, 0, 0, 0, '#', 0, '%', 0, 0, '(', 0, 0, 0, 0, 0, 0, 0x7f)
#define WHATWG_ODD(x) \
    OR(AMONG(x, '`', 0, '"', '#', 0, 0, 0, '\'', 0, 0, 0, '{', '<', '}', '>', \
             0x7f), \
       SAME(AND(x, ALL(0xfd)), ALL('\\')))
#include "fast_loops.h"

const struct fast_way fast_avx2 = { "avx2", whatwg_avx2, surt_avx2 };

/* --- SSE2 --- */

#define WIDTH(name) name##_sse2
#define TARGET
#define VEC __m128i
#define LOAD(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define STORE(p, x) _mm_storeu_si128((__m128i *)(void *)(p), x)
#define ALL(c) _mm_set1_epi8((char)(c))
#define SAME _mm_cmpeq_epi8
#define ABOVE _mm_cmpgt_epi8
#define PLUS _mm_add_epi8
#define AND _mm_and_si128
#define OR _mm_or_si128
#define MASK(x) (uint32_t) _mm_movemask_epi8(x)
/* Two characters that differ in one bit only take one comparison. */
#define EITHER(x, without, c) SAME(AND(x, ALL(without)), ALL(c))
#define SURT_ODD(x) \
    OR(OR(SAME(x, ALL('#')), SAME(x, ALL('%'))), \
       OR(SAME(x, ALL('(')), SAME(x, ALL(0x7f))))
#define WHATWG_ODD(x) \
    OR(OR(OR(EITHER(x, 0xfd, '<'), EITHER(x, 0xfd, '\\')), \
          OR(EITHER(x, 0xfd, '}'), EITHER(x, 0xfe, '"'))), \
       OR(SAME(x, ALL('\'')), OR(SAME(x, ALL('`')), SAME(x, ALL('{')))))
#include "fast_loops.h"

const struct fast_way fast_sse2 = { "sse2", whatwg_sse2, surt_sse2 };

#endif
