/* cells.c - memory for cells, on huge pages if it is large. */
#include "cells.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where there are no huge pages, as in WebAssembly, nothing is large. */
#ifdef MADV_HUGEPAGE
enum { HUGE = 2 << 20 };
#else
#define HUGE SIZE_MAX
#define MADV_HUGEPAGE 0
#define MADV_NOHUGEPAGE 0
#endif

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

void cells_expect_few(void *cells, size_t size, bool few)
{
    if (size >= HUGE)
        madvise(cells, (size + HUGE - 1) / HUGE * HUGE,
                few ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
}

/*
 * The system has a word per page of a process: see pagemap in
 * Documentation/admin-guide/mm of Linux. A page that is neither in memory nor
 * swapped out was never touched. mincore() would not do, since it does not
 * tell a page that is swapped out from one that never was.
 */
#define IN_MEMORY (UINT64_C(1) << 63)
#define SWAPPED_OUT (UINT64_C(1) << 62)

/* Clear the bits of pages that were not touched; return how many they are. */
static size_t clear_untouched(int fd, uintptr_t first, size_t pages,
                              unsigned char *touched)
{
    uint64_t word[512];
    size_t untouched = 0;

    for (size_t done = 0, some; done < pages; done += some) {
        ssize_t n;

        some = pages - done < 512 ? pages - done : 512;
        n = pread(fd, word, some * sizeof *word,
                  (off_t)((first + done) * sizeof *word));
        if (n != (ssize_t)(some * sizeof *word))
            break; /* the rest may be touched */
        for (size_t i = 0; i < some; i++)
            if (!(word[i] & (IN_MEMORY | SWAPPED_OUT))) {
                touched[(done + i) / 8] &= (unsigned char)~(1U
                                                            << (done + i) % 8);
                untouched++;
            }
    }
    return untouched;
}

size_t cells_touched(const void *cells, size_t size, unsigned char *touched)
{
    size_t pages = (size + CELLS_PAGE - 1) / CELLS_PAGE, untouched = 0;
    int fd = -1;

    memset(touched, 0xff, (pages + 7) / 8);
    if (size >= HUGE && sysconf(_SC_PAGESIZE) == CELLS_PAGE)
        fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        untouched = clear_untouched(fd, (uintptr_t)cells / CELLS_PAGE, pages,
                                    touched);
        close(fd);
    }
    return pages - untouched;
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
