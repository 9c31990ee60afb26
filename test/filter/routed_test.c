/* routed_test.c - the key chooses its part. */
#include "cases.h"

#include <math.h>

enum { KEYS = 100000 };

static struct seen_key *url;

static int make_urls(void **state)
{
    *state = url = urls_new(KEYS);
    return 0;
}

static int free_urls(void **state)
{
    free(*state);
    return 0;
}

static unsigned route(const struct seen_filter *f, const struct seen_key *key)
{
    unsigned part;

    assert_int_equal(seen_filter_route(f, key, &part, NULL), SEEN_OK);
    return part;
}

/* The archives report, figure 7; and the first hex digit of some others. */
TEST(md5_routes_as_the_archives_report_does)
{
    static const struct {
        const char *text;
        unsigned hex;                   /* the first three digits */
    } known[] = {
        { "", 0xd41 },                  /* d41d8cd9... */
        { "abc", 0x900 },               /* 90015098... */
        { "message digest", 0xf96 },    /* f96b697d... */
    };
    struct seen_plan plan = plan_of("routed:16,md5/bloom:jenkins", 1000, 0.01);
    struct seen_filter *f = made(&plan);
    struct seen_key key;
    static const unsigned parts[] = { 2, 4, 16, 256, 4096 };

    seen_key_hash(&key, "https://haw.nsk.hr/en", 21);
    assert_int_equal(route(f, &key), 3);
    add_all(f, &key, 1);
    assert_true(f->part[3]->set > 0);
    assert_int_equal(seen_filter_cells_set(f), f->part[3]->set);
    seen_filter_free(f);
    for (size_t p = 0; p < LENGTH(parts); p++) {
        snprintf(plan.kind, sizeof plan.kind, "routed:%u,md5/bloom", parts[p]);
        f = made(&plan);
        for (size_t i = 0; i < LENGTH(known); i++) {
            seen_key_hash(&key, known[i].text, strlen(known[i].text));
            assert_int_equal(route(f, &key), known[i].hex * parts[p] / 4096);
        }
        seen_filter_free(f);
    }
}

TEST(without_md5_the_top_bits_of_the_key_choose)
{
    struct seen_plan plan = plan_of("routed:16/bloom", 1000, 0.01);
    struct seen_filter *f = made(&plan);
    struct seen_key key = { .lo = UINT64_MAX,
                            .hi = UINT64_C(0xbfffffffffffffff) };

    assert_int_equal(route(f, &key), 11);
    seen_filter_free(f);
}

/*
 * Of 100,000 keys, 16 parts get 6,250 each on average. The sum of squared
 * deviations over 6,250 is chi-square with 15 degrees of freedom: mean 15,
 * above 60 for one hash in five million, below 1.5 for one in a million.
 */
TEST(routes_are_spread_evenly)
{
    static const char *const kind[] = { "routed:16/bloom",
                                        "routed:16,md5/bloom" };

    for (size_t k = 0; k < LENGTH(kind); k++) {
        struct seen_plan plan = plan_of(kind[k], 1000, 0.01);
        struct seen_filter *f = made(&plan);
        double chi = 0, sum[16] = { 0 };

        for (size_t i = 0; i < KEYS; i++)
            sum[route(f, &url[i])]++;
        for (int i = 0; i < 16; i++)
            chi += (sum[i] - KEYS / 16.0) * (sum[i] - KEYS / 16.0) /
                   (KEYS / 16.0);
        if (chi < 1.5 || chi > 60)
            fail_msg("%s: %g", kind[k], chi);
        seen_filter_free(f);
    }
}

/* n/N + 5 sqrt(n/N) each: n keys fit, and not many more. */
TEST(parts_are_planned_for_five_deviations_more)
{
    struct seen_plan plan = plan_of("routed:16/bloom", 16000, 0.01);
    struct seen_filter *f = made(&plan);
    struct seen_error why;

    assert_int_equal(seen_filter_parts(f), 16);
    assert_int_equal(seen_filter_plan(f->part[5])->capacity, 1159);
    assert_true(f->part[4]->plan.seed != f->part[5]->plan.seed);
    assert_int_equal(seen_filter_add(f, url, KEYS, NULL, &why), SEEN_FULL);
    assert_in_range(why.at, 16000, 19000);
    assert_int_equal(yes(f, url, why.at), why.at);
    seen_filter_free(f);
}

/*
 * The whole archive of the report: 800 million URLs in 16 parts, above 2^32
 * bits, of which only the pages that are touched are had. The same bits a
 * URL at a ten-thousandth of the size, filled to its capacity, give the rate:
 * 20,000 questions of 1 % each are 200 +- 14, five deviations are 70. (Parts
 * are planned for five deviations of n/16 more, which is a seventh of such a
 * small one: its rate is lower.)
 */
TEST(eight_hundred_million_urls_are_planned_in_full)
{
    struct seen_plan plan = plan_of("routed:16/blocked", 800000000, 0.01);
    struct seen_filter *f = made(&plan), *small;
    uint64_t bits = 8 * seen_filter_bytes(f);
    size_t wrong;

    assert_int_equal(seen_filter_parts(f), 16);
    assert_true(bits > UINT64_C(9) * 800000000);
    assert_true(bits < UINT64_C(11) * 800000000);
    assert_true(seen_filter_planned(f) <= 0.01);
    assert_true(seen_filter_cells(f) > UINT32_MAX);
    add_all(f, url, KEYS / 10);
    assert_int_equal(yes(f, url, KEYS / 10), KEYS / 10);
    assert_int_equal(yes(f, url + KEYS / 10, KEYS - KEYS / 10), 0);
    seen_filter_free(f);

    plan = plan_of("routed:16/blocked", 80000, 0.01);
    small = made(&plan);
    add_all(small, url, 80000);
    assert_int_equal(yes(small, url, 80000), 80000);
    wrong = yes(small, url + 80000, 20000);
    assert_in_range(wrong, 10, 270);
    seen_filter_free(small);
}

/* Answers come in the order of the questions, however keys are sorted. */
TEST(batches_are_answered_in_order)
{
    static const char *const kind[] = { "routed:2/bloom", "routed:256/bloom",
                                        "routed:4096/bloom",
                                        "routed:64,md5/bloom" };
    enum { N = 3000 };

    for (size_t k = 0; k < LENGTH(kind); k++) {
        struct seen_plan plan = plan_of(kind[k], KEYS, 1e-6);
        struct seen_filter *f = made(&plan);
        static struct seen_key key[N];
        static bool seen[N], fresh[N];
        uint64_t dice = 9;

        for (size_t i = 0; i < N; i++)
            key[i] = url[chance(&dice, 2) ? i : N + i];
        add_all(f, url, N);
        assert_int_equal(seen_filter_has(f, key, N, seen, NULL), SEEN_OK);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(seen[i], key[i].text == url[i].text);
        assert_int_equal(seen_filter_add(f, key, N, fresh, NULL), SEEN_OK);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(fresh[i], !seen[i]);
        seen_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(md5_routes_as_the_archives_report_does),
        cmocka_unit_test(without_md5_the_top_bits_of_the_key_choose),
        cmocka_unit_test(routes_are_spread_evenly),
        cmocka_unit_test(parts_are_planned_for_five_deviations_more),
        cmocka_unit_test(eight_hundred_million_urls_are_planned_in_full),
        cmocka_unit_test(batches_are_answered_in_order),
    };

    return cmocka_run_group_tests(tests, make_urls, free_urls);
}
