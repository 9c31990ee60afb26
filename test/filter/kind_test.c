/* kind_test.c - what kinds say they can do, and one from outside. */
#include "cases.h"

#include <lib/filter/tree.h>
#include <seen/build.h>

#include "foreign.h"

enum { KEYS = 500 };

static struct seen_key *url;

static int make_urls(void **state)
{
    *state = url = urls_new(8 * KEYS);
    return 0;
}

static int free_urls(void **state)
{
    free(*state);
    return 0;
}

static struct seen_filter *built(const struct seen_plan *plan)
{
    struct seen_filter *f;
    struct seen_build *b;

    assert_int_equal(seen_build_new(&b, plan, 1, NULL), SEEN_OK);
    assert_int_equal(seen_build_add(b, 0, url, KEYS, NULL), SEEN_OK);
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    return f;
}

static bool able(enum seen_code code)
{
    return code != SEEN_UNABLE;
}

/* Every function is tried with every kind: SEEN_UNABLE without the trait. */
static void compare(struct seen_filter *f, struct seen_filter *other)
{
    const char *kind = seen_filter_plan(f)->kind;
    struct seen_key bare = { .lo = 1, .hi = 2 };
    uint64_t count;
    unsigned part;
    bool seen;
    const struct {
        enum seen_trait trait;
        bool found;
    } trial[] = {
        { SEEN_CAN_ADD, able(seen_filter_add(f, url, 1, NULL, NULL)) },
        { SEEN_CAN_COUNT, able(seen_filter_count(f, url, 1, &count, NULL)) },
        { SEEN_CAN_PREFIX, able(seen_filter_has_prefix(f, url, &seen, NULL)) },
        { SEEN_CAN_ROUTE, able(seen_filter_route(f, url, &part, NULL)) },
        { SEEN_CAN_MERGE, able(seen_filter_merge(f, other, NULL)) },
        { SEEN_CAN_REMOVE, able(seen_filter_remove(f, url, 1, NULL)) },
        { SEEN_READS_TEXT,
          seen_filter_has(f, &bare, 1, &seen, NULL) == SEEN_RANGE },
    };

    for (size_t i = 0; i < LENGTH(trial); i++)
        if (seen_kind_can(kind, trial[i].trait) != trial[i].found ||
            seen_filter_can(f, trial[i].trait) != trial[i].found)
            fail_msg("%s: trait %zu", kind, i);
}

TEST(a_kind_can_do_what_it_says_and_nothing_else)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], 2 * KEYS, 0.01);
        struct seen_filter *f = made(&plan), *other = made(&plan);
        bool grows = seen_filter_can(f, SEEN_CAN_GROW);

        add_all(f, url, KEYS);
        compare(f, other);
        assert_int_equal(seen_filter_add(f, url, 8 * KEYS, NULL, NULL),
                         grows ? SEEN_OK : SEEN_FULL);
        if (seen_filter_can(f, SEEN_ADDS_PARTS))
            assert_true(seen_filter_bytes(f) > seen_filter_bytes(other));
        else
            assert_int_equal(seen_filter_bytes(f), seen_filter_bytes(other));
        assert_false(seen_filter_can(f, SEEN_BUILT_ONCE));
        seen_filter_free(f);
        seen_filter_free(other);
    }
    for (size_t i = 0; i < LENGTH(built_kind); i++) {
        struct seen_plan plan = plan_of(built_kind[i], 2 * KEYS, 0.01);
        struct seen_filter *f = built(&plan), *other = built(&plan);

        compare(f, other);
        assert_true(seen_filter_can(f, SEEN_BUILT_ONCE));
        seen_filter_free(f);
        seen_filter_free(other);
    }
}

