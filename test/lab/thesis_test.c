/* thesis_test.c - what the experiments of the thesis are made of. */
#include <math.h>
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/exact.h"
#include "lab/thesis/about.h"
#include "lab/thesis/crawled.h"
#include "lab/thesis/grid.h"
#include "lab/thesis/hashing.h"
#include "lab/thesis/thesis.h"
#include "lab/thesis/trial.h"

static struct urls *urls;
static struct lab lab;

static int make_urls(void **state)
{
    (void)state;
    if (urls_new(&urls, 1, NULL) != SEEN_OK)
        return -1;
    lab.urls = urls;
    return 0;
}

static int free_urls(void **state)
{
    (void)state;
    urls_free(urls);
    return 0;
}

/* Those at the end of the calendar, too. */
static void names_and_dates_are_all_different(void **state)
{
    (void)state;
    for (enum topic about = URLS; about < ABOUTS; about++) {
        struct exact set = { .way = HASHED };
        struct corpus t;

        about_texts(&t, about, &lab, 0, 20000);
        for (size_t i = 0; i < t.n; i++)
            assert_true(exact_add_key(&set, &t.key[i]));
        corpus_clear(&t);
        about_texts(&t, about, &lab, DAYS - 10000, 10000);
        for (size_t i = 0; i < t.n; i++)
            assert_true(exact_add_key(&set, &t.key[i]));
        corpus_clear(&t);
        exact_clear(&set);
    }
}

