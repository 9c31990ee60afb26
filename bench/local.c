/* local.c - see local.h. With AVX2 a lookup has no loop over probes, as in
   RocksDB; an insert has one, there and here. */
#include "local.h"

#include <string.h>

#include "bench.h"

/* Hashes between the prefetch of a line and its use: in the cache, and in
   filters of FAR_FROM bytes and more, as in lib/filter/blocked.h. */
enum { NEAR = 32, FAR = 128, FAR_FROM = 1 << 23 };
enum { LINE = 64, PROBES = 6, BITS_PER_KEY = 10 };

#define GOLDEN UINT32_C(0x9e3779b9)
#define INLINE static inline __attribute__((always_inline))

struct fast_place {
    uint64_t at; /* of the line, in bytes */
    uint32_t hash;
};

static inline struct fast_place place_of(uint64_t lines, uint64_t hash)
{
    struct fast_place p = { (uint64_t)(uint32_t)hash * lines >> 32 << 6,
                            (uint32_t)(hash >> 32) };

    return p;
}

void bench_local_close(struct fast_local *f)
{
    limit_free(f->memory, f->size);
}

/* By bytes: a probe that changes a word of 32 bits waits for the one before it
   three times as often. */
INLINE void set(unsigned char *line, uint32_t hash)
{
    for (int i = 0; i < PROBES; i++, hash *= GOLDEN)
        line[hash >> 26] |= (unsigned char)(1u << (hash >> 23 & 7));
}

INLINE void add_as(const struct fast_local *f, const uint64_t *hash, size_t n,
                   const size_t distance)
{
    const struct fast_local local = *f;
    struct fast_place ring[FAR];
    size_t i = 0, ahead = n < distance ? n : distance;

    for (size_t j = 0; j < ahead; j++) {
        ring[j] = place_of(local.lines, hash[j]);
        __builtin_prefetch(local.cells + ring[j].at, 1);
    }
    for (; i + distance < n; i++) {
        struct fast_place *p = &ring[i % distance];

        set(local.cells + p->at, p->hash);
        *p = place_of(local.lines, hash[i + distance]);
        __builtin_prefetch(local.cells + p->at, 1);
    }
    for (; i < n; i++)
        set(local.cells + ring[i % distance].at, ring[i % distance].hash);
}

void bench_local_add(struct fast_local *f, const uint64_t *hash, size_t n)
{
    if (f->size < FAR_FROM)
        add_as(f, hash, n, NEAR);
    else
        add_as(f, hash, n, FAR);
}

/* Where the halves of lines begin. As in lib/filter/blocked_x86.c, the
   compiler must not know that `high` is `low` and 32. */
struct fast_halves {
    const unsigned char *low, *high;
};

static inline struct fast_halves halves_of(const struct fast_local *f)
{
    struct fast_halves h = { f->cells, f->cells + LINE / 2 };

    __asm__("" : "+r"(h.high));
    return h;
}

INLINE bool in_portable(const struct fast_halves *at,
                        const struct fast_place *p)
{
    const uint32_t *word = (const uint32_t *)(const void *)(at->low + p->at);
    uint32_t h = p->hash;

    for (int i = 0; i < PROBES; i++, h *= GOLDEN)
        if (!(word[h >> 28] >> (h << 4 >> 27) & 1))
            return false;
    return true;
}

#if defined __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2")))

AVX2
INLINE bool in_avx2(const struct fast_halves *at, const struct fast_place *p)
{
    /* powers of GOLDEN, and the first six of eight probes */
    const __m256i powers = _mm256_setr_epi32(
        1, (int)0x9e3779b9, (int)0xe35e67b1, (int)0x734297e9, (int)0x35fbe861,
        (int)0xdeb7c719, (int)0x0448b211, (int)0x3459b749);
    const __m256i ones = _mm256_setr_epi32(1, 1, 1, 1, 1, 1, 0, 0);
    const void *lower = at->low + p->at, *upper = at->high + p->at;
    __m256i h = _mm256_mullo_epi32(_mm256_set1_epi32((int)p->hash), powers);
    __m256i word = _mm256_srli_epi32(h, 28);
    __m256i low = _mm256_permutevar8x32_epi32(_mm256_load_si256(lower), word);
    __m256i high = _mm256_permutevar8x32_epi32(_mm256_load_si256(upper), word);
    __m256i both = _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
                         _mm256_castsi256_ps(h)));
    __m256i bit = _mm256_srli_epi32(_mm256_slli_epi32(h, 4), 27);

    return _mm256_testc_si256(both, _mm256_sllv_epi32(ones, bit));
}
#endif

/* The loop of lib/filter/blocked_loops.h, with its unrolling, and one without
   a ring for a single hash. */
#define HAS(name, attribute, IN) \
    attribute INLINE void name##_as(const struct fast_local *f, \
                                    const uint64_t *hash, size_t n, \
                                    bool *seen, const size_t distance) \
    { \
        const struct fast_local local = *f; \
        const struct fast_halves halves = halves_of(f); \
        struct fast_place ring[FAR]; \
        size_t i = 0, ahead = n < distance ? n : distance; \
\
        _Pragma("GCC unroll 4") for (size_t j = 0; j < ahead; j++) \
        { \
            ring[j] = place_of(local.lines, hash[j]); \
            __builtin_prefetch(local.cells + ring[j].at); \
        } \
        for (; i + distance + 8 <= n; i += 8) { \
            struct fast_place *p = &ring[i % distance]; \
\
            _Pragma("GCC unroll 8") for (unsigned u = 0; u < 8; u++) \
            { \
                seen[i + u] = IN(&halves, &p[u]); \
                p[u] = place_of(local.lines, hash[i + distance + u]); \
                __builtin_prefetch(local.cells + p[u].at); \
            } \
        } \
        for (; i + ahead < n; i++) { \
            struct fast_place *p = &ring[i % distance]; \
\
            seen[i] = IN(&halves, p); \
            *p = place_of(local.lines, hash[i + distance]); \
            __builtin_prefetch(local.cells + p->at); \
        } \
        _Pragma("GCC unroll 4") for (; i < n; i++) \
            seen[i] = IN(&halves, &ring[i % distance]); \
    } \
\
    attribute __attribute__((noinline)) static void name##_many( \
        const struct fast_local *f, const uint64_t *hash, size_t n, \
        bool *seen) \
    { \
        if (f->size < FAR_FROM) \
            name##_as(f, hash, n, seen, NEAR); \
        else \
            name##_as(f, hash, n, seen, FAR); \
    } \
\
    attribute static void name(const struct fast_local *f, \
                               const uint64_t *hash, size_t n, bool *seen) \
    { \
        const struct fast_halves halves = { f->cells, f->cells + LINE / 2 }; \
        const struct fast_place p = place_of(f->lines, *hash); \
\
        if (n == 1) \
            *seen = IN(&halves, &p); \
        else if (n) \
            name##_many(f, hash, n, seen); \
    }

HAS(has_portable, , in_portable)
#if defined __x86_64__
HAS(has_avx2, AVX2, in_avx2)
#endif

/* --- both --- */

bool bench_local_open(struct fast_local *f, uint64_t keys)
{
    f->lines = keys * BITS_PER_KEY / (8 * LINE);
    f->size = (size_t)f->lines * LINE;
    f->has = has_portable;
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        f->has = has_avx2;
#endif
    f->memory = limit_buffer(f->size);
    f->cells = limit_lines(f->memory);
    if (f->memory)
        memset(f->cells, 0, f->size);
    return f->memory != NULL;
}
