/* distinct_test.c - what the estimate of distinct keys promises. */
#include "test/test.h"

#include <math.h>
#include <string.h>

#include <seen/key.h>

#include "lib/filter/distinct.c"

static struct distinct sketch, other;

/* Numbers `from` to `to` - 1, each `times` times. */
static void count(struct distinct *d, uint64_t from, uint64_t to, int times)
{
    struct seen_key key;

    memset(d, 0, sizeof *d);
    for (int i = 0; i < times; i++)
        for (uint64_t x = from; x < to; x++) {
            seen_key_number(&key, x);
            distinct_add(d, key.hi);
        }
}

TEST(nothing_is_estimated_as_nothing)
{
    count(&sketch, 0, 0, 1);
    assert_true(distinct_estimate(&sketch) == 0);
    assert_int_equal(distinct_capacity(&sketch), 1);
}

/*
 * The standard error is 1.04 / sqrt(65536) = 0.41 % for many keys, and less
 * for few; five of it are 2.03 %, which one estimate in two million exceeds.
 */
TEST(the_estimate_is_within_five_standard_errors)
{
    static const uint64_t n[] = { 1,      2,       10,     100,    1000,
                                  10000,  65536,   100000, 163840, 300000,
                                  500000, 1000000, 3000000 };

    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
        double estimate;

        count(&sketch, 0, n[i], 1);
        estimate = distinct_estimate(&sketch);
        assert_true(fabs(estimate / (double)n[i] - 1) < 0.0203);
        assert_true(distinct_capacity(&sketch) >= n[i]);
    }
}

TEST(keys_that_come_again_count_once)
{
    count(&sketch, 0, 5000, 1);
    count(&other, 0, 5000, 3);
    assert_memory_equal(&sketch, &other, sizeof sketch);
}

TEST(the_union_of_two_is_what_one_would_have_counted)
{
    static struct distinct whole;

    count(&whole, 0, 30000, 1);
    count(&sketch, 0, 20000, 1);
    count(&other, 10000, 30000, 1);
    distinct_merge(&sketch, &other);
    assert_memory_equal(&sketch, &whole, sizeof whole);
}

TEST(registers_that_can_grow_no_longer_give_a_number)
{
    memset(&sketch, LONGEST, sizeof sketch);
    assert_true(distinct_capacity(&sketch) > 0);
    distinct_add(&sketch, 0);
    distinct_add(&sketch, UINT64_MAX);
    assert_int_equal(sketch.longest[0], LONGEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_estimated_as_nothing),
        cmocka_unit_test(the_estimate_is_within_five_standard_errors),
        cmocka_unit_test(keys_that_come_again_count_once),
        cmocka_unit_test(the_union_of_two_is_what_one_would_have_counted),
        cmocka_unit_test(registers_that_can_grow_no_longer_give_a_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
