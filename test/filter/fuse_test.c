/* fuse_test.c - static filters: every key of the set, and few others. */
#include "test/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <seen/build.h>
#include <seen/kind_writer.h>

#include "lib/filter/hash_sort.h"
#include "lib/filter/probe.h"

enum { MOST = 300000, ASKED = 1000000 };

static struct seen_key key[MOST + ASKED]; /* all distinct */
static bool seen[MOST + ASKED];

static int make_keys(void **state)
{
    for (uint64_t i = 0; i < MOST + ASKED; i++)
        seen_key_number(&key[i], i);
    *state = key;
    return 0;
}

static struct seen_filter *fuse_in(unsigned lanes, const char *kind,
                                   const struct seen_key *k, size_t n,
                                   uint64_t seed)
{
    struct seen_plan plan = { .seed = seed };
    struct seen_build *b;
    struct seen_filter *f;

    snprintf(plan.kind, sizeof plan.kind, "%s", kind);
    assert_int_equal(seen_build_new(&b, &plan, lanes, NULL), SEEN_OK);
    assert_int_equal(seen_build_add(b, 0, k, n, NULL), SEEN_OK);
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    return f;
}

static struct seen_filter *fuse_of(const char *kind, const struct seen_key *k,
                                   size_t n, uint64_t seed)
{
    return fuse_in(1, kind, k, n, seed);
}

static size_t yes(const struct seen_filter *f, const struct seen_key *k,
                  size_t n)
{
    size_t sum = 0;

    assert_int_equal(seen_filter_has(f, k, n, seen, NULL), SEEN_OK);
    for (size_t i = 0; i < n; i++)
        sum += seen[i];
    return sum;
}

static const char *const kinds[] = { "fuse", "fuse:16", "fuse:8,4",
                                     "fuse:16,4" };
enum { KINDS = sizeof kinds / sizeof kinds[0] };

TEST(every_key_of_the_set_is_found_whatever_its_size)
{
    static const size_t size[] = { 1,    2,     3,     4,      5,    7,
                                   10,   31,    100,   333,    1000, 4097,
                                   9999, 32769, 65536, 100000, MOST };

    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        for (int j = 0; j < KINDS; j++) {
            struct seen_filter *f = fuse_of(kinds[j], key, size[i], i);

            assert_int_equal(yes(f, key, size[i]), size[i]);
            assert_int_equal(seen_filter_entries(f), size[i]);
            seen_filter_free(f);
        }
}

TEST(small_sets_are_solved_under_many_seeds)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        size_t n = seed % 40;
        struct seen_filter *f = fuse_of(kinds[seed % KINDS], key, n, seed);

        assert_int_equal(yes(f, key, n), n);
        seen_filter_free(f);
    }
}

/* Sizes around the depths of the prefetch: a filter that says it is of 16 MB
   is asked as one. */
TEST(every_size_of_batch_gives_the_answers_of_single_keys)
{
    for (int j = 0; j < 2 * KINDS; j++) {
        struct seen_filter *f = fuse_of(kinds[j / 2], key, 300, 1);
        size_t size = f->size;
        bool one;

        f->size = j % 2 ? 1 << 24 : size;
        for (size_t n = 1, at = 0; n < 150; at += n++) {
            assert_int_equal(seen_filter_has(f, key + at, n, seen, NULL),
                             SEEN_OK);
            for (size_t i = 0; i < n; i++) {
                seen_filter_has(f, key + at + i, 1, &one, NULL);
                assert_int_equal(seen[i], one);
            }
        }
        f->size = size;
        seen_filter_free(f);
    }
}

TEST(an_empty_set_has_seen_nothing)
{
    struct seen_filter *f = fuse_of("fuse", key, 0, 1);

    assert_int_equal(yes(f, key, MOST), 0);
    assert_true(seen_filter_rate(f) == 0);
    seen_filter_free(f);
}

/*
 * The rate is 2^-BITS for each question, independently: binomial. Of ASKED =
 * 1e6 questions 3906 +- 62 and 15.3 +- 3.9 are wrong; five deviations.
 */
TEST(the_rate_is_two_to_the_minus_bits)
{
    for (int j = 0; j < KINDS; j++) {
        struct seen_filter *f = fuse_of(kinds[j], key, MOST, 3);
        double expect = ASKED * seen_filter_rate(f);
        double found = (double)yes(f, key + MOST, ASKED);

        assert_true(fabs(found - expect) <= 5 * sqrt(expect) + 1);
        seen_filter_free(f);
    }
}

