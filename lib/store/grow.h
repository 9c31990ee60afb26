/*
 * grow.h - a larger filter in place of a full one.
 *
 * It is filled from the log of keys while the filter is in use, in slices that
 * adds pay for: an add of n keys works on at most STORE_GROW_LEAST +
 * STORE_GROW_PER_KEY * n keys of the log. Then it takes the place of the
 * filter, for which it works on at most STORE_GROW_SWAP keys more.
 *
 *     adds, after each     store_grow_work()   any number of threads
 *     alone, if due        store_grow_swap()
 *     closing              store_grow_swap() if it is full, or _cancel()
 */
#ifndef SEEN_STORE_GROW_H
#define SEEN_STORE_GROW_H

#include "writer.h"

enum {
    STORE_GROW_LEAST = 1024,
    STORE_GROW_PER_KEY = 128,
    STORE_GROW_SWAP = 4096 /* keys of the log that may be left for the swap */
};

/* Is there something to work on? The mutex is locked. */
bool store_grow_wanted(struct store_writer *w);

/* Work on it, or else on sieving the log (sieve.h), for n keys that were added.
   For a thread that counts as adding. */
void store_grow_work(struct store_writer *w, size_t n);

/* Is the larger filter filled? The mutex is locked. */
bool store_grow_due(const struct store_writer *w);

/*
 * For the thread that has excluded the others, while nobody asks the filter:
 * replace file and filter by the larger ones. If this fails, both are as they
 * were, or the writer has failed for good. All work that is left is done first.
 */
enum seen_code store_grow_swap(struct store_writer *w, struct seen_error *why);

/* Has it the load that its capacity has, and can it grow? Alone, as these. */
bool store_grow_full(struct store_writer *w);

/* Drop what was filled so far. */
void store_grow_cancel(struct store_writer *w);

#endif
