/* freshest_test.c - a budget of visits keeps as many copies current as can be. */
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../crawl/folder/freshest.h"
#include "../../crawl/page/revisit.h"

enum { GROUPS = 5, DAY = 86400, YEAR = 365 };

/* Days between two changes, on average. */
static const double mean_days[GROUPS] = { 2, 5, 15, 45, 120 };

/* Visits per day at which one more gains `price` days of freshness, for a page
   that changes `rate` times per day. */
static double best_visits(double rate, double price)
{
    double low = 1e-9, high = 1e6;

    if (price * rate >= 1)
        return 0;
    for (int i = 0; i < 200; i++) {
        double x = sqrt(low * high), e = rate / x;

        if ((-expm1(-e) - e * exp(-e)) / rate > price)
            low = x;
        else
            high = x;
    }
    return low;
}

/* The best that anybody can do who knows all rates: the mean freshness with so
   many visits per page and day. */
static double oracle(double visits)
{
    double low = 0, high = 1000, freshness = 0;

    for (int i = 0; i < 100; i++) {
        double price = (low + high) / 2, all = 0;

        freshness = 0;
        for (int g = 0; g < GROUPS; g++) {
            double f = best_visits(1 / mean_days[g], price);

            all += f / GROUPS;
            if (f > 0)
                freshness += crawl_revisit_freshness(1 / mean_days[g], 1 / f) /
                             GROUPS;
        }
        if (all > visits)
            low = price;
        else
            high = price;
    }
    return freshness;
}

struct page {
    struct crawl_known known;
    double changes; /* next, in days */
    double since;   /* our copy is the current one until `changes` */
    int group;
};

static double exponential(unsigned short seed[3], double mean)
{
    return -mean * log1p(-erand48(seed));
}

struct half_year {
    double fresh, days, visits;
};

/* Visit a page at its due time. */
static void visit(struct page *p, double now, unsigned short seed[3],
                  struct half_year *late)
{
    double from = fmax(p->since, YEAR / 2.0), until = fmin(p->changes, now);
    bool changed = p->changes <= now;

    if (until > from)
        late->fresh += until - from;
    late->visits += now > YEAR / 2.0 && now < YEAR;
    if (now >= YEAR)
        return;
    crawl_revisit_note(&p->known, (int64_t)(now * DAY * 1000), changed);
    p->known.last = (int64_t)(now * DAY * 1000);
    p->since = now;
    while (p->changes <= now)
        p->changes += exponential(seed, mean_days[p->group]);
}

/* A year of pages, a price per week. Returns the second half. */
static struct half_year simulate(int pages, double visits)
{
    struct page *page = calloc((size_t)pages, sizeof *page);
    unsigned short seed[3] = { 7, 8, 9 };
    struct half_year late = { .days = pages * YEAR / 2.0 };
    struct crawl_freshest *f;

    assert_int_equal(crawl_freshest_new(&f, 3600, (double)YEAR * DAY, NULL),
                     SEEN_OK);
    crawl_freshest_settle(f, pages, pages * visits / DAY);
    for (int i = 0; i < pages; i++) {
        page[i].group = i % GROUPS;
        page[i].known.id = 1;
        page[i].changes = exponential(seed, mean_days[page[i].group]);
        page[i].known.due = (int64_t)(erand48(seed) * 7 * DAY * 1000);
    }
    for (int day = 0; day < YEAR; day++) {
        if (day % 7 == 0) {
            for (int i = 0; i < pages; i++)
                assert_int_equal(crawl_freshest_note(f, &page[i].known, NULL),
                                 SEEN_OK);
            crawl_freshest_settle(f, pages, pages * visits / DAY);
        }
        for (int i = 0; i < pages; i++)
            while (page[i].known.due < (int64_t)(day + 1) * DAY * 1000) {
                visit(&page[i], (double)page[i].known.due / DAY / 1000, seed,
                      &late);
                page[i].known.due += (int64_t)(1000 * crawl_freshest_interval(
                                                          f, &page[i].known));
            }
    }
    for (int i = 0; i < pages; i++)
        visit(&page[i], YEAR, seed, &late);
    crawl_freshest_free(f);
    free(page);
    return late;
}

/*
 * A visit per page and week. Uniform visits keep 0.71 fresh, proportional ones
 * 0.58 (revisit_test.c). The standard error of the mean of 1,500 pages, which
 * have some 20 intervals each, is below 0.005.
 */
