/* corpus.h - made-up archive indexes to measure with: see corpus.c. */
#ifndef SEEN_CORPUS_H
#define SEEN_CORPUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <seen/key.h>

enum corpus { CORPUS_CDX, CORPUS_GZIP, CORPUS_CDXJ };

enum {
    CORPUS_BLOCK = 3000, /* lines of a gzip member, as in ZipNum clusters */
    CORPUS_LINE = 512,   /* bytes of a line, at most */
    CORPUS_KEY = 256     /* bytes of a key, at most */
};

/* Write lines `from` to before `to`; *bytes is how many that is, unpacked. */
bool corpus_write(FILE *file, enum corpus as, uint64_t from, uint64_t to,
                  uint64_t captures, uint64_t *bytes);

/* The key of URL number u, which is captured by lines u K to u K + K - 1. */
size_t corpus_key(char *to, uint64_t u);

#endif
