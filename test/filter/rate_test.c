/*
 * rate_test.c - filters err as often as they say, and no more than planned.
 *
 * Two chances are at work. The filled filter has a rate r of its own, which
 * seen_filter_rate() computes from its cells; and given r the wrong answers
 * to t questions are binomial, with a standard deviation of sqrt(t r (1-r)).
 */
#include "cases.h"

#include <math.h>

#include <seen/build.h>

enum { CAPACITY = 20000, ASKED = 400000, LAST = CAPACITY + ASKED };

static struct seen_key *url;

static int make_urls(void **state)
{
    *state = url = urls_new(LAST);
    return 0;
}

static int free_urls(void **state)
{
    free(*state);
    return 0;
}

static double measured(const struct seen_filter *f)
{
    return (double)yes(f, url + CAPACITY, ASKED) / ASKED;
}

/*
 * With r = 1 %, five standard deviations of t = 400,000 answers are 7.9 % of
 * r. How well the cells tell r depends on the kind. For probes anywhere it
 * is exact: each of k probes hits a set cell with the chance set / m. The
 * lines of `blocked` are unevenly filled by chance, and the cells tell only
 * the mean: the error is below 1 % for 400 lines and more. The small first
 * parts of what grows have fewer, but count for little. Orestes' h1 + i h2
 * falls on few cells for some keys, which is why we do not use it: 3 %
 * more, measured. So 12 % is the band for all, but with two layers, or small
 * parts of three: there, of the URLs never added, many have a segment that
 * is in no layer, and the rate told is that of the others.
 *
 * At capacity the planned rate is met but for the chance of a load above the
 * mean: k = 7 probes and m = 10 n cells leave the load off by 0.28/sqrt(m)
 * = 0.06 %, hence r by 2k times that, 0.9 %; five times that, for all parts
 * at once, and the band of the measurement are 1.05 * 1.12 = 1.18. Keys that
 * a part takes for known are in no other part of what grows, so up to 5 %
 * may be missing where parts have a rate of 10 %.
 */
TEST(the_rate_is_the_one_told_and_not_above_the_planned_one)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], CAPACITY, 0.01);
        bool bound = contains(plan.kind, "layered:2") ||
                     contains(plan.kind, "growing/layered");
        struct seen_filter *f;
        double told, found, band;

        if (contains(plan.kind, "growing"))
            plan.capacity = 1000;
        f = made(&plan);
        add_all(f, url, CAPACITY);
        told = seen_filter_rate(f);
        found = measured(f);
        band = 0.12 * sqrt(0.01 / fmin(told, 0.01));
        if (found / told - 1 > band || (!bound && 1 - found / told > band))
            fail_msg("%s errs for %g, tells %g", plan.kind, found, told);
        if (found > 1.18 * seen_filter_planned(f))
            fail_msg("%s errs for %g, plans %g", plan.kind, found,
                     seen_filter_planned(f));
        if (fabs(seen_filter_entries(f) / CAPACITY - 1) > 0.05 + told)
            fail_msg("%s tells %g entries", plan.kind, seen_filter_entries(f));
        seen_filter_free(f);
    }
}

/* A fuse has no load: its rate is 2^-8 or 2^-16, whatever it holds; that of a
   ribbon is the planned one, or a little less. */
TEST(the_rate_of_what_is_built_is_the_one_told)
{
    for (size_t i = 0; i < LENGTH(built_kind); i++) {
        struct seen_plan plan = plan_of(built_kind[i], CAPACITY, 0.01);
        struct seen_build *b;
        struct seen_filter *f;
        double told, found;

        assert_int_equal(seen_build_new(&b, &plan, 1, NULL), SEEN_OK);
        assert_int_equal(seen_build_add(b, 0, url, CAPACITY, NULL), SEEN_OK);
        assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
        told = seen_filter_rate(f);
        found = measured(f);
        if (fabs(found - told) > 5 * sqrt(told / ASKED) + 1e-6)
            fail_msg("%s errs for %g, tells %g", plan.kind, found, told);
        assert_true(seen_filter_planned(f) <= plan.rate * (1 + 1e-9));
        seen_filter_free(f);
    }
}

/*
 * Low rates in a small filter are where weak hashing shows: a filter of
 * 1,000 keys at 1e-5, asked for 10 million numbers, errs 100 times. Five
 * standard deviations are 50, and the load's own chance (k = 17, m = 24,000:
 * 6 %) adds 30; where lines are few and uneven, rounding up saves half.
 */
