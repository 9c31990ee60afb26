/* filter_test.c - what every filter promises, for every kind. */
#include "cases.h"

#include <math.h>

#include <seen/build.h>

#include "lib/filter/tree.h"

enum { CAPACITY = 3000, MOST = 12000 };

static struct seen_key *url;    /* MOST distinct ones */

static int make_urls(void **state)
{
    *state = url = urls_new(MOST);
    return 0;
}

static int free_urls(void **state)
{
    free(*state);
    return 0;
}

/* A plan by chance: from 1 to CAPACITY keys, from 30 % to 0.1 %, or to what a
   ribbon of 8 bits can do. */
static struct seen_plan random_plan(const char *kind, uint64_t *dice)
{
    struct seen_plan plan = plan_of(kind, 1 + chance(dice, CAPACITY), 0);

    plan.rate = 0.3 * exp(-(double)chance(dice, 1000) / 1000 * log(300));
    if (contains(kind, "ribbon:8") || contains(kind, "shards:8"))
        plan.rate = fmax(plan.rate, 1.0 / 256);
    plan.seed = chance(dice, UINT64_MAX);
    plan.keyed = keyable(kind) && chance(dice, 2);
    return plan;
}

/* n of the URLs in an order by chance. */
static struct seen_key *shuffled(size_t n, uint64_t *dice)
{
    struct seen_key *key = malloc(n * sizeof *key);

    assert_non_null(key);
    memcpy(key, url, n * sizeof *key);
    for (size_t i = n; i > 1; i--) {
        size_t j = chance(dice, i);
        struct seen_key other = key[j];

        key[j] = key[i - 1];
        key[i - 1] = other;
    }
    return key;
}

TEST(what_was_added_is_always_found)
{
    uint64_t dice = 1;

    for (size_t i = 0; i < LENGTH(every_kind); i++)
        for (int round = 0; round < 8; round++) {
            struct seen_plan plan = random_plan(every_kind[i], &dice);
            struct seen_filter *f = made(&plan);
            size_t n = plan.capacity *
                       (contains(plan.kind, "growing") ? 4 : 1);
            struct seen_key *key = shuffled(n, &dice);

            for (size_t done = 0, some; done < n; done += some) {
                some = 1 + chance(&dice, 700);
                some = some < n - done ? some : n - done;
                add_all(f, key + done, some);
            }
            assert_int_equal(yes(f, url, n), n);
            free(key);
            seen_filter_free(f);
        }
}

TEST(what_was_built_is_always_found)
{
    const char *kind[LENGTH(every_kind) + LENGTH(built_kind)];
    uint64_t dice = 2;

    memcpy(kind, every_kind, sizeof every_kind);
    memcpy(kind + LENGTH(every_kind), built_kind, sizeof built_kind);
    for (size_t i = 0; i < LENGTH(kind); i++)
        for (int round = 0; round < 4; round++) {
            struct seen_plan plan = random_plan(kind[i], &dice);
            unsigned lanes = seen_kind_can(kind[i], SEEN_NEEDS_ORDER)
                                 ? 1
                                 : 1 + (unsigned)round % 3;
            struct seen_key *key = shuffled(plan.capacity, &dice);
            struct seen_error why = { .code = SEEN_OK };
            struct seen_build *b;
            struct seen_filter *f;

            if (seen_build_new_keyed(&b, &plan, secret_of(&plan), lanes,
                                     &why) != SEEN_OK)
                fail_msg("%s: %s", kind[i], why.text);
            for (size_t done = 0, some; done < plan.capacity; done += some) {
                some = 1 + chance(&dice, 700);
                some = some < plan.capacity - done ? some
                                                   : plan.capacity - done;
                assert_int_equal(seen_build_add(b, (unsigned)(done % lanes),
                                                key + done, some, &why),
                                 SEEN_OK);
            }
            if (seen_build_finish(b, &f, &why) != SEEN_OK)
                fail_msg("%s: %s", kind[i], why.text);
            assert_int_equal(yes(f, url, plan.capacity), plan.capacity);
            free(key);
            seen_filter_free(f);
        }
}

