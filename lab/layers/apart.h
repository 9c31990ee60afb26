/*
 * apart.h - the layers alone, without the one that ties them.
 *
 * A Bloom filter for the segments of each layer; a URL is taken for seen if
 * all its segments are. Beside each filter the segments themselves are kept,
 * so that for any URL it is known which segments are there, and with what
 * chance the layers say yes: the chance that those which are not are false
 * positives. With what chance a layered filter does, XOR and all, follows.
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

/* Layers of bits[i] each, for n segments. What fails ends the lab. */
void apart_init(struct apart *a, unsigned layers, uint64_t n,
                const uint64_t *bits, unsigned probes, uint64_t seed);
void apart_clear(struct apart *a);

void apart_add(struct apart *a, const char *url, size_t len);
bool apart_has(const struct apart *a, const char *url, size_t len);

/* All is added: work out the rate of each layer. */
void apart_settle(struct apart *a);
/* The chance that the layers say yes to this URL. */
double apart_chance(const struct apart *a, const char *url, size_t len);
/* The chance that these layers and their XOR, of m bits, say yes. */
double apart_tied(const struct apart *a, const char *url, size_t len,
                  double m);
/* How far the rates of these layers deviate, as a share of their product. */
double apart_spread(const struct apart *a);

#endif
