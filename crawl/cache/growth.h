/*
 * growth.h - a larger filter in place of a full one, in slices.
 *
 *     seen_filter_new(&f, &plan, &why);                 with plan.over
 *     crawl_keys_begin(&g.keys, path);
 *     crawl_growth_add(&g, &f, key, n, &why);           f may be another one then
 *     crawl_growth_close(&g);
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CRAWL_GROWTH_H
#define SEEN_CRAWL_GROWTH_H

#include <seen/filter.h>

#include "keys.h"

struct crawl_growth {
    struct crawl_keys keys;   /* all that the filter has */
    struct seen_filter *next; /* a larger one, if it is being made, */
    uint64_t copied, sum;     /* the number of keys copied, and their sum */
};

/*
 * Add n keys to *filter. If it keeps its keys, it is replaced when it is full,
 * and a bounded number of keys is copied for each of the n. If it does not, and
 * takes no more than its capacity, it gets parts.
 */
enum seen_code crawl_growth_add(struct crawl_growth *g,
                                struct seen_filter **filter,
                                const struct seen_key *key, size_t n,
                                struct seen_error *why);

/* The filter stays. */
void crawl_growth_close(struct crawl_growth *g);

#endif
