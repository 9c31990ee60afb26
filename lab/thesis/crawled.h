/*
 * crawled.h - how far chance takes the losses of a crawl.
 *
 * In a crawl each URL is asked for, then added. What is lost is not n
 * independent trials: a URL that was lost leaves its filter emptier than one
 * that was added, so that losses make up for each other in part.
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

/* How what a crawl of n URLs loses correlates, from filter to filter, with
   what the filter, full then, loses of n others. */
double crawled_correlation(double k, double M, double n);

/* Where the share should lie that `runs` crawls of n URLs lose to all of so
   many filters; `shuffled`: each meets them in an order of its own. */
struct band crawled_band(double k, double M, unsigned filters, bool shuffled,
                         double n, double runs);

#endif
