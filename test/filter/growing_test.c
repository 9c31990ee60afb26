/* growing_test.c - filters that grow: growing keeps its rate, dynamic not. */
#include "cases.h"

#include <math.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { MOST = 1000000 };        /* ten times slower */
#else
enum { MOST = 10000000 };
#endif
enum { BATCH = 1000, ASKED = 200000 };

static struct seen_key key[BATCH];

/* The keys of the numbers from `from` on. */
static void number(uint64_t from)
{
    for (uint64_t i = 0; i < BATCH; i++)
        seen_key_number(&key[i], from + i);
}

static size_t yes_of(const struct seen_filter *f, uint64_t from, size_t n)
{
    size_t sum = 0;

    for (size_t done = 0; done < n; done += BATCH) {
        number(from + done);
        sum += yes(f, key, BATCH);
    }
    return sum;
}

/*
 * At every power of ten from a thousand on, numbers never added are asked.
 * With p = 1 % and t = 200,000 five standard deviations are 0.11 %. The sum
 * of the parts' rates stays below p; how far below depends on how full the
 * last one is, and 0.3 p is never reached: parts before it have their full
 * rate, in all p (1 - r^i), and the first alone has 0.15 p.
 */
static void keeps_its_rate(const char *kind, double rate)
{
    struct seen_plan plan = plan_of(kind, 1000, rate);
    struct seen_filter *f = made(&plan);
    uint64_t mark = 1000;
    double band = 5 * sqrt(rate / ASKED);

    for (uint64_t n = 0; n < MOST; n += BATCH) {
        number(n);
        add_all(f, key, BATCH);
        if (n + BATCH == mark) {
            double found = (double)yes_of(f, UINT64_C(1) << 40, ASKED) / ASKED;
            double told = seen_filter_rate(f);

            if (found > rate + band || fabs(found - told) > band)
                fail_msg("%s: of %llu keys errs for %g, tells %g", kind,
                         (unsigned long long)mark, found, told);
            assert_true(told <= rate);
            assert_true(fabs(seen_filter_entries(f) / (double)mark - 1) <
                        0.05);
            assert_true(seen_filter_planned(f) == rate);
            mark *= 10;
        }
    }
    assert_int_equal(yes_of(f, 0, 100000), 100000);
    assert_int_equal(yes_of(f, MOST - 100000, 100000), 100000);
    seen_filter_free(f);
}

TEST(growing_bloom_keeps_its_rate_from_a_thousand_keys_to_ten_million)
{
    keeps_its_rate("growing/bloom", 0.01);
}

/* RedisBloom has ln(1 / 0.005) / ln(2)^2 = 11.03 bits per key for the first
   part. Two parts of twice the size each follow. */
TEST(what_is_planned_has_a_small_first_part_and_keeps_the_rate_of_all)
{
    enum { PLANNED = 50000, ALL = 7 * PLANNED / BATCH * BATCH };
    struct seen_plan plan = plan_of("growing:2,planned/blocked", PLANNED,
                                    0.01);
    struct seen_filter *f = made(&plan);
    const double band = 5 * sqrt(0.01 / ASKED);

    assert_true((double)seen_filter_bytes(f) * 8 / PLANNED < 11.03);
    for (uint64_t n = 0; n < ALL; n += BATCH) {
        number(n);
        add_all(f, key, BATCH);
    }
    assert_int_equal(seen_filter_parts(f), 3);
    assert_true(seen_filter_rate(f) <= 0.01);
    assert_true(seen_filter_rate(f) > 0.63 * 0.01);
    assert_true(fabs((double)yes_of(f, UINT64_C(1) << 40, ASKED) / ASKED -
                     seen_filter_rate(f)) < band);
    assert_int_equal(yes_of(f, 0, ALL), ALL);
    seen_filter_free(f);
}

TEST(growing_blocked_keeps_its_rate_from_a_thousand_keys_to_ten_million)
{
    keeps_its_rate("growing/blocked", 0.01);
}

