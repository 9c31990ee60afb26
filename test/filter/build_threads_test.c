/* build_threads_test.c - the builder: same cells, whoever builds them. */
#include "test/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/build.h>
#include <seen/kind_writer.h>

#include "lib/filter/cells.h"
#include "lib/filter/ribbon.h"

#if defined __SANITIZE_THREAD__ /* slow, and size is not its concern */
enum { KEYS = 50000, BATCH = 777, LANES = 3 };
#elif defined __SANITIZE_ADDRESS__
enum { KEYS = 100000, BATCH = 777, LANES = 3 };
#else
enum { KEYS = 400000, BATCH = 777, LANES = 3 };
#endif

static struct seen_key key[KEYS];
static char text[KEYS][40];
static bool seen[KEYS];

static int make_keys(void **state)
{
    for (uint64_t i = 0; i < KEYS; i++) {
        int len = snprintf(text[i], sizeof text[i], "http://h%u.example/%u/%x",
                           (unsigned)(i % 50), (unsigned)(i % 1000),
                           (unsigned)i);

        seen_key_hash(&key[i], text[i], (size_t)len);
    }
    ribbon_warm_up = 10; /* so that few keys are enough for all lanes */
    *state = key;
    return 0;
}

/* What a thread adds: every LANES-th batch of the keys. */
struct share {
    struct seen_build *build;
    unsigned lane, lanes;
    enum seen_code code;
};

static void *add_share(void *argument)
{
    struct share *s = argument;

    for (size_t at = s->lane * (size_t)BATCH; at < KEYS && !s->code;
         at += s->lanes * (size_t)BATCH) {
        size_t some = KEYS - at < BATCH ? KEYS - at : BATCH;

        s->code = seen_build_add(s->build, s->lane, key + at, some, NULL);
    }
    if (!s->code && s->lane % 2) /* flushing is allowed, not needed */
        s->code = seen_build_flush(s->build, s->lane, NULL);
    return NULL;
}

static const unsigned char secret[SEEN_SECRET] = { 7 };

static struct seen_filter *built(const struct seen_plan *plan, unsigned lanes)
{
    struct share share[LANES] = { { 0 } };
    pthread_t thread[LANES];
    struct seen_build *b;
    struct seen_filter *f;
    struct seen_error why;

    assert_int_equal(seen_build_new_keyed(
                         &b, plan, plan->keyed ? secret : NULL, lanes, &why),
                     SEEN_OK);
    for (unsigned i = 0; i < lanes; i++) {
        share[i] = (struct share){ b, i, lanes, SEEN_OK };
        pthread_create(&thread[i], NULL, add_share, &share[i]);
    }
    for (unsigned i = 0; i < lanes; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(share[i].code, SEEN_OK);
    }
    assert_int_equal(seen_build_finish(b, &f, &why), SEEN_OK);
    return f;
}

static void assert_same(const struct seen_filter *f,
                        const struct seen_filter *g)
{
    assert_string_equal(f->plan.kind, g->plan.kind);
    assert_int_equal(f->set, g->set);
    assert_int_equal(f->size, g->size);
    if (f->size)
        assert_memory_equal(f->cells, g->cells, f->size);
    assert_int_equal(f->parts, g->parts);
    for (unsigned i = 0; i < f->parts; i++)
        assert_same(f->part[i], g->part[i]);
}

static struct seen_plan plan_of(const char *kind)
{
    struct seen_plan plan = { .capacity = KEYS, .rate = 0.01, .seed = 5 };

    snprintf(plan.kind, sizeof plan.kind, "%s", kind);
    if (seen_kind_can(kind, SEEN_BUILT_ONCE))
        plan.rate = 0;
    return plan;
}

