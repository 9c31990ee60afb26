/* shards_test.c - ribbons of 64 KiB: every key, few others, one block each. */
#include "cases.h"

#include <math.h>

#include <lib/filter/shards.h>
#include <lib/filter/tree.h>
#include <seen/build.h>

enum { MOST = 300000, ASKED = 1000000 };

static struct seen_key key[MOST + ASKED]; /* all distinct */

static int make_keys(void **state)
{
    for (uint64_t i = 0; i < MOST + ASKED; i++)
        seen_key_number(&key[i], i);
    *state = key;
    return 0;
}

static struct seen_filter *shards_in(unsigned lanes, const char *kind,
                                     double rate, uint64_t seed,
                                     const struct seen_key *k, size_t n)
{
    struct seen_plan plan = plan_of(kind, 0, rate);
    struct seen_error why;
    struct seen_build *b;
    struct seen_filter *f;

    plan.seed = seed;
    assert_int_equal(seen_build_new(&b, &plan, lanes, NULL), SEEN_OK);
    assert_int_equal(seen_build_add(b, 0, k, n, NULL), SEEN_OK);
    if (seen_build_finish(b, &f, &why) != SEEN_OK)
        fail_msg("%s, %zu keys at %g: %s", kind, n, rate, why.text);
    return f;
}

static struct seen_filter *shards(double rate, uint64_t seed, size_t n)
{
    return shards_in(1, "shards", rate, seed, key, n);
}

static uint64_t count_of(const struct seen_filter *f)
{
    return f->shape[SHARDS_COUNT];
}

static uint64_t *words_of(const struct seen_filter *f)
{
    return (uint64_t *)(void *)f->cells;
}

TEST(every_key_of_the_set_is_found_whatever_its_size)
{
    static const size_t size[] = { 0,     1,     2,     63,    64,
                                   500,   1025,  32769, 64000, 65000,
                                   66000, 99999, MOST };
    static const double rate[] = { 0, 0.7, 0.3, 0.01, 0.0001, 1e-9 };

    for (size_t i = 0; i < LENGTH(size); i++)
        for (size_t j = 0; j < LENGTH(rate); j++) {
            struct seen_filter *f = shards(rate[j], i, size[i]);

            assert_int_equal(yes(f, key, size[i]), size[i]);
            assert_true(seen_filter_entries(f) == (double)size[i]);
            seen_filter_free(f);
        }
}

TEST(an_empty_set_has_seen_nothing)
{
    struct seen_filter *f = shards(0, 1, 0);

    assert_int_equal(yes(f, key, MOST), 0);
    assert_true(seen_filter_rate(f) == 0);
    seen_filter_free(f);
}

/* As for a ribbon; keys that are bumped are not told, which is 3.2 % of those
   with one bit less. */
TEST(the_rate_is_the_one_told_and_not_above_the_planned_one)
{
    static const size_t size[] = { 20000, MOST };
    static const double rate[] = { 0.9, 0.3, 0.01, 0.00390625, 0.0005 };

    for (size_t i = 0; i < LENGTH(size); i++)
        for (size_t j = 0; j < LENGTH(rate); j++) {
            struct seen_filter *f = shards(rate[j], i, size[i]);
            double told = seen_filter_rate(f);
            double wrong = (double)yes(f, key + MOST, ASKED) / ASKED;

            assert_true(told <= rate[j] && told > 0.96 * rate[j]);
            assert_true(seen_filter_planned(f) <= rate[j]);
            if (fabs(wrong - told) >
                5 * sqrt(told * (1 - told) / ASKED) + 0.02 * told)
                fail_msg("%zu keys at %g: %g wrong, %g told", size[i], rate[j],
                         wrong, told);
            seen_filter_free(f);
        }
}

/* The promise of the header comment, for any number of columns. */
TEST(it_takes_hardly_more_bits_than_one_ribbon)
{
    static const double rate[] = { 0x1p-4, 0.01, 0x1p-8, 0.001, 0x1p-20 };

    for (size_t j = 0; j < LENGTH(rate); j++) {
        struct seen_filter *one = shards_in(1, "ribbon", rate[j], 1, key,
                                            MOST);
        struct seen_filter *f = shards(rate[j], 1, MOST);
        double more = (double)f->plan.bits / (double)one->plan.bits;

        if (more > 1.008)
            fail_msg("%g times the bits at %g", more, rate[j]);
        seen_filter_free(one);
        seen_filter_free(f);
    }
}

