/* region.h - the regions that the builder fills one at a time. */
#ifndef SEEN_FILTER_REGION_H
#define SEEN_FILTER_REGION_H

#include "cells.h"

enum {
    REGION_SHIFT = 12,
    REGION_LINES = 1 << REGION_SHIFT, /* an entry has room for 13 bits */
    REGION = REGION_LINES * LINE,     /* 256 KiB: half of a small L2 */
    REGION_BITS = REGION_LINES * LINE_BITS
};

/* How cells of the next region are fetched: `lines` of them every so often. */
struct pace {
    const unsigned char *at, *end;
    size_t lines;
};

/* A pace that has fetched them all after n calls of fetch_some(). */
static inline struct pace pace_of(const struct seen_soon *soon, size_t n)
{
    size_t lines = (size_t)(soon->to - soon->from) / LINE;
    struct pace p = { soon->from, soon->to, n ? (lines + n - 1) / n : 0 };

    return p;
}

static inline void fetch_some(struct pace *p)
{
    for (size_t i = 0; i < p->lines && p->at < p->end; i++, p->at += LINE)
        __builtin_prefetch(p->at, 1);
}

#endif
