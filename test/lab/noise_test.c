/* noise_test.c - conclusions vanish when the noise is larger. */
#include "test/test.h"

#include <math.h>

#include "lab/noise.h"

/* Five runs around `mean`, with the noise of a fifth of a turn each. */
static struct noisy runs_around(double mean, double noise)
{
    static const double turn[5] = { -1, 0.5, 1, -0.5, 0 };
    double run[5];

    for (int i = 0; i < 5; i++)
        run[i] = mean + noise * turn[i];
    return noise_of(run, 5);
}

TEST(a_difference_counts_until_the_noise_is_larger)
{
    struct noisy a, b;

    for (double noise = 0; noise < 0.6; noise += 0.1) {
        a = runs_around(10, noise);
        b = runs_around(12, noise);
        assert_int_equal(noise_compare(&a, &b), -1);
        assert_int_equal(noise_compare(&b, &a), 1);
    }
    for (double noise = 1; noise < 10; noise++) {
        a = runs_around(10, noise);
        b = runs_around(12, noise);
        assert_int_equal(noise_compare(&a, &b), 0);
        assert_int_equal(noise_compare(&b, &a), 0);
    }
}

TEST(the_limit_is_that_of_students_distribution)
{
    /* Both have the error sqrt(0.625 / 5) times the noise, and 8 degrees of
       freedom, of which 5.0413 is the quantile for one in a thousand: it is
       left at a difference of 5.0413 sqrt(2 / 8) = 2.5207. */
    struct noisy a = runs_around(0, 1);
    struct noisy less = runs_around(2.52, 1), more = runs_around(2.522, 1);

    assert_int_equal(noise_compare(&a, &less), 0);
    assert_int_equal(noise_compare(&a, &more), -1);
    /* 1 and 3 degrees, by tables: 636.62 and 12.924. */
    a = (struct noisy){ 0, 1, 1 };
    less = (struct noisy){ 636, 0, 1 };
    more = (struct noisy){ 637, 0, 1 };
    assert_int_equal(noise_compare(&a, &less), 0);
    assert_int_equal(noise_compare(&a, &more), -1);
    a.degrees = 3;
    less.value = 12.9;
    more.value = 12.95;
    assert_int_equal(noise_compare(&a, &less), 0);
    assert_int_equal(noise_compare(&a, &more), -1);
}

TEST(one_run_says_nothing)
{
    double one = 1, other = 1000;
    struct noisy a = noise_of(&one, 1), b = noise_of(&other, 1);
    struct noisy c = runs_around(1000, 0.1);

    assert_int_equal(noise_compare(&a, &b), 0);
    assert_int_equal(noise_compare(&a, &c), 0);
    assert_int_equal(noise_compare(&c, &a), 0);
}

TEST(a_run_that_was_disturbed_is_left_out_and_two_prevent_a_conclusion)
{
    const double quiet[5] = { 10, 10.1, 9.9, 10, 10 };
    const double slow[5] = { 11, 11.1, 10.9, 11, 11 };
    const double once[5] = { 11, 90, 10.9, 11, 11 };
    const double twice[5] = { 11, 90, 10.9, 11, 90 };
    struct noisy a = noise_times(quiet, 5), b = noise_times(slow, 5);
    struct noisy c = noise_times(once, 5);
    struct noisy d = noise_times(twice, 5), e = noise_of(once, 5);

    assert_int_equal(noise_compare(&a, &b), -1);
    assert_int_equal(noise_compare(&a, &c), -1);
    assert_int_equal(noise_compare(&a, &d), 0);
    assert_int_equal(noise_compare(&a, &e), 0); /* all are counted */
    assert_true(a.degrees < 4 && e.degrees > 3);
    assert_true(fabs(c.value - 10.975) < 1e-9);
}

TEST(equal_numbers_without_noise_are_equal)
{
    struct noisy a = runs_around(5, 0), b = runs_around(5, 0);

    assert_int_equal(noise_compare(&a, &b), 0);
}

TEST(shares_differ_if_enough_were_counted)
{
    /* 1.0 and 1.1 % of 10,000 trials: a deviation is 0.1 %. Of a million: a
       hundredth. If filters differ by 0.1 % each, one of each says nothing. */
    struct noisy a = noise_share(0.010, 1e4, 0, 1);
    struct noisy b = noise_share(0.011, 1e4, 0, 1);

    assert_int_equal(noise_compare(&a, &b), 0);
    a = noise_share(0.010, 1e6, 0, 1);
    b = noise_share(0.011, 1e6, 0, 1);
    assert_int_equal(noise_compare(&a, &b), -1);
    a = noise_share(0.010, 1e6, 0.001, 1);
    b = noise_share(0.011, 1e6, 0.001, 1);
    assert_int_equal(noise_compare(&a, &b), 0);
    a = noise_share(0.010, 1e6, 0.001, 1000);
    b = noise_share(0.011, 1e6, 0.001, 1000);
    assert_int_equal(noise_compare(&a, &b), -1);
    /* None of a hundred is not less than one. */
    a = noise_share(0, 100, 0, 1);
    b = noise_share(0.01, 100, 0, 1);
    assert_int_equal(noise_compare(&a, &b), 0);
}

