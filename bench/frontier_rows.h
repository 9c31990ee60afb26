/* frontier_rows.h - the third part of `seen bench frontier`. */
#ifndef SEEN_BENCH_FRONTIER_ROWS_H
#define SEEN_BENCH_FRONTIER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct frontier_rows_options {
    uint64_t urls, hosts;
    bool json;
};

/* Measure the frontier of one crawl without the crawl. 0, or 2 if it failed. */
int bench_frontier_rows(const struct frontier_rows_options *with);

#endif
