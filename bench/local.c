/* local.c - see local.h. With AVX2 a lookup has no loop over probes,
   as in RocksDB; an insert has one, there and here. */
#include "local.h"

#include <string.h>

#include "bench.h"

enum { AHEAD = 32, LINE = 64, PROBES = 6, BITS_PER_KEY = 10 };

#define GOLDEN UINT32_C(0x9e3779b9)

struct fast_place {
    uint64_t at; /* of the line, in bytes */
    uint32_t hash;
};

static inline struct fast_place place_of(const struct fast_local *f,
                                         const struct seen_key *key)
{
    struct fast_place p = { (uint64_t)(uint32_t)key->lo * f->lines >> 32 << 6,
                            (uint32_t)(key->lo >> 32) };

    return p;
}

bool bench_local_open(struct fast_local *f, uint64_t keys)
{
    f->lines = keys * BITS_PER_KEY / (8 * LINE);
    f->size = (size_t)f->lines * LINE;
    f->memory = limit_buffer(f->size);
    f->cells = limit_lines(f->memory);
    if (f->memory)
        memset(f->cells, 0, f->size);
    return f->memory != NULL;
}

void bench_local_close(struct fast_local *f)
{
    limit_free(f->memory, f->size);
}

static inline void set(unsigned char *line, uint32_t hash)
{
    uint32_t *word = (uint32_t *)(void *)line;

    for (int i = 0; i < PROBES; i++, hash *= GOLDEN)
        word[hash >> 28] |= UINT32_C(1) << (hash << 4 >> 27);
}

void bench_local_add(struct fast_local *f, const struct seen_key *key,
                     size_t n)
{
    const struct fast_local local = *f;
    struct fast_place ring[AHEAD];

    for (size_t i = 0; i < n + AHEAD; i++) {
        if (i >= AHEAD && i - AHEAD < n)
            set(local.cells + ring[i % AHEAD].at, ring[i % AHEAD].hash);
        if (i < n) {
            ring[i % AHEAD] = place_of(&local, &key[i]);
            __builtin_prefetch(local.cells + ring[i % AHEAD].at, 1);
        }
    }
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

static inline bool in_portable(const struct fast_halves *at,
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
static inline __attribute__((always_inline)) bool in_avx2(
    const struct fast_halves *at, const struct fast_place *p)
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

/* The loop of lib/filter/blocked_loops.h, with its unrolling. */
#define HAS(name, attribute, IN) \
    attribute static void name(const struct fast_local *f, \
                               const struct seen_key *key, size_t n, \
                               bool *seen) \
    { \
        const struct fast_local local = *f; \
        const struct fast_halves halves = halves_of(f); \
        struct fast_place ring[AHEAD]; \
        size_t i = 0, ahead = n < AHEAD ? n : AHEAD; \
\
        for (size_t j = 0; j < ahead; j++) { \
            ring[j] = place_of(&local, &key[j]); \
            __builtin_prefetch(local.cells + ring[j].at); \
        } \
        for (; i + AHEAD + 8 <= n; i += 8) { \
            struct fast_place *p = &ring[i % AHEAD]; \
\
            _Pragma("GCC unroll 8") for (unsigned u = 0; u < 8; u++) \
            { \
                seen[i + u] = IN(&halves, &p[u]); \
                p[u] = place_of(&local, &key[i + AHEAD + u]); \
                __builtin_prefetch(local.cells + p[u].at); \
            } \
        } \
        for (; i < n; i++) { \
            struct fast_place *p = &ring[i % AHEAD]; \
\
            seen[i] = IN(&halves, p); \
            if (i + ahead < n) { \
                *p = place_of(&local, &key[i + AHEAD]); \
                __builtin_prefetch(local.cells + p->at); \
            } \
        } \
    }

HAS(has_portable, , in_portable)
#if defined __x86_64__
HAS(has_avx2, AVX2, in_avx2)
#endif

void bench_local_has(const struct fast_local *f, const struct seen_key *key,
                     size_t n, bool *seen)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
        has_avx2(f, key, n, seen);
        return;
    }
#endif
    has_portable(f, key, n, seen);
}
