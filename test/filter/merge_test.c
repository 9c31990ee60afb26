/* merge_test.c - the union of two filters. */
#include "cases.h"

#include <seen/build.h>

enum { KEYS = 1000 };

static struct seen_key *url;

static int make_urls(void **state)
{
    *state = url = urls_new(3 * KEYS);
    return 0;
}

static int free_urls(void **state)
{
    free(*state);
    return 0;
}

/* Of kinds that grow the parts are appended; others are as if filled at
   once, in every cell. */
TEST(a_union_holds_the_keys_of_both)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], 2 * KEYS, 0.01);
        struct seen_filter *f, *g, *all;
        bool grows = contains(plan.kind, "growing") ||
                     contains(plan.kind, "dynamic");

        if (contains(plan.kind, "minimal"))
            continue;
        if (contains(plan.kind, "dynamic"))
            plan.capacity = 8 * KEYS;   /* one part of each, and so room */
        f = made(&plan), g = made(&plan), all = made(&plan);
        add_all(f, url, KEYS);
        add_all(g, url + KEYS, KEYS);
        add_all(all, url, 2 * KEYS);
        assert_int_equal(seen_filter_merge(f, g, NULL), SEEN_OK);
        assert_int_equal(yes(f, url, 2 * KEYS), 2 * KEYS);
        assert_int_equal(seen_filter_offered(f), 2 * KEYS);
        if (!grows && !same(f, all) && !contains(plan.kind, "counting"))
            fail_msg("%s differs", plan.kind);
        if (!grows)
            assert_true(seen_filter_rate(f) == seen_filter_rate(all));
        seen_filter_free(f);
        seen_filter_free(g);
        seen_filter_free(all);
    }
}

TEST(counts_add_up_and_stick_at_the_most)
{
    struct seen_plan plan = plan_of("counting:4", 2 * KEYS, 0.001);
    struct seen_filter *f = made(&plan), *g = made(&plan);
    uint64_t count[3];

    for (int i = 0; i < 9; i++) {
        add_all(f, url, 1);
        add_all(g, url, 1);
    }
    add_all(f, url + 1, 1);
    add_all(g, url + 1, 2);
    assert_int_equal(seen_filter_merge(f, g, NULL), SEEN_OK);
    assert_int_equal(seen_filter_count(f, url, 3, count, NULL), SEEN_OK);
    assert_int_equal(count[0], 15);
    assert_int_equal(count[1], 2);
    assert_int_equal(count[2], 1);
    assert_int_equal(f->kind->recount(f), seen_filter_cells_set(f));
    assert_int_equal(seen_filter_remove(f, url + 1, 2, NULL), SEEN_OK);
    assert_int_equal(yes(f, url + 2, 1), 0);
    seen_filter_free(f);
    seen_filter_free(g);
}

TEST(filters_that_do_not_belong_together_are_not_merged)
{
    static const struct seen_plan plan = { .kind = "bloom",
                                           .profile = "raw",
                                           .capacity = KEYS,
                                           .rate = 0.01,
                                           .seed = 1 };
    struct seen_plan other[6];
    struct seen_filter *f = made(&plan), *g;
    uint64_t set;

    for (size_t i = 0; i < LENGTH(other); i++)
        other[i] = plan;
    strcpy(other[0].kind, "blocked");
    other[1].seed = 2;
    other[2].capacity = 2 * KEYS;
    other[3].probes = 5;
    other[4].keyed = true;
    strcpy(other[5].kind, "bloom:murmur");
    add_all(f, url, KEYS);
    set = seen_filter_cells_set(f);
    for (size_t i = 0; i < LENGTH(other); i++) {
        struct seen_error why = { .code = SEEN_OK };

        g = made(&other[i]);
        add_all(g, url + KEYS, KEYS);
        assert_int_equal(seen_filter_merge(f, g, &why), SEEN_MISMATCH);
        assert_true(strlen(why.text) > 10);
        assert_int_equal(seen_filter_cells_set(f), set);
        seen_filter_free(g);
    }
    seen_filter_free(f);
}

/* Parts may differ where the whole is alike: one asks for other segments. */
TEST(layers_of_other_sizes_are_not_merged)
{
    struct seen_plan plan = plan_of("spatial:2/layered:3", KEYS, 0.01);
    struct seen_filter *f = made(&plan), *g;

    plan.segments[0] = 10;
    g = made(&plan);
    assert_int_equal(seen_filter_merge(f, g, NULL), SEEN_MISMATCH);
    seen_filter_free(f);
    seen_filter_free(g);
}

TEST(what_cannot_be_merged_is_left_as_it_was)
{
    static const char *const kind[] = { "counting:8,minimal",
                                        "routed:4/counting:4,minimal" };

    for (size_t i = 0; i < LENGTH(kind); i++) {
        struct seen_plan plan = plan_of(kind[i], KEYS, 0.01);
        struct seen_filter *f = made(&plan), *g = made(&plan);

        add_all(g, url, KEYS);
        assert_int_equal(seen_filter_merge(f, g, NULL), SEEN_UNABLE);
        assert_int_equal(seen_filter_cells_set(f), 0);
        seen_filter_free(f);
        seen_filter_free(g);
    }
    for (size_t i = 0; i < LENGTH(built_kind); i++) {
        struct seen_plan plan = plan_of(built_kind[i], KEYS, 0.01);
        struct seen_filter *f[2];

        for (int j = 0; j < 2; j++) {
            struct seen_build *b;

            assert_int_equal(seen_build_new(&b, &plan, 1, NULL), SEEN_OK);
            assert_int_equal(seen_build_add(b, 0, url, KEYS, NULL), SEEN_OK);
            assert_int_equal(seen_build_finish(b, &f[j], NULL), SEEN_OK);
        }
        assert_int_equal(seen_filter_merge(f[0], f[1], NULL), SEEN_UNABLE);
        seen_filter_free(f[0]);
        seen_filter_free(f[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_union_holds_the_keys_of_both),
        cmocka_unit_test(counts_add_up_and_stick_at_the_most),
        cmocka_unit_test(filters_that_do_not_belong_together_are_not_merged),
        cmocka_unit_test(layers_of_other_sizes_are_not_merged),
        cmocka_unit_test(what_cannot_be_merged_is_left_as_it_was),
    };

    return cmocka_run_group_tests(tests, make_urls, free_urls);
}
