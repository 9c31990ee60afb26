/*
 * band.h - where a measurement should lie if theory is right.
 *
 * A measurement lies outside its band by chance once in a hundred thousand
 * (4.4 standard deviations), so most reports, with a few hundred bands, have
 * no such case. For few expected hits the normal distribution is wrong; then
 * the quantiles of the Poisson distribution are used.
 */
#ifndef SEEN_LAB_BAND_H
#define SEEN_LAB_BAND_H

#include "section.h"

struct band {
    double low, high;
};

/* A measurement beside theory and its band, with nothing published; and the
   same for shares, in percent. */
struct finding band_finding(double theory, struct band band, double measured,
                            int digits);
struct finding band_percent(double theory, struct band band, double measured,
                            int digits);

/* The share of hits in `trials` trials of chance p each, over `filters`
   filters, whose own rates have standard deviation `spread` (0: none). */
struct band band_share(double p, double trials, double spread, double filters);

/* The mean of n measurements that have mean `mean` and deviation `sd`. */
struct band band_mean(double mean, double sd, double n);

/* Chi-square with this many degrees of freedom. */
struct band band_chi_square(double degrees);

/* --- theory of Bloom filters --- */

/* (1 - e^(-kn/m))^k, and the standard deviation of one filter from it. */
double theory_rate(double n, double m, double k);
double theory_spread(double n, double m, double k);

/* The mean of that over 0, 1, ..., n - 1 URLs, since each is asked for, then
   added: for f filters that must all say yes, over v visits with new seeds. */
double theory_incremental(double n, double m, double k, double f, double v);

#endif
