/*
 * known.h - a structure that is made for the URLs of one crawl.
 *
 * A `fuse` is built from a known set; a growing filter beside it gets later
 * URLs. A URL is new if neither has it. This is compared with one growing
 * filter for all URLs, planned for the same rate, and with one Bloom filter of
 * the same memory.
 *
 * Threads: one.
 */
#ifndef SEEN_LAB_THESIS_KNOWN_H
#define SEEN_LAB_THESIS_KNOWN_H

#include "grid.h"

enum known_way { TOGETHER, GROWING, BLOOM, KNOWN_WAYS };

struct known {
    double fuse_bits, rest_bits; /* a URL that is known, that came later */
    double bits[KNOWN_WAYS];     /* a URL, of all */
    double rate[KNOWN_WAYS], lost[KNOWN_WAYS]; /* expected, measured */
    double planned[KNOWN_WAYS];                /* at most; NAN: nothing was */
};

/* n URLs are known, a quarter as many come later; writes two tables. */
struct known known_part(struct lab *lab, struct section *s, uint64_t n,
                        struct tally *all);

#endif
