/*
 * grown.h - what a growing filter should lose, from the plans of its parts.
 *
 * The library tells a rate of its own, seen_filter_rate(), from the bits that
 * are set. That is no theory to judge a filter by: it would follow whatever
 * the filter did. Here it is the number of URLs and the sizes of the parts.
 *
 * Threads: any number.
 */
#ifndef SEEN_LAB_THESIS_GROWN_H
#define SEEN_LAB_THESIS_GROWN_H

#include <seen/filter.h>

/* The rate of a growing/bloom after n URLs; how far filters deviate from it
   goes to *spread. */
double grown_rate(const struct seen_filter *f, double n, double *spread);

#endif
