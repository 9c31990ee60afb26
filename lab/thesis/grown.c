/*
 * grown.c - what a growing filter should lose.
 *
 * All parts but the last hold as many keys as planned; the last holds the
 * rest. A URL that is a false positive of an earlier part does not reach a
 * later one, so c / (1 - P) URLs are needed to put c into a part if the parts
 * before it have rate P together.
 *
 * A part is full when a number of its bits is set, so full parts vary little.
 * The number of URLs that this took varies, and so does the rest for the last
 * part, about as much as its own bits do: the parts before it have about as
 * many bits together.
 */
#include "grown.h"

#include <math.h>

#include "../band.h"

double grown_rate(const struct seen_filter *f, double n, double *spread)
{
    unsigned parts = seen_filter_parts(f);
    double right = 1; /* the chance that no part errs */

    *spread = 0;
    for (unsigned i = 0; i < parts; i++) {
        const struct seen_plan *p = seen_filter_plan(seen_filter_part(f, i));
        double held = i + 1 < parts ? (double)p->capacity : n * right;
        double bits = (double)p->bits;

        n -= held / right;
        *spread = sqrt(2) * theory_spread(held, bits, p->probes);
        right *= 1 - theory_rate(held, bits, p->probes);
    }
    return 1 - right;
}