/* The same cells as key by key, where order does not matter. */
TEST(what_was_built_equals_what_was_added)
{
    static const char *const kind[] = { "bloom",          "bloom:sha1",
                                        "blocked",        "counting:8",
                                        "routed:4/bloom", "spatial:2/blocked",
                                        "layered:3" };

    for (size_t i = 0; i < LENGTH(kind); i++) {
        struct seen_plan plan = plan_of(kind[i], CAPACITY, 0.01);
        struct seen_filter *added = made(&plan), *built;
        struct seen_build *b;

        add_all(added, url, CAPACITY);
        assert_int_equal(seen_build_new(&b, &plan, 2, NULL), SEEN_OK);
        for (unsigned lane = 0; lane < 2; lane++)
            assert_int_equal(seen_build_add(b, lane, url + lane * CAPACITY / 2,
                                            CAPACITY / 2, NULL),
                             SEEN_OK);
        assert_int_equal(seen_build_finish(b, &built, NULL), SEEN_OK);
        if (!same(added, built))
            fail_msg("%s differs", kind[i]);
        seen_filter_free(added);
        seen_filter_free(built);
    }
}

TEST(an_empty_filter_has_seen_nothing)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], CAPACITY, 0.01);
        struct seen_filter *f = made(&plan);

        assert_int_equal(yes(f, url, MOST), 0);
        assert_int_equal(yes(f, url, 0), 0);
        assert_true(seen_filter_rate(f) == 0);
        assert_true(fabs(seen_filter_entries(f)) < 1e-6);
        assert_int_equal(seen_filter_cells_set(f), 0);
        assert_int_equal(seen_filter_offered(f), 0);
        assert_true(seen_filter_planned(f) > 0);
        assert_true(seen_filter_cells(f) > 0);
        assert_true(seen_filter_bytes(f) * 8 >= seen_filter_cells(f));
        assert_true(!seen_filter_memory(f) == (seen_filter_parts(f) > 0));
        seen_filter_free(f);
    }
}

/*
 * Each URL comes three times in a row of its own and again at the end. Keys
 * are fresh once; false positives, at 0.01 %, may take that away from one of
 * 3,000 now and then: 0.15 of them on average (errors grow with the filter),
 * or 1.4 where `dynamic` adds up those of 16 parts; more than 9 are one
 * case in 100,000.
 */
TEST(a_key_is_fresh_once)
{
    enum { COPIES = 4 };
    static struct seen_key key[COPIES * CAPACITY];
    static bool fresh[COPIES * CAPACITY];

    for (size_t i = 0; i < CAPACITY; i++) {
        key[3 * i] = key[3 * i + 1] = key[3 * i + 2] = url[i];
        key[3 * CAPACITY + i] = url[i];
    }
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], CAPACITY, 1e-4);
        struct seen_filter *f;
        size_t sum = 0;

        if (contains(plan.kind, "growing"))
            plan.capacity = 100;
        f = made(&plan);
        assert_int_equal(seen_filter_add(f, key, LENGTH(key), fresh, NULL),
                         SEEN_OK);
        for (size_t j = 0; j < LENGTH(key); j++) {
            if (j % 3 || j >= 3 * CAPACITY)
                assert_false(fresh[j]);
            sum += fresh[j];
        }
        assert_in_range(sum, CAPACITY - 9, CAPACITY);
        assert_int_equal(seen_filter_offered(f), 2 * CAPACITY);
        seen_filter_free(f);
    }
}

/* Add until SEEN_FULL in batches of `size`; return how many keys got in. */
static size_t add_in_batches(struct seen_filter *f, const struct seen_key *key,
                             size_t n, size_t size, bool *fresh)
{
    struct seen_error why;

    for (size_t done = 0, some; done < n; done += some) {
        enum seen_code code;

        some = n - done < size ? n - done : size;
        code = seen_filter_add(f, key + done, some, fresh + done, &why);
        if (code != SEEN_OK) {
            assert_int_equal(code, SEEN_FULL);
            assert_true(why.at < some);
            return done + why.at;
        }
    }
    return n;
}