TEST(a_year_of_estimates_comes_close_to_knowing_all_rates)
{
    int pages = getenv("SEEN_SOAK") ? 10000 : 1500;
    struct half_year late = simulate(pages, 1.0 / 7);
    double fresh = late.fresh / late.days, spent = late.visits / late.days;

    print_message("fresh %.4f, visits per page and day %.4f, oracle %.4f\n",
                  fresh, spent, oracle(spent));
    assert_true(fabs(spent * 7 - 1) < 0.1);
    assert_true(fresh > oracle(spent) - 0.02);
    assert_true(fresh > 0.715);
}

static struct crawl_known checked(int checks, double seconds, int changes)
{
    struct crawl_known page = { .id = 1 };

    for (int i = 0; i < checks; i++) {
        crawl_revisit_note(&page, page.last + (int64_t)(seconds * 1000),
                           i < changes);
        page.last += (int64_t)(seconds * 1000);
    }
    return page;
}

TEST(intervals_stay_within_their_bounds_and_the_budget)
{
    struct crawl_known page[] = { checked(30, DAY, 0), checked(30, DAY, 3),
                                  checked(30, DAY, 15), checked(30, DAY, 30),
                                  checked(0, 0, 0) };
    enum { N = sizeof page / sizeof *page };

    for (double budget = 1e-6; budget < 100; budget *= 10) {
        struct crawl_freshest *f;
        double all = 0;

        assert_int_equal(crawl_freshest_new(&f, 3600, 30.0 * DAY, NULL),
                         SEEN_OK);
        for (int i = 0; i < N; i++)
            assert_int_equal(crawl_freshest_note(f, &page[i], NULL), SEEN_OK);
        crawl_freshest_settle(f, N, budget);
        for (int i = 0; i < N; i++) {
            double interval = crawl_freshest_interval(f, &page[i]);

            assert_true(interval >= 3600 && interval <= 30.0 * DAY * 1.001);
            all += 1 / interval;
        }
        /* What the upper bound asks for is spent in any case. */
        assert_true(all < 1.02 * fmax(budget, N / (30.0 * DAY)));
        if (budget > N / (30.0 * DAY) && budget < N / 3600.0 / 10)
            assert_true(all > 0.95 * budget);
        crawl_freshest_free(f);
    }
}

TEST(what_changes_too_fast_to_be_kept_up_with_gives_way)
{
    struct crawl_known slow = checked(30, 10 * DAY, 15),
                       fast = checked(30, 3600, 30);
    struct crawl_freshest *f;

    assert_int_equal(crawl_freshest_new(&f, 3600, 90.0 * DAY, NULL), SEEN_OK);
    for (int i = 0; i < 100; i++) {
        crawl_freshest_note(f, &slow, NULL);
        crawl_freshest_note(f, &fast, NULL);
    }
    crawl_freshest_settle(f, 2, 2.0 / (7 * DAY));
    assert_true(crawl_freshest_interval(f, &fast) >
                5 * crawl_freshest_interval(f, &slow));
    crawl_freshest_free(f);
}

/* A page that was never seen to change is like the others that were not. */
TEST(few_checks_without_a_change_do_not_mean_never)
{
    struct crawl_known often = checked(30, DAY, 10),
                       young = checked(2, DAY, 0), old = checked(30, DAY, 0);
    struct crawl_freshest *f;
    double due;

    assert_int_equal(crawl_freshest_new(&f, 3600, 90.0 * DAY, NULL), SEEN_OK);
    for (int i = 0; i < 100; i++) {
        crawl_freshest_note(f, &often, NULL);
        crawl_freshest_note(f, &old, NULL);
    }
    crawl_freshest_settle(f, 3, 1.0 / DAY);
    due = crawl_freshest_interval(f, &young);
    assert_true(due < crawl_freshest_interval(f, &old));
    assert_true(due < 90.0 * DAY);
    crawl_freshest_free(f);
}

TEST(before_any_check_a_budget_is_shared_evenly)
{
    const struct crawl_known none = { .id = 1 };
    struct crawl_freshest *f;
    double interval;

    assert_int_equal(crawl_freshest_new(&f, 60, 90.0 * DAY, NULL), SEEN_OK);
    crawl_freshest_settle(f, 1000, 100.0 / DAY); /* nothing was noted */
    interval = crawl_freshest_interval(f, &none);
    assert_true(fabs(interval / (10.0 * DAY) - 1) < 0.02);
    crawl_freshest_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_year_of_estimates_comes_close_to_knowing_all_rates),
        cmocka_unit_test(intervals_stay_within_their_bounds_and_the_budget),
        cmocka_unit_test(what_changes_too_fast_to_be_kept_up_with_gives_way),
        cmocka_unit_test(few_checks_without_a_change_do_not_mean_never),
        cmocka_unit_test(before_any_check_a_budget_is_shared_evenly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
