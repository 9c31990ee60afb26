/* spatial_test.c - several filters, all of which must say yes. */
#include "cases.h"

#include <math.h>

enum { KEYS = 5000, ASKED = 100000 };

static struct seen_key *url;

static int make_urls(void **state)
{
    *state = url = urls_new(KEYS + ASKED);
    return 0;
}

static int free_urls(void **state)
{
    free(*state);
    return 0;
}

TEST(each_part_has_the_nth_root_of_the_rate)
{
    for (unsigned n = 2; n <= 16; n++) {
        struct seen_plan plan = plan_of("", KEYS, 0.01);
        struct seen_filter *f;

        snprintf(plan.kind, sizeof plan.kind, "spatial:%u/bloom", n);
        f = made(&plan);
        assert_int_equal(seen_filter_parts(f), n);
        for (unsigned i = 0; i < n; i++) {
            const struct seen_plan *part = seen_filter_plan(f->part[i]);

            assert_true(fabs(pow(part->rate, n) / 0.01 - 1) < 1e-9);
            assert_int_equal(part->capacity, KEYS);
            for (unsigned j = 0; j < i; j++)
                assert_true(part->seed != f->part[j]->plan.seed);
        }
        assert_true(fabs(seen_filter_planned(f) / 0.01 - 1) < 1e-9);
        seen_filter_free(f);
    }
}

/*
 * The thesis' spatial filters: each of the parts has k probes and n k M
 * bits, and the rates multiply. With k = 3 and M = 1.7 one errs for 8.79 %,
 * two for 0.773 %: five standard deviations of 100,000 answers are 0.14 %,
 * and the two loads, off by 0.3 % each at n = 5,000, add 0.08 %.
 */
TEST(the_rates_of_parts_multiply)
{
    struct seen_plan plan = plan_of("spatial:2/bloom", KEYS, 0);
    struct seen_filter *f;
    double found;

    plan.probes = 3;
    plan.multiplier = 1.7;
    f = made(&plan);
    assert_in_range(seen_filter_cells(f), 2 * KEYS * 3 * 17 / 10,
                    2 * KEYS * 3 * 17 / 10 + 2 * 512);
    assert_true(fabs(seen_filter_plan(f)->rate - 0.00773) < 0.0001);
    add_all(f, url, KEYS);
    found = (double)yes(f, url + KEYS, ASKED) / ASKED;
    assert_true(fabs(found - 0.00773) < 0.0022);
    assert_true(fabs(found - seen_filter_rate(f)) < 0.0014);
    assert_true(fabs(seen_filter_entries(f) / KEYS - 1) < 0.03);
    seen_filter_free(f);
}

/* One part alone says yes to more, and never no to what the whole has. */
TEST(the_whole_says_yes_only_where_every_part_does)
{
    struct seen_plan plan = plan_of("spatial:3/blocked", KEYS, 0.01);
    struct seen_filter *f = made(&plan);
    static bool whole[ASKED], part[ASKED], all[ASKED];

    add_all(f, url, KEYS);
    assert_int_equal(seen_filter_has(f, url, ASKED, whole, NULL), SEEN_OK);
    memset(all, true, sizeof all);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(seen_filter_has(f->part[i], url, ASKED, part, NULL),
                         SEEN_OK);
        for (size_t j = 0; j < ASKED; j++)
            all[j] = all[j] && part[j];
    }
    assert_memory_equal(whole, all, sizeof all);
    seen_filter_free(f);
}

/*
 * A part that is full refuses a key that the parts before it have taken: the
 * keys before it are in, and the key itself is not found, but by chance.
 */
TEST(a_part_that_is_full_stops_the_batch_there)
{
    struct seen_plan plan = plan_of("spatial:2/bloom", KEYS, 1e-6);
    struct seen_filter *f = made(&plan);
    struct seen_error why;

    f->part[1]->limit /= 4;
    assert_int_equal(seen_filter_add(f, url, KEYS, NULL, &why), SEEN_FULL);
    assert_in_range(why.at, KEYS / 8, KEYS / 2);
    assert_int_equal(yes(f, url, why.at), why.at);
    assert_true(yes(f, url + why.at, KEYS) < 10);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_has_the_nth_root_of_the_rate),
        cmocka_unit_test(the_rates_of_parts_multiply),
        cmocka_unit_test(the_whole_says_yes_only_where_every_part_does),
        cmocka_unit_test(a_part_that_is_full_stops_the_batch_there),
    };

    return cmocka_run_group_tests(tests, make_urls, free_urls);
}