TEST(what_a_whole_can_do_follows_from_its_parts)
{
    static const struct {
        const char *kind;
        unsigned can, cannot;
    } known[] = {
        { "routed:4/fuse", SEEN_CAN_ROUTE | SEEN_BUILT_ONCE,
          SEEN_CAN_ADD | SEEN_SIZES_ITSELF },
        { "fuse", SEEN_SIZES_ITSELF, SEEN_CAN_ADD },
        { "shards", SEEN_SIZES_ITSELF | SEEN_BUILT_ONCE, SEEN_CAN_ADD },
        { "ribbon", SEEN_SIZES_ITSELF | SEEN_BUILT_ONCE, SEEN_CAN_ADD },
        { "spatial:2/routed:2/counting:8", SEEN_CAN_COUNT | SEEN_CAN_REMOVE,
          SEEN_CAN_ROUTE | SEEN_NEEDS_ORDER },
        { "routed:2/counting:8,minimal", SEEN_CAN_COUNT | SEEN_NEEDS_ORDER,
          SEEN_CAN_REMOVE | SEEN_CAN_MERGE },
        { "growing/counting", SEEN_CAN_GROW, SEEN_CAN_COUNT },
        { "routed:8/growing/blocked", SEEN_CAN_GROW | SEEN_NEEDS_ORDER, 0 },
        { "dynamic/blocked", SEEN_ADDS_PARTS | SEEN_NEEDS_ORDER,
          SEEN_CAN_GROW },
        { "routed:16/layered:4", SEEN_HAS_LAYERS | SEEN_READS_TEXT, 0 },
        { "routed:16/layered:4,mixed", 0, SEEN_IGNORES_ORDER },
        { "routed:16/layered:4,published", SEEN_IGNORES_ORDER, 0 },
        { "layered:1,published", 0, SEEN_IGNORES_ORDER | SEEN_CAN_PREFIX },
        { "routed:16,md5/bloom", SEEN_READS_TEXT, 0 },
        { "bloom:sip", SEEN_CAN_ADD, SEEN_READS_TEXT },
        { "spatial:2/bloom", SEEN_PARTS_AGREE, 0 },
        { "routed:2/spatial:2/bloom", 0, SEEN_PARTS_AGREE },
        { "growing/bloom", 0, SEEN_PARTS_AGREE },
        { "blocked", SEEN_HAS_LINES, 0 },
        { "routed:2/blocked", 0, SEEN_HAS_LINES },
        { "nonesuch", 0, SEEN_CAN_ADD },
        { "growing/nonesuch", 0, SEEN_CAN_GROW },
        { "", 0, SEEN_CAN_ADD },
    };

    for (size_t i = 0; i < LENGTH(known); i++) {
        if (!seen_kind_can(known[i].kind, known[i].can))
            fail_msg("%s cannot", known[i].kind);
        for (unsigned trait = 1; trait; trait <<= 1)
            if (known[i].cannot & trait && seen_kind_can(known[i].kind, trait))
                fail_msg("%s can %x", known[i].kind, trait);
    }
}

/* A part that cannot be added to would be called without a function. */
TEST(no_part_can_do_less_than_the_whole_promises)
{
    static const struct {
        const char *whole, *part;
        bool fits;
    } known[] = {
        { "routed:2/bloom", "fuse", false },
        { "spatial:2/routed:2/bloom", "routed:2/fuse", false },
        { "routed:2/counting:8", "counting:8,minimal", false },
        { "routed:2/layered:2", "layered:1", false },
        { "routed:2/counting:8", "bloom", false },
        { "routed:2/fuse", "bloom", true },
        { "growing/blocked", "bloom", true },
    };

    for (size_t i = 0; i < LENGTH(known); i++) {
        struct seen_plan plan = plan_of(known[i].whole, 100, 0.01);
        struct seen_filter *f, *part;
        struct seen_error why = { .code = SEEN_OK };

        assert_int_equal(filter_make(&f, &plan, NULL, &why), SEEN_OK);
        plan = plan_of(known[i].part, 100, 0.01);
        assert_int_equal(filter_make(&part, &plan, NULL, &why), SEEN_OK);
        seen_filter_free(f->part[--f->parts]);
        assert_int_equal(filter_append(f, part, &why),
                         known[i].fits ? SEEN_OK : SEEN_RANGE);
        seen_filter_free(f);
    }
}

TEST(the_kind_with_a_trait_is_found_in_the_text)
{
    const char *kind = "routed:16/growing:4/layered:3,mixed";

    assert_string_equal(seen_kind_which(kind, SEEN_HAS_LAYERS),
                        "layered:3,mixed");
    assert_string_equal(seen_kind_which(kind, SEEN_CAN_GROW),
                        "growing:4/layered:3,mixed");
    assert_ptr_equal(seen_kind_which(kind, SEEN_CAN_ROUTE), kind);
    assert_null(seen_kind_which(kind, SEEN_BUILT_ONCE));
}

/* The list is what help and completion show: every kind, once. */
/* Each is a plan, keeps the rate, and takes at most 4 % more bits than a bloom
   where it is not `blocked`. */
TEST(a_kind_for_a_rate_can_be_made_with_it)
{
    static const double rate[] = { 0.5,  0.01, 1e-4,  0.99e-4, 1e-5, 1e-6,
                                   1e-7, 1e-9, 1e-12, 1e-32,   1e-40 };
    static const char *const kind[] = { "blocked",
                                        "blocked",
                                        "blocked",
                                        "spatial:3/blocked",
                                        "spatial:3/blocked",
                                        "spatial:3/blocked",
                                        "spatial:4/blocked",
                                        "spatial:5/blocked",
                                        "spatial:6/blocked",
                                        "spatial:16/blocked",
                                        "bloom" };

    for (size_t i = 0; i < LENGTH(rate); i++) {
        struct seen_plan plan = plan_of("bloom", 100000, rate[i]);
        struct seen_filter *f, *bloom;

        if (rate[i] > 1e-12) {
            bloom = made(&plan);
            seen_kind_for_rate(plan.kind, rate[i]);
            f = made(&plan);
            assert_true(seen_filter_planned(f) < 1.000001 * rate[i]);
            if (rate[i] < 1e-4)
                assert_in_range(seen_filter_bytes(f), 1,
                                seen_filter_bytes(bloom) * 26 / 25);
            seen_filter_free(f);
            seen_filter_free(bloom);
        }
        seen_kind_for_rate(plan.kind, rate[i]);
        assert_string_equal(plan.kind, kind[i]);
    }
}

