/* map_test.c - a map against the simplest thing that could be one. */
#include "test/test.h"

#include <stdio.h>
#include <string.h>

#include "lib/text/map.h"

enum { KEYS = 2000, STEPS = 200000 };

static char key[KEYS][8];
static int value[2]; /* what keys lead to */

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* Sets, removals and questions in random order; an array is the truth. */
TEST(a_map_answers_as_an_array_does)
{
    static int *truth[KEYS];
    struct map m = { .slot = NULL };
    uint64_t x = 88172645463325252;
    size_t used = 0;

    for (int i = 0; i < KEYS; i++)
        snprintf(key[i], sizeof key[i], "%d", i);
    for (int step = 0; step < STEPS; step++) {
        uint64_t r = next_random(&x);
        size_t i = (size_t)(r >> 8) % KEYS, len = strlen(key[i]);

        if (r % 3 == 0) {
            int *to = &value[r >> 3 & 1];

            assert_true(map_set(&m, key[i], len, to));
            used += !truth[i];
            truth[i] = to;
        } else if (r % 3 == 1) {
            assert_ptr_equal(map_remove(&m, key[i], len), truth[i]);
            used -= truth[i] != NULL;
            truth[i] = NULL;
        }
        assert_ptr_equal(map_get(&m, key[i], len), truth[i]);
        assert_int_equal(m.used, used);
    }
    for (int i = 0; i < KEYS; i++)
        assert_ptr_equal(map_get(&m, key[i], strlen(key[i])), truth[i]);
    map_clear(&m);
    assert_null(map_get(&m, "1", 1));
}

TEST(all_values_are_met_once)
{
    struct map m = { .slot = NULL };
    unsigned char met[KEYS] = { 0 }, *it;

    for (int i = 0; i < KEYS; i++) {
        snprintf(key[i], sizeof key[i], "%d", i);
        assert_true(map_set(&m, key[i], strlen(key[i]), &met[i]));
    }
    for (size_t at = 0; (it = map_next(&m, &at));)
        ++*it;
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(met[i], 1);
    map_clear(&m);
}

TEST(keys_are_bytes_and_the_empty_one_is_a_key)
{
    struct map m = { .slot = NULL };
    int a, b, c;

    assert_null(map_get(&m, "", 0));
    assert_null(map_remove(&m, "", 0));
    assert_true(map_set(&m, NULL, 0, &a));
    assert_true(map_set(&m, "x\0y", 3, &b));
    assert_true(map_set(&m, "x\0z", 3, &c));
    assert_ptr_equal(map_get(&m, "", 0), &a);
    assert_ptr_equal(map_get(&m, "x\0y", 3), &b);
    assert_ptr_equal(map_get(&m, "x\0z", 3), &c);
    assert_null(map_get(&m, "x", 1));
    map_clear(&m);
}

TEST(two_maps_put_the_same_keys_into_other_slots)
{
    struct map m[2] = { { .slot = NULL }, { .slot = NULL } };
    size_t same = 0;

    for (int i = 0; i < 1000; i++) {
        snprintf(key[i], sizeof key[i], "%d", i);
        for (int k = 0; k < 2; k++)
            assert_true(map_set(&m[k], key[i], strlen(key[i]), key[i]));
    }
    for (size_t i = 0; i < m[0].slots; i++)
        same += m[0].slot[i].value == m[1].slot[i].value && m[0].slot[i].value;
    assert_true(same < 100); /* about 1 is expected */
    map_clear(&m[0]);
    map_clear(&m[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_answers_as_an_array_does),
        cmocka_unit_test(all_values_are_met_once),
        cmocka_unit_test(keys_are_bytes_and_the_empty_one_is_a_key),
        cmocka_unit_test(two_maps_put_the_same_keys_into_other_slots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
