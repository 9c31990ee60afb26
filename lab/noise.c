/*
 * noise.c - Welch's test, for conclusions.
 *
 * The difference of two means, divided by its own standard error,
 *
 *     t = (a - b) / sqrt(ea^2 + eb^2)
 *
 * has Student's distribution of about
 *
 *     v = (ea^2 + eb^2)^2 / (ea^4 / va + eb^4 / vb)
 *
 * degrees of freedom [1]. The chance of |t| or more is I(v / (v + t^2); v/2,
 * 1/2), the regularised incomplete beta function. Times are not normal: now
 * and then one is much too long. A fifth of them may be, and is left out; more
 * make the error large, so that disturbed runs prevent a conclusion rather
 * than causing one.
 *
 * A test that finds no difference has not shown that there is none: two runs
 * find none between 20 and 60 ns. So a conclusion has three outcomes, by the
 * interval of all ratios f for which a and f b pass as equal:
 *
 *     a differs from b       1 is outside of the interval
 *     a is as good as b      the interval lies in [1 / (1 + margin), 1 + margin]
 *     not decided            neither
 *
 * The second is two one-sided tests [2], each at half of CHANCE.
 *
 * [1] B. L. Welch: The generalization of "Student's" problem. 1947.
 * [2] D. J. Schuirmann: A comparison of the two one-sided tests procedure and
 *     the power approach for assessing the equivalence of average
 *     bioavailability. 1987.
 */
#include "noise.h"

#include <math.h>

static const double CHANCE = 0.001;

/* Of more runs than these none is left out. */
enum { NOISE_RUNS = 100 };

struct noisy noise_of(const double *run, unsigned runs)
{
    struct noisy e = { .error = INFINITY };
    double squares = 0;

    for (unsigned i = 0; i < runs; i++)
        e.value += run[i] / runs;
    for (unsigned i = 0; i < runs; i++)
        squares += (run[i] - e.value) * (run[i] - e.value);
    if (runs > 1) {
        e.degrees = runs - 1;
        e.error = sqrt(squares / e.degrees / runs);
    }
    return e;
}

struct noisy noise_times(const double *run, unsigned runs)
{
    unsigned slow = runs / 5, kept = 0;
    double some[NOISE_RUNS];

    if (runs > NOISE_RUNS)
        return noise_of(run, runs);
    for (unsigned i = 0; i < runs; i++) {
        unsigned slower = 0; /* how many are; of equal ones, the later */

        for (unsigned j = 0; j < runs; j++)
            slower += run[j] > run[i] || (!(run[j] < run[i]) && j > i);
        if (slower >= slow)
            some[kept++] = run[i];
    }
    return noise_of(some, kept);
}

struct noisy noise_share(double share, double trials, double spread,
                         double filters)
{
    /* None counted is not none possible: as if there were one. */
    double p = fmin(fmax(share, 1 / trials), 1 - 1 / trials);

    return (struct noisy){ .value = share,
                           .error = sqrt(p * (1 - p) / trials +
                                         spread * spread / filters),
                           .degrees = INFINITY };
}

/* The continued fraction of the incomplete beta function, by Lentz. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), f = d;

    for (double m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x /
                     ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 / (1 + even * d);
        c = 1 + even / c;
        f *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        step = c * d;
        f *= step;
        if (fabs(step - 1) < 1e-14)
            break;
    }
    return f;
}

static double beta_share(double a, double b, double x)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) +
                       b * log1p(-x));

    return x < (a + 1) / (a + b + 2)
               ? front * beta_fraction(a, b, x) / a
               : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* The chance that |t| is as large or larger by noise alone. */
static double chance_of(double t, double degrees)
{
    if (!isfinite(degrees))
        return erfc(t / sqrt(2));
    return beta_share(degrees / 2, 0.5, degrees / (degrees + t * t));
}

int noise_compare(const struct noisy *a, const struct noisy *b)
{
    double difference = a->value - b->value, t, degrees;
    double one = a->error * a->error, two = b->error * b->error;
    bool real;

    if (!isfinite(one) || !isfinite(two) || !(fabs(difference) > 0))
        return 0;
    t = fabs(difference) / sqrt(one + two);
    degrees = (one + two) * (one + two) /
              (one * one / a->degrees + two * two / b->degrees);
    real = !(one + two > 0) || chance_of(t, degrees) < CHANCE;
    return real ? (difference > 0 ? 1 : -1) : 0;
}

/* --- intervals --- */

/* Is `a` found to differ from x, or from x times b? */
static bool excluded(const struct noisy *a, const struct noisy *b, double x)
{
    struct noisy other = { .value = x, .degrees = INFINITY };

    if (b) {
        other.value = x * b->value;
        other.error = x * b->error;
        other.degrees = b->degrees;
    }
    return noise_compare(a, &other) != 0;
}

/* The end of what is not excluded, between `in`, which is not, and `out`. */
static double find_end(const struct noisy *a, const struct noisy *b, double in,
                       double out)
{
    for (int i = 0; i < 100; i++) {
        double middle = (in + out) / 2;

        if (excluded(a, b, middle))
            out = middle;
        else
            in = middle;
    }
    return in;
}

struct band noise_band(const struct noisy *a)
{
    double far = a->error;

    if (!isfinite(a->error))
        return (struct band){ -INFINITY, INFINITY };
    if (!(a->error > 0))
        return (struct band){ a->value, a->value };
    while (!excluded(a, NULL, a->value + far))
        far *= 2;
    return (struct band){ find_end(a, NULL, a->value, a->value - far),
                          find_end(a, NULL, a->value, a->value + far) };
}

struct band noise_ratio(const struct noisy *a, const struct noisy *b)
{
    static const double most = 1e6;
    double ratio = a->value / b->value, far = 2 * ratio;
    struct band r = { 0, INFINITY };

    if (excluded(a, b, 0))
        r.low = find_end(a, b, ratio, 0);
    while (far < most * ratio && !excluded(a, b, far))
        far *= 2;
    if (far < most * ratio)
        r.high = find_end(a, b, ratio, far);
    return r;
}

const char *noise_words(char text[NOISE_WORDS], struct band ratio)
{
    int digits = ratio.high < 100 ? 2 : 0;

    if (isfinite(ratio.high))
        snprintf(text, NOISE_WORDS, "%.*f to %.*f times", digits, ratio.low,
                 digits, ratio.high);
    else if (ratio.low > 0)
        snprintf(text, NOISE_WORDS, "%.2f times or more", ratio.low);
    else
        snprintf(text, NOISE_WORDS, "an unknown number of times");
    return text;
}

bool noise_equal(const struct noisy *a, const struct noisy *b, double margin)
{
    struct band r = noise_ratio(a, b);

    return r.low >= 1 / (1 + margin) && r.high <= 1 + margin;
}

unsigned noise_least(const struct noisy *e, unsigned n, bool *clear)
{
    unsigned best, first, last;

    best = noise_near(e, n, &first, &last);
    if (clear)
        *clear = first == last;
    return best;
}

unsigned noise_near(const struct noisy *e, unsigned n, unsigned *first,
                    unsigned *last)
{
    unsigned best = 0;

    for (unsigned i = 1; i < n; i++)
        if (e[i].value < e[best].value)
            best = i;
    *first = *last = best;
    for (unsigned i = 0; i < n; i++)
        if (!noise_compare(&e[best], &e[i])) {
            *first = i < *first ? i : *first;
            *last = i > *last ? i : *last;
        }
    return best;
}