/*
 * Four times the capacity, with copies of keys mixed in: filters become full
 * or grow on the way, and in every cell, in every `fresh` and in where they
 * stop they are the same, whether keys come one by one or all at once.
 */
TEST(answers_do_not_depend_on_batches)
{
    static const size_t size[] = { 1, 3, 64, 257, 1000, MOST };
    static struct seen_key key[MOST];
    static bool first[MOST], fresh[MOST];
    uint64_t dice = 3;

    for (size_t i = 0; i < MOST; i++)
        key[i] = url[chance(&dice, 5) ? i : chance(&dice, i + 1)];
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], CAPACITY / 2, 0.02);
        struct seen_filter *one = made(&plan);
        size_t in = add_in_batches(one, key, MOST, size[0], first);

        for (size_t s = 1; s < LENGTH(size); s++) {
            struct seen_filter *many = made(&plan);

            assert_int_equal(add_in_batches(many, key, MOST, size[s], fresh),
                             in);
            if (memcmp(fresh, first, in) || !same(one, many))
                fail_msg("%s depends on batches", plan.kind);
            seen_filter_free(many);
        }
        assert_int_equal(yes(one, key, in), in);
        if (contains(plan.kind, "growing"))
            assert_int_equal(in, MOST);
        else
            assert_in_range(in, plan.capacity, 3 * plan.capacity);
        seen_filter_free(one);
    }
}

/* Of every kind, empty, full, keyed, and with keys that have no text. */
TEST(a_key_that_was_expected_gets_the_same_answer)
{
    static bool before[MOST], after[MOST];
    struct seen_key number[10];

    for (size_t i = 0; i < LENGTH(number); i++)
        seen_key_number(&number[i], i);
    for (size_t i = 0; i < 2 * LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i / 2], CAPACITY, 0.02);
        struct seen_filter *f;

        plan.keyed = i % 2;
        if (plan.keyed && !keyable(plan.kind))
            continue;
        f = made(&plan);
        seen_filter_expect(f, url, 0);
        seen_filter_expect(f, url, CAPACITY);
        seen_filter_expect(f, number, LENGTH(number));
        add_all(f, url, CAPACITY / 2);
        seen_filter_has(f, url, CAPACITY, before, NULL);
        seen_filter_expect(f, url, CAPACITY);
        for (size_t j = 0; j < CAPACITY; j++) {
            seen_filter_expect(f, url + j, 1);
            seen_filter_has(f, url + j, 1, after + j, NULL);
        }
        if (memcmp(before, after, CAPACITY))
            fail_msg("%s depends on what was expected", plan.kind);
        seen_filter_free(f);
    }
}

/* A full filter still takes what it has: that changes nothing. */
TEST(a_full_filter_refuses_only_new_keys)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], 500, 0.01);
        struct seen_filter *f = made(&plan);
        struct seen_error why;
        uint64_t set;

        if (!contains(plan.kind, "growing")) {
            assert_int_equal(seen_filter_add(f, url, MOST, NULL, &why),
                             SEEN_FULL);
            assert_true(why.at >= 500);
            set = seen_filter_cells_set(f);
            assert_int_equal(seen_filter_add(f, url, why.at, NULL, NULL),
                             SEEN_OK);
            assert_int_equal(seen_filter_cells_set(f), set);
            assert_int_equal(yes(f, url, why.at), why.at);
            assert_true(seen_filter_rate(f) < 1.5 * seen_filter_planned(f));
        }
        seen_filter_free(f);
    }
}

TEST(a_plan_that_is_over_is_never_full)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], 500, 0.01);
        struct seen_filter *f;

        plan.over = true;
        f = made(&plan);
        add_all(f, url, 2500);
        assert_int_equal(yes(f, url, 2500), 2500);
        if (!contains(plan.kind, "growing"))
            assert_true(seen_filter_rate(f) > seen_filter_planned(f));
        seen_filter_free(f);
    }
}

/*
 * Of t = 9,000 keys, two filters of rate p err together on t p^2 = 90 at
 * p = 10 %; Poisson, so 90 + 5 sqrt(90) = 137 is the bound. A seed without
 * effect gives 900. Orestes has no seed, by its definition.
 */
