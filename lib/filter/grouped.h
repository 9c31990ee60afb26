/*
 * grouped.h - keys that wait for the lock of their lines.
 *
 * For blocked_loops.h. Lines are in GROUPS groups, with a lock for each. Keys
 * of a group wait until there are TOGETHER of them, or no more, and are added
 * under one lock, in the order in which they came:
 *
 *     group    0   1   2   3   4  ...  15
 *              k5  k2  k0      k1      k4
 *              k6      k3
 */
#ifndef SEEN_FILTER_GROUPED_H
#define SEEN_FILTER_GROUPED_H

#include "blocked.h"
#include "stripes.h"

enum { GROUPS = 16, TOGETHER = 16 };

struct grouped_key {
    struct mark mark;
    size_t key; /* its place in the batch */
};

struct key_group {
    struct grouped_key of[TOGETHER];
    unsigned n;
};

/* The group of the line of a mark. */
static inline unsigned group_of(const struct mark *m)
{
    return (unsigned)(m->at / LINE % GROUPS);
}

#endif
