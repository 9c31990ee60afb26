/* left.c - the names under which a store counts links that were left out. They
   are in the states of folders, so they never change. */
#include "left.h"

const char *const crawl_left_counters[CRAWL_LEFT_LINKS] = {
    "out-of-scope", "traps",           "nofollow",
    "no-rule",      "below-threshold", "undecided"
};
