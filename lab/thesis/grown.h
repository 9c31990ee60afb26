/*
 * grown.h - what a growing filter should lose, from the plans of its parts.
 *
 * The library computes a rate from the bits that are set, seen_filter_rate().
 * That is not a theory to judge a filter by: it would follow whatever the
 * filter did. This one uses the number of URLs and the sizes of the parts.
 *
 * Threads: any number.
 */
#ifndef SEEN_LAB_THESIS_GROWN_H
#define SEEN_LAB_THESIS_GROWN_H

#include <seen/filter.h>

/* The rate of a growing/bloom after n URLs; the standard deviation of filters
   from it goes to *spread. */
double grown_rate(const struct seen_filter *f, double n, double *spread);

#endif
