/*
 * cdx.h - what seen bench cdx measures.
 */
#ifndef SEEN_BENCH_CDX_H
#define SEEN_BENCH_CDX_H

#include "bench.h"
#include "index.h"

/* Lines of a made-up index that are on disk at a time, at most: a tenth of a
   second for each reader, so that a busy moment meets both. */
enum { CHUNK_LINES = 3000000 };

/* Seconds of CPU time, of all threads together. */
struct cdx_cpu {
    double user, system;
};

struct cdx_options {
    uint64_t lines, captures, capacity, bits, probes, threads, turns;
    const char *kind, *only;
    bool json, paper, help;
    struct seen_plan plan; /* what follows from them */
};

struct cdx_row {
    const char *name;
    enum index_format as;
    const char *peer; /* what the file is also read by */
    uint64_t bytes, stored, lines, urls;
    double read, finish, other; /* seconds */
    double alone;               /* the same, of reading without a filter */
    struct cdx_cpu cpu, alone_cpu, other_cpu;
    double rate;                /* measured; below 0: not */
    uint64_t cells;
    long memory;           /* bytes at most, all in all */
    double question, save; /* seconds */
    double low, high;      /* ratios of all turns */
};

/*
 * Make the index of a row, chunk by chunk in the folder of process.h, and
 * build a filter from it as `s` says; fills in the results. False after a
 * message.
 */
bool bench_cdx_measure(struct cdx_row *r, const struct cdx_options *s);

#endif