static const char *const kinds[] = {
    "blocked",
    "bloom",
    "bloom:murmur3",
    "counting:8",
    "layered:3",
    "fuse",
    "routed:16/blocked",
    "routed:4/fuse",
    "routed:4,md5/bloom",
    "spatial:2/blocked",
    "spatial:2/fuse:16",
    "ribbon",
    "routed:4/ribbon:5",
    "shards",
    "routed:4/shards:5",
    "spatial:2/routed:8/bloom",
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

TEST(the_number_of_lanes_does_not_change_a_byte)
{
    for (int i = 0; i < KINDS; i++) {
        struct seen_plan plan = plan_of(kinds[i]);
        struct seen_filter *one = built(&plan, 1);

        for (unsigned lanes = 2; lanes <= LANES; lanes++) {
            struct seen_filter *f = built(&plan, lanes);

            assert_same(one, f);
            assert_int_equal(seen_filter_offered(f), KEYS);
            seen_filter_free(f);
        }
        seen_filter_free(one);
    }
}

TEST(a_build_equals_adding_one_by_one)
{
    for (int i = 0; i < KINDS; i++) {
        struct seen_plan plan = plan_of(kinds[i]);
        struct seen_filter *f = built(&plan, 2), *g;

        assert_int_equal(seen_filter_has(f, key, KEYS, seen, NULL), SEEN_OK);
        for (size_t j = 0; j < KEYS; j++)
            assert_true(seen[j]);
        if (!seen_kind_can(kinds[i], SEEN_BUILT_ONCE)) {
            assert_int_equal(seen_filter_new(&g, &plan, NULL), SEEN_OK);
            assert_int_equal(seen_filter_add(g, key, KEYS, NULL, NULL),
                             SEEN_OK);
            assert_same(f, g);
            seen_filter_free(g);
        }
        seen_filter_free(f);
    }
}

/* One buffer is full again and again, and the others never are. */
TEST(a_key_that_comes_often_changes_nothing)
{
    struct seen_plan plan = plan_of("blocked");
    struct seen_filter *f, *g;
    struct seen_build *b;
    struct seen_key pair[2];

    plan.capacity = 10 * KEYS; /* many regions */
    assert_int_equal(seen_build_new(&b, &plan, 1, NULL), SEEN_OK);
    assert_int_equal(seen_filter_new(&g, &plan, NULL), SEEN_OK);
    for (size_t i = 0; i < KEYS / 2; i++) {
        pair[0] = key[0];
        pair[1] = key[i % 10 ? 1 : i];
        assert_int_equal(seen_build_add(b, 0, pair, 2, NULL), SEEN_OK);
        assert_int_equal(seen_filter_add(g, pair, 2, NULL, NULL), SEEN_OK);
    }
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    assert_same(f, g);
    seen_filter_free(f);
    seen_filter_free(g);
}

/*
 * Were at most `most` pages of its cells written to, one by one? While we look,
 * khugepaged may make a huge page of those around a few: 8 in 10 seconds, where
 * the keys of these tests would touch most of them.
 */
static void assert_touches(const struct seen_filter *f, size_t most)
{
    enum { HUGE_PAGE = 512 / 8, SOME = 1 << 15 }; /* bytes, a bit per page */
    static unsigned char touched[SOME], full[HUGE_PAGE];
    size_t pages = f->size / CELLS_PAGE, n, huge = 0;

    assert_true(pages < (size_t)8 * SOME);
    memset(full, 0xff, sizeof full);
    n = cells_touched(f->cells, f->size, touched);
    for (size_t at = 0; at + HUGE_PAGE <= pages / 8; at += HUGE_PAGE)
        huge += !memcmp(touched + at, full, HUGE_PAGE);
    assert_in_range(huge, 0, pages / 512 / 4);
    assert_in_range(n - 511 * huge, 1, most);
}

/* On huge pages they would touch all of the filter's memory. */
TEST(few_keys_touch_few_pages_in_every_lane)
{
    enum { FEW = 500 };
    struct seen_plan plan = plan_of("blocked");
    struct seen_filter *f;
    struct seen_build *b;

    plan.capacity = 50000000;
    assert_int_equal(seen_build_new(&b, &plan, LANES, NULL), SEEN_OK);
    for (unsigned i = 0; i < LANES; i++) {
        assert_int_equal(
            seen_build_add(b, i, key + i * FEW, i ? FEW : 1, NULL), SEEN_OK);
        assert_int_equal(seen_build_flush(b, i, NULL), SEEN_OK);
    }
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    assert_touches(f, (size_t)LANES * FEW);
    seen_filter_free(f);
}

/* One buffer is full, and more entries than that are few in so large a
   filter. */
TEST(a_key_that_comes_often_touches_few_pages)
{
    enum { FEW = 500, OFTEN = 5000 };
    struct seen_plan plan = plan_of("blocked");
    struct seen_filter *f;
    struct seen_build *b;

    plan.capacity = 500000000;
    assert_int_equal(seen_build_new(&b, &plan, 1, NULL), SEEN_OK);
    for (int i = 0; i < OFTEN; i++)
        assert_int_equal(seen_build_add(b, 0, key, 1, NULL), SEEN_OK);
    assert_int_equal(seen_build_add(b, 0, key, FEW, NULL), SEEN_OK);
    assert_int_equal(seen_build_flush(b, 0, NULL), SEEN_OK);
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    assert_touches(f, FEW);
    seen_filter_free(f);
}

enum { HUGE = 2 << 20 };

/* Does a write to memory of cells get a huge page here? */
static bool has_huge_pages(void)
{
    unsigned char touched[1 << 12], *cells = cells_new(HUGE);
    bool huge;

    *cells = 1;
    huge = cells_touched(cells, HUGE, touched) == HUGE / CELLS_PAGE;
    cells_free(cells, HUGE);
    return huge;
}

/* Lookups in small pages would wait for addresses. */
TEST(many_keys_are_on_huge_pages)
{
    struct seen_plan plan = plan_of("blocked");
    unsigned char touched[1 << 12];
    struct seen_filter *f;
    struct seen_build *b;

    if (!has_huge_pages())
        skip();
    plan.capacity = 50000000;
    assert_int_equal(seen_build_new(&b, &plan, 1, NULL), SEEN_OK);
    for (int i = 0; i < 40000; i++) /* the buffers of two regions get full */
        assert_int_equal(seen_build_add(b, 0, key, 2, NULL), SEEN_OK);
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    assert_in_range(cells_touched(f->cells, f->size, touched),
                    HUGE / CELLS_PAGE, f->size / CELLS_PAGE);
    seen_filter_free(f);
}

TEST(kinds_that_depend_on_order_are_built_in_one_lane)
{
    static const struct {
        const char *kind;
        bool ordered;
    } cases[] = {
        { "growing/blocked", true },     { "routed:4/growing/bloom", true },
        { "dynamic:4/bloom", true },     { "counting:4,minimal", true },
        { "counting:4", false },         { "blocked", false },
        { "routed:4,md5/bloom", false },
    };
    struct seen_build *b;

    assert_false(seen_kind_can("", SEEN_NEEDS_ORDER));
    assert_false(seen_kind_can("g/bloom", SEEN_NEEDS_ORDER));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen_plan plan = plan_of(cases[i].kind);

        assert_int_equal(seen_kind_can(cases[i].kind, SEEN_NEEDS_ORDER),
                         cases[i].ordered);
        assert_int_equal(seen_build_new(&b, &plan, 2, NULL),
                         cases[i].ordered ? SEEN_RANGE : SEEN_OK);
        seen_build_free(b);
        assert_int_equal(seen_build_new(&b, &plan, 0, NULL), SEEN_RANGE);
        assert_null(b);
    }
}

