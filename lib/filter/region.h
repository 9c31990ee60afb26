/* region.h - the regions that the builder fills one at a time. */
#ifndef SEEN_FILTER_REGION_H
#define SEEN_FILTER_REGION_H

#include "cells.h"

enum {
    REGION_LINES = 8192,          /* 13 bits of an entry */
    REGION = REGION_LINES * LINE, /* 512 KiB: half of a small L2 */
    REGION_BITS = REGION_LINES * LINE_BITS
};

#endif