TEST(every_kind_is_listed_with_its_synopsis)
{
    struct seen_kind_entry one, other;
    unsigned n = 0;

    for (; seen_kind_list(n, &one); n++) {
        assert_memory_equal(one.synopsis, one.name, strlen(one.name));
        assert_true(strlen(one.summary) > 10);
        for (unsigned i = 0; i < n && seen_kind_list(i, &other); i++)
            assert_string_not_equal(one.name, other.name);
    }
    assert_int_equal(n, 11);
}

/* -- a kind from outside -- */

TEST(a_kind_from_outside_works_alone_and_inside_others)
{
    static const struct {
        const char *kind;
        bool grows, counts;
    } known[] = {
        { "mine", false, true },
        { "spatial:2/mine", false, true },
        { "routed:8/mine", false, true },
        { "growing/mine", true, false },
        { "routed:2/growing/mine", true, false },
    };
    struct seen_kind_entry entry;
    struct seen_plan plan;
    struct seen_filter *f;
    uint64_t count = 0;

    assert_int_equal(seen_kind_register(&mine, NULL), SEEN_OK);
    assert_int_equal(seen_kind_register(&mine, NULL), SEEN_EXISTS);
    assert_ptr_equal(seen_kind_find("mine:6379/x"), &mine);
    assert_true(seen_kind_list(11, &entry));
    assert_string_equal(entry.name, "mine");
    for (size_t i = 0; i < LENGTH(known); i++) {
        bool grows = known[i].grows, counts = known[i].counts;
        size_t n = grows ? 8 * KEYS : KEYS;

        plan = plan_of(known[i].kind, KEYS, 0.01);
        f = made(&plan);
        assert_int_equal(seen_filter_can(f, SEEN_CAN_GROW), grows);
        assert_int_equal(seen_filter_can(f, SEEN_CAN_COUNT | SEEN_CAN_REMOVE),
                         counts);
        add_all(f, url, n);
        assert_int_equal(yes(f, url, n), n);
        if (!grows)
            assert_true(yes(f, url + KEYS, 4 * KEYS) < 60);
        if (counts) {
            add_all(f, url, 1);
            assert_int_equal(seen_filter_count(f, url, 1, &count, NULL),
                             SEEN_OK);
            assert_true(count >= 2);
            assert_int_equal(seen_filter_remove(f, url, 2, NULL), SEEN_OK);
        }
        seen_filter_free(f);
    }
}

TEST(a_kind_that_claims_what_it_lacks_is_refused)
{
    struct seen_kind wrong = mine;

    wrong.name = "wrong";
    wrong.traits |= SEEN_CAN_PREFIX;
    assert_int_equal(seen_kind_register(&wrong, NULL), SEEN_RANGE);
    wrong.traits = SEEN_CAN_ADD;
    wrong.add = NULL;
    assert_int_equal(seen_kind_register(&wrong, NULL), SEEN_RANGE);
    assert_null(seen_kind_find("wrong"));
}

TEST(arguments_of_a_kind_are_those_of_the_outermost)
{
    static const struct {
        const char *text;
        unsigned i;
        const char *arg;
    } known[] = {
        { "routed:16,md5/bloom:sha1", 0, "16" },
        { "routed:16,md5/bloom:sha1", 1, "md5" },
        { "routed:16,md5/bloom:sha1", 2, NULL },
        { "routed/bloom:sha1", 0, NULL },
        { "bloom", 0, NULL },
        { "bloom:", 0, "" },
        { "bloom:,x", 0, "" },
        { "bloom:,x", 1, "x" },
        { "counting:123456789", 0, "1234567" },     /* cut */
    };
    char arg[8];

    for (size_t i = 0; i < LENGTH(known); i++) {
        bool there = seen_kind_arg(known[i].text, known[i].i, arg, sizeof arg);

        assert_int_equal(there, known[i].arg != NULL);
        if (there)
            assert_string_equal(arg, known[i].arg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_can_do_what_it_says_and_nothing_else),
        cmocka_unit_test(what_a_whole_can_do_follows_from_its_parts),
        cmocka_unit_test(no_part_can_do_less_than_the_whole_promises),
        cmocka_unit_test(the_kind_with_a_trait_is_found_in_the_text),
        cmocka_unit_test(a_kind_for_a_rate_can_be_made_with_it),
        cmocka_unit_test(every_kind_is_listed_with_its_synopsis),
        cmocka_unit_test(a_kind_from_outside_works_alone_and_inside_others),
        cmocka_unit_test(a_kind_that_claims_what_it_lacks_is_refused),
        cmocka_unit_test(arguments_of_a_kind_are_those_of_the_outermost),
    };

    return cmocka_run_group_tests(tests, make_urls, free_urls);
}