TEST(a_small_filter_meets_a_low_rate)
{
    static const char *const kind[] = { "bloom", "spatial:3/bloom",
                                        "spatial:2/blocked" };
    enum { BATCH = 1000, BATCHES = 10000 };
    static struct seen_key key[BATCH];
    static bool seen[BATCH];

    for (size_t i = 0; i < LENGTH(kind); i++) {
        struct seen_plan plan = plan_of(kind[i], 1000, 1e-5);
        struct seen_filter *f = made(&plan);
        size_t wrong = 0;

        for (uint64_t j = 0; j <= BATCHES; j++) {
            for (uint64_t l = 0; l < BATCH; l++)
                seen_key_number(&key[l], j * BATCH + l);
            if (!j)
                add_all(f, key, BATCH);
            assert_int_equal(seen_filter_has(f, key, BATCH, seen, NULL),
                             SEEN_OK);
            for (size_t l = 0; l < BATCH && j; l++)
                wrong += seen[l];
        }
        if (wrong < 20 || wrong > 180)
            fail_msg("%s errs %zu times", kind[i], wrong);
        seen_filter_free(f);
    }
}

/* -- the thesis ---------------------------------------------------------- */

static const double multiplier[] = { 1.7, 2.0, 2.5, 3.0, 4.0, 5.0 };

/* Table 5.9: false positives in percent, n = 1,000,000, m = n k M. */
static const struct {
    unsigned k;
    double percent[6], digit[6];        /* the last one printed */
} thesis[] = {
    { 3,
      { 8.7927, 6.1041, 3.5882, 2.2770, 1.0788, 0.5964 },
      { 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4 } },
    { 4,
      { 3.9137, 2.3985, 1.1832, 0.6458, 0.2395, 0.1098 },
      { 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4 } },
    { 5,
      { 1.7396, 0.9418, 0.3910, 0.1824, 0.0534, 0.0194 },
      { 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4 } },
    { 6,
      { 0.7730, 0.3716, 0.1281, 0.0519, 0.0118, 0.0035 },
      { 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4 } },
    { 7,
      { 0.3455, 0.1468, 0.0419, 0.0147, 0.0027, 0.0006 },
      { 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4 } },
    { 8,
      { 0.1528, 0.0573, 0.0142, 0.0043, 0.0006, 0.0001 },
      { 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4 } },
    { 9,
      { 0.0679, 0.0225, 0.0046, 0.0012, 0.0001, 0.000025 },
      { 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-6 } },
    { 10,
      { 0.0301, 0.0090, 0.0015, 0.0004, 0.00004, 0.000004 },
      { 1e-4, 1e-4, 1e-4, 1e-4, 1e-5, 1e-6 } },
};

/*
 * A plan of capacity, probes and multiplier derives bits = n k M and the
 * rate (1 - e^(-1/M))^k, and the thesis measured it: all 48 figures are
 * within one standard deviation of a million questions and the last digit.
 */
TEST(plans_by_multiplier_meet_every_figure_of_the_thesis)
{
    for (size_t i = 0; i < LENGTH(thesis); i++)
        for (size_t j = 0; j < LENGTH(multiplier); j++) {
            struct seen_plan plan = plan_of("bloom", 1000000, 0);
            struct seen_filter *f;
            double p, m = 1e6 * thesis[i].k * multiplier[j];

            plan.probes = thesis[i].k;
            plan.multiplier = multiplier[j];
            f = made(&plan);
            p = seen_filter_plan(f)->rate;
            assert_true(fabs((double)seen_filter_plan(f)->bits - m) <= 512);
            assert_true(fabs(p - pow(1 - exp(-1 / multiplier[j]),
                                     thesis[i].k)) < 1e-4 * p);
            assert_true(fabs(100 * p - thesis[i].percent[j]) <
                        100 * sqrt(p / 1e6) + thesis[i].digit[j]);
            seen_filter_free(f);
        }
}

/*
 * The same measured, with the thesis' seeded Jenkins and with our own
 * hashing. A million URLs of two are stored and the other million is asked:
 * five standard deviations of sqrt(p (1 - p) / 10^6) are 0.14 % at 8.79 %
 * and 0.048 % at 0.94 %. The load adds 5 k p times its own error of
 * 0.0003: 0.04 % and 0.007 %.
 */
TEST(measured_rates_are_those_of_the_thesis)
{
    static const struct {
        unsigned k;
        double M, percent, band;
    } known[] = { { 3, 1.7, 8.79, 0.18 }, { 5, 2.0, 0.94, 0.055 } };
    static const char *const kind[] = { "bloom", "bloom:jenkins" };
    struct seen_key *all = urls_new(URLS);

    for (size_t i = 0; i < LENGTH(known); i++)
        for (size_t j = 0; j < LENGTH(kind); j++) {
            struct seen_plan plan = plan_of(kind[j], URLS / 2, 0);
            struct seen_filter *f;
            double percent;

            plan.probes = known[i].k;
            plan.multiplier = known[i].M;
            f = made(&plan);
            add_all(f, all, URLS / 2);
            percent = 100.0 * (double)yes(f, all + URLS / 2, URLS / 2) /
                      (URLS / 2);
            if (fabs(percent - known[i].percent) > known[i].band)
                fail_msg("%s, k = %u: %.4f %%", kind[j], known[i].k, percent);
            seen_filter_free(f);
        }
    free(all);
}