TEST(keys_that_come_twice_count_once)
{
    static struct seen_key twice[2 * 5000];
    struct seen_filter *f, *g = fuse_of("fuse", key, 5000, 9);

    memcpy(twice, key, 5000 * sizeof key[0]);
    memcpy(twice + 5000, key, 5000 * sizeof key[0]);
    f = fuse_of("fuse", twice, 2 * 5000, 9);
    assert_int_equal(seen_filter_entries(f), 5000);
    assert_int_equal(f->size, g->size);
    assert_memory_equal(f->cells, g->cells, f->size);
    seen_filter_free(f);
    seen_filter_free(g);
}

TEST(the_order_of_keys_does_not_matter)
{
    static struct seen_key back[9000];
    struct seen_filter *f = fuse_of("fuse", key, 9000, 4), *g;

    for (size_t i = 0; i < 9000; i++)
        back[i] = key[9000 - 1 - i];
    g = fuse_of("fuse", back, 9000, 4);
    assert_memory_equal(f->cells, g->cells, f->size);
    seen_filter_free(f);
    seen_filter_free(g);
}

TEST(it_takes_nine_bits_a_key_and_with_four_cells_less)
{
    struct seen_filter *three = fuse_of("fuse", key, MOST, 1);
    struct seen_filter *four = fuse_of("fuse:8,4", key, MOST, 1);

    assert_true((double)three->plan.bits / MOST < 9.3);
    assert_true((double)four->plan.bits / MOST < 8.9);
    seen_filter_free(three);
    seen_filter_free(four);
}

TEST(a_fuse_cannot_be_added_to_nor_made_without_its_keys)
{
    struct seen_plan plan = { .kind = "fuse", .capacity = 10 };
    struct seen_filter *f = fuse_of("fuse", key, 100, 1), *g;

    assert_int_equal(seen_filter_add(f, key, 1, NULL, NULL), SEEN_UNABLE);
    assert_int_equal(seen_filter_merge(f, f, NULL), SEEN_UNABLE);
    assert_int_equal(seen_filter_new(&g, &plan, NULL), SEEN_UNABLE);
    assert_null(g);
    seen_filter_free(f);
}

TEST(arguments_that_make_no_fuse_are_refused)
{
    static const struct seen_plan refused[] = {
        { .kind = "fuse:7" },
        { .kind = "fuse:32" },
        { .kind = "fuse:" },
        { .kind = "fuse:8,5" },
        { .kind = "fuse:8,3,1" },
        { .kind = "fuse:8", .rate = 0.001 },
        { .kind = "fuse", .bits = 1000 },
        { .kind = "fuse", .probes = 3 },
        { .kind = "fuse", .rate = 1e-12 },
        { .kind = "growing/fuse", .rate = 0.01, .capacity = 10 },
    };
    struct seen_build *b;

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_int_equal(seen_build_new(&b, &refused[i], 1, NULL), SEEN_RANGE);
        assert_null(b);
    }
}

TEST(the_rate_asked_for_chooses_the_bits)
{
    static const struct {
        double rate;
        unsigned bits;
    } want[] = { { 0.01, 8 }, { 0.004, 8 }, { 0.0039, 16 }, { 1.6e-5, 16 } };

    for (size_t i = 0; i < 4; i++) {
        struct seen_plan plan = { .kind = "fuse", .rate = want[i].rate };
        struct seen_build *b;
        struct seen_filter *f;

        assert_int_equal(seen_build_new(&b, &plan, 1, NULL), SEEN_OK);
        assert_int_equal(seen_build_add(b, 0, key, 10, NULL), SEEN_OK);
        assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
        assert_int_equal(f->cell_bits, want[i].bits);
        assert_true(seen_filter_rate(f) <= want[i].rate);
        seen_filter_free(f);
    }
}

static uint64_t sum_of(const struct seen_filter *f)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < f->size; i++)
        sum = seen_mix(sum ^ f->cells[i]);
    return sum;
}

