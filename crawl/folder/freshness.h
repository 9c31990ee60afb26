/*
 * freshness.h - how many copies are current, as far as can be told.
 *
 * A page that changes at the rate λ and was confirmed the time a ago has a
 * current copy with probability e^(-λa). The mean of that is 1 right after all
 * pages were asked for, and falls until they are asked again. Until that
 * happens, in the time d, its mean over the time is
 *
 *     (e^(-λa) - e^(-λ(a + d))) / (λd)
 *
 * (the thesis, 2.3; Cho and Garcia-Molina, TODS 28(4), 2003). Only pages that
 * were checked once at least have a rate; others are counted apart.
 *
 * Threads: belongs to one thread.
 */
#ifndef SEEN_CRAWL_FRESHNESS_H
#define SEEN_CRAWL_FRESHNESS_H

#include "state.h"

/* Sums over pages; zeroed, they are of none. */
struct crawl_freshness {
    int64_t pages;   /* whose rate is known */
    int64_t unknown; /* whose is not */
    double now, later, age; /* later: in the mean, until the next visit */
};

void crawl_freshness_add(struct crawl_freshness *f,
                         const struct crawl_known *page, int64_t now);

/* The share of copies that are current now, and in the mean until they are
   asked again; -1 if no rate is known. */
double crawl_freshness_now(const struct crawl_freshness *f);
double crawl_freshness_later(const struct crawl_freshness *f);
/* Copies that are expected to be stale now. */
double crawl_freshness_stale(const struct crawl_freshness *f);
/* Seconds since a copy was confirmed, on average. */
double crawl_freshness_age(const struct crawl_freshness *f);

#endif
