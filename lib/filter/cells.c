/* cells.c - memory for cells, on huge pages if it is large. */
#include "cells.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE = 2 << 20 };

/*
 * mmap() aligns to small pages only, so map one huge page more and unmap what
 * is outside. Zeroed pages cost nothing until they are touched.
 */
static void *huge_new(size_t size)
{
    size_t whole = (size + HUGE - 1) / HUGE * HUGE, slack;
    char *at;

    if (whole > SIZE_MAX / 2)
        return NULL;
    at = mmap(NULL, whole + HUGE, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    slack = (HUGE - (uintptr_t)at % HUGE) % HUGE;
    if (slack)
        munmap(at, slack);
    munmap(at + slack + whole, HUGE - slack);
    madvise(at + slack, whole, MADV_HUGEPAGE);
    return at + slack;
}

void *cells_new(size_t size)
{
    size_t whole = (size + LINE - 1) / LINE * LINE;
    void *cells;

    if (size >= HUGE)
        return huge_new(size);
    cells = aligned_alloc(LINE, whole ? whole : LINE);
    if (cells)
        memset(cells, 0, whole);
    return cells;
}

void cells_free(void *cells, size_t size)
{
    if (!cells)
        return;
    if (size >= HUGE)
        munmap(cells, (size + HUGE - 1) / HUGE * HUGE);
    else
        free(cells);
}

static uint64_t count_portable(const uint64_t *word, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)__builtin_popcountll(word[i]);
    return sum;
}

#if defined __x86_64__ && !defined SEEN_PORTABLE
__attribute__((target("popcnt"))) static uint64_t count_popcnt(
    const uint64_t *word, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)__builtin_popcountll(word[i]);
    return sum;
}
#endif

uint64_t cells_count(const void *cells, size_t size)
{
#if defined __x86_64__ && !defined SEEN_PORTABLE
    if (__builtin_cpu_supports("popcnt"))
        return count_popcnt(cells, size / 8);
#endif
    return count_portable(cells, size / 8);
}