TEST(filters_of_other_seeds_err_on_other_keys)
{
    static bool first[MOST], second[MOST];

    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], CAPACITY, 0.1);
        size_t both = 0;

        if (contains(plan.kind, "orestes") || contains(plan.kind, "dynamic"))
            continue;
        for (int j = 0; j < 2; j++, plan.seed++) {
            struct seen_filter *f = made(&plan);

            add_all(f, url, CAPACITY);
            assert_int_equal(
                seen_filter_has(f, url, MOST, j ? second : first, NULL),
                SEEN_OK);
            seen_filter_free(f);
        }
        for (size_t j = CAPACITY; j < MOST; j++)
            both += first[j] && second[j];
        if (both > 137)
            fail_msg("%s: %zu", plan.kind, both);
    }
}

/* -- keys ---------------------------------------------------------------- */

TEST(kinds_that_read_the_text_refuse_keys_without)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], 100, 0.01);
        struct seen_filter *f = made(&plan);
        bool reads = contains(plan.kind, "bloom:") ||
                     contains(plan.kind, "md5") ||
                     contains(plan.kind, "layered"),
             seen[3];
        struct seen_key key[3] = { url[0], url[1], url[2] };
        struct seen_error why;

        key[2].text = NULL;
        assert_int_equal(seen_filter_can(f, SEEN_READS_TEXT), reads);
        if (reads) {
            assert_int_equal(seen_filter_has(f, key, 3, seen, &why),
                             SEEN_RANGE);
            assert_int_equal(why.at, 2);
            assert_int_equal(seen_filter_add(f, key, 3, seen, &why),
                             SEEN_RANGE);
            assert_int_equal(seen_filter_cells_set(f), 0);
        } else {
            assert_int_equal(seen_filter_has(f, key, 3, seen, &why), SEEN_OK);
        }
        seen_filter_free(f);
    }
}

/* One URL: the key is made under the profile of the filter. */
TEST(a_url_is_added_under_the_profile_of_the_filter)
{
    struct seen_plan plan = plan_of("bloom", 100, 0.01);
    struct seen_error why = { .code = SEEN_OK };
    struct seen_filter *f;
    bool fresh, seen;

    strcpy(plan.profile, "whatwg");
    f = made(&plan);
    assert_int_equal(seen_filter_add_url(f, "http://a.example", &fresh, &why),
                     SEEN_OK);
    assert_true(fresh);
    assert_int_equal(
        seen_filter_add_url(f, "HTTP://A.example:80/#x", &fresh, NULL),
        SEEN_OK);
    assert_false(fresh);
    assert_int_equal(seen_filter_add_url(f, "http://b.example", NULL, &why),
                     SEEN_OK);
    assert_int_equal(seen_filter_has_url(f, "http://b.example/", &seen, NULL),
                     SEEN_OK);
    assert_true(seen);
    assert_int_equal(seen_filter_has_url(f, "http://c.example/", &seen, NULL),
                     SEEN_OK);
    assert_false(seen);
    assert_int_equal(seen_filter_has_url(f, "no scheme", &seen, &why),
                     SEEN_BAD_URL);
    assert_int_equal(seen_filter_add_url(f, "", NULL, &why), SEEN_BAD_URL);
    assert_int_equal(seen_filter_offered(f), 2);
    seen_filter_free(f);
}

TEST(keyed_filters_with_another_secret_have_other_cells)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], 1000, 0.01);
        struct seen_filter *f[3];

        if (!keyable(plan.kind))
            continue;
        for (int j = 0; j < 3; j++) {
            unsigned char other[SEEN_SECRET] = { (unsigned char)j };

            assert_int_equal(
                seen_filter_new_keyed(&f[j], &plan, j ? other : NULL, NULL),
                SEEN_OK);
            assert_int_equal(seen_filter_plan(f[j])->keyed, j > 0);
            add_all(f[j], url, 1000);
            assert_int_equal(yes(f[j], url, 1000), 1000);
        }
        assert_false(same(f[0], f[1]));
        assert_false(same(f[1], f[2]));
        assert_true(f[1]->check && f[1]->check != f[2]->check);
        for (int j = 0; j < 3; j++)
            seen_filter_free(f[j]);
    }
}

