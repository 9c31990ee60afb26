/*
 * grown.c - what a growing filter should lose.
 *
 * All parts but the last hold as many keys as they were planned for; the last
 * holds what is left. A URL that an earlier part takes for seen reaches no
 * later one, so it takes c / (1 - P) URLs to put c into a part when those
 * before it err by P together.
 *
 * Full parts are full by their bits and vary little. How many URLs that took
 * varies, and so does what is left for the last part, about as much as its
 * own bits do: those before it have about as many together.
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
