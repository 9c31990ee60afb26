/* counting_test.c - counters: never too low, taken back exactly. */
#include "cases.h"

#include <math.h>

enum { KEYS = 2000 };

static struct seen_key *url;

static int make_urls(void **state)
{
    *state = url = urls_new(2 * KEYS);
    return 0;
}

static int free_urls(void **state)
{
    free(*state);
    return 0;
}

static const char *const counters[] = {
    "counting:4",
    "counting:8",
    "counting:16",
    "counting:32",
    "spatial:2/counting:8",
    "routed:4/counting:4",
    "routed:4,md5/counting:4",
    "spatial:2/routed:2/counting:16",
};

static const char *const minimal[] = {
    "counting:4,minimal",
    "counting:8,minimal",
    "counting:32,minimal",
    "routed:4/counting:8,minimal",
};

static uint64_t count(const struct seen_filter *f, const struct seen_key *key)
{
    uint64_t n;

    assert_int_equal(seen_filter_count(f, key, 1, &n, NULL), SEEN_OK);
    return n;
}

/*
 * Keys are added 0 to 9 times in an order by chance, and some are taken back
 * again, in filters so small that counters are shared: no count is ever
 * below the truth, and what should be there is.
 */
static void never_below_the_truth(const char *kind, bool removes)
{
    struct seen_plan plan = plan_of(kind, KEYS / 2, 0.05);
    static unsigned truth[2 * KEYS];
    struct seen_filter *f;
    uint64_t dice = 5;

    plan.over = true;           /* KEYS instead of half as many */
    f = made(&plan);
    memset(truth, 0, sizeof truth);
    for (int i = 0; i < 10 * KEYS; i++) {
        size_t j = chance(&dice, KEYS);

        if (removes && truth[j] && chance(&dice, 2)) {
            assert_int_equal(seen_filter_remove(f, &url[j], 1, NULL), SEEN_OK);
            truth[j]--;
        } else if (truth[j] < 9) {
            assert_int_equal(seen_filter_add(f, &url[j], 1, NULL, NULL),
                             SEEN_OK);
            truth[j]++;
        }
    }
    for (size_t j = 0; j < KEYS; j++) {
        assert_true(count(f, &url[j]) >= truth[j]);
        if (truth[j])
            assert_int_equal(yes(f, &url[j], 1), 1);
    }
    seen_filter_free(f);
}

TEST(a_count_is_never_below_the_truth)
{
    for (size_t i = 0; i < LENGTH(counters); i++)
        never_below_the_truth(counters[i], true);
    for (size_t i = 0; i < LENGTH(minimal); i++)
        never_below_the_truth(minimal[i], false);
}

/*
 * With three adds a key and half of 4-bit counters in use, the chance of a
 * saturated one is about that of five keys sharing it: mean 0.7, so 3e-4 of
 * 20,000 of them would stick. Counters of 8 bits and more never do, so all
 * of them are back at zero, to the last one.
 */
TEST(what_is_removed_leaves_no_trace)
{
    for (size_t i = 0; i < LENGTH(counters); i++) {
        struct seen_plan plan = plan_of(counters[i], KEYS, 0.01);
        struct seen_filter *f = made(&plan), *empty = made(&plan);

        for (int j = 0; j < 3; j++)
            add_all(f, url, KEYS);
        for (int j = 0; j < 3; j++)
            assert_int_equal(seen_filter_remove(f, url, KEYS, NULL), SEEN_OK);
        if (!contains(counters[i], ":4")) {
            assert_true(same(f, empty));
            assert_int_equal(yes(f, url, KEYS), 0);
        }
        assert_true(seen_filter_cells_set(f) < 20);
        seen_filter_free(f);
        seen_filter_free(empty);
    }
}

