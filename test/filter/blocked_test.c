/* blocked_test.c - one line a key: formula, versions, limits. */
#include "test/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/filter/blocked.h"

enum { CAPACITY = 200000, ASKED = 1000000 };

static struct seen_key key[CAPACITY + ASKED]; /* all distinct */
static bool seen[CAPACITY + ASKED];

static int make_keys(void **state)
{
    for (uint64_t i = 0; i < CAPACITY + ASKED; i++)
        seen_key_number(&key[i], i);
    *state = key;
    return 0;
}

static struct seen_filter *of_probes(unsigned probes, uint64_t bits_a_key)
{
    struct seen_plan plan = { .kind = "blocked",
                              .capacity = CAPACITY,
                              .bits = CAPACITY * bits_a_key,
                              .probes = probes,
                              .seed = 11 };
    struct seen_filter *f;

    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    return f;
}

/*
 * The filled filter has a rate r of its own near p. The load of a line is
 * Poisson, so r varies from filter to filter by the share of crowded lines:
 * with L lines and rates p_i of each, its relative error is about
 * sqrt(E(p_i^2) / p^2 / L), and E(p_i^2) is below 4 p^2 for loads of 20 to 50
 * keys a line: 2 / sqrt(3900) = 3.2 % at 10 bits a key. The binomial of the
 * questions adds sqrt(1 / (t p)): 1.0 % for p = 1 %, 7 % for p = 0.02 %.
 * Five times the two together are below 17 % and 39 %.
 */
TEST(the_rate_is_the_formulas_for_every_number_of_probes)
{
    for (unsigned k = 1; k <= 16; k++) {
        struct seen_filter *f = of_probes(k, k <= 8 ? 10 : 18);
        double found = 0, p = f->plan.rate, L = (double)f->plan.bits / 512;
        double band = 5 * (2 / sqrt(L) + sqrt(1 / (ASKED * p)));

        assert_int_equal(seen_filter_add(f, key, CAPACITY, NULL, NULL),
                         SEEN_OK);
        assert_int_equal(seen_filter_has(f, key + CAPACITY, ASKED, seen, NULL),
                         SEEN_OK);
        for (int i = 0; i < ASKED; i++)
            found += seen[i];
        assert_true(fabs(found / ASKED / p - 1) < band);
        assert_true(fabs(seen_filter_rate(f) / p - 1) < 0.05);
        assert_true(fabs(seen_filter_entries(f) / CAPACITY - 1) < 0.01);
        seen_filter_free(f);
    }
}

/* One bit in each of eight words would give 1.05 %, see blocked.c. */
TEST(six_probes_at_ten_bits_give_less_than_one_percent)
{
    struct seen_filter *f = of_probes(0, 10);

    assert_int_equal(f->plan.probes, 6);
    assert_true(f->plan.rate < 0.00974 && f->plan.rate > 0.00971);
    seen_filter_free(f);
}

/* One key in many lines: the formula's terms cancel but for their rounding. */
TEST(a_filter_that_is_almost_empty_claims_no_rate_below_rounding)
{
    for (unsigned k = 1; k <= 16; k++) {
        struct seen_filter *f = of_probes(k, 40);

        assert_true(seen_filter_rate(f) == 0);
        assert_int_equal(seen_filter_add(f, key, 1, NULL, NULL), SEEN_OK);
        assert_true(seen_filter_rate(f) >= 1e-12);
        assert_true(seen_filter_rate(f) < 1e-5);
        seen_filter_free(f);
    }
}

#if defined __x86_64__ && !defined SEEN_PORTABLE
static void as(struct seen_filter *f, const struct blocked_way *way)
{
    ((struct blocked *)f)->way = way;
}