TEST(a_keyed_filter_answers_nothing_without_its_secret)
{
    static const unsigned char zeros[SEEN_SECRET], other[SEEN_SECRET] = { 2 };
    struct seen_plan plan = plan_of("bloom", 100, 0.01);
    struct filter_record record;
    struct seen_filter *f;
    struct seen_key bare;
    struct seen_error why;
    bool seen;

    plan.keyed = true;
    assert_int_equal(seen_filter_new(&f, &plan, &why), SEEN_RANGE);
    assert_null(f);
    assert_int_equal(seen_filter_new_keyed(&f, &plan, zeros, &why),
                     SEEN_RANGE);
    assert_null(f);

    f = made(&plan);
    seen_key_number(&bare, 1);
    assert_int_equal(seen_filter_has(f, &bare, 1, &seen, &why), SEEN_RANGE);
    record = filter_record(f);
    seen_filter_free(f);

    assert_int_equal(filter_restore(&f, &record, other, &why), SEEN_MISMATCH);
    assert_int_equal(filter_restore(&f, &record, NULL, &why), SEEN_OK);
    assert_int_equal(seen_filter_has(f, url, 1, &seen, &why), SEEN_MISMATCH);
    assert_int_equal(seen_filter_add(f, url, 1, &seen, &why), SEEN_MISMATCH);
    seen_filter_free(f);
}

/* A journal is replayed without the secret, and may fill a part. */
TEST(a_keyed_filter_grows_without_its_secret)
{
    struct seen_plan plan = plan_of("growing/bloom", 100, 0.01);
    struct filter_record record;
    struct seen_filter *f, *g, *part;

    plan.keyed = true;
    f = made(&plan);
    record = filter_record(f);
    assert_int_equal(filter_restore(&g, &record, NULL, NULL), SEEN_OK);
    record = filter_record(f->part[0]);
    assert_int_equal(filter_restore(&part, &record, NULL, NULL), SEEN_OK);
    assert_int_equal(filter_append(g, part, NULL), SEEN_OK);
    assert_int_equal(seen_filter_grow(g, NULL), SEEN_OK);
    assert_int_equal(g->part[1]->check, f->check);
    seen_filter_free(f);
    seen_filter_free(g);
}

TEST(hashes_without_a_secret_are_refused_in_keyed_plans)
{
    static const char *const kind[] = {
        "bloom:jenkins",       "bloom:md5+sha1",          "bloom:orestes",
        "routed:16,md5/bloom", "spatial:2/bloom:murmur3",
    };
    struct seen_filter *f;

    for (size_t i = 0; i < LENGTH(kind); i++) {
        struct seen_plan plan = plan_of(kind[i], 100, 0.01);

        assert_int_equal(seen_filter_new_keyed(&f, &plan, secret, NULL),
                         SEEN_RANGE);
    }
}

/* -- plans --------------------------------------------------------------- */