TEST(keys_that_stay_are_found_when_others_go)
{
    for (size_t i = 0; i < LENGTH(counters); i++) {
        struct seen_plan plan = plan_of(counters[i], KEYS, 0.01);
        struct seen_filter *f = made(&plan);

        add_all(f, url, KEYS);
        assert_int_equal(seen_filter_remove(f, url, KEYS / 2, NULL), SEEN_OK);
        assert_int_equal(yes(f, url + KEYS / 2, KEYS / 2), KEYS / 2);
        assert_true(yes(f, url, KEYS / 2) < KEYS / 50);
        add_all(f, url, KEYS / 2);
        assert_int_equal(yes(f, url, KEYS), KEYS);
        seen_filter_free(f);
    }
}

/* An empty filter counts exactly; at 1 % one key in a hundred is too high. */
TEST(most_counts_are_exact_and_minimal_increase_makes_more_so)
{
    struct seen_plan plan = plan_of("counting:8", KEYS, 0.01);
    size_t wrong[2] = { 0, 0 };

    for (int m = 0; m < 2; m++) {
        struct seen_filter *f;

        if (m)
            strcpy(plan.kind, "counting:8,minimal");
        f = made(&plan);
        for (int j = 0; j < 5; j++)
            add_all(f, url, KEYS);
        for (size_t j = 0; j < KEYS; j++)
            wrong[m] += count(f, &url[j]) != 5;
        seen_filter_free(f);
    }
    assert_true(wrong[0] < KEYS / 50);
    assert_true(wrong[1] <= wrong[0] / 2);
}

TEST(a_counter_that_is_full_sticks)
{
    static const struct {
        const char *kind;
        uint64_t most;
    } known[] = { { "counting:4", 15 },
                  { "counting:8", 255 },
                  { "counting:16", 65535 },
                  { "counting:4,minimal", 15 } };

    for (size_t i = 0; i < LENGTH(known); i++) {
        struct seen_plan plan = plan_of(known[i].kind, 10, 0.01);
        struct seen_filter *f = made(&plan);

        for (uint64_t j = 0; j < known[i].most + 5; j++) {
            assert_int_equal(count(f, url),
                             j < known[i].most ? j : known[i].most);
            add_all(f, url, 1);
        }
        if (!contains(known[i].kind, "minimal"))
            for (uint64_t j = 0; j < known[i].most + 9; j++)
                assert_int_equal(seen_filter_remove(f, url, 1, NULL), SEEN_OK);
        assert_int_equal(count(f, url), known[i].most);
        seen_filter_free(f);
    }
}

TEST(a_key_whose_count_is_0_is_not_removed)
{
    for (size_t i = 0; i < LENGTH(counters); i++) {
        struct seen_plan plan = plan_of(counters[i], KEYS, 0.001);
        struct seen_filter *f = made(&plan);
        struct seen_key key[4] = { url[0], url[1], url[2], url[3] };
        struct seen_error why;

        add_all(f, url, 2);
        add_all(f, url + 3, 1);
        assert_int_equal(seen_filter_remove(f, key, 4, &why), SEEN_ABSENT);
        assert_int_equal(why.at, 2);
        assert_int_equal(yes(f, url, 2), 0);
        assert_int_equal(count(f, &url[3]), 1);
        seen_filter_free(f);
    }
}

/* Twice in a batch, once in the filter: the second one is refused. */
TEST(a_batch_of_removals_goes_key_by_key)
{
    struct seen_plan plan = plan_of("counting", 100, 0.001);
    struct seen_filter *f = made(&plan);
    struct seen_key twice[2] = { url[0], url[0] };
    struct seen_error why;

    add_all(f, url, 1);
    assert_int_equal(seen_filter_remove(f, twice, 2, &why), SEEN_ABSENT);
    assert_int_equal(why.at, 1);
    assert_int_equal(seen_filter_cells_set(f), 0);
    seen_filter_free(f);
}

TEST(minimal_increase_refuses_to_remove)
{
    for (size_t i = 0; i < LENGTH(minimal); i++) {
        struct seen_plan plan = plan_of(minimal[i], 100, 0.01);
        struct seen_filter *f = made(&plan);

        add_all(f, url, 10);
        assert_int_equal(seen_filter_remove(f, url, 1, NULL), SEEN_UNABLE);
        assert_int_equal(yes(f, url, 10), 10);
        seen_filter_free(f);
    }
}