/* All keys of a shard are asked within its 64 KiB, and the table. */
TEST(a_key_needs_one_block_and_the_table)
{
    struct seen_filter *f = shards(0, 3, MOST);
    static bool same[1000], other[1000];
    uint64_t from, to;

    f->kind->index(f, &from, &to);
    assert_int_equal(to, f->size);
    assert_in_range(to - from, count_of(f) * 16 + 8,
                    count_of(f) * 16 + 8 + LINE - 1);
    for (size_t i = 0; i < 1000; i++) {
        uint64_t at[SEEN_REACH];
        size_t n;

        assert_int_equal(f->kind->reach(f, &key[i * 400], at, &n, NULL),
                         SEEN_OK);
        assert_int_equal(n, 2);
        assert_int_equal(at[0] % 65536, 0);
        assert_in_range(at[1], at[0], at[0] + 65535);
        f->kind->has(f, &key[i * 400], 1, &same[i], NULL);
    }
    /* other shards do not matter */
    for (size_t i = 0; i < 1000; i += 100) {
        uint64_t at[SEEN_REACH], *word = words_of(f);
        uint64_t *copy = malloc(f->size);
        size_t n;

        memcpy(copy, word, f->size);
        f->kind->reach(f, &key[i * 400], at, &n, NULL);
        memset(word, 0x55, at[0]);
        memset((char *)word + at[1] + 1, 0x55, from - at[1] - 1);
        assert_int_equal(f->kind->has(f, &key[i * 400], 1, &other[i], NULL),
                         SEEN_OK);
        assert_int_equal(other[i], same[i]);
        memcpy(word, copy, f->size);
        free(copy);
    }
    seen_filter_free(f);
}

/* Shards whose bumped keys need too much room are solved again: with a few
   hundred shards some are. */
TEST(shards_that_do_not_fit_are_tried_again)
{
    struct seen_filter *f = shards_in(2, "shards:16", 0, 9, key, MOST + ASKED);
    uint64_t again = 0;

    for (uint64_t i = 0; i < count_of(f); i++)
        again += head_again(shards_table((const struct shards *)f)[i].head) >
                 0;
    if (!again || again > count_of(f) / 2)
        fail_msg("%u of %u", (unsigned)again, (unsigned)count_of(f));
    assert_int_equal(yes(f, key, MOST + ASKED), MOST + ASKED);
    seen_filter_free(f);
}

TEST(threads_order_and_duplicates_do_not_change_a_byte)
{
    static struct seen_key other[2 * 99999];
    struct seen_filter *f = shards(0.01, 4, 99999);

    for (size_t i = 0; i < 99999; i++)
        other[i] = other[99999 + i] = key[99999 - 1 - i];
    for (unsigned lanes = 1; lanes <= 4; lanes++) {
        struct seen_filter *g = shards_in(lanes, "shards", 0.01, 4, other,
                                          2 * 99999);

        assert_int_equal(f->size, g->size);
        assert_memory_equal(f->cells, g->cells, f->size);
        assert_memory_equal(f->shape, g->shape, sizeof f->shape);
        seen_filter_free(g);
    }
    seen_filter_free(f);
}

TEST(all_versions_of_this_cpu_give_the_same_answers)
{
    enum { N = 70000 };
    static bool first[2 * N], other[2 * N];

    for (unsigned i = 0; i < 64; i += 5) {
        double rate = ldexp(i % 2 ? 1.4 : 1, -1 - (int)i / 2);
        struct seen_filter *f = shards(rate, i, N);
        const struct shards *s = (const struct shards *)f;

        assert_true(shards_version(0)(s, key, 2 * N, first));
        for (size_t k = 0; k < N; k++)
            assert_true(first[k]);
        for (unsigned v = 1; shards_version(v); v++) {
            assert_true(shards_version(v)(s, key, 2 * N, other));
            assert_memory_equal(first, other, sizeof first);
        }
        seen_filter_free(f);
    }
}

/* Keys whose hashes are in one place are far from where they are guessed. */
TEST(keys_whose_hashes_are_not_random_are_found)
{
    static struct seen_key near[MOST];
    struct seen_filter *all = shards(0, 7, 1);
    const struct shards *s = (const struct shards *)all;
    struct seen_filter *f;
    size_t n = 0;

    for (uint64_t i = 0; n < MOST; i++) {
        seen_key_number(&near[n], i);
        n += seen_mix(near[n].lo ^ s->salt) >> 60 == 3;
    }
    f = shards_in(2, "shards", 0.01, 7, near, MOST);
    assert_in_range(count_of(f), 4, 20);
    assert_int_equal(yes(f, near, MOST), MOST);
    /* a sixteenth of these is in it */
    assert_in_range(yes(f, key + MOST, ASKED), ASKED / 17,
                    ASKED / 16 + ASKED / 80);
    seen_filter_free(f);
    seen_filter_free(all);
}

static uint64_t next_random(uint64_t *x)
{
    return *x = seen_mix(*x + UINT64_C(0x9e3779b97f4a7c15));
}

/* Heads and tables from a file can be anything: no question reads other memory
   (as the sanitizer checks), or takes more than the steps of a search. */
