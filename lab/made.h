/* made.h - made-up URLs, each a function of its number: see made.c. */
#ifndef SEEN_LAB_MADE_H
#define SEEN_LAB_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORD = 8,       /* bytes of a word, at most */
    MADE_MOST = 160 /* room that a URL needs: it has less than 128 bytes */
};

struct made {
    uint64_t key[3];
    unsigned char len[256]; /* of the words */
};

void made_init(struct made *m, uint64_t seed);

/* URL number i; returns its length. It is not followed by a zero. */
size_t made_url(const struct made *m, uint64_t i, char *url);

/* The number of a URL that made_url() wrote; false for any other. */
bool made_number(const struct made *m, const char *url, size_t len,
                 uint64_t *i);

#endif
