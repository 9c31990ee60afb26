/*
 * size.c - how large a filter must be.
 *
 * Any three of capacity n, rate p, bits m and probes k give the fourth, and
 * with the best k two are enough. The thesis adds M, with m = n k M. One
 * solver works for all kinds: a kind gives its formula p(n, m, k), which falls
 * with m and rises with n, and the missing value is found by bisection.
 *
 * Hostile plans assume that an attacker chooses the keys so that each sets k
 * new cells: n keys set nk cells, and the rate is (nk/m)^k, with its minimum at
 * k = m/(en) [1]. This formula then replaces that of the kind.
 *
 * [1] T. Gerbet, A. Kumar, C. Lauradoux: The power of evil choices in Bloom
 *     filters. DSN 2015.
 */
#include <seen/kind_writer.h>

#include <math.h>

#include "cells.h"

typedef double formula(double n, double m, unsigned k);

static double hostile(double n, double m, unsigned k)
{
    return pow(fmin(1, n * k / m), k);
}

/* The distance from the rate, as a logarithm; formulas may round to 0. */
static double miss(formula *p, double n, double log_m, unsigned k, double rate)
{
    return log(fmax(p(n, exp(log_m), k), 1e-300) / rate);
}

/*
 * The smallest m with p(n, m, k) <= rate. The formula of `blocked` takes
 * microseconds, so this is not bisection but regula falsi on logarithms, which
 * are nearly linear. The Illinois rule moves an end that stays in place.
 */
static double cells_for(formula *p, double n, double rate, unsigned k)
{
    double guess = log(n * fmax(1, -2.1 * log(rate)));
    double low = guess - 0.3, high = guess + 0.3;
    double above = miss(p, n, low, k, rate), below;

    while (above <= 0 && low > -10)
        low -= 1, above = miss(p, n, low, k, rate);
    below = miss(p, n, high, k, rate);
    while (below > 0 && high < 50)
        high += 1, below = miss(p, n, high, k, rate);
    for (int i = 0; i < 60 && high - low > 1e-12; i++) {
        double at = (low * below - high * above) / (below - above), here;

        if (!(at > low && at < high))
            at = low + (high - low) / 2;
        here = miss(p, n, at, k, rate);
        if (here > 0)
            low = at, above = here, below /= 2;
        else
            high = at, below = here, above /= 2;
        if (here <= 0 && here > -1e-12)
            break;
    }
    return exp(high);
}

/* The largest n with p(n, m, k) <= rate. */
static double keys_for(formula *p, double m, double rate, unsigned k)
{
    double low = 0, high = m;

    for (int i = 0; i < 60; i++) {
        double middle = low + (high - low) / 2;

        if (p(middle, m, k) > rate)
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* The best k for the known values: fewest cells, or the lowest rate. */
static unsigned best_probes(formula *p, double n, double m, double rate,
                            unsigned most)
{
    double best = INFINITY;
    unsigned k = 1;

    for (unsigned i = 1; i <= most; i++) {
        double cost = m > 0 && n > 0 ? p(n, m, i)
                      : n > 0        ? cells_for(p, n, rate, i)
                                     : -keys_for(p, m, rate, i);

        if (cost < best) {
            best = cost;
            k = i;
        } else if (i > k + 1) {
            break; /* costs fall, then rise */
        }
    }
    return k;
}

/* The multiplier M relates m, n and k: find the missing one. */
static enum seen_code multiply(struct seen_plan *plan, double *n, double *m,
                               double *k, unsigned most,
                               struct seen_error *why)
{
    double M = plan->multiplier;

    if (!(*k > 0) && *n > 0 && *m > 0)
        *k = round(*m / (*n * M));
    if (!(*k > 0) && plan->rate > 0)
        *k = fmax(1, ceil(log(plan->rate) / log(-expm1(-1 / M)) - 1e-9));
    if (!(*k > 0) || *k > most)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a multiplier goes with 1 to %u probes, or a rate",
                         most);
    if (!(*n > 0) && *m > 0)
        *n = floor(*m / (*k * M));
    if (!(*n > 0))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a multiplier goes with a capacity, or bits");
    if (!(*m > 0))
        *m = ceil(*n * *k * M);
    if (fabs(*m - *n * *k * M) > LINE_BITS + 1e-6 * *m)
        return seen_fail(why, SEEN_RANGE, 0,
                         "bits are not capacity times probes times "
                         "multiplier");
    return SEEN_OK;
}

enum seen_code seen_plan_size(struct seen_plan *plan, bool recorded,
                              unsigned cell_bits, unsigned max_probes,
                              formula *p, struct seen_error *why)
{
    const double whole = (double)LINE_BITS / cell_bits;
    double n = (double)plan->capacity, rate = plan->rate, k = plan->probes;
    double m = (double)plan->bits / cell_bits;

    if (recorded) {
        if (!plan->bits || !plan->probes || plan->probes > max_probes)
            return seen_fail(why, SEEN_RANGE, 0,
                             "bits and probes were not recorded");
        return SEEN_OK;
    }
    if (k > max_probes)
        return seen_fail(why, SEEN_RANGE, 0, "more than %u probes",
                         max_probes);
    if (plan->hostile)
        p = hostile;
    if (plan->multiplier > 0) {
        enum seen_code code = multiply(plan, &n, &m, &k, max_probes, why);

        if (code != SEEN_OK)
            return code;
    }
    if ((n > 0) + (m > 0) + (rate > 0) < 2)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a plan needs two of capacity, rate and bits");
    if (!(k > 0))
        k = best_probes(p, n, m, rate, max_probes);
    if (!(m > 0))
        m = ceil(cells_for(p, n, rate, (unsigned)k) / whole) * whole;
    if (!(n > 0))
        n = floor(keys_for(p, m, rate, (unsigned)k));
    if (n < 1)
        return seen_fail(why, SEEN_RANGE, 0,
                         "the bits are too few for one key at this rate");
    if (!(m * cell_bits <= (double)SEEN_BITS))
        return seen_fail(why, SEEN_RANGE, 0,
                         "the plan takes more than 2^48 bits");
    if (!(rate > 0))
        rate = p(n, m, (unsigned)k);
    if (!(rate > 0 && rate < 1))
        return seen_fail(why, SEEN_RANGE, 0, "the plan gives a rate of %g",
                         rate);
    if (p(n, m, (unsigned)k) > rate * (1 + 1e-6))
        return seen_fail(why, SEEN_RANGE, 0,
                         "%.0f cells with %.0f probes give %.0f keys a rate "
                         "of %.3g, not %.3g",
                         m, k, n, p(n, m, (unsigned)k), rate);
    plan->capacity = (uint64_t)n;
    plan->rate = rate;
    plan->probes = (unsigned)k;
    plan->bits = (uint64_t)m * cell_bits;
    return SEEN_OK;
}

uint64_t seen_plan_limit(const struct seen_plan *plan, uint64_t cells)
{
    double m = (double)cells, n = (double)plan->capacity;
    double c = plan->probes * n / m;
    double sigma = sqrt(m * exp(-c) * (1 - (1 + c) * exp(-c)));

    if (plan->over)
        return UINT64_MAX;
    if (plan->hostile) /* the most that n keys can set */
        return (uint64_t)fmin(m, n * plan->probes);
    if (plan->tight)
        sigma = 0;
    return (uint64_t)ceil(fmax(1, -m * expm1(-c) + 5 * sigma));
}
