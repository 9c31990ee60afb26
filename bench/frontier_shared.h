/* frontier_shared.h - the second half of `seen bench frontier`. */
#ifndef SEEN_BENCH_FRONTIER_SHARED_H
#define SEEN_BENCH_FRONTIER_SHARED_H

#include <stdbool.h>

/* Measure the frontier of many workers in a database, whose tables are made
   and dropped. 0: all figures were reached, 1: not, 2: it failed. */
int bench_frontier_shared(const char *where, bool json);

#endif