TEST(all_widths_give_the_same_bytes_and_answers)
{
    const struct blocked_way *way[] = { &blocked_portable, &blocked_avx2,
                                        &blocked_avx512 };
    static bool first[3][CAPACITY], answer[3][ASKED];
    uint64_t entry[1000];

    for (size_t i = 0; i < 1000; i++)
        entry[i] = seen_mix(i);
    for (unsigned k = 1; k <= 16; k++) {
        struct seen_filter *f[3];
        int n = __builtin_cpu_supports("avx512dq") ? 3
                : __builtin_cpu_supports("avx2")   ? 2
                                                   : 1;

        for (int i = 0; i < n; i++) {
            struct seen_soon soon;
            struct blocked *b;

            f[i] = of_probes(k, 40); /* one region and more */
            b = (struct blocked *)f[i];
            as(f[i], way[i]);
            /* odd sizes, so that the ends of batches differ, too */
            for (size_t at = 0, some; at < CAPACITY; at += some) {
                some = (at * 7 + 1) % 97 + 1;
                some = some < CAPACITY - at ? some : CAPACITY - at;
                assert_int_equal(
                    seen_filter_add(f[i], key + at, some, first[i] + at, NULL),
                    SEEN_OK);
            }
            soon.from = f[i]->cells;
            soon.to = soon.from + f[i]->size;
            f[i]->set += way[i]->fill(b, f[i]->cells, entry, 1000, &soon);
            assert_int_equal(
                seen_filter_has(f[i], key + CAPACITY, ASKED, answer[i], NULL),
                SEEN_OK);
            assert_int_equal(f[i]->set, cells_count(f[i]->cells, f[i]->size));
        }
        for (int i = 1; i < n; i++) {
            assert_int_equal(f[i]->set, f[0]->set);
            assert_memory_equal(f[i]->cells, f[0]->cells, f[0]->size);
            assert_memory_equal(first[i], first[0], sizeof first[0]);
            assert_memory_equal(answer[i], answer[0], sizeof answer[0]);
        }
        for (int i = 0; i < n; i++)
            seen_filter_free(f[i]);
    }
}
#endif

/* Sizes around the depths of the prefetch and around the batches of share(). */
static void compare_batches(uint64_t bits_a_key)
{
    static const size_t size[] = { 1,   2,   7,   8,   31,  32,  33,
                                   39,  40,  41,  127, 128, 129, 136,
                                   137, 255, 256, 257, 4097 };
    struct seen_filter *f = of_probes(6, bits_a_key);
    struct seen_filter *one = of_probes(6, bits_a_key);
    struct seen_filter *shared = of_probes(6, bits_a_key);
    static bool fresh[5000], by_one[5000], by_many[5000];

    assert_int_equal(seen_filter_allow_threads(shared, NULL), SEEN_OK);
    for (size_t s = 0, at = 0; s < LENGTH(size); at += size[s++]) {
        size_t n = size[s];

        /* half of the keys twice, so that some are not fresh */
        for (int again = 0; again < 2; again++, n = (n + 1) / 2) {
            seen_filter_add(f, key + at, n, fresh, NULL);
            seen_filter_add(shared, key + at, n, by_many, NULL);
            for (size_t i = 0; i < n; i++)
                seen_filter_add(one, key + at + i, 1, by_one + i, NULL);
            assert_memory_equal(fresh, by_one, n);
            assert_memory_equal(by_many, by_one, n);
        }
        seen_filter_has(f, key + at / 2, size[s], by_many, NULL);
        seen_filter_expect(one, key + at / 2, size[s]);
        for (size_t i = 0; i < size[s]; i++)
            seen_filter_has(one, key + at / 2 + i, 1, by_one + i, NULL);
        assert_memory_equal(by_many, by_one, size[s]);
    }
    assert_memory_equal(f->cells, one->cells, f->size);
    assert_memory_equal(shared->cells, one->cells, f->size);
    assert_int_equal(f->set, one->set);
    assert_int_equal(shared->set, one->set);
    assert_int_equal(f->offered, one->offered);
    assert_int_equal(f->last, one->last);
    seen_filter_free(f);
    seen_filter_free(one);
    seen_filter_free(shared);
}

TEST(every_size_of_batch_gives_the_answers_of_single_keys)
{
    const uint64_t large = 8 * (uint64_t)FAR_FROM / CAPACITY + 1;

    compare_batches(10);
    compare_batches(large);
}

/* A shared filter is full where one for a single thread is, but for the keys
   that SHARERS threads might have on their way. */
TEST(a_shared_filter_refuses_when_it_is_full)
{
    struct seen_plan plan = { .kind = "blocked",
                              .capacity = CAPACITY,
                              .rate = 0.01 };
    struct seen_error why, alone;
    struct seen_filter *f, *one;

    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    assert_int_equal(seen_filter_new(&one, &plan, NULL), SEEN_OK);
    assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(one, key, CAPACITY + ASKED, NULL, &alone),
                     SEEN_FULL);
    assert_int_equal(seen_filter_add(f, key, CAPACITY + ASKED, NULL, &why),
                     SEEN_FULL);
    assert_int_equal(why.at, alone.at);
    assert_memory_equal(f->cells, one->cells, f->size);
    assert_int_equal(seen_filter_add(f, key, CAPACITY, NULL, NULL), SEEN_OK);
    seen_filter_free(f);
    seen_filter_free(one);
}

