/*
 * fault.c - put an empty page in the place of one that is lost.
 *
 * Why not leave the code that was interrupted, by siglongjmp()? It holds locks,
 * and counts of threads that are at work. So it goes on, with an empty page of
 * memory in the place of the lost one, and what came of it is thrown away:
 * the doors of a filter (storage_kept) return SEEN_IO as soon as a page of its
 * mapping was lost, a writer refuses every change and writes nothing more to
 * its file. Its journal has all that was acknowledged, for the next writer.
 *
 * The handler may interrupt any code, so the ranges are a list without a lock
 * that only grows. One that is freed stays in the list, with addresses that
 * nothing has, and is used again. Free ones are a second list. Taking all of it
 * at once and giving the rest back has no moment at which the first of them
 * can be taken, returned and taken again while another thread looks at it.
 */
#include "fault.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <seen/store.h>

struct store_range {
    struct store_range *next;      /* of all; never changes */
    struct store_range *next_free;
    uintptr_t base, end;           /* base is UINTPTR_MAX: of no mapping */
    int lost;
};

static struct store_range *all, *unused;

static void push(struct store_range **list, struct store_range **next,
                 struct store_range *first)
{
    *next = __atomic_load_n(list, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(list, next, first, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

/* One that is free; NULL if there is none. */
static struct store_range *reuse(void)
{
    struct store_range *r = __atomic_exchange_n(&unused, NULL,
                                                __ATOMIC_ACQUIRE);
    struct store_range *rest = r ? r->next_free : NULL, *none = NULL, *last;

    if (!rest ||
        __atomic_compare_exchange_n(&unused, &none, rest, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return r;
    for (last = rest; last->next_free; last = last->next_free)
        ; /* others were freed meanwhile: put them behind the rest */
    push(&unused, &last->next_free, rest);
    return r;
}

struct store_range *store_range_new(const void *base, size_t len)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct store_range *r = reuse();

    if (!r) {
        r = calloc(1, sizeof *r);
        if (!r)
            return NULL;
        r->base = UINTPTR_MAX;
        push(&all, &r->next, r);
    }
    __atomic_store_n(&r->lost, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&r->end, ((uintptr_t)base + len + page - 1) / page * page,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&r->base, (uintptr_t)base, __ATOMIC_RELEASE);
    return r;
}

void store_range_free(struct store_range *r)
{
    if (!r)
        return;
    __atomic_store_n(&r->base, UINTPTR_MAX, __ATOMIC_RELEASE);
    push(&unused, &r->next_free, r);
}

const int *store_range_lost(const struct store_range *r)
{
    return &r->lost;
}

/* The range of a filter that this thread is using: it cannot go away
   meanwhile. Others may; their addresses are those of no fault. */
static struct store_range *find(uintptr_t at)
{
    struct store_range *r = __atomic_load_n(&all, __ATOMIC_ACQUIRE);

    for (; r; r = r->next) {
        uintptr_t base = __atomic_load_n(&r->base, __ATOMIC_ACQUIRE);

        if (base <= at && at < __atomic_load_n(&r->end, __ATOMIC_ACQUIRE) &&
            base == __atomic_load_n(&r->base, __ATOMIC_ACQUIRE))
            break;
    }
    return r;
}

bool seen_store_fault(const void *address)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)address / page * page;
    struct store_range *r = find((uintptr_t)address);
    int system = errno;
    bool mapped;

    if (!r)
        return false;
    /* Before the page, which other threads may use at once. */
    __atomic_store_n(&r->lost, 1, __ATOMIC_SEQ_CST);
    mapped = mmap((void *)at, page, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                  0) != MAP_FAILED;
    errno = system;
    return mapped;
}
