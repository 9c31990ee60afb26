/*
 * blocked_build.c - blocked.c's part of a bulk build: keys to entries, entries
 * to bits.
 *
 * An entry is the key's line in its region and the 51 bits of blocked.h. The
 * loops for AVX2 make four entries at a time. Their products of 64 bits are
 * three products of 32 each, and a line, being one of fewer than 2^32, takes
 * two: 1.4 ns per key instead of 2.2. Filling takes the words of a turn as
 * ones that are shifted into place, which saves looking them up and masking
 * with them: 2.0 ns instead of 3.3. (AMD EPYC, Zen 3, regions of 256 KiB.)
 */
#include "blocked.h"
#include "region.h"

static void spread_portable(const struct blocked *b,
                            const struct seen_key *key, size_t n,
                            struct seen_entry *out)
{
    const struct marker by = marker_of(b);

    for (size_t i = 0; i < n; i++) {
        struct mark m = mark_of(&by, &key[i]);

        out[i].region = (uint32_t)(m.at / REGION);
        out[i].what = m.at % REGION / LINE << MARK_BITS | m.bits >> MARK_SHIFT;
    }
}

#if defined __x86_64__ && !defined SEEN_PORTABLE

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi2,prfchw")))
#define INLINE static inline __attribute__((always_inline)) AVX2

/* The low 64 bits of x * PROBE_STEP. */
INLINE __m256i step(__m256i x)
{
    const __m256i c = _mm256_set1_epi64x((long long)PROBE_STEP);
    const __m256i high = _mm256_set1_epi64x(PROBE_STEP >> 32);
    __m256i cross = _mm256_add_epi64(
        _mm256_mul_epu32(_mm256_srli_epi64(x, 32), c),
        _mm256_mul_epu32(x, high));

    return _mm256_add_epi64(_mm256_mul_epu32(x, c),
                            _mm256_slli_epi64(cross, 32));
}

/* reduce() for m below 2^32. */
INLINE __m256i reduce_4(__m256i x, __m256i m)
{
    __m256i low = _mm256_srli_epi64(_mm256_mul_epu32(x, m), 32);
    __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), m);

    return _mm256_srli_epi64(_mm256_add_epi64(low, high), 32);
}

/* lo and hi of two keys, which are neighbours in struct seen_key. */
INLINE __m256i halves(const struct seen_key *a, const struct seen_key *b)
{
    const __m128i *low = (const __m128i *)(const void *)&a->lo;
    const __m128i *high = (const __m128i *)(const void *)&b->lo;

    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high),
        1);
}

_Static_assert(offsetof(struct seen_key, hi) ==
                   offsetof(struct seen_key, lo) + 8,
               "halves() reads both");
_Static_assert(sizeof(struct seen_entry) == 16 &&
                   offsetof(struct seen_entry, what) == 8,
               "an entry is written as two words");

AVX2
static void spread_avx2(const struct blocked *b, const struct seen_key *key,
                        size_t n, struct seen_entry *out)
{
    const __m256i salt = _mm256_set1_epi64x((long long)b->salt);
    const __m256i lines = _mm256_set1_epi64x((long long)(b->bytes / LINE));
    const __m256i in_region = _mm256_set1_epi64x(REGION_LINES - 1);
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        __m256i a = halves(&key[i], &key[i + 2]);
        __m256i c = halves(&key[i + 1], &key[i + 3]);
        __m256i lo = _mm256_unpacklo_epi64(a, c);
        __m256i hi = _mm256_unpackhi_epi64(a, c);
        __m256i x = step(_mm256_xor_si256(lo, salt));
        __m256i line = reduce_4(x, lines);
        __m256i bits = _mm256_srli_epi64(step(_mm256_xor_si256(hi, x)),
                                         64 - MARK_BITS);
        __m256i region = _mm256_srli_epi64(line, REGION_SHIFT);
        __m256i what = _mm256_or_si256(
            _mm256_slli_epi64(_mm256_and_si256(line, in_region), MARK_BITS),
            bits);
        __m256i even = _mm256_unpacklo_epi64(region, what);
        __m256i odd = _mm256_unpackhi_epi64(region, what);
        __m128i *to = (__m128i *)(void *)&out[i];

        _mm_storeu_si128(to, _mm256_castsi256_si128(even));
        _mm_storeu_si128(to + 1, _mm256_castsi256_si128(odd));
        _mm_storeu_si128(to + 2, _mm256_extracti128_si256(even, 1));
        _mm_storeu_si128(to + 3, _mm256_extracti128_si256(odd, 1));
    }
    spread_portable(b, key + i, n - i, out + i);
}