TEST(the_least_is_clear_only_if_no_other_is_near)
{
    struct noisy e[3] = { runs_around(12, 0.1), runs_around(10, 0.1),
                          runs_around(15, 0.1) };
    bool clear;

    assert_int_equal(noise_least(e, 3, &clear), 1);
    assert_true(clear);
    e[0] = runs_around(12, 5);
    assert_int_equal(noise_least(e, 3, &clear), 1);
    assert_false(clear);
    assert_int_equal(noise_least(e, 3, NULL), 1);
}

TEST(a_band_ends_where_the_test_begins_to_find_a_difference)
{
    /* 3 degrees, by tables: 12.924 errors; and known, 3.2905. */
    struct noisy few = { 100, 1, 3 }, known = { 100, 1, INFINITY };
    struct noisy exact = { 100, 0, 3 };
    double one = 100;
    struct noisy once = noise_of(&one, 1);
    struct band b = noise_band(&few);

    assert_true(fabs(b.low - (100 - 12.924)) < 0.001);
    assert_true(fabs(b.high - (100 + 12.924)) < 0.001);
    b = noise_band(&known);
    assert_true(fabs(b.low - (100 - 3.2905)) < 0.0001);
    assert_true(fabs(b.high - (100 + 3.2905)) < 0.0001);
    b = noise_band(&exact);
    assert_true(b.low >= 100 && b.high <= 100);
    b = noise_band(&once);
    assert_true(isinf(b.low) && isinf(b.high));
}

/* Fieller's interval, by hand: with known errors its ends solve
   (a - f b)^2 = z^2 (ea^2 + f^2 eb^2), z = 3.2905. */
TEST(the_ends_of_a_ratio_are_fiellers)
{
    struct noisy a = { 60, 2, INFINITY }, b = { 20, 1, INFINITY };
    struct band r = noise_ratio(&a, &b);
    double z = 3.290527, p = z * z, A = 400 - p, B = 1200, C = 3600 - 4 * p;

    assert_true(fabs(r.low - (B - sqrt(B * B - A * C)) / A) < 1e-4);
    assert_true(fabs(r.high - (B + sqrt(B * B - A * C)) / A) < 1e-4);
    b.error = 7; /* b may be 0 */
    r = noise_ratio(&a, &b);
    assert_true(r.low > 0 && isinf(r.high));
    a.error = b.error = INFINITY;
    r = noise_ratio(&a, &b);
    assert_false(r.low > 0);
    assert_true(isinf(r.high));
}

TEST(what_does_not_differ_need_not_be_equal)
{
    /* 20 and 60 ns with much noise: neither. 100 and 101 with little: equal
       to within a tenth, and no difference. 100 and 103 with less: both. */
    struct noisy a = runs_around(20, 30), b = runs_around(60, 30);

    assert_int_equal(noise_compare(&a, &b), 0);
    assert_false(noise_equal(&a, &b, 0.1));
    a = runs_around(100, 1);
    b = runs_around(101, 1);
    assert_int_equal(noise_compare(&a, &b), 0);
    assert_true(noise_equal(&a, &b, 0.1));
    assert_true(noise_equal(&b, &a, 0.1));
    assert_false(noise_equal(&a, &b, 0.01));
    a = runs_around(100, 0.1);
    b = runs_around(103, 0.1);
    assert_int_equal(noise_compare(&a, &b), -1);
    assert_true(noise_equal(&a, &b, 0.1));
    b = runs_around(112, 0.1);
    assert_false(noise_equal(&a, &b, 0.1));
    assert_false(noise_equal(&b, &a, 0.1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_counts_until_the_noise_is_larger),
        cmocka_unit_test(the_limit_is_that_of_students_distribution),
        cmocka_unit_test(one_run_says_nothing),
        cmocka_unit_test(
            a_run_that_was_disturbed_is_left_out_and_two_prevent_a_conclusion),
        cmocka_unit_test(equal_numbers_without_noise_are_equal),
        cmocka_unit_test(shares_differ_if_enough_were_counted),
        cmocka_unit_test(the_least_is_clear_only_if_no_other_is_near),
        cmocka_unit_test(
            a_band_ends_where_the_test_begins_to_find_a_difference),
        cmocka_unit_test(the_ends_of_a_ratio_are_fiellers),
        cmocka_unit_test(what_does_not_differ_need_not_be_equal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