TEST(too_many_keys_are_refused_unless_the_plan_is_over)
{
    struct seen_plan plan = plan_of("blocked");
    struct seen_filter *f;
    struct seen_build *b;
    enum seen_code code;

    plan.capacity = KEYS / 2;
    assert_int_equal(seen_build_new(&b, &plan, 1, NULL), SEEN_OK);
    code = seen_build_add(b, 0, key, KEYS, NULL);
    if (code == SEEN_OK) {
        code = seen_build_finish(b, &f, NULL);
        assert_null(f);
    } else {
        seen_build_free(b);
    }
    assert_int_equal(code, SEEN_FULL);

    plan.over = true;
    f = built(&plan, 2);
    assert_true(seen_filter_rate(f) > 0.05);
    seen_filter_free(f);
}

TEST(adjacent_equal_keys_are_offered_once)
{
    struct seen_plan plan = plan_of("blocked");
    struct seen_key twice[] = { key[0], key[0], key[1], key[1], key[0] };
    struct seen_build *b;
    struct seen_filter *f;

    assert_int_equal(seen_build_new(&b, &plan, 1, NULL), SEEN_OK);
    assert_int_equal(seen_build_add(b, 0, twice, 5, NULL), SEEN_OK);
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    assert_int_equal(seen_filter_offered(f), 3);
    seen_filter_free(f);
}

TEST(a_keyed_build_answers_under_its_secret_only)
{
    struct seen_plan plan = plan_of("blocked");
    struct seen_filter *f, *g;

    plan.keyed = true;
    f = built(&plan, 2);
    assert_int_equal(seen_filter_has(f, key, KEYS, seen, NULL), SEEN_OK);
    for (size_t j = 0; j < KEYS; j++)
        assert_true(seen[j]);
    assert_int_equal(seen_filter_new_keyed(&g, &plan, secret, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(g, key, KEYS, NULL, NULL), SEEN_OK);
    assert_same(f, g);
    seen_filter_free(g);
    seen_filter_free(f);
}

TEST(a_builder_may_be_dropped_half_way)
{
    for (int i = 0; i < KINDS; i++) {
        struct seen_plan plan = plan_of(kinds[i]);
        struct seen_build *b;

        assert_int_equal(seen_build_new(&b, &plan, 2, NULL), SEEN_OK);
        assert_int_equal(seen_build_add(b, 1, key, 1000, NULL), SEEN_OK);
        seen_build_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_lanes_does_not_change_a_byte),
        cmocka_unit_test(a_build_equals_adding_one_by_one),
        cmocka_unit_test(a_key_that_comes_often_changes_nothing),
        cmocka_unit_test(few_keys_touch_few_pages_in_every_lane),
        cmocka_unit_test(a_key_that_comes_often_touches_few_pages),
        cmocka_unit_test(many_keys_are_on_huge_pages),
        cmocka_unit_test(kinds_that_depend_on_order_are_built_in_one_lane),
        cmocka_unit_test(too_many_keys_are_refused_unless_the_plan_is_over),
        cmocka_unit_test(adjacent_equal_keys_are_offered_once),
        cmocka_unit_test(a_keyed_build_answers_under_its_secret_only),
        cmocka_unit_test(a_builder_may_be_dropped_half_way),
    };

    return cmocka_run_group_tests(tests, make_keys, NULL);
}