/* One key per call has a path of its own while there is room. With k > 8 it
   has none. Every third key is given twice, which is offered once. */
TEST(single_keys_fill_a_filter_as_a_batch_does)
{
    static struct seen_key twice[CAPACITY + CAPACITY / 3 + 1];
    size_t n = 0;

    for (size_t i = 0; i < CAPACITY; i++) {
        twice[n++] = key[i];
        if (i % 3 == 0)
            twice[n++] = key[i];
    }
    for (unsigned k = 1; k <= 16; k += 5) {
        struct seen_plan plan = { .kind = "blocked",
                                  .capacity = CAPACITY / 2,
                                  .bits = CAPACITY * 9,
                                  .probes = k,
                                  .tight = true };
        struct seen_error why, alone;
        struct seen_filter *f, *one;
        size_t i = 0;

        assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
        assert_int_equal(seen_filter_new(&one, &plan, NULL), SEEN_OK);
        assert_int_equal(seen_filter_add(f, twice, n, NULL, &why), SEEN_FULL);
        while (i < n && seen_filter_add(one, &twice[i], 1, NULL, &alone) == 0)
            i++;
        assert_int_equal(i, why.at);
        assert_int_equal(alone.code, SEEN_FULL);
        assert_int_equal(alone.at, 0);
        assert_int_equal(seen_filter_add(one, &twice[i], 1, NULL, NULL),
                         SEEN_FULL);
        assert_int_equal(seen_filter_add(one, twice, 1, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_filter_add(f, twice, 1, NULL, NULL), SEEN_OK);
        assert_int_equal(f->set, one->set);
        assert_int_equal(f->offered, one->offered);
        assert_memory_equal(f->cells, one->cells, f->size);
        seen_filter_free(f);
        seen_filter_free(one);
    }
}

TEST(a_version_can_be_chosen_by_name)
{
    char widest[16];
    struct seen_error why;
    struct seen_filter *f;

    snprintf(widest, sizeof widest, "%s", seen_simd());
    assert_int_equal(seen_simd_set("mmx", &why), SEEN_RANGE);
    assert_string_equal(seen_simd(), widest);
    assert_int_equal(seen_simd_set("portable", &why), SEEN_OK);
    f = of_probes(6, 10);
    assert_ptr_equal(((struct blocked *)f)->way, &blocked_portable);
    seen_filter_free(f);
    assert_int_equal(seen_simd_set(NULL, &why), SEEN_OK);
    assert_string_equal(seen_simd(), widest);
}

TEST(a_key_sets_as_many_bits_as_it_has_probes)
{
    for (unsigned k = 1; k <= 16; k++)
        for (int i = 0; i < 20; i++) {
            struct seen_filter *f = of_probes(k, 10);

            seen_filter_add(f, &key[i], 1, NULL, NULL);
            assert_int_equal(f->set, k);
            seen_filter_free(f);
        }
}

TEST(with_every_cell_set_it_always_errs)
{
    struct seen_filter *f = of_probes(6, 10);

    assert_true(seen_filter_rate(f) == 0);
    memset(f->cells, 0xff, f->size);
    f->set = f->plan.bits;
    assert_true(seen_filter_rate(f) == 1);
    seen_filter_free(f);
}

TEST(a_full_filter_refuses_and_says_how_far_it_came)
{
    struct seen_plan plan = { .kind = "blocked",
                              .capacity = CAPACITY,
                              .rate = 0.01 };
    struct seen_error why;
    struct seen_filter *f;

    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, key, CAPACITY + ASKED, NULL, &why),
                     SEEN_FULL);
    assert_in_range(why.at, CAPACITY, CAPACITY + CAPACITY / 50);
    assert_int_equal(seen_filter_has(f, key, why.at, seen, NULL), SEEN_OK);
    for (size_t i = 0; i < why.at; i++)
        assert_true(seen[i]);
    /* what is known is no burden */
    assert_int_equal(seen_filter_add(f, key, CAPACITY, NULL, NULL), SEEN_OK);
    seen_filter_free(f);
}

