/*
 * apart.h - the layers alone, without the XOR that ties them together.
 *
 * A Bloom filter for the segments of each layer; a URL counts as seen if all
 * its segments do. Each filter also has an exact set of its segments, so that
 * for any URL the chance of a yes is known: that all segments which are not
 * there are false positives. The chance of a layered filter, with its XOR,
 * follows from it, since the XORs that are there are known as well: that of
 * 2024/05/12 is that of 2024/12/05.
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
    struct exact ties;          /* XORs of the segments of a URL */
    struct exact rests;         /* the same of all segments but one */
    double rate[SEEN_LAYERS];   /* by theory: apart_settle() */
    double shared[SEEN_LAYERS]; /* chance of meeting in a layer and the XOR */
    double tie_bits;
};

/* Layers of bits[i] each, for n segments. Failures end the experiment. */
void apart_init(struct apart *a, unsigned layers, uint64_t n,
                const uint64_t *bits, unsigned probes, uint64_t seed);
void apart_clear(struct apart *a);

void apart_add(struct apart *a, const char *url, size_t len);
bool apart_has(const struct apart *a, const char *url, size_t len);

/* After the last URL: compute the rate of each layer, and of an XOR of m bits
   unless m is 0. */
void apart_settle(struct apart *a, double m);
/* The chance that the layers say yes to this URL. */
double apart_chance(const struct apart *a, const char *url, size_t len);
/* The same for the layers and their XOR. */
double apart_tied(const struct apart *a, const char *url, size_t len);
/* The relative deviation of the product of the layers' rates. */
double apart_spread(const struct apart *a);

#endif
