/*
 * band.h - where a measurement should lie if theory is right.
 *
 * A band holds with all but one chance in a hundred thousand (4.4 standard
 * deviations), so that of the few hundred that a report has, none is missed
 * by chance in most reports. For few expected hits the normal distribution is
 * wrong; then it is the Poisson's quantiles.
 */
#ifndef SEEN_LAB_BAND_H
#define SEEN_LAB_BAND_H

#include "section.h"

struct band {
    double low, high;
};

/* A measurement beside theory and its band, with nothing published; and one
   of shares, in percent. */
struct finding band_finding(double theory, struct band band, double measured,
                            int digits);
struct finding band_percent(double theory, struct band band, double measured,
                            int digits);

/* Shares of hits in `trials` trials of chance p each, over filters whose own
   rate has standard deviation `spread` (0: none) from one to the next and of
   which there were `filters`. */
struct band band_share(double p, double trials, double spread, double filters);

/* The mean of measurements that have mean `mean` and deviation `sd`. */
struct band band_mean(double mean, double sd, double n);

/* Chi-square of so many degrees of freedom. */
struct band band_chi_square(double degrees);

/* --- theory of Bloom filters --- */

/* (1 - e^(-kn/m))^k, and what one filter of m bits deviates from it. */
double theory_rate(double n, double m, double k);
double theory_spread(double n, double m, double k);

/* Mean of the same over n = 0, 1, ..., N - 1: each URL is asked for, then
   added; of f filters that must all say yes; over v visits with new seeds. */
double theory_incremental(double n, double m, double k, double f, double v);

#endif