/* A one for each word that keys of a turn set a bit in. */
struct ones {
    uint64_t turn[WORDS][WORDS] __attribute__((aligned(32)));
};

/* The bits of four words: what `ones` has there, shifted by six bits each. */
INLINE __m256i shifted(const uint64_t *ones, uint64_t entry, __m256i fields)
{
    __m256i by = _mm256_and_si256(
        _mm256_srlv_epi64(_mm256_set1_epi64x((long long)entry), fields),
        _mm256_set1_epi64x(63));

    return _mm256_sllv_epi64(
        _mm256_load_si256((const __m256i *)(const void *)ones), by);
}

/* Set the bits of one entry; subtract 1 from *kept for each word that stays as
   it is. */
INLINE void apply(unsigned char *region, uint64_t entry,
                  const struct ones *ones, __m256i *kept)
{
    const __m256i low = _mm256_set_epi64x(18, 12, 6, 0);
    const __m256i high = _mm256_set_epi64x(42, 36, 30, 24);
    const uint64_t *turn = ones->turn[entry >> 48 & 7];
    __m256i *line = (__m256i *)(void *)(region + (entry >> MARK_BITS) * LINE);
    __m256i a = _mm256_load_si256(line), b = _mm256_load_si256(line + 1);
    __m256i c = _mm256_or_si256(a, shifted(turn, entry, low));
    __m256i d = _mm256_or_si256(b, shifted(turn + 4, entry, high));

    _mm256_store_si256(line, c);
    _mm256_store_si256(line + 1, d);
    *kept = _mm256_add_epi64(
        *kept,
        _mm256_add_epi64(_mm256_cmpeq_epi64(a, c), _mm256_cmpeq_epi64(b, d)));
}

/* For up to eight probes: one bit per word, so that a word that changes has
   one bit more. */
AVX2
static uint64_t fill_avx2(unsigned k, unsigned char *region,
                          const uint64_t *entry, size_t n,
                          const struct seen_soon *soon)
{
    __m256i kept = _mm256_setzero_si256();
    struct pace pace = pace_of(soon, n / 8);
    struct ones ones;
    uint64_t sum[4];
    size_t i = 0;

    for (unsigned turn = 0; turn < WORDS; turn++)
        for (unsigned word = 0; word < WORDS; word++)
            ones.turn[turn][word] = turned(k, turn) >> word & 1;
    for (; i + AHEAD + 8 <= n; i += 8) {
        fetch_some(&pace);
#pragma GCC unroll 8
        for (size_t j = i; j < i + 8; j++) {
            __builtin_prefetch(region + (entry[j + AHEAD] >> MARK_BITS) * LINE,
                               1);
            apply(region, entry[j], &ones, &kept);
        }
    }
    for (; i < n; i++)
        apply(region, entry[i], &ones, &kept);
    _mm256_storeu_si256((__m256i *)(void *)sum, kept);
    return WORDS * n + sum[0] + sum[1] + sum[2] + sum[3];
}

#endif

void blocked_spread(const struct seen_filter *f, const struct seen_key *key,
                    size_t n, struct seen_entry *out)
{
    const struct blocked *b = (const struct blocked *)f;

#if defined __x86_64__ && !defined SEEN_PORTABLE
    if (b->way != &blocked_portable && b->bytes / LINE <= UINT32_MAX) {
        spread_avx2(b, key, n, out);
        return;
    }
#endif
    spread_portable(b, key, n, out);
}

uint64_t blocked_fill(struct seen_filter *f, uint64_t region,
                      const uint64_t *what, size_t n,
                      const struct seen_soon *soon)
{
    struct blocked *b = (struct blocked *)f;
    unsigned char *cells = f->cells + region * REGION;

    for (size_t i = 0; n < AHEAD && i < n; i++) /* no page faults twice, to
                                                   read and to write */
        __atomic_fetch_or(cells + (what[i] >> MARK_BITS) * LINE, 0,
                          __ATOMIC_RELAXED);
#if defined __x86_64__ && !defined SEEN_PORTABLE
    if (b->way == &blocked_avx2 && f->plan.probes <= WORDS)
        return fill_avx2(f->plan.probes, cells, what, n, soon);
#endif
    return b->way->fill(b, cells, what, n, soon);
}