/* p (1 - r) r^i of p = 0.001 is below 0.0001 from i = 3 on. */
TEST(parts_below_the_rates_of_blocked_are_bloom)
{
    struct seen_plan plan = plan_of("growing/blocked", 1000, 0.001);
    struct seen_filter *f = made(&plan);

    for (uint64_t n = 0; n < 50000; n += BATCH) {
        number(n);
        add_all(f, key, BATCH);
    }
    assert_true(f->parts > 4);
    for (unsigned i = 0; i < f->parts; i++)
        assert_string_equal(f->part[i]->plan.kind,
                            i < 3 ? "blocked" : "bloom");
    assert_int_equal(yes_of(f, 0, 50000), 50000);
    seen_filter_free(f);

    /* two parts share the rate: sqrt(0.00015) is well above 0.0001 */
    plan = plan_of("growing/spatial:2/blocked", 1000, 0.001);
    f = made(&plan);
    assert_string_equal(f->part[0]->plan.kind, "spatial:2/blocked");
    seen_filter_free(f);
    plan = plan_of("growing/spatial:2/blocked", 1000, 1e-8);
    f = made(&plan);
    assert_string_equal(f->part[0]->plan.kind, "spatial:2/bloom");
    seen_filter_free(f);
}

TEST(each_part_is_f_times_larger_and_tighter)
{
    struct seen_plan plan = plan_of("growing:3/bloom", 100, 0.01);
    struct seen_filter *f = made(&plan);
    uint64_t capacity = 100;
    double rate = 0.01 * 0.15;

    for (uint64_t n = 0; n < 20000; n += BATCH) {
        number(n);
        add_all(f, key, BATCH);
    }
    assert_int_equal(f->parts, 6);
    for (unsigned i = 0; i < f->parts; i++) {
        const struct seen_plan *part = seen_filter_plan(f->part[i]);

        assert_int_equal(part->capacity, capacity);
        assert_true(fabs(part->rate / rate - 1) < 1e-9);
        assert_true(part->tight && !part->over);
        capacity *= 3;
        rate *= 0.85;
    }
    seen_filter_free(f);
}

/* What is too large to plan is refused before it is multiplied. */
TEST(a_part_of_more_than_2_to_the_48_keys_is_refused)
{
    struct seen_plan plan = plan_of("growing:16/bloom", 1000, 0.01);
    struct seen_filter *f = made(&plan);
    struct seen_error why;

    f->part[0]->plan.capacity = SEEN_BITS / 2;
    assert_int_equal(seen_filter_grow(f, &why), SEEN_FULL);
    f->part[0]->plan.capacity = SEEN_BITS / 32;     /* too many bits, then */
    assert_int_equal(seen_filter_grow(f, &why), SEEN_RANGE);
    assert_int_equal(f->parts, 1);
    seen_filter_free(f);
}

/*
 * A key that fills a part is followed by copies of keys in that part: they
 * are not added to the next one, wherever a batch ends.
 */
TEST(copies_across_the_border_of_parts_are_not_fresh)
{
    struct seen_plan plan = plan_of("growing/bloom", 100, 1e-6);
    struct seen_filter *f = made(&plan);
    static struct seen_key twice[2 * BATCH];
    static bool fresh[2 * BATCH];

    number(0);
    for (size_t i = 0; i < BATCH; i++)
        twice[2 * i] = key[i], twice[2 * i + 1] = key[i > 30 ? i - 30 : 0];
    assert_int_equal(seen_filter_add(f, twice, 2 * BATCH, fresh, NULL),
                     SEEN_OK);
    for (size_t i = 0; i < BATCH; i++) {
        assert_true(fresh[2 * i]);
        assert_false(fresh[2 * i + 1]);
    }
    assert_true(f->parts > 2);
    seen_filter_free(f);
}

/*
 * The archives report's example: an array of 20 filters of 1 % errs for
 * 1 - 0.99^20 = 18.2 %. It is filled to 98 % here, and the last part, whose
 * rate rises with the seventh power of its load, hardly errs yet: 19 or 20
 * of them count. Five standard deviations of 200,000 answers are 0.43 %.
 */
