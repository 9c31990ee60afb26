/* made.h - made-up URLs, each a function of its number: see made.c. */
#ifndef SEEN_LAB_MADE_H
#define SEEN_LAB_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MADE_MOST = 160, /* room that a URL needs: it has less than 128 bytes */
    SECTIONS = 16
};

struct made_piece {
    char text[15];
    unsigned char len;
};

/* Part of a path: a text, then what comes from the number, 0 at the end. */
struct made_step {
    struct made_piece text;
    char what;
};

/* Made from a seed, and only read from then on. */
struct made {
    uint64_t key[3];
    uint64_t first[8]; /* host of each size */
    struct made_piece word[256], section[SECTIONS], scheme[8], suffix[8],
        top[8];
    struct made_step form[8][8];
};

void made_init(struct made *m, uint64_t seed);

/* URL number i; returns its length. It is not followed by a zero. */
size_t made_url(const struct made *m, uint64_t i, char *url);

#endif
