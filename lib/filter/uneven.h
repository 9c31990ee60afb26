/*
 * uneven.h - what hash functions of few bits do to the rate of a filter.
 *
 * A function of 32 bits has R = 2^32 values. Reduced to m cells, some cells
 * get floor(R / m) values and the others one more. Cells with more values are
 * set more often and hit more often, so the rate is above (1 - e^(-kn/m))^k:
 *
 *     bits m        10^8      2.5*10^8   5*10^8    10^9      2*10^9    3*10^9
 *     R / m         42.9      17.2       8.6       4.3       2.15      1.43
 *     rate          1.0001 %  1.0015 %   1.010 %   1.033 %   1.074 %   1.41 %
 *
 * for 7 probes and as many keys as the plain formula allows at 1 %. With v = floor(R / m) or one more,
 * and a share c(v) of the cells that have v values,
 *
 *     L(v) = n (k / R) v + n w / m            times that a cell is hit
 *     P = sum of c(v) (v m / R) (1 - e^-L(v)) a narrow probe hits a set cell
 *     Q = sum of c(v) (1 - e^-L(v))           a wide one; also the load
 *     rate = P^k Q^w                          with k narrow and w wide probes
 *
 * It falls as m grows, and meets the plain formula where m divides R. This
 * is the argument of A. Broder and M. Mitzenmacher (Network applications of
 * Bloom filters, Internet Mathematics 1(4), 2004, section 2.2), but with
 * cells of two probabilities.
 *
 * Threads: nothing here has state.
 */
#ifndef SEEN_FILTER_UNEVEN_H
#define SEEN_FILTER_UNEVEN_H

/* A filter of m cells. Of the probes of a key, `narrow` are by functions of
   `range` values, and `wide` fall evenly. */
struct uneven_filter {
    double m, narrow, wide, range;
};

/* The rate with n keys. */
double uneven_rate(const struct uneven_filter *f, double n);

/* The number of keys that set this share of the cells. */
double uneven_keys(const struct uneven_filter *f, double load);

#endif
