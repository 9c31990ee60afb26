/*
 * crawled.h - how much the losses of a crawl vary by chance.
 *
 * In a crawl each URL is asked for, then added. The losses are not n
 * independent trials: a URL that is lost leaves the filter emptier than one
 * that is added, so losses compensate each other in part.
 *
 * Threads: any number.
 */
#ifndef SEEN_LAB_THESIS_CRAWLED_H
#define SEEN_LAB_THESIS_CRAWLED_H

#include <stdbool.h>

#include "../band.h"

/* The variance of the number of URLs that one crawl loses to a filter of k
   probes and m = n k M bits, divided by n. */
double crawled_variance(double k, double M);

/* The correlation, over filters, of what a crawl of n URLs loses with what the
   filter, full by then, loses of n others. */
double crawled_correlation(double k, double M, double n);

/* Where the share should lie that `runs` crawls of n URLs lose to all of these
   filters; `shuffled`: each filter gets them in an order of its own. */
struct band crawled_band(double k, double M, unsigned filters, bool shuffled,
                         double n, double runs);

#endif