TEST(dynamic_tells_its_aggregate_rate)
{
    struct seen_plan plan = plan_of("dynamic:20/bloom", 100000, 0.01);
    struct seen_filter *f = made(&plan);
    double found;

    assert_true(fabs(seen_filter_planned(f) - 0.182) < 0.0005);
    assert_int_equal(f->parts, 1);
    for (uint64_t n = 0; n < 98000; n += BATCH) {
        number(n);
        add_all(f, key, BATCH);
    }
    assert_in_range(f->parts, 15, 20);
    found = (double)yes_of(f, UINT64_C(1) << 40, ASKED) / ASKED;
    assert_true(fabs(found - seen_filter_rate(f)) < 0.0043);
    assert_in_range(1000 * found, 130, 190);
    assert_int_equal(yes_of(f, 0, 98000), 98000);
    seen_filter_free(f);
}

TEST(dynamic_is_full_when_all_its_parts_are)
{
    struct seen_plan plan = plan_of("dynamic:4/bloom", 1000, 0.001);
    struct seen_filter *f = made(&plan);
    struct seen_error why;
    enum seen_code code = SEEN_OK;
    uint64_t n = 0;

    for (; code == SEEN_OK; n += BATCH) {
        number(n);
        code = seen_filter_add(f, key, BATCH, NULL, &why);
    }
    n = n - BATCH + why.at;
    assert_int_equal(code, SEEN_FULL);
    assert_in_range(n, 1000, 1200);
    assert_int_equal(f->parts, 4);
    number(0);
    assert_int_equal(yes(f, key, 1000), 1000);
    seen_filter_free(f);
}

/* All parts but the last are filled to their capacity, as planned. */
TEST(dynamic_past_its_capacity_goes_on_in_the_last_part)
{
    struct seen_plan plan = plan_of("dynamic:4/bloom", 1000, 0.001);
    struct seen_filter *f;

    plan.over = true;
    f = made(&plan);
    for (uint64_t n = 0; n < 3000; n += BATCH) {
        number(n);
        add_all(f, key, BATCH);
    }
    assert_int_equal(f->parts, 4);
    for (unsigned i = 0; i < 3; i++)
        assert_in_range((uint64_t)seen_filter_entries(f->part[i]), 250, 320);
    assert_true(seen_filter_rate(f) > seen_filter_planned(f));
    assert_int_equal(yes_of(f, 0, 3000), 3000);
    seen_filter_free(f);
}

/*
 * The union has the parts of both, tells how often either errs, and grows
 * on from the largest part, not by F^(parts).
 */
TEST(a_union_has_the_parts_of_both)
{
    static const char *const kind[] = { "growing/bloom", "growing/blocked",
                                        "growing/spatial:2/routed:2/bloom",
                                        "dynamic:16/bloom" };

    for (size_t i = 0; i < LENGTH(kind); i++) {
        bool grows = contains(kind[i], "growing");
        struct seen_plan plan = plan_of(kind[i], grows ? 500 : 16000, 0.01);
        struct seen_filter *f = made(&plan), *g = made(&plan);
        unsigned parts;
        double rate;

        for (uint64_t n = 0; n < 5000; n += BATCH) {
            number(n);
            add_all(f, key, BATCH);
            number(5000 + n);
            add_all(g, key, BATCH);
        }
        parts = f->parts + g->parts;
        rate = 1 - (1 - seen_filter_rate(f)) * (1 - seen_filter_rate(g));
        assert_int_equal(seen_filter_merge(f, g, NULL), SEEN_OK);
        assert_int_equal(yes_of(g, 5000, 5000), 5000);
        seen_filter_free(g);
        assert_int_equal(f->parts, parts);
        assert_int_equal(yes_of(f, 0, 10000), 10000);
        assert_true(fabs(seen_filter_rate(f) / rate - 1) < 1e-6);
        assert_int_equal(seen_filter_offered(f), 10000);
        if (grows) {
            uint64_t largest = f->part[f->parts - 1]->plan.capacity;

            number(20000);
            assert_true(seen_filter_grow(f, NULL) == SEEN_OK);
            assert_int_equal(f->part[f->parts - 1]->plan.capacity,
                             2 * largest);
        }
        seen_filter_free(f);
    }
}

