/* index.h - made-up archive indexes to measure with: see index.c. */
#ifndef SEEN_BENCH_INDEX_H
#define SEEN_BENCH_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <seen/key.h>

enum index_format { INDEX_CDX, INDEX_GZIP, INDEX_CDXJ };

enum {
    INDEX_BLOCK = 3000, /* lines of a gzip member, as in ZipNum clusters */
    INDEX_LINE = 512,   /* bytes of a line, at most */
    INDEX_KEY = 256     /* bytes of a key, at most */
};

/* Write lines `from` to before `to`; *bytes is how many that is, unpacked. */
bool index_write(FILE *file, enum index_format as, uint64_t from, uint64_t to,
                 uint64_t captures, uint64_t *bytes);

/* The key of URL number u, which is captured by lines u K to u K + K - 1. */
size_t index_key(char *to, uint64_t u);

#endif