TEST(impossible_plans_are_refused_with_a_reason)
{
#define OF(text) .kind = text, .capacity = 100, .rate = 0.01
    static const struct seen_plan refused[] = {
        { .kind = "bloom" },
        { .kind = "bloom", .capacity = 100 },
        { .kind = "bloom", .rate = 0.01 },
        { .kind = "bloom", .bits = 1024 },
        { .kind = "bloom", .capacity = 100, .rate = -0.01 },
        { .kind = "bloom", .capacity = 100, .rate = 1 },
        { .kind = "bloom", .capacity = 100, .rate = NAN },
        { .kind = "bloom", .capacity = 100, .rate = INFINITY },
        { .kind = "bloom", .capacity = 100, .rate = 1e-300 },
        { .kind = "bloom", .capacity = (uint64_t)-1, .rate = 0.01 },
        { .kind = "bloom", .capacity = (uint64_t)-100, .rate = 0.01 },
        { .kind = "bloom", .capacity = SEEN_BITS, .rate = 0.01 },
        { .kind = "bloom", .bits = SEEN_BITS + 1, .rate = 0.01 },
        { .kind = "bloom", .bits = UINT64_MAX, .capacity = 1 },
        { OF("bloom"), .bits = 100 },
        { OF("bloom"), .probes = 65 },
        { OF("bloom"), .probes = UINT32_MAX },
        { OF("bloom"), .multiplier = NAN },
        { OF("bloom"), .multiplier = -1 },
        { OF("bloom"), .multiplier = 1e300 },
        { OF("bloom"), .bits = 8192, .probes = 3, .multiplier = 2 },
        { OF("bloom"), .profile = "nonesuch" },
        { .kind = "bloom",
          .capacity = SEEN_BITS / 2,
          .probes = 64,
          .multiplier = 999999 },
        { OF("") },
        { OF("bloo") },
        { OF("blooms") },
        { OF("bloom:") },
        { OF("bloom/") },
        { OF("bloom:sip") },
        { OF("bloom:nonesuch") },
        { OF("bloom:jenkins,") },
        { OF("bloom:jenkins,murmur") },
        { OF("bloom:jenkins+") },
        { OF("bloom:+jenkins") },
        { OF("bloom:jenkins+jenkins") },
        { OF("bloom:jenkins+orestes") },
        { OF("bloom/bloom") },
        { OF("/bloom") },
        { .kind = "bloom:jenkins",
          .bits = (UINT64_C(1) << 32) + 512,
          .capacity = 1000 },
        { .kind = "bloom:sha1+murmur",
          .bits = (UINT64_C(1) << 32) + 512,
          .capacity = 1000 },
        { .kind = "bloom:orestes",
          .bits = (UINT64_C(1) << 32) + 512,
          .capacity = 1000 },
        { OF("blocked:1") },
        { .kind = "blocked", .capacity = 100, .rate = 0.00001 },
        { OF("counting:") },
        { OF("counting:0") },
        { OF("counting:5") },
        { OF("counting:12") },
        { OF("counting:64") },
        { OF("counting:4294967300") },
        { OF("counting:+4") },
        { OF("counting:4,maximal") },
        { OF("counting:minimal") },
        { OF("counting:4,minimal,minimal") },
        { OF("layered") },
        { OF("layered:0") },
        { OF("layered:17") },
        { OF("layered:2,unmixed") },
        { .kind = "layered:2", .bits = 100000, .rate = 0.01 },
        { .kind = "layered:16", .bits = 1000, .capacity = 100 },
        { OF("layered:2"), .bits = 90000, .probes = 3, .multiplier = 2 },
        { OF("spatial") },
        { OF("spatial/") },
        { OF("spatial:1/bloom") },
        { OF("spatial:17/bloom") },
        { OF("spatial:2,3/bloom") },
        { OF("spatial:2/nonesuch") },
        { OF("spatial:2/spatial:2/bloom") },
        { .kind = "spatial:2/bloom", .capacity = 100 },
        { OF("routed/bloom") },
        { OF("routed:0/bloom") },
        { OF("routed:1/bloom") },
        { OF("routed:3/bloom") },
        { OF("routed:-16/bloom") },
        { OF("routed:8192/bloom") },
        { OF("routed:16,sha1/bloom") },
        { OF("routed:16,md5,md5/bloom") },
        { OF("routed:4/routed:4/bloom") },
        { OF("routed:4/spatial/routed:4/bloom") },
        { .kind = "routed:4096/bloom", .bits = 64, .rate = 0.01 },
        { OF("growing") },
        { OF("growing:0/bloom") },
        { OF("growing:1/bloom") },
        { OF("growing:17/bloom") },
        { OF("growing/growing/bloom") },
        { OF("growing/dynamic/bloom") },
        { OF("growing/spatial/growing/bloom") },
        { OF("growing/bloom"), .bits = 100000 },
        { OF("growing/bloom"), .probes = 7 },
        { OF("growing/bloom"), .multiplier = 2 },
        { .kind = "growing/bloom", .capacity = 100 },
        { .kind = "growing/bloom", .rate = 0.01 },
        { OF("dynamic:1/bloom") },
        { OF("dynamic:8192/bloom") },
        { OF("dynamic/dynamic/bloom") },
        { OF("dynamic/growing/bloom") },
        { OF("growing/routed:2/spatial:2/routed:2/bloom") },
        { OF("spatial/growing/routed:2/counting/bloom") },
    };
#undef OF

    for (size_t i = 0; i < LENGTH(refused); i++) {
        struct seen_filter *f = (struct seen_filter *)&f;
        struct seen_error why = { .code = SEEN_OK };

        if (seen_filter_new(&f, &refused[i], &why) != SEEN_RANGE)
            fail_msg("plan %zu, %s, was made", i, refused[i].kind);
        assert_null(f);
        assert_int_equal(why.code, SEEN_RANGE);
        assert_true(strlen(why.text) > 10);
    }
}