TEST(a_union_of_too_many_parts_is_refused_and_changes_nothing)
{
    struct seen_plan plan = plan_of("dynamic:4/bloom", 1000, 0.01);
    struct seen_filter *f = made(&plan), *g = made(&plan);

    number(0);
    add_all(f, key, 800);
    add_all(g, key, 800);
    assert_true(f->parts + g->parts > 4);
    assert_int_equal(seen_filter_merge(f, g, NULL), SEEN_FULL);
    assert_true(same(f, g));
    seen_filter_free(f);
    seen_filter_free(g);
}

/*
 * A file of 128 bytes of cells whose plan claims 2^34 keys, or a rate that
 * needs thousands of bits per key, gets no part of gigabytes.
 */
TEST(a_plan_that_claims_too_much_gets_no_next_part)
{
    static const struct {
        const char *kind;
        uint64_t capacity;
        double rate;
    } hostile[] = {
        { "dynamic:2/routed:2/bloom", UINT64_C(1) << 34, 0.01 },
        { "dynamic:2/routed:2/bloom", UINT64_C(1) << 48, 0.01 },
        { "dynamic:4096/spatial:2/blocked", UINT64_C(1) << 44, 0.01 },
        { "dynamic:2/routed:2/bloom", UINT64_C(1) << 20, 1e-250 },
    };

    for (size_t i = 0; i < LENGTH(hostile); i++) {
        struct seen_plan plan = plan_of(hostile[i].kind, 100, 0.01);
        struct seen_filter *f;
        struct seen_error why = { .code = SEEN_OK };
        enum seen_code code = SEEN_OK;
        uint64_t bytes;

        if (strstr(plan.kind, "4096"))
            plan.capacity = 100 * 4096;
        f = made(&plan);
        bytes = seen_filter_bytes(f);
        f->plan.capacity = hostile[i].capacity;
        f->plan.rate = hostile[i].rate;
        number(0);
        code = seen_filter_add(f, key, BATCH, NULL, &why);
        assert_true(code == SEEN_FULL || code == SEEN_RANGE);
        assert_int_equal(seen_filter_bytes(f), bytes);
        assert_in_range(why.at, 20, 300);
        assert_int_equal(yes(f, key, why.at), why.at);
        seen_filter_free(f);
    }
}

/* -0 is printed as "rate now -0 %" and "rate": -0. */
TEST(the_rate_of_an_empty_filter_has_no_sign)
{
    static const char *const kinds[] = { "growing/blocked", "dynamic:4/bloom",
                                         "routed:4/growing/bloom",
                                         "growing/spatial:2/blocked" };

    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct seen_plan plan = plan_of(kinds[i], 1000, 0.01);
        struct seen_filter *f = made(&plan);

        assert_true(seen_filter_rate(f) == 0);
        assert_false(signbit(seen_filter_rate(f)));
        assert_false(signbit(seen_filter_entries(f)));
        seen_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_of_an_empty_filter_has_no_sign),
        cmocka_unit_test(a_plan_that_claims_too_much_gets_no_next_part),
        cmocka_unit_test(
            what_is_planned_has_a_small_first_part_and_keeps_the_rate_of_all),
        cmocka_unit_test(
            growing_bloom_keeps_its_rate_from_a_thousand_keys_to_ten_million),
        cmocka_unit_test(
            growing_blocked_keeps_its_rate_from_a_thousand_keys_to_ten_million),
        cmocka_unit_test(parts_below_the_rates_of_blocked_are_bloom),
        cmocka_unit_test(each_part_is_f_times_larger_and_tighter),
        cmocka_unit_test(a_part_of_more_than_2_to_the_48_keys_is_refused),
        cmocka_unit_test(copies_across_the_border_of_parts_are_not_fresh),
        cmocka_unit_test(dynamic_tells_its_aggregate_rate),
        cmocka_unit_test(dynamic_is_full_when_all_its_parts_are),
        cmocka_unit_test(dynamic_past_its_capacity_goes_on_in_the_last_part),
        cmocka_unit_test(a_union_has_the_parts_of_both),
        cmocka_unit_test(
            a_union_of_too_many_parts_is_refused_and_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