/* Files that are built anew are compared with those that were published. */
TEST(the_same_keys_give_the_bytes_that_they_always_gave)
{
    static const struct {
        const char *kind;
        uint64_t sum;
    } want[] = { { "fuse", UINT64_C(0x5b5305f22ff43346) },
                 { "fuse:16", UINT64_C(0x7edac7e72c700151) },
                 { "fuse:8,4", UINT64_C(0x58272b48f0cfb36a) } };

    for (unsigned i = 0; i < 3 * LENGTH(want); i++) {
        struct seen_filter *f = fuse_in(1 + i / 3, want[i % 3].kind, key, MOST,
                                        5);

        assert_int_equal(sum_of(f), want[i % 3].sum);
        seen_filter_free(f);
    }
}

/* The value whose seen_mix() is x. */
static uint64_t unmix(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * UINT64_C(0x319642b2d24d8ec3);
    x = (x ^ x >> 27 ^ x >> 54) * UINT64_C(0x96de1b173f119089);
    return x ^ x >> 30 ^ x >> 60;
}

/* A hash after x that has the same three cells in a filter like f. */
static uint64_t same_cells(const struct seen_filter *f, uint64_t x)
{
    uint64_t low = f->shape[0] - 1, mask = low << 46 | low << 28, y = x;

    do
        y += 256;
    while ((x * PROBE_STEP ^ y * PROBE_STEP) & mask);
    assert_int_equal(reduce(x, f->shape[0] * f->shape[1]),
                     reduce(y, f->shape[0] * f->shape[1]));
    return y;
}

/* Keys with these hashes, and others; the second attempt succeeds. */
static void fails_once(const uint64_t *hash, size_t n, uint64_t sum)
{
    static struct seen_key some[MOST];

    memcpy(some, key, sizeof some);
    for (size_t i = 0; i < n; i++)
        some[i].lo = unmix(hash[i]) ^ hash_salt(6, 0);
    for (unsigned lanes = 1; lanes <= 2; lanes++) {
        struct seen_filter *f = fuse_in(lanes, "fuse", some, MOST, 6);

        assert_int_equal(f->shape[2], 1);
        assert_int_equal(seen_filter_entries(f), MOST);
        assert_int_equal(yes(f, some, MOST), MOST);
        assert_int_equal(sum_of(f), sum);
        seen_filter_free(f);
    }
}

/* Two keys with the same cells cannot be removed. By then most others are, and
   all of them have to take part in the next attempt. */
TEST(no_key_is_lost_if_some_cannot_be_removed)
{
    struct seen_filter *f = fuse_of("fuse", key, MOST, 6);
    uint64_t x = UINT64_C(1) << 61, same[] = { x, same_cells(f, x) };

    assert_int_equal(f->shape[2], 0);
    seen_filter_free(f);
    fails_once(same, LENGTH(same), UINT64_C(0xd0c77f53c29fe0bf));
}

/* Nor if a cell has more keys than can be counted. */
TEST(no_key_is_lost_if_a_cell_has_too_many)
{
    uint64_t near[100];

    for (size_t i = 0; i < LENGTH(near); i++)
        near[i] = (UINT64_C(1) << 61) + 256 * i;
    fails_once(near, LENGTH(near), UINT64_C(0x8ab7bf9296d8200f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_the_set_is_found_whatever_its_size),
        cmocka_unit_test(small_sets_are_solved_under_many_seeds),
        cmocka_unit_test(every_size_of_batch_gives_the_answers_of_single_keys),
        cmocka_unit_test(an_empty_set_has_seen_nothing),
        cmocka_unit_test(the_rate_is_two_to_the_minus_bits),
        cmocka_unit_test(keys_that_come_twice_count_once),
        cmocka_unit_test(the_order_of_keys_does_not_matter),
        cmocka_unit_test(it_takes_nine_bits_a_key_and_with_four_cells_less),
        cmocka_unit_test(a_fuse_cannot_be_added_to_nor_made_without_its_keys),
        cmocka_unit_test(arguments_that_make_no_fuse_are_refused),
        cmocka_unit_test(the_rate_asked_for_chooses_the_bits),
        cmocka_unit_test(the_same_keys_give_the_bytes_that_they_always_gave),
        cmocka_unit_test(no_key_is_lost_if_some_cannot_be_removed),
        cmocka_unit_test(no_key_is_lost_if_a_cell_has_too_many),
    };

    return cmocka_run_group_tests(tests, make_keys, NULL);
}
