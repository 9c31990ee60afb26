/* apart_test.c - layers without XOR, and the chance that they say yes. */
#include "test/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/layers/apart.h"

static const uint64_t bits[3] = { 4096, 4096, 4096 };

static bool has(const struct apart *a, const char *url)
{
    return apart_has(a, url, strlen(url));
}

static double chance(const struct apart *a, const char *url)
{
    return apart_chance(a, url, strlen(url));
}

static void segments_that_are_known_are_found_for_certain(void **state)
{
    struct apart a;
    double one, two;

    (void)state;
    apart_init(&a, 3, 100, bits, 4, 1);
    apart_add(&a, "http://a/b/c", 12);
    apart_add(&a, "http://x/y/z", 12);
    apart_settle(&a, 4096);
    assert_true(has(&a, "http://a/b/c"));
    assert_true(has(&a, "http://a/y/c")); /* a crossing */
    assert_true(has(&a, "http://x"));
    assert_true(chance(&a, "http://a/y/c") >= 1);
    one = chance(&a, "http://a/q/c");
    two = chance(&a, "http://q/q/c");
    assert_true(one > 0 && one < 1e-6);
    /* All layers have two segments, so their rates are the same. */
    assert_true(fabs(two / (one * one) - 1) < 1e-9);
    assert_false(has(&a, "http://a/q/c"));
    /* Known in its own layer only. */
    assert_true(chance(&a, "http://a/c/b") < 1);
    apart_clear(&a);
}

static void the_last_layer_takes_the_rest(void **state)
{
    struct apart a;

    (void)state;
    apart_init(&a, 2, 100, bits, 4, 1);
    apart_add(&a, "http://a/b/c", 12);
    apart_settle(&a, 4096);
    assert_true(has(&a, "http://a/b/c"));
    assert_false(has(&a, "http://a/b"));
    assert_int_equal(a.known[1].n, 1);
    apart_clear(&a);
}

/* With as many bits in the XOR layer, the XOR of one segment is set wherever
   the segment is: only URLs of several hold back twice. */
static void a_lone_segment_is_its_own_xor(void **state)
{
    struct apart a;
    double layer, tied;

    (void)state;
    apart_init(&a, 3, 100, bits, 4, 1);
    apart_add(&a, "http://a", 8);
    apart_add(&a, "http://x", 8);
    apart_settle(&a, 4096);
    layer = chance(&a, "http://q");
    tied = apart_tied(&a, "http://q", 8);
    assert_true(fabs(tied / layer - 1) < 1e-6);
    apart_add(&a, "http://b/c", 10);
    apart_settle(&a, 4096);
    layer = chance(&a, "http://q");
    tied = apart_tied(&a, "http://q", 8);
    assert_true(tied < layer && tied > layer * layer);
    /* Known in its layer: the XOR alone holds back. */
    assert_true(fabs(apart_tied(&a, "http://b", 8) / layer - 1) < 1e-6);
    apart_clear(&a);
}

/* With all segments but one those of many others, what meets in the layer
   often meets in the XOR, more often than for a URL without siblings. */
static void siblings_do_not_hold_back_twice(void **state)
{
    struct apart a;
    double layer, alone, sibling;
    char url[32];

    (void)state;
    apart_init(&a, 2, 600, bits, 4, 1);
    apart_add(&a, "http://b/x", 10);
    for (int i = 0; i < 600; i++) {
        snprintf(url, sizeof url, "http://a/%d", i);
        apart_add(&a, url, strlen(url));
    }
    apart_settle(&a, 4096);
    layer = chance(&a, "http://b/q");
    alone = apart_tied(&a, "http://b/q", 10);
    sibling = apart_tied(&a, "http://a/q", 10);
    assert_true(fabs(alone / (layer * layer) - 1) < 0.02); /* one sibling */
    assert_true(sibling > 1.2 * alone && sibling < layer / 2);
    apart_clear(&a);
}

/* The XOR of 05/12 is that of 12/05. */
static void the_same_segments_in_another_order_have_the_same_xor(void **state)
{
    struct apart a;

    (void)state;
    apart_init(&a, 3, 100, bits, 4, 1);
    apart_add(&a, "http://a/05/12", 14);
    apart_add(&a, "http://b/12/05", 14);
    apart_settle(&a, 4096);
    assert_true(apart_tied(&a, "http://a/12/05", 14) >= 1);
    assert_true(apart_tied(&a, "http://b/05/05", 14) < 1e-3);
    apart_clear(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_that_are_known_are_found_for_certain),
        cmocka_unit_test(the_last_layer_takes_the_rest),
        cmocka_unit_test(a_lone_segment_is_its_own_xor),
        cmocka_unit_test(siblings_do_not_hold_back_twice),
        cmocka_unit_test(the_same_segments_in_another_order_have_the_same_xor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