TEST(no_cells_lead_elsewhere)
{
    struct seen_filter *f = shards(0.01, 1, MOST);
    uint64_t *word = words_of(f), x = 1, from, to;
    size_t refused = 0;
    static bool seen[256];

    f->kind->index(f, &from, &to);
    for (int i = 0; i < 20000; i++) {
        uint64_t *place = word + from / 8 +
                          next_random(&x) % (2 * count_of(f) + 1);
        uint64_t was = *place;

        *place = next_random(&x) >> next_random(&x) % 64;
        *place ^= next_random(&x) % 2 ? was : 0;
        refused += f->kind->has(f, key + next_random(&x) % ASKED, 256, seen,
                                NULL) == SEEN_CORRUPT;
        *place = was;
    }
    assert_in_range(refused, 1000, 19000);
    seen_filter_free(f);
}

TEST(no_shape_that_is_wrong_is_accepted)
{
    static const uint64_t wrong[][4] = {
        { 0, 1, 100, 9 },
        { 33, 1, 100, 9 },
        { 7, 0, 100, 9 },
        { 7, 1, 0, 9 },
        { 7, 1, 8193, 9 },
        { 8, 1, 100, 9 },
        { 7, UINT64_C(1) << 29, 100, 9 },
        { 7, 1, 100, 0 },
        { 7, UINT64_MAX, 100, 9 },
        { 7, 1, 100, UINT64_MAX },
    };

    for (size_t i = 0; i < LENGTH(wrong); i++) {
        struct shards f = { .base.recorded = true, .columns = 7 };
        uint64_t bits;

        memcpy(f.base.shape, wrong[i], sizeof wrong[i]);
        assert_int_equal(shards_take_shape(&f, &bits, NULL), SEEN_RANGE);
    }
}

/* Files that are built anew are compared with those that were published. */
TEST(the_same_keys_give_the_bytes_that_they_always_gave)
{
    static const struct {
        const char *kind;
        double rate;
        uint64_t sum;
    } want[] = { { "shards:1", 0, UINT64_C(0x90df2514afe87031) },
                 { "shards:8", 0, UINT64_C(0xda9676848dd7d4f5) },
                 { "shards:32", 0, UINT64_C(0x571360630b7dcd3) },
                 { "shards", 0.01, UINT64_C(0x90bf8b2813894b8c) } };

    for (size_t i = 0; i < LENGTH(want); i++) {
        struct seen_filter *f = shards_in(1, want[i].kind, want[i].rate, 5,
                                          key, MOST);
        uint64_t sum = 0;

        for (size_t j = 0; j < f->size; j++)
            sum = seen_mix(sum ^ f->cells[j]);
        assert_int_equal(sum, want[i].sum);
        seen_filter_free(f);
    }
}

TEST(arguments_that_make_no_shards_are_refused)
{
    static const struct seen_plan refused[] = {
        { .kind = "shards:0" },
        { .kind = "shards:33" },
        { .kind = "shards:8,4" },
        { .kind = "shards:8", .rate = 0.001 },
        { .kind = "shards", .bits = 1000 },
        { .kind = "shards", .hostile = true },
        { .kind = "growing/shards", .rate = 0.01, .capacity = 10 },
        { .kind = "shards/bloom" },
    };
    struct seen_filter *f = shards(0, 1, 100);
    struct seen_build *b;

    for (size_t i = 0; i < LENGTH(refused); i++) {
        if (seen_build_new(&b, &refused[i], 1, NULL) != SEEN_RANGE)
            fail_msg("%s %zu", refused[i].kind, i);
        assert_null(b);
    }
    assert_int_equal(seen_filter_add(f, key, 1, NULL, NULL), SEEN_UNABLE);
    assert_int_equal(seen_filter_merge(f, f, NULL), SEEN_UNABLE);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_the_set_is_found_whatever_its_size),
        cmocka_unit_test(an_empty_set_has_seen_nothing),
        cmocka_unit_test(
            the_rate_is_the_one_told_and_not_above_the_planned_one),
        cmocka_unit_test(it_takes_hardly_more_bits_than_one_ribbon),
        cmocka_unit_test(a_key_needs_one_block_and_the_table),
        cmocka_unit_test(shards_that_do_not_fit_are_tried_again),
        cmocka_unit_test(threads_order_and_duplicates_do_not_change_a_byte),
        cmocka_unit_test(all_versions_of_this_cpu_give_the_same_answers),
        cmocka_unit_test(keys_whose_hashes_are_not_random_are_found),
        cmocka_unit_test(no_cells_lead_elsewhere),
        cmocka_unit_test(no_shape_that_is_wrong_is_accepted),
        cmocka_unit_test(the_same_keys_give_the_bytes_that_they_always_gave),
        cmocka_unit_test(arguments_that_make_no_shards_are_refused),
    };

    return cmocka_run_group_tests(tests, make_keys, NULL);
}
