/*
 * The cost of a question: lines of memory, and hashes of texts counted as the
 * lines that take as long. Filters are made without cells (tree.h), because
 * the cost follows from plans alone.
 */
#include "cases.h"

#include <lib/filter/tree.h>

static uint64_t cost_of(const char *kind, unsigned probes, unsigned parts)
{
    struct seen_plan plan = plan_of(kind, 4096, 0.01);
    struct seen_filter *f;
    struct seen_error why = { .code = SEEN_OK };
    uint64_t cost;

    plan.keyed = contains(kind, ":sip");
    if (probes) {
        plan.probes = probes;
        plan.bits = (uint64_t)1 << 22;
        plan.rate = 0;
    }
    if (filter_make(&f, &plan, secret_of(&plan), &why) != SEEN_OK)
        fail_msg("%s: %s", kind, why.text);
    while (f->parts < parts)
        assert_int_equal(seen_filter_grow(f, NULL), SEEN_OK);
    cost = seen_filter_cost(f);
    seen_filter_free(f);
    return cost;
}

TEST(a_question_costs_its_lines_and_its_hashes)
{
    static const struct {
        const char *kind;
        unsigned probes, parts;
        uint64_t cost;
    } known[] = {
        { "blocked", 0, 0, 1 },
        { "bloom", 7, 0, 7 },
        { "bloom:sip", 7, 0, 7 + 12 },
        { "counting:8", 5, 0, 5 },
        { "fuse", 0, 0, 3 },
        { "fuse:8,4", 0, 0, 4 },
        { "ribbon:8", 0, 0, 2 },
        { "ribbon:20", 0, 0, 5 },
        { "bloom:murmur", 7, 0, 7 + 7 * 8 },
        { "bloom:jenkins", 7, 0, 7 + 2 * 8 },
        { "bloom:orestes", 7, 0, 7 + 2 * 8 },
        { "bloom:md5", 7, 0, 7 + 7 * 25 },
        { "bloom:murmur+sha1", 4, 0, 4 + 2 * 8 + 2 * 25 },
        { "layered:3", 7, 0, 4 * 7 + 3 * 2 },
        { "routed:16/blocked", 0, 0, 1 + 1 },
        { "routed:16,md5/blocked", 0, 0, 1 + 25 + 1 },
        { "spatial:3/blocked", 0, 0, 1 + 3 * (1 + 1) },
        { "spatial:2/routed:4/bloom", 5, 0, 1 + 2 * (1 + 5 + 1) },
        { "dynamic:8/bloom", 5, 1, 1 + 1 * (5 + 1) },
        { "dynamic:8/bloom", 5, 8, 1 + 8 * (5 + 1) },
        { "routed:4/dynamic:8/bloom", 5, 0, 1 + 1 + (5 + 1) },
        { "dynamic:4096/bloom:md5+sha1", 64, 4096,
          1 + 4096 * (64 + 64 * 25 + 1) },
    };

    for (size_t i = 0; i < LENGTH(known); i++) {
        uint64_t cost = cost_of(known[i].kind, known[i].probes,
                                known[i].parts);

        if (cost != known[i].cost)
            fail_msg("%s: %llu, not %llu", known[i].kind,
                     (unsigned long long)cost,
                     (unsigned long long)known[i].cost);
    }
}

/* Each part of a growing filter is asked, and has more probes than the last. */
TEST(every_part_that_is_asked_adds_to_the_cost)
{
    struct seen_plan plan = plan_of("growing/bloom", 1000, 0.01);
    struct seen_filter *f = made(&plan);
    uint64_t before = seen_filter_cost(f);

    for (unsigned i = 1; i < 10; i++) {
        uint64_t more;

        assert_int_equal(seen_filter_grow(f, NULL), SEEN_OK);
        more = seen_filter_cost(f);
        assert_int_equal(more - before, f->part[i]->plan.probes + 1);
        before = more;
    }
    assert_in_range(before, 100, 150);
    seen_filter_free(f);
}

/* `routed` asks one part for a URL: the most expensive bounds the others. */
TEST(one_part_of_many_costs_as_much_as_the_dearest)
{
    struct seen_plan plan = plan_of("routed:4/dynamic:8/bloom", 4096, 0.01);
    struct seen_filter *f = made(&plan);
    unsigned k = f->part[2]->part[0]->plan.probes;

    for (int i = 0; i < 3; i++)
        assert_int_equal(seen_filter_grow(f->part[2], NULL), SEEN_OK);
    assert_int_equal(seen_filter_cost(f), 1 + 1 + 4 * (k + 1));
    seen_filter_free(f);
}

/* A prefix is looked up in all parts of `routed`. */
TEST(a_prefix_costs_all_parts)
{
    struct seen_plan plan = plan_of("routed:16/layered:3", 4096, 0.01);
    struct seen_filter *f = made(&plan);
    uint64_t part = seen_filter_cost(f->part[0]);

    assert_int_equal(seen_filter_cost(f), 1 + part);
    assert_int_equal(seen_filter_cost_prefix(f), 1 + 16 * (part + 1));
    seen_filter_free(f);
    plan = plan_of("routed:16/bloom", 4096, 0.01);
    f = made(&plan);
    assert_int_equal(seen_filter_cost_prefix(f), 0);
    seen_filter_free(f);
}

/* No kind touches fewer lines than one, or fewer than a probe per part. */
TEST(every_kind_has_a_cost)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        uint64_t cost = cost_of(every_kind[i], 0, 0);

        assert_in_range(cost, 1, 2000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_costs_its_lines_and_its_hashes),
        cmocka_unit_test(every_part_that_is_asked_adds_to_the_cost),
        cmocka_unit_test(one_part_of_many_costs_as_much_as_the_dearest),
        cmocka_unit_test(a_prefix_costs_all_parts),
        cmocka_unit_test(every_kind_has_a_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
