/*
 * limits.c - what this machine can do at best.
 *
 * A filter that keeps a key in one cache line cannot answer faster than the
 * memory delivers random lines. So the limit reads random lines of a buffer
 * as large as the filter, on huge pages, each asked for 128 reads ahead, and
 * does nothing with them but add up one byte. With 32 reads ahead the CPU waits
 * for memory that could deliver twice as many lines: 5.8 instead of 2.6 ns with
 * 125 MB (EPYC, Zen 5). In the cache the distance makes no difference.
 *
 * A filter is also called, with an array of keys, and has to read these. So
 * there are limits that do the same: they read a byte of the line of each hash
 * of an array, or of each struct seen_key, which takes 32 bytes.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { AHEAD = 128, LINE = 64, HUGE = 2 << 20 };

__extension__ typedef unsigned __int128 u128;

static volatile uint64_t sink; /* so that nothing is optimised away */

static size_t whole(size_t size)
{
    return (size + HUGE - 1) / HUGE * HUGE + HUGE;
}

void *limit_buffer(size_t size)
{
    char *at = mmap(NULL, whole(size), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    madvise(at, whole(size), MADV_HUGEPAGE);
    memset(at, 1, whole(size));
    return at;
}

void limit_free(void *buffer, size_t size)
{
    if (buffer)
        munmap(buffer, whole(size));
}

void *limit_lines(void *buffer)
{
    return (void *)(((uintptr_t)buffer + HUGE - 1) / HUGE * HUGE);
}

static uint64_t rounds; /* other lines every time */

double limit_read(const unsigned char *at, size_t size, uint64_t n)
{
    uint64_t lines = size / LINE, next[AHEAD], sum = 0;
    double begin = bench_cpu_ns();

    for (uint64_t i = 0; i < n + AHEAD; i++) {
        uint64_t line = (uint64_t)(((u128)seen_mix(rounds + i) * lines) >> 64);

        if (i >= AHEAD)
            sum += at[next[i % AHEAD] * LINE];
        __builtin_prefetch(at + line * LINE);
        next[i % AHEAD] = line;
    }
    rounds += n;
    sink += sum;
    return (bench_cpu_ns() - begin) / (double)n;
}

double limit_write(const unsigned char *lines_at, size_t size, uint64_t n)
{
    volatile unsigned char *at = (void *)(uintptr_t)lines_at;
    uint64_t lines = size / LINE, next[AHEAD];
    double begin = bench_cpu_ns();

    for (uint64_t i = 0; i < n + AHEAD; i++) {
        uint64_t line = (uint64_t)(((u128)seen_mix(rounds + i) * lines) >> 64);

        if (i >= AHEAD)
            at[next[i % AHEAD] * LINE] = at[next[i % AHEAD] * LINE];
        __builtin_prefetch(lines_at + line * LINE, 1);
        next[i % AHEAD] = line;
    }
    rounds += n;
    return (bench_cpu_ns() - begin) / (double)n;
}

/* `step` words from one hash to the next. */
static inline __attribute__((always_inline)) void ask(const unsigned char *at,
                                                      size_t size,
                                                      const uint64_t *hash,
                                                      size_t step, size_t n,
                                                      bool *answer)
{
    uint64_t lines = size / LINE, next[AHEAD];
    size_t ahead = n < AHEAD ? n : AHEAD;

    for (size_t i = 0; i < ahead; i++) {
        next[i] = (uint64_t)(((u128)hash[i * step] * lines) >> 64) * LINE;
        __builtin_prefetch(at + next[i]);
    }
    for (size_t i = 0; i < n; i++) {
        answer[i] = at[next[i % AHEAD]] & 1;
        if (i + ahead < n) {
            next[i % AHEAD] =
                (uint64_t)(((u128)hash[(i + AHEAD) * step] * lines) >> 64) *
                LINE;
            __builtin_prefetch(at + next[i % AHEAD]);
        }
    }
}

void limit_ask_hashes(const unsigned char *at, size_t size,
                      const uint64_t *hash, size_t n, bool *answer)
{
    ask(at, size, hash, 1, n, answer);
}

void limit_ask_keys(const unsigned char *at, size_t size,
                    const struct seen_key *key, size_t n, bool *answer)
{
    ask(at, size, &key->lo, sizeof *key / sizeof key->lo, n, answer);
}

double limit_line(void *buffer, size_t size, uint64_t n)
{
    return limit_read(limit_lines(buffer), size, n);
}

double limit_hash(void)
{
    struct chunk *c = calloc(1, sizeof *c);
    double ns[SLICES];
    uint64_t sum = 0;

    if (!c)
        return 0;
    chunk_make(c, 0, true);
    for (int s = 0; s < SLICES; s++) {
        double begin = bench_cpu_ns();

        for (int round = 0; round < 100; round++)
            for (int i = 0; i < CHUNK; i++)
                sum += XXH3_128bits(c->url[i].text, c->url[i].len).low64;
        ns[s] = (bench_cpu_ns() - begin) / (100.0 * CHUNK);
    }
    sink += sum;
    free(c);
    return bench_median(ns, SLICES);
}
