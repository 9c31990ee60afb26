/* band_test.c - bands hold what chance brings, and nothing else. */
#include "test/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <seen/key.h>

#include "lab/band.h"

static const double TAIL = 0.5e-5;

static uint64_t number; /* the next random number is its mix */

/* In [0, 1). */
static double chance(void)
{
    return (double)(seen_mix(number++) >> 11) * 0x1p-53;
}

static bool within(struct band b, double x)
{
    return x >= b.low && x <= b.high;
}

/* P(X <= x) of Poisson, term by term. */
static double poisson(double mean, double x)
{
    double sum = 0, term = exp(-mean);

    for (double i = 0; i <= x; i++) {
        sum += term;
        term *= mean / (i + 1);
    }
    return sum;
}

/* The ends are where the tails are as large as promised and no larger. The
   band has half a hit of room, hence the rounding. */
TEST(few_hits_have_the_quantiles_of_poisson)
{
    static const double means[] = { 0.001, 0.5, 3, 17, 250 };

    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        double mean = means[i], trials = 1e9;
        struct band b = band_share(mean / trials, trials, 0, 0);
        double low = round(b.low * trials + 0.4);
        double high = round(b.high * trials - 0.4);

        assert_true(poisson(mean, low - 1) <= TAIL);
        assert_true(poisson(mean, low) > TAIL);
        assert_true(1 - poisson(mean, high) <= TAIL);
        assert_true(1 - poisson(mean, high - 1) > TAIL);
    }
}

/* There is no jump where counting ends and the normal distribution begins. */
TEST(many_hits_go_on_where_few_end)
{
    double trials = 1e8;
    struct band few = band_share(1999.99 / trials, trials, 1e-7, 10);
    struct band many = band_share(2000.01 / trials, trials, 1e-7, 10);

    assert_true(fabs(few.low - many.low) * trials < 2);
    assert_true(fabs(few.high - many.high) * trials < 2);
}

/*
 * 100,000 simulated shares of 200 trials each. One is expected outside; seven
 * or more have a chance of 1e-4 even so, and the seed is fixed. A theory that
 * is wrong by a third would be noticed in a good part of them.
 */
TEST(a_band_holds_what_chance_brings)
{
    const double ps[] = { 0.02, 0.3, 0.5, 0.9 };
    enum { SHARES = 25000, TRIALS = 200 };
    int outside = 0;

    number = 1;
    for (int i = 0; i < 4; i++) {
        struct band b = band_share(ps[i], TRIALS, 0, 0);

        for (int j = 0; j < SHARES; j++) {
            int hits = 0;

            for (int t = 0; t < TRIALS; t++)
                hits += chance() < ps[i];
            outside += !within(b, (double)hits / TRIALS);
        }
    }
    assert_in_range(outside, 0, 6);
    assert_false(within(band_share(0.02, 1e6, 0, 0), 0.02 * 4 / 3));
    assert_false(within(band_share(0.02, 1e6, 0, 0), 0.02 * 2 / 3));
    assert_false(within(band_share(0.02, 1e6, 0, 0), NAN));
}

TEST(a_band_stays_between_never_and_always)
{
    struct band b = band_share(1e-9, 1000, 0, 0);

    assert_true(b.low == 0 && b.high > 0 && b.high < 0.01);
    b = band_share(1 - 1e-9, 1000, 0, 0);
    assert_true(b.high == 1 && b.low > 0.99);
    b = band_share(0, 1000, 0, 0);
    assert_true(b.low == 0 && b.high == 0);
    assert_true(band_share(0.5, 3, 0, 0).high <= 1);
}

/* Throw the balls of a small filter, and return its share of set bits. */
static double fill(unsigned n, unsigned m, unsigned k)
{
    static unsigned char bit[4096];
    unsigned set = 0;

    memset(bit, 0, m);
    for (unsigned i = 0; i < n * k; i++)
        bit[(unsigned)(chance() * m)] = 1;
    for (unsigned i = 0; i < m; i++)
        set += bit[i];
    return (double)set / m;
}

/*
 * Over 4000 filters the mean of (X/m)^k lies within 5 of its own deviations
 * of theory (with the second order of its curvature), and the deviation of
 * one within 6 %: that of a sample of 4000 has an error of 1.1 %.
 */
TEST(filters_deviate_as_theory_says)
{
    static const unsigned shape[][3] = { { 200, 2000, 3 },
                                         { 500, 2000, 4 },
                                         { 300, 4000, 9 } };
    enum { FILTERS = 4000 };

    number = 77;
    for (int s = 0; s < 3; s++) {
        unsigned n = shape[s][0], m = shape[s][1], k = shape[s][2];
        double sum = 0, squares = 0, mean, sd, q, curve;
        double spread = theory_spread(n, m, k);

        for (int i = 0; i < FILTERS; i++) {
            double p = pow(fill(n, m, k), k);

            sum += p;
            squares += p * p;
        }
        mean = sum / FILTERS;
        sd = sqrt(squares / FILTERS - mean * mean);
        q = pow(theory_rate(n, m, k), 1.0 / k);
        curve = (k - 1) / (2.0 * k) * spread * spread / pow(q, k);
        assert_true(fabs(mean - theory_rate(n, m, k) - curve) <
                    5 * spread / sqrt(FILTERS) + 0.002 * mean);
        assert_true(fabs(sd / spread - 1) < 0.06);
    }
}

