/* recast_test.c - another kind, the same answers. */
#include "test/filter/cases.h"

#include <unistd.h>

#include <seen/share.h>

enum { ASKED = 100000 };

/* Save and load again: the plan must be one that files can have. */
static struct seen_filter *through_a_file(struct seen_filter *f)
{
    char path[] = "/tmp/seen-recast-XXXXXX";
    int fd = mkstemp(path);
    struct seen_error why;
    struct seen_filter *g;

    assert_true(fd >= 0);
    close(fd);
    if (seen_store_save(f, path, &why) != SEEN_OK ||
        seen_store_load(&g, path, NULL, &why) != SEEN_OK)
        fail_msg("%s: %s", f->plan.kind, why.text);
    unlink(path);
    seen_filter_free(f);
    return g;
}

/* Half of ASKED keys are added; a rate of 3 % gives 1,500 false ones. */
TEST(answers_are_the_same_for_100000_keys)
{
    static const struct {
        const char *from, *to;
        bool few; /* the first part must suffice */
    } cases[] = {
        { "counting", "bloom", false },
        { "counting:8", "bloom", false },
        { "counting:16,minimal", "bloom", false },
        { "counting:32", "bloom", false },
        { "routed:16/counting:4", "routed:16/bloom", false },
        { "routed:16,md5/counting:4", "routed:16,md5/bloom", false },
        { "spatial:2/counting:8", "spatial:2/bloom", false },
        { "spatial:2/routed:4/counting", "spatial:2/routed:4/bloom", false },
        { "growing/counting:8", "growing/bloom", false },
        { "dynamic:4/counting", "dynamic:4/bloom", false },
        { "growing/blocked", "blocked", true },
        { "growing/counting", "bloom", true },
        { "dynamic:4/bloom", "bloom", true },
        { "dynamic:4/layered:3", "layered:3", true },
        { "growing/routed:4/counting", "routed:4/bloom", true },
        { "routed:4/growing/counting", "routed:4/bloom", true },
        { "growing/routed:4/counting", "growing/routed:4/bloom", false },
        { "blocked", "blocked", false },
        { "growing/blocked", "growing/blocked", false },
        { "layered:3", "layered:3", false },
    };
    struct seen_key *key = urls_new(ASKED);
    bool *a = malloc(ASKED), *b = malloc(ASKED);

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct seen_plan plan = plan_of(cases[i].from, ASKED / 2, 0.03);
        size_t n = cases[i].few ? 100 : ASKED / 2;
        struct seen_filter *f, *g;
        struct seen_error why;
        const char *value;

        f = made(&plan);
        add_all(f, key, n);
        assert_int_equal(seen_meta_set(f, "title", "Example", NULL), SEEN_OK);
        if (seen_filter_recast(&g, f, cases[i].to, &why) != SEEN_OK)
            fail_msg("%s: %s", cases[i].from, why.text);
        g = through_a_file(g);
        assert_string_equal(g->plan.kind, cases[i].to);
        assert_int_equal(seen_filter_has(f, key, ASKED, a, NULL), SEEN_OK);
        assert_int_equal(seen_filter_has(g, key, ASKED, b, NULL), SEEN_OK);
        assert_memory_equal(a, b, ASKED);
        assert_true(yes(g, key, n) == n);
        assert_int_equal(seen_filter_cells_set(f), seen_filter_cells_set(g));
        assert_int_equal(seen_filter_offered(f), seen_filter_offered(g));
        value = seen_meta_get(g, "title");
        assert_non_null(value);
        assert_string_equal(value, "Example");
        seen_filter_free(f);
        seen_filter_free(g);
    }
    free(a);
    free(b);
    free(key);
}

TEST(a_key_that_was_removed_is_in_neither)
{
    struct seen_plan plan = plan_of("counting:8", 1000, 1e-6);
    struct seen_key *key = urls_new(1000);
    struct seen_filter *f = made(&plan), *g;

    add_all(f, key, 1000);
    assert_int_equal(seen_filter_remove(f, key, 500, NULL), SEEN_OK);
    assert_int_equal(seen_filter_recast(&g, f, "bloom", NULL), SEEN_OK);
    assert_int_equal(yes(g, key, 500), 0);
    assert_int_equal(yes(g, key + 500, 500), 500);
    seen_filter_free(f);
    seen_filter_free(g);
    free(key);
}

TEST(a_keyed_filter_stays_so)
{
    struct seen_plan plan = plan_of("counting", 1000, 0.01);
    struct seen_key *key = urls_new(2000);
    struct seen_filter *f, *g;

    plan.keyed = true;
    f = made(&plan);
    add_all(f, key, 1000);
    assert_int_equal(seen_filter_recast(&g, f, "bloom", NULL), SEEN_OK);
    assert_int_equal(yes(f, key, 2000), yes(g, key, 2000));
    assert_int_equal(f->check, g->check);
    seen_filter_free(f);
    seen_filter_free(g);
    free(key);
}

TEST(what_is_not_exact_is_refused)
{
    static const struct {
        const char *from, *to;
        enum seen_code code;
    } cases[] = {
        { "bloom", "blocked", SEEN_UNABLE },
        { "bloom", "counting", SEEN_UNABLE },
        { "counting:8", "counting:4", SEEN_UNABLE },
        { "counting", "bloom:murmur3", SEEN_UNABLE },
        { "bloom:murmur3", "bloom", SEEN_UNABLE },
        { "routed:16/bloom", "routed:32/bloom", SEEN_UNABLE },
        { "routed:16/bloom", "bloom", SEEN_UNABLE },
        { "routed:2/blocked", "routed:2/bloom", SEEN_UNABLE },
        { "spatial:2/bloom", "bloom", SEEN_UNABLE },
        { "growing/bloom", "bloom", SEEN_UNABLE }, /* of several parts */
        { "growing/bloom", "growing:4/bloom", SEEN_UNABLE },
        { "bloom", "growing/bloom", SEEN_UNABLE },
        { "bloom", "blom", SEEN_RANGE },
        { "bloom", "", SEEN_RANGE },
        { "bloom", "bloom/bloom", SEEN_UNABLE },
    };
    struct seen_key *key = urls_new(1000);

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct seen_plan plan = plan_of(cases[i].from, 300, 0.01);
        struct seen_filter *f, *g;
        struct seen_error why;

        f = made(&plan);
        add_all(f, key, contains(cases[i].from, "growing") ? 1000 : 100);
        assert_int_equal(seen_filter_recast(&g, f, cases[i].to, &why),
                         cases[i].code);
        assert_null(g);
        seen_filter_free(f);
    }
    free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_the_same_for_100000_keys),
        cmocka_unit_test(a_key_that_was_removed_is_in_neither),
        cmocka_unit_test(a_keyed_filter_stays_so),
        cmocka_unit_test(what_is_not_exact_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
