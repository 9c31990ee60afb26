/*
 * plain.h - a Bloom filter over any hash function, however bad.
 *
 * The library has good functions only. To see what others do to the rate,
 * here is a filter of m bits whose probe j is the function of a salt, 4
 * bytes that depend on j, and the text behind it: one function salted k
 * times, as the thesis and `bloom:murmur3` do it.
 *
 * Threads: any number may ask, one may add.
 */
#ifndef SEEN_LAB_PLAIN_H
#define SEEN_LAB_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The state after some more bytes; a hash begins and ends with a state. */
struct plain_hash {
    const char *name;
    uint32_t begin;
    uint32_t (*more)(uint32_t state, const char *text, size_t len);
};

/* FNV-1a, CRC-32, Adler-32 and h = 31 h + c; ends with a NULL name. */
extern const struct plain_hash plain_hashes[];

/* How 32 bits become one of m positions. */
enum reduce {
    TOP_BITS, /* h m / 2^32 */
    MODULO,   /* h mod m */
};

struct plain {
    const struct plain_hash *hash;
    enum reduce reduce;
    uint64_t bits;
    unsigned probes;
    uint64_t seed;
    uint64_t *word;
};

/* The cells of p, which has all else: false for lack of memory. */
bool plain_init(struct plain *p);
void plain_clear(struct plain *p);
void plain_add(struct plain *p, const char *text, size_t len);
bool plain_has(const struct plain *p, const char *text, size_t len);

#endif
