/*
 * stripes.h - the locks of a filter for several threads.
 *
 * One lock per key would cost more than the cells, and with one lock per
 * filter threads would wait; so a key (or a line) has one of 1,024 locks, by
 * its hash. A lock is held for the few nanoseconds that setting some bits
 * takes, so waiting threads spin, and yield after a while.
 */
#ifndef SEEN_FILTER_STRIPES_H
#define SEEN_FILTER_STRIPES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include <seen/kind_writer.h>

enum { STRIPES = 1024, SPINS = 64 };

struct seen_stripes {
    struct {
        bool taken;
        char line[63];
    } lock[STRIPES];
};

static inline void stripe_lock(const struct seen_filter *f, uint64_t which)
{
    bool *taken = &f->stripes->lock[which % STRIPES].taken;

    for (int spins = 0; __atomic_exchange_n(taken, true, __ATOMIC_ACQUIRE);)
        if (++spins % SPINS == 0)
            sched_yield();
}

static inline void stripe_unlock(const struct seen_filter *f, uint64_t which)
{
    bool *taken = &f->stripes->lock[which % STRIPES].taken;

    __atomic_store_n(taken, false, __ATOMIC_RELEASE);
}

#endif