/* -- sizes --------------------------------------------------------------- */

/* Any two of capacity, rate and bits give the third, whatever the kind. */
TEST(what_is_missing_in_a_plan_is_derived)
{
    static const char *const kind[] = {
        "bloom",
        "blocked",
        "counting:8",
        "spatial:2/bloom",
        "routed:16/blocked",
        "dynamic:4/bloom",
        "spatial:2/routed:4/blocked",
    };

    for (size_t i = 0; i < LENGTH(kind); i++) {
        struct seen_plan plan = plan_of(kind[i], CAPACITY, 0.01);
        struct seen_filter *f = made(&plan);
        uint64_t bits = seen_filter_bytes(f) * 8 *
                        (contains(kind[i], "dynamic:4") ? 4 : 1);
        const struct seen_plan *got;

        seen_filter_free(f);
        plan = plan_of(kind[i], CAPACITY, 0);
        plan.bits = bits;
        f = made(&plan);
        got = seen_filter_plan(f);
        if (fabs(got->rate / 0.01 - 1) > 0.1)
            fail_msg("%s: rate %g", kind[i], got->rate);
        add_all(f, url, CAPACITY);
        if (measured(f) > 1.18 * seen_filter_planned(f))
            fail_msg("%s: %g", kind[i], measured(f));
        seen_filter_free(f);

        plan = plan_of(kind[i], 0, 0.01);
        plan.bits = bits;
        f = made(&plan);
        got = seen_filter_plan(f);
        if (fabs((double)got->capacity / CAPACITY - 1) > 0.05)
            fail_msg("%s: capacity %llu", kind[i],
                     (unsigned long long)got->capacity);
        add_all(f, url, got->capacity);
        seen_filter_free(f);
    }
}

/*
 * Someone who chooses keys sets k new bits with each: (nk/m)^k after n of
 * them, least at k = m/(en), and then e^-k. The plan takes that k, and is
 * full when nk bits are set, not before.
 */
TEST(a_hostile_plan_meets_its_rate_in_the_worst_case)
{
    struct seen_plan plan = plan_of("bloom", 1000, 0.001);
    struct seen_filter *f;
    const struct seen_plan *got;
    double n = 1000, m, k;

    plan.hostile = true;
    f = made(&plan);
    got = seen_filter_plan(f);
    m = (double)got->bits;
    k = got->probes;
    assert_true(fabs(k - m / (exp(1) * n)) < 1);
    assert_true(pow(n * k / m, k) <= 0.001);
    assert_true(pow(n * k / m, k) > 0.0005);
    assert_true(f->limit == (uint64_t)(n * k));
    add_all(f, url, 1000);
    assert_true(seen_filter_rate(f) < 0.001);
    seen_filter_free(f);
}

/* 2^40 bits are a normal filter: planned, and refused only by memory. */
TEST(sizes_are_of_64_bits)
{
    struct seen_plan plan = { .kind = "bloom", .rate = 0.01 };
    struct seen_filter *f;
    enum seen_code code;

    plan.bits = UINT64_C(1) << 40;
    code = seen_filter_new(&f, &plan, NULL);
    if (code == SEEN_OK) {              /* pages are given when touched */
        assert_true(seen_filter_plan(f)->capacity > UINT64_C(100000000000));
        assert_int_equal(seen_filter_bytes(f), UINT64_C(1) << 37);
        add_all(f, url, 10);            /* of which each may be 2 MiB */
        assert_int_equal(yes(f, url, 1000), 10);
        seen_filter_free(f);
    } else {
        assert_int_equal(code, SEEN_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_rate_is_the_one_told_and_not_above_the_planned_one),
        cmocka_unit_test(the_rate_of_what_is_built_is_the_one_told),
        cmocka_unit_test(a_small_filter_meets_a_low_rate),
        cmocka_unit_test(plans_by_multiplier_meet_every_figure_of_the_thesis),
        cmocka_unit_test(measured_rates_are_those_of_the_thesis),
        cmocka_unit_test(what_is_missing_in_a_plan_is_derived),
        cmocka_unit_test(a_hostile_plan_meets_its_rate_in_the_worst_case),
        cmocka_unit_test(sizes_are_of_64_bits),
    };

    return cmocka_run_group_tests(tests, make_urls, free_urls);
}