TEST(rates_below_a_hundredth_of_a_percent_are_refused_with_advice)
{
    struct seen_plan plan = { .kind = "blocked",
                              .capacity = CAPACITY,
                              .rate = 0.00005 };
    struct seen_error why;
    struct seen_filter *f;

    assert_int_equal(seen_filter_new(&f, &plan, &why), SEEN_RANGE);
    assert_non_null(strstr(why.text, "spatial:3/blocked"));
    plan.rate = 0.0001;
    assert_int_equal(seen_filter_new(&f, &plan, &why), SEEN_OK);
    seen_filter_free(f);
    plan.hostile = true;
    assert_int_equal(seen_filter_new(&f, &plan, &why), SEEN_RANGE);
    assert_non_null(strstr(why.text, "bloom"));
}

TEST(all_versions_spread_keys_the_same_way)
{
    enum { SOME = 1003 }; /* not a multiple of a vector */
    static struct seen_entry entry[2][SOME];
    struct seen_filter *f = of_probes(0, 10);
    struct blocked *b = (struct blocked *)f;

    blocked_spread(f, key, SOME, entry[0]);
    b->way = &blocked_portable;
    blocked_spread(f, key, SOME, entry[1]);
    for (size_t i = 0; i < SOME; i++) {
        assert_int_equal(entry[0][i].region, entry[1][i].region);
        assert_int_equal(entry[0][i].what, entry[1][i].what);
    }
    b->bytes = (uint64_t)UINT32_MAX * LINE; /* the most that vectors can do */
    blocked_spread(f, key, SOME, entry[1]);
    b->way = blocked_best();
    blocked_spread(f, key, SOME, entry[0]);
    for (size_t i = 0; i < SOME; i++) {
        assert_int_equal(entry[0][i].region, entry[1][i].region);
        assert_int_equal(entry[0][i].what, entry[1][i].what);
    }
    seen_filter_free(f);
}

/* For every number of probes, against the reference. */
TEST(all_versions_fill_a_region_the_same_way)
{
    enum { SOME = 5000 };
    static struct seen_entry entry[SOME];
    static uint64_t what[SOME];

    for (unsigned k = 1; k <= 16; k++) {
        struct seen_filter *f = of_probes(k, 10), *g = of_probes(k, 10);
        struct seen_soon soon = { f->cells, f->cells + f->size };
        size_t n = 0;

        ((struct blocked *)g)->way = &blocked_portable;
        blocked_spread(f, key, SOME, entry);
        for (size_t i = 0; i < SOME; i++)
            if (!entry[i].region)
                what[n++] = entry[i].what;
        assert_int_equal(blocked_fill(f, 0, what, n, &soon),
                         blocked_fill(g, 0, what, n, &soon));
        assert_int_equal(blocked_fill(f, 0, what, n, &soon), 0);
        assert_memory_equal(f->cells, g->cells, f->size);
        seen_filter_free(f);
        seen_filter_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_is_the_formulas_for_every_number_of_probes),
        cmocka_unit_test(six_probes_at_ten_bits_give_less_than_one_percent),
        cmocka_unit_test(
            a_filter_that_is_almost_empty_claims_no_rate_below_rounding),
#if defined __x86_64__ && !defined SEEN_PORTABLE
        cmocka_unit_test(all_widths_give_the_same_bytes_and_answers),
#endif
        cmocka_unit_test(every_size_of_batch_gives_the_answers_of_single_keys),
        cmocka_unit_test(a_shared_filter_refuses_when_it_is_full),
        cmocka_unit_test(single_keys_fill_a_filter_as_a_batch_does),
        cmocka_unit_test(a_version_can_be_chosen_by_name),
        cmocka_unit_test(a_key_sets_as_many_bits_as_it_has_probes),
        cmocka_unit_test(with_every_cell_set_it_always_errs),
        cmocka_unit_test(a_full_filter_refuses_and_says_how_far_it_came),
        cmocka_unit_test(
            rates_below_a_hundredth_of_a_percent_are_refused_with_advice),
        cmocka_unit_test(all_versions_spread_keys_the_same_way),
        cmocka_unit_test(all_versions_fill_a_region_the_same_way),
    };

    return cmocka_run_group_tests(tests, make_keys, NULL);
}
