/* apart_test.c - layers without XOR, and the chance that they say yes. */
#include "test/test.h"

#include <math.h>
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
    apart_settle(&a);
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
    apart_settle(&a);
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
    apart_settle(&a);
    layer = chance(&a, "http://q");
    tied = apart_tied(&a, "http://q", 8, 4096);
    assert_true(fabs(tied / layer - 1) < 1e-6);
    apart_add(&a, "http://b/c", 10);
    apart_settle(&a);
    layer = chance(&a, "http://q");
    tied = apart_tied(&a, "http://q", 8, 4096);
    assert_true(tied < layer && tied > layer * layer);
    /* Known in its layer: the XOR alone holds back. */
    assert_true(fabs(apart_tied(&a, "http://b", 8, 4096) / layer - 1) < 1e-6);
    apart_clear(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_that_are_known_are_found_for_certain),
        cmocka_unit_test(the_last_layer_takes_the_rest),
        cmocka_unit_test(a_lone_segment_is_its_own_xor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