/* What is in one part only is not half removed. */
TEST(spatial_removes_from_all_parts_or_from_none)
{
    struct seen_plan plan = plan_of("spatial:2/counting:8", 100, 0.001);
    struct seen_filter *f = made(&plan), *part = f->part[0];

    assert_int_equal(part->kind->add(part, url, 1, NULL, NULL), SEEN_OK);
    assert_int_equal(count(f, url), 0);
    assert_int_equal(seen_filter_remove(f, url, 1, NULL), SEEN_ABSENT);
    assert_int_equal(count(part, url), 1);
    seen_filter_free(f);
}

/* A key that one part refuses is taken back from the parts before it. */
TEST(spatial_takes_back_what_a_part_refuses)
{
    struct seen_plan plan = plan_of("spatial:2/counting:8", 100, 0.001);
    struct seen_filter *f = made(&plan);
    struct seen_error why;

    f->part[1]->limit = 0;
    assert_int_equal(seen_filter_add(f, url, 3, NULL, &why), SEEN_FULL);
    assert_int_equal(why.at, 0);
    assert_int_equal(seen_filter_cells_set(f), 0);
    seen_filter_free(f);
}

/* Bits are memory: cells of W bits, and as many as bits / W. */
TEST(bits_are_divided_into_counters)
{
    static const unsigned width[] = { 4, 8, 16, 32 };

    for (size_t i = 0; i < LENGTH(width); i++) {
        struct seen_plan plan = { .bits = 64000, .capacity = 100 };
        struct seen_filter *f;

        snprintf(plan.kind, sizeof plan.kind, "counting:%u", width[i]);
        f = made(&plan);
        assert_int_equal(seen_filter_cells(f), 64000 / width[i]);
        assert_in_range(seen_filter_bytes(f), 8000, 8063);
        add_all(f, url, 100);
        assert_int_equal(f->kind->recount(f), seen_filter_cells_set(f));
        assert_true(fabs(seen_filter_entries(f) - 100) < 15);
        seen_filter_free(f);
    }
}

/* Few counters: the probes of a key meet, and it still counts once. */
TEST(a_key_whose_probes_meet_counts_once)
{
    struct seen_plan plan = { .kind = "counting:16",
                              .bits = 64,
                              .capacity = 1,
                              .probes = 16,
                              .over = true };
    struct seen_filter *f = made(&plan);

    assert_int_equal(seen_filter_cells(f), 4);
    for (uint64_t i = 1; i < 100; i++) {
        add_all(f, url, 1);
        assert_int_equal(count(f, url), i);
    }
    for (uint64_t i = 98; i + 1 > 0; i--) {
        assert_int_equal(seen_filter_remove(f, url, 1, NULL), SEEN_OK);
        assert_int_equal(count(f, url), i);
    }
    assert_int_equal(seen_filter_cells_set(f), 0);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_is_never_below_the_truth),
        cmocka_unit_test(what_is_removed_leaves_no_trace),
        cmocka_unit_test(keys_that_stay_are_found_when_others_go),
        cmocka_unit_test(
            most_counts_are_exact_and_minimal_increase_makes_more_so),
        cmocka_unit_test(a_counter_that_is_full_sticks),
        cmocka_unit_test(a_key_whose_count_is_0_is_not_removed),
        cmocka_unit_test(a_batch_of_removals_goes_key_by_key),
        cmocka_unit_test(minimal_increase_refuses_to_remove),
        cmocka_unit_test(spatial_removes_from_all_parts_or_from_none),
        cmocka_unit_test(spatial_takes_back_what_a_part_refuses),
        cmocka_unit_test(bits_are_divided_into_counters),
        cmocka_unit_test(a_key_whose_probes_meet_counts_once),
    };

    return cmocka_run_group_tests(tests, make_urls, free_urls);
}
