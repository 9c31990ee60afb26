/*
 * rice.h - numbers that are mostly small, as a run of bits in a file.
 *
 * Golomb's code with a power of two, after Rice: a number v with parameter k
 * is v >> k zeros, a one, then the k lowest bits of v. Gaps between cells that
 * changed at random have geometric lengths, for which no code of whole bits is
 * shorter if k is right. So k is not guessed: the length is counted for every
 * k.
 *
 *     v = 13, k = 2:   0 0 0 1   1 0        13 = 3 * 4 + 1, lowest bit first
 *
 * Bits fill bytes beginning with the least significant.
 *
 *     rice_count(&c, v);                     for all v, then
 *     k = rice_best(&c, &bits);
 *     rice_put(&w, v, k);                    for all v
 *
 * Threads: each writer and reader belongs to one.
 */
#ifndef SEEN_SHARE_RICE_H
#define SEEN_SHARE_RICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

enum { RICE_MOST = 56, RICE_ROOM = 1 << 16 };

/* How many bits some numbers take with each parameter. */
struct rice_counts {
    uint64_t n;
    uint64_t zeros[RICE_MOST + 1];
};

static inline void rice_count(struct rice_counts *c, uint64_t v)
{
    c->n++;
    for (unsigned k = 0; v && k <= RICE_MOST; k++, v >>= 1)
        c->zeros[k] += v;
}

/* The parameter with which they take the fewest bits, and how many. */
unsigned rice_best(const struct rice_counts *c, uint64_t *bits);

/* Writes bits to fd from `at` on. rice_end() reports the first error. */
struct rice_writer {
    int fd;
    uint64_t at;
    uint64_t hold;
    unsigned have; /* bits of `hold`, below 8 between calls */
    size_t len;
    enum seen_code code;
    struct seen_error *why;
    unsigned char bytes[RICE_ROOM];
};

void rice_begin(struct rice_writer *w, int fd, uint64_t at,
                struct seen_error *why);
/* The lowest n bits of v, n at most 64. */
void rice_bits(struct rice_writer *w, uint64_t v, unsigned n);
void rice_put(struct rice_writer *w, uint64_t v, unsigned k);
/* Fill the last byte with zeros and write the rest. */
enum seen_code rice_end(struct rice_writer *w);

/* Reads `left` bits of fd from `at` on, and never more. */
struct rice_reader {
    int fd;
    uint64_t at, end; /* the next byte of the file to be read, and the end */
    uint64_t left;    /* bits not yet read */
    uint64_t hold;
    unsigned have;
    size_t next, len;
    enum seen_code code; /* why reading failed, if not at the end */
    struct seen_error *why;
    unsigned char bytes[RICE_ROOM];
};

void rice_open(struct rice_reader *r, int fd, uint64_t at, uint64_t bits,
               struct seen_error *why);
/* False past the end, or if the number is above `most`. */
bool rice_take(struct rice_reader *r, unsigned n, uint64_t *v);
bool rice_get(struct rice_reader *r, unsigned k, uint64_t most, uint64_t *v);

#endif
