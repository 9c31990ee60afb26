/*
 * crawled.c - how much the losses of a crawl vary by chance.
 *
 * With one probe the result is known: a URL is lost if its bit was set, so the
 * losses are n less the number of bits set in the end, whose variance is in
 * ../band.c. For M = 2 that is 0.109 n; n independent trials
 * would have 0.168 n.
 *
 * With k probes, let x be the share of bits that are set. A URL sets N new
 * ones, binomial of k and 1 - x, and is lost if N is 0. So bits and losses
 * are a Markov chain of small steps, which follows its mean
 *
 *     x' = k (1 - x),     x = 1 - e^(-kt)         t = URLs / m
 *
 * but for a deviation that is normal for large m [1, chapter 11]: u of the
 * bits, v of the losses, in units of sqrt(m). The drift of x^k, by which
 * URLs are lost, is k x^(k-1) u, and the noise of one step has
 *
 *     Var N = k x (1-x)   Var lost = p (1-p)   Cov = -k (1-x) p     p = x^k
 *
 * whence, with A = Var u, C = Cov(u, v), V = Var v,
 *
 *     A' = -2k A + k x (1-x)
 *     C' = -k C  + k x^(k-1) A - k (1-x) p
 *     V' = 2k x^(k-1) C + p (1-p)
 *
 * C is negative: that is how losses compensate each other. For k = 1 the
 * solution is the number of set bits again, to all digits. Filters that meet
 * URLs in the same order and must all say yes are one with all their probes:
 * both have that share of bits set, and as many that must be.
 *
 * [1] S. Ethier, T. Kurtz: Markov Processes. 1986.
 */
#include "crawled.h"

#include <math.h>

struct moments {
    double a, c, v;
};

static struct moments slope(double t, struct moments at, double k)
{
    double clear = exp(-k * t), x = 1 - clear;
    double p = pow(x, k), drift = k * pow(x, k - 1);

    return (struct moments){
        .a = -2 * k * at.a + k * x * clear,
        .c = -k * at.c + drift * at.a - k * clear * p,
        .v = 2 * drift * at.c + p * (1 - p),
    };
}

static struct moments step(struct moments from, struct moments by, double h)
{
    return (struct moments){ from.a + h * by.a, from.c + h * by.c,
                             from.v + h * by.v };
}

/* Runge and Kutta's method; 400 steps leave an error of 1e-9 of itself. */
static struct moments crawled(double k, double M)
{
    enum { STEPS = 400 };
    double end = 1 / (k * M), h = end / STEPS;
    struct moments at = { 0 };

    for (int i = 0; i < STEPS; i++) {
        double t = i * h;
        struct moments one = slope(t, at, k);
        struct moments two = slope(t + h / 2, step(at, one, h / 2), k);
        struct moments three = slope(t + h / 2, step(at, two, h / 2), k);
        struct moments four = slope(t + h, step(at, three, h), k);

        at = step(at, one, h / 6);
        at = step(at, two, h / 3);
        at = step(at, three, h / 3);
        at = step(at, four, h / 6);
    }
    return at;
}

double crawled_variance(double k, double M)
{
    return crawled(k, M).v * k * M;
}

/*
 * The full filter loses x^k of the others, by k x^(k-1) u more than the mean:
 * so its covariance with v is that times C, and below nothing. A filter that
 * lost fewer has more bits set.
 */
double crawled_correlation(double k, double M, double n)
{
    struct moments at = crawled(k, M);
    double m = n * k * M, x = -expm1(-1 / M), p = pow(x, k);
    double others = p * (1 - p) + n * pow(theory_spread(n, m, k), 2);

    return k * pow(x, k - 1) * at.c / sqrt(at.v * k * M * others);
}

/*
 * In orders of their own, f filters lose sets of URLs that have nothing to do
 * with each other but by their sizes. Were those sizes binomial, the URLs
 * that all of them lose would be so, too; each size has another variance, and
 * moves what all lose by p^(f-1).
 */
static double shuffled_variance(double k, double M, double f, double p)
{
    return pow(p, f) * (1 - pow(p, f)) +
           f * pow(p, 2 * f - 2) * (crawled_variance(k, M) - p * (1 - p));
}

struct band crawled_band(double k, double M, unsigned filters, bool shuffled,
                         double n, double runs)
{
    double one = theory_incremental(n, n * k * M, k, 1, 1);
    double p = shuffled ? pow(one, filters)
                        : theory_incremental(n, n * k * M, k, filters, 1);
    double variance = shuffled ? shuffled_variance(k, M, filters, one)
                               : crawled_variance(k * filters, M);
    double trials = p * (1 - p); /* if URLs were independent */
    struct band b;

    if (variance > trials)
        return band_share(p, n * runs, sqrt((variance - trials) / n), runs);
    b = band_share(p, n * runs, 0, runs);
    if (b.low > 0) /* where none lost is possible, it stays so */
        b.low = p + (b.low - p) * sqrt(variance / trials);
    b.high = p + (b.high - p) * sqrt(variance / trials);
    return b;
}
