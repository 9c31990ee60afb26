/*
 * band.c - where a measurement should lie if theory is right.
 *
 * The number of hits H among t trials varies for two reasons. Given the
 * filter, every trial hits with that filter's chance p'; and p' varies from
 * filter to filter around p with deviation s (`spread`). Over F filters with
 * t / F trials each
 *
 *     E H = t p          Var H = t p (1 - p) + t^2 s^2 / F
 *
 * For many hits H is normal, up to its skewness: the second term of Cornish
 * and Fisher moves both ends by (z^2 - 1) / 6 (1 - 2p), three hits. For few,
 * H is Poisson with a varying mean; if that mean has a gamma distribution of
 * the variance above, H is negative binomial, which sums up in a moment and
 * is Poisson for s = 0.
 *
 * How far one filter deviates: n keys with k probes throw kn balls into m
 * bins. The number X of bins hit has
 *
 *     E X = m (1 - e^-c)      Var X = m e^-c (1 - (1 + c) e^-c)     c = kn/m
 *
 * [1, section 5.3, for large m], and a filter with X bits set has the rate
 * p' = (X/m)^k. To first order, with q = 1 - e^-c the share of set bits,
 *
 *     s = dp'/dX sd X = k q^(k-1) sd(X) / m
 *
 * [1] M. Mitzenmacher, E. Upfal: Probability and Computing. 2005.
 */
#include "band.h"

#include <math.h>

/* One chance in a hundred thousand, half on each side. */
static const double TAIL = 0.5e-5;
static const double Z = 4.41717341; /* of the normal distribution */

/* Up to this many expected hits they are counted one by one. */
static const double FEW = 2000;

/*
 * The band of counts of mean `mean` and variance mean + more: the chance of
 * less than *low and that of more than *high are TAIL at most. Chances follow
 * each other by their ratio; logarithms, since the first is e^-mean.
 */
static void count_band(double mean, double more, double *low, double *high)
{
    double a = more / (mean * mean); /* 1/r of the negative binomial */
    double chance = a > 0 ? -log1p(mean * a) / a : -mean, below = 0;
    double most = mean + 40 * sqrt(mean + more) + 100;

    *low = -1;
    *high = most;
    for (double i = 0; i < most; i++) {
        double upto = below + exp(chance);

        if (*low < 0 && upto > TAIL)
            *low = i;
        if (upto >= 1 - TAIL) {
            *high = i;
            break;
        }
        below = upto;
        chance += log(mean * (1 + i * a) / ((i + 1) * (1 + mean * a)));
    }
}

struct band band_share(double p, double trials, double spread, double filters)
{
    double mean = trials * p;
    double more = filters > 0 ? trials * trials * spread * spread / filters
                              : 0;
    double low, high, shift;

    if (p > 0.5) { /* few misses are like few hits */
        struct band b = band_share(1 - p, trials, spread, filters);

        return (struct band){ 1 - b.high, 1 - b.low };
    }
    if (!(mean > 0))
        return (struct band){ 0, 0 };
    if (mean < FEW) {
        count_band(mean, more, &low, &high);
        /* Half a hit of room: dividing in another order rounds differently,
           and there are no counts in between. */
        low -= 0.5;
        high += 0.5;
    } else {
        double sd = sqrt(mean * (1 - p) + more);

        shift = (Z * Z - 1) / 6 * (1 - 2 * p);
        low = mean - Z * sd + shift;
        high = mean + Z * sd + shift;
    }
    return (struct band){ fmax(0, low / trials), fmin(1, high / trials) };
}

struct band band_mean(double mean, double sd, double n)
{
    double e = Z * sd / sqrt(n);

    return (struct band){ mean - e, mean + e };
}

/* P(a, x), the regularised incomplete gamma function: its series below the
   mean, Lentz's continued fraction of 1 - P above it. */
static double gamma_share(double a, double x)
{
    double front = exp(a * log(x) - x - lgamma(a)), sum, term, b, c, d;

    if (x < a + 1) {
        sum = term = 1 / a;
        for (double i = 1; term > 1e-16 * sum; i++)
            sum += term *= x / (a + i);
        return front * sum;
    }
    b = x + 1 - a;
    c = 1e300;
    d = sum = 1 / b;
    for (double i = 1; i < 1e6; i++) {
        double e = i * (a - i);

        b += 2;
        d = 1 / (e * d + b);
        c = b + e / c;
        sum *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return 1 - front * sum;
}

static double chi_square_quantile(double degrees, double share)
{
    double low = 0, high = degrees + 20 * sqrt(2 * degrees) + 50;

    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;

        if (gamma_share(degrees / 2, middle / 2) < share)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct band band_chi_square(double degrees)
{
    return (struct band){ chi_square_quantile(degrees, TAIL),
                          chi_square_quantile(degrees, 1 - TAIL) };
}

/* --- theory of Bloom filters --- */

double theory_rate(double n, double m, double k)
{
    return pow(-expm1(-k * n / m), k);
}

double theory_spread(double n, double m, double k)
{
    double c = k * n / m;
    double sd = sqrt(m * exp(-c) * (1 - (1 + c) * exp(-c)));

    return k * pow(-expm1(-c), k - 1) * sd / m;
}

double theory_incremental(double n, double m, double k, double f, double v)
{
    enum { EXACT = 100000, PANELS = 4096 };
    double sum = 0, h = n / PANELS;

    if (n <= EXACT) {
        for (double i = 0; i < n; i++)
            sum += pow(theory_rate(i, m, k), f * v);
        return sum / n;
    }
    /* Simpson's integral from 0 to n; the sum goes to n - 1 only, which is
       half of the last term less (Euler and Maclaurin). */
    for (int i = 0; i <= PANELS; i++)
        sum += pow(theory_rate(i * h, m, k), f * v) * (i == 0 || i == PANELS
                                                           ? 1
                                                       : i % 2 ? 4
                                                               : 2);
    return (sum * h / 3 - pow(theory_rate(n, m, k), f * v) / 2) / n;
}

/* --- findings --- */

struct finding band_finding(double theory, struct band band, double measured,
                            int digits)
{
    return (struct finding){ .published = NAN,
                             .theory = theory,
                             .measured = measured,
                             .low = band.low,
                             .high = band.high,
                             .their_low = NAN,
                             .their_high = NAN,
                             .digits = digits };
}

struct finding band_percent(double theory, struct band band, double measured,
                            int digits)
{
    band.low *= 100;
    band.high *= 100;
    return band_finding(100 * theory, band, 100 * measured, digits);
}
