/*
 * apart.h - the layers alone, without the XOR that ties them together.
 *
 * A Bloom filter for the segments of each layer; a URL counts as seen if all
 * its segments do. Each filter also has an exact set of its segments, so that
 * for any URL the chance of a yes is known: that all segments which are not
 * there are false positives. The chance of a layered filter, with its XOR,
 * follows from it.
 *
 * Threads: any number may ask, one may add.
 */
#ifndef SEEN_LAB_APART_H
#define SEEN_LAB_APART_H

#include <seen/filter.h>

#include "../exact.h"

struct apart {
    unsigned layers;
    struct seen_filter *layer[SEEN_LAYERS];
    struct exact known[SEEN_LAYERS]; /* segments */
    uint64_t urls, lone;      /* added; and of these, of one segment */
    double rate[SEEN_LAYERS]; /* by theory: apart_settle() */
};

/* Layers of bits[i] each, for n segments. Failures end the experiment. */
void apart_init(struct apart *a, unsigned layers, uint64_t n,
                const uint64_t *bits, unsigned probes, uint64_t seed);
void apart_clear(struct apart *a);

void apart_add(struct apart *a, const char *url, size_t len);
bool apart_has(const struct apart *a, const char *url, size_t len);

/* After the last URL: compute the rate of each layer. */
void apart_settle(struct apart *a);
/* The chance that the layers say yes to this URL. */
double apart_chance(const struct apart *a, const char *url, size_t len);
/* The same for the layers and their XOR, of m bits. */
double apart_tied(const struct apart *a, const char *url, size_t len,
                  double m);
/* The relative deviation of the product of the layers' rates. */
double apart_spread(const struct apart *a);

#endif
