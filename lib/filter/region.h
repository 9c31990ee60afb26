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

#endif