/*
 * Filters of their own rate, few questions each: hits of 20 filters together.
 * With the spread forgotten, the band is too narrow for these.
 */
TEST(the_spread_of_filters_widens_the_band)
{
    enum { FILTERS = 20, ASKED = 100000, TIMES = 400 };
    unsigned n = 150, m = 400, k = 2;
    double p = theory_rate(n, m, k), spread = theory_spread(n, m, k);
    double trials = (double)FILTERS * ASKED;
    struct band with = band_share(p, trials, spread, FILTERS);
    struct band without = band_share(p, trials, 0, 0);
    int outside = 0, missed = 0;

    number = 3;
    for (int i = 0; i < TIMES; i++) {
        double share = 0;

        for (int f = 0; f < FILTERS; f++)
            share += pow(fill(n, m, k), k) / FILTERS;
        outside += !within(with, share);
        missed += !within(without, share);
    }
    assert_int_equal(outside, 0);
    assert_true(missed > TIMES / 2);
}

/* Of few hits: means with a gamma distribution, by sums of exponentials. */
TEST(few_hits_of_uneven_filters_are_in_the_band)
{
    enum { TIMES = 100000, SHAPE = 4 };
    double mean = 6, sd = mean / sqrt(SHAPE), trials = 1e6;
    struct band b = band_share(mean / trials, trials, sd / trials, 1);
    struct band narrow = band_share(mean / trials, trials, 0, 0);
    int outside = 0, missed = 0;

    number = 9;
    for (int i = 0; i < TIMES; i++) {
        double own = 0, product = 1;
        int hits = -1;

        for (int j = 0; j < SHAPE; j++)
            own -= log(1 - chance()) * mean / SHAPE;
        for (; product > exp(-own); hits++)
            product *= 1 - chance();
        outside += !within(b, hits / trials);
        missed += !within(narrow, hits / trials);
    }
    assert_in_range(outside, 0, 6);
    assert_true(missed > 100);
}

TEST(a_mean_lies_within_its_own_deviations)
{
    struct band b = band_mean(10, 3, 900);

    assert_true(fabs(b.low - (10 - 0.441717)) < 1e-5);
    assert_true(fabs(b.high - (10 + 0.441717)) < 1e-5);
}

/* P(X <= x) has closed forms for 2 and 4 degrees. For many Wilson and
   Hilferty's cube of a normal comes close. */
TEST(chi_square_has_its_quantiles)
{
    struct band b = band_chi_square(2);
    double z = 4.41717341, d = 1000;

    assert_true(fabs(-expm1(-b.low / 2) / TAIL - 1) < 1e-6);
    assert_true(fabs(exp(-b.high / 2) / TAIL - 1) < 1e-6);
    b = band_chi_square(4);
    assert_true(fabs(exp(-b.high / 2) * (1 + b.high / 2) / TAIL - 1) < 1e-6);
    b = band_chi_square(d);
    assert_true(
        fabs(b.high / (d * pow(1 - 2 / (9 * d) + z * sqrt(2 / (9 * d)), 3)) -
             1) < 1e-3);
    assert_true(
        fabs(b.low / (d * pow(1 - 2 / (9 * d) - z * sqrt(2 / (9 * d)), 3)) -
             1) < 1e-3);
}

/* Table 5.9 of the thesis has 0.3716 % here. */
TEST(theory_is_the_formula)
{
    assert_true(fabs(100 * theory_rate(1e6, 12e6, 6) - 0.3711) < 0.0001);
    assert_true(theory_rate(0, 1000, 3) == 0);
}

/* Where it integrates, the sum gives the same: n is above what it sums. */
TEST(the_incremental_mean_is_a_sum)
{
    static const double of[][3] = {
        { 1, 1, 1 }, { 3, 1, 1 }, { 3, 2, 1 }, { 4, 2, 2 }, { 6, 3, 2 }
    };
    double n = 150000;

    for (int i = 0; i < 5; i++) {
        double k = of[i][0], f = of[i][1], v = of[i][2], m = n * k * 2;
        double sum = 0, got = theory_incremental(n, m, k, f, v);

        for (double j = 0; j < n; j++)
            sum += pow(theory_rate(j, m, k), f * v);
        assert_true(fabs(got / (sum / n) - 1) < 1e-8);
        /* Nothing happens at 100,000, where summing ends. */
        assert_true(fabs(theory_incremental(1e5 + 1, m, k, f, v) /
                             theory_incremental(1e5, m, k, f, v) -
                         1) < 2 * k * f * v / 1e5);
    }
    assert_true(theory_incremental(1, 1000, 3, 1, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_hits_have_the_quantiles_of_poisson),
        cmocka_unit_test(many_hits_go_on_where_few_end),
        cmocka_unit_test(a_band_holds_what_chance_brings),
        cmocka_unit_test(a_band_stays_between_never_and_always),
        cmocka_unit_test(filters_deviate_as_theory_says),
        cmocka_unit_test(the_spread_of_filters_widens_the_band),
        cmocka_unit_test(few_hits_of_uneven_filters_are_in_the_band),
        cmocka_unit_test(a_mean_lies_within_its_own_deviations),
        cmocka_unit_test(chi_square_has_its_quantiles),
        cmocka_unit_test(theory_is_the_formula),
        cmocka_unit_test(the_incremental_mean_is_a_sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
