/*
 * limits.c - what this machine can do at best.
 *
 * A filter that keeps a key in one cache line cannot answer faster than the
 * memory delivers random lines. So the limit reads random lines of a buffer
 * as large as the filter, on huge pages, each asked for 32 reads ahead, and
 * does nothing with them but add up one byte.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { AHEAD = 32, LINE = 64, HUGE = 2 << 20 };

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
    double begin = bench_ns();

    for (uint64_t i = 0; i < n + AHEAD; i++) {
        uint64_t line = (uint64_t)(((u128)seen_mix(rounds + i) * lines) >> 64);

        if (i >= AHEAD)
            sum += at[next[i % AHEAD] * LINE];
        __builtin_prefetch(at + line * LINE);
        next[i % AHEAD] = line;
    }
    rounds += n;
    sink += sum;
    return (bench_ns() - begin) / (double)n;
}

double limit_write(const unsigned char *lines_at, size_t size, uint64_t n)
{
    volatile unsigned char *at = (void *)(uintptr_t)lines_at;
    uint64_t lines = size / LINE, next[AHEAD];
    double begin = bench_ns();

    for (uint64_t i = 0; i < n + AHEAD; i++) {
        uint64_t line = (uint64_t)(((u128)seen_mix(rounds + i) * lines) >> 64);

        if (i >= AHEAD)
            at[next[i % AHEAD] * LINE] = at[next[i % AHEAD] * LINE];
        __builtin_prefetch(lines_at + line * LINE, 1);
        next[i % AHEAD] = line;
    }
    rounds += n;
    return (bench_ns() - begin) / (double)n;
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
        double begin = bench_ns();

        for (int round = 0; round < 100; round++)
            for (int i = 0; i < CHUNK; i++)
                sum += XXH3_128bits(c->url[i].text, c->url[i].len).low64;
        ns[s] = (bench_ns() - begin) / (100.0 * CHUNK);
    }
    sink += sum;
    free(c);
    return bench_median(ns, SLICES);
}