TEST(a_kind_without_an_end_is_refused)
{
    struct seen_plan plan = plan_of("bloom", 100, 0.01);
    struct seen_filter *f;

    memset(plan.kind, 'x', sizeof plan.kind);
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_RANGE);
    plan = plan_of("bloom", 100, 0.01);
    memset(plan.profile, 'x', sizeof plan.profile);
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_RANGE);
}

TEST(what_is_built_once_is_not_added_to)
{
    struct seen_filter *f;

    for (size_t i = 0; i < LENGTH(built_kind); i++) {
        struct seen_plan plan = plan_of(built_kind[i], 100, 0.01);

        assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_UNABLE);
        assert_null(f);
    }
}

TEST(what_a_kind_cannot_do_it_says)
{
    struct seen_plan plan = plan_of("spatial:2/bloom", 100, 0.01);
    struct seen_filter *f = made(&plan);
    struct seen_error why;
    uint64_t count;
    unsigned part;
    bool seen;

    add_all(f, url, 1);
    assert_int_equal(seen_filter_remove(f, url, 1, &why), SEEN_UNABLE);
    assert_int_equal(seen_filter_count(f, url, 1, &count, &why), SEEN_UNABLE);
    assert_int_equal(seen_filter_has_prefix(f, url, &seen, &why), SEEN_UNABLE);
    assert_int_equal(seen_filter_route(f, url, &part, &why), SEEN_UNABLE);
    assert_int_equal(yes(f, url, 1), 1);
    assert_non_null(seen_filter_part(f, 1));
    assert_null(seen_filter_part(f, 2));
    seen_filter_free(f);
    seen_filter_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_always_found),
        cmocka_unit_test(what_was_built_is_always_found),
        cmocka_unit_test(what_was_built_equals_what_was_added),
        cmocka_unit_test(an_empty_filter_has_seen_nothing),
        cmocka_unit_test(a_key_is_fresh_once),
        cmocka_unit_test(answers_do_not_depend_on_batches),
        cmocka_unit_test(a_key_that_was_expected_gets_the_same_answer),
        cmocka_unit_test(a_full_filter_refuses_only_new_keys),
        cmocka_unit_test(a_plan_that_is_over_is_never_full),
        cmocka_unit_test(filters_of_other_seeds_err_on_other_keys),
        cmocka_unit_test(kinds_that_read_the_text_refuse_keys_without),
        cmocka_unit_test(a_url_is_added_under_the_profile_of_the_filter),
        cmocka_unit_test(keyed_filters_with_another_secret_have_other_cells),
        cmocka_unit_test(a_keyed_filter_answers_nothing_without_its_secret),
        cmocka_unit_test(a_keyed_filter_grows_without_its_secret),
        cmocka_unit_test(hashes_without_a_secret_are_refused_in_keyed_plans),
        cmocka_unit_test(impossible_plans_are_refused_with_a_reason),
        cmocka_unit_test(a_kind_without_an_end_is_refused),
        cmocka_unit_test(what_is_built_once_is_not_added_to),
        cmocka_unit_test(what_a_kind_cannot_do_it_says),
    };

    return cmocka_run_group_tests(tests, make_urls, free_urls);
}