/* Days after the first that a calendar knows. */
static void dates_are_those_of_the_calendar(void **state)
{
    static const struct {
        uint64_t day;
        const char *date;
    } known[] = {
        { 0, "1583-01-01" },      { 31, "1583-02-01" },
        { 365, "1584-01-01" },    { 424, "1584-02-29" },
        { 146097, "1983-01-01" }, { 152306, "2000-01-01" },
        { 152365, "2000-02-29" }, { 156123, "2010-06-14" },
        { 188889, "2100-02-28" }, { 188890, "2100-03-01" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct corpus t;

        about_texts(&t, DATES, &lab, known[i].day, 1);
        assert_int_equal(t.key[0].len, 10);
        assert_memory_equal(t.key[0].text, known[i].date, 10);
        corpus_clear(&t);
    }
}

/* The hash functions are those that filters take: the positions of one probe
   that hashing gives are the bits that a filter sets. */
static void hashing_gives_the_positions_of_filters(void **state)
{
    enum { N = 50, PROBES = 3, SEED = 11, BITS = 1 << 20 };

    (void)state;
    for (unsigned h = 0; h < BAD; h++) {
        struct seen_plan plan = {
            .capacity = 1000, .probes = PROBES, .bits = BITS, .seed = SEED
        };
        struct seen_filter *f;
        struct corpus t;
        uint64_t hash[N * PROBES];
        bool *set = calloc(BITS, 1);
        uint64_t count = 0;

        snprintf(plan.kind, sizeof plan.kind, "%s", hashing_kind(h));
        corpus_init(&t, urls, 0, N);
        assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
        assert_int_equal(seen_filter_add(f, t.key, N, NULL, NULL), SEEN_OK);
        hashing_all(h, &t, SEED, PROBES, hash);
        for (size_t i = 0; i < N * PROBES; i++) {
            uint64_t at = hash[i] >> 44; /* times 2^20 */

            count += !set[at];
            set[at] = true;
        }
        assert_int_equal(seen_filter_cells_set(f), count);
        free(set);
        seen_filter_free(f);
        corpus_clear(&t);
    }
}

/* 32 bits on 3 cells: two get one value more. On 2^k cells they are even. */
static void short_hashes_raise_a_rate_by_next_to_nothing(void **state)
{
    (void)state;
    assert_true(fabs(narrow_bias(1000000, UINT64_C(1) << 24, 5)) < 1e-12);
    assert_true(narrow_bias(1000000, 50000000, 10) > 0);
    assert_true(narrow_bias(1000000, 50000000, 10) < 1e-4);
    /* 3 * 2^30 cells: one in three has two values, which shows */
    assert_true(narrow_bias(300000000, UINT64_C(3) << 30, 3) > 0.01);
}

/* A rate that is off by a twentieth is not let through by 400 URLs lost. */
static void a_wrong_rate_lies_outside_the_band(void **state)
{
    const struct thesis_shape cell = { 4, 2.0 };
    struct trial t = {
        .cell = &cell, .cells = 1, .filters = 2, .n = 100000, .runs = 100
    };
    uint64_t lost[2];
    struct finding f;

    (void)state;
    t.lost = lost;
    for (unsigned filters = 1; filters <= 2; filters++) {
        double should = trial_theory(&t, 0, filters) * 1e7;

        lost[filters - 1] = (uint64_t)round(should);
        trial_finding(&t, 0, filters, NAN, NAN, &f);
        assert_int_equal(finding_judge(&f, THEORY), AGREES);
        lost[filters - 1] = (uint64_t)round(should * 1.12);
        trial_finding(&t, 0, filters, NAN, NAN, &f);
        assert_int_equal(finding_judge(&f, THEORY), DIFFERS);
        lost[filters - 1] = (uint64_t)round(should * 0.88);
        trial_finding(&t, 0, filters, NAN, NAN, &f);
        assert_int_equal(finding_judge(&f, THEORY), DIFFERS);
    }
    lost[0] = (uint64_t)round(trial_theory(&t, 0, 1) * 1e7);
    trial_finding(&t, 0, 1, 2.3985, 0.00005, &f); /* Table 5.9 */
    assert_int_equal(finding_judge(&f, THEORY), AGREES);
    trial_finding(&t, 0, 1, 2.41, 0.005, &f); /* and if it were 2.41 */
    assert_int_equal(finding_judge(&f, PUBLISHED), DIFFERS);
}

/* What a crawl of n random URLs loses to a filter of n k M bits. */
static double crawl_at_random(unsigned n, unsigned k, unsigned M,
                              uint64_t *random)
{
    uint64_t m = (uint64_t)n * k * M, at[8];
    bool *set = calloc(m, sizeof *set);
    double lost = 0;

    assert_non_null(set);
    for (unsigned i = 0; i < n; i++) {
        bool all = true;

        for (unsigned j = 0; j < k; j++) {
            at[j] = seen_mix((*random)++) % m;
            all = all && set[at[j]];
        }
        for (unsigned j = 0; j < k; j++)
            set[at[j]] = true;
        lost += all;
    }
    free(set);
    return lost;
}

/* The variance of R draws has a relative deviation of sqrt(2 / R): 2.2 % of
   4000; five of them are 11 %. Independent trials would be 53 % off for k = 1,
   17 % for k = 2. */
static void losses_of_a_crawl_vary_as_computed(void **state)
{
    enum { DRAWS = 4000, N = 500 };
    uint64_t random = 1;
    double load = 0.5, e = exp(-load);

    (void)state;
    assert_true(fabs(crawled_variance(1, 2) - 2 * e * (1 - (1 + load) * e)) <
                1e-9);
    for (unsigned k = 1; k <= 3; k++) {
        double sum = 0, squares = 0;

        for (int i = 0; i < DRAWS; i++) {
            double lost = crawl_at_random(N, k, 2, &random);

            sum += lost;
            squares += lost * lost;
        }
        squares = (squares - sum * sum / DRAWS) / (DRAWS - 1) / N;
        assert_true(fabs(squares / crawled_variance(k, 2) - 1) < 0.11);
    }
}

/* One in 1e5 is missed on either side together: 4.417 deviations. */
static void bands_of_crawls_are_as_wide_as_they_vary(void **state)
{
    double n = 1e6, runs = 10;
    double p = theory_incremental(n, 2 * n, 1, 1, 1);
    double sd = sqrt(crawled_variance(1, 2) / (n * runs));
    struct band b = crawled_band(1, 2, 1, false, n, runs);

    (void)state;
    assert_true(b.low < p && p < b.high);
    assert_true(fabs((b.high - b.low) / (2 * 4.417 * sd) - 1) < 1e-3);
    /* Two filters in one order are one of two probes. */
    b = crawled_band(1, 2, 2, false, n, runs);
    sd = sqrt(crawled_variance(2, 2) / (n * runs));
    assert_true(fabs((b.high - b.low) / (2 * 4.417 * sd) - 1) < 1e-3);
    /* In orders of their own, they lose p^2. */
    b = crawled_band(1, 2, 2, true, n, runs);
    assert_true(b.low < p * p && p * p < b.high);
    /* Where next to nothing is lost, nothing is within the band. */
    assert_true(crawled_band(3, 2, 4, false, 1e4, 1).low == 0);
    assert_true(crawled_band(3, 2, 4, true, 1e4, 1).low == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_dates_are_all_different),
        cmocka_unit_test(dates_are_those_of_the_calendar),
        cmocka_unit_test(hashing_gives_the_positions_of_filters),
        cmocka_unit_test(short_hashes_raise_a_rate_by_next_to_nothing),
        cmocka_unit_test(a_wrong_rate_lies_outside_the_band),
        cmocka_unit_test(losses_of_a_crawl_vary_as_computed),
        cmocka_unit_test(bands_of_crawls_are_as_wide_as_they_vary),
    };

    return cmocka_run_group_tests(tests, make_urls, free_urls);
}
