/*
 * grouped.h - the keys of a batch, sorted by the lock of their lines.
 *
 * For blocked_loops.h. The sort is stable: keys of the same line keep their
 * order.
 */
#ifndef SEEN_FILTER_GROUPED_H
#define SEEN_FILTER_GROUPED_H

#include "blocked.h"
#include "stripes.h"

struct grouped {
    uint16_t begin[GROUPS], end[GROUPS];
    uint8_t order[GROUPED];
    unsigned first; /* the group to begin with, so that threads which begin
                       together do not wait for each other at every group */
};

static inline void group_marks(struct grouped *g, const struct mark *m,
                               size_t n)
{
    uint16_t count[GROUPS] = { 0 }, sum = 0;

    for (size_t i = 0; i < n; i++)
        count[group_of(&m[i])]++;
    for (unsigned i = 0; i < GROUPS; i++) {
        g->begin[i] = g->end[i] = sum;
        sum = (uint16_t)(sum + count[i]);
    }
    for (size_t i = 0; i < n; i++)
        g->order[g->end[group_of(&m[i])]++] = (uint8_t)i;
    g->first = group_of(&m[0]);
}

#endif
