/*
 * peer_fuse_test.c - the peer of `fuse` is the filter that it claims to be.
 *
 * The source is included, because programs of the benchmark are no library.
 */
#include "bench/peer_fuse.c"

#include "test/test.h"

/* Keys as the benchmark numbers them. */
static size_t count_in(struct contender *s, uint64_t first, size_t chunks)
{
    static struct chunk c;
    size_t sum = 0;

    for (size_t i = 0; i < chunks; i++) {
        for (unsigned j = 0; j < CHUNK; j++)
            c.hash[j] = seen_mix(first + i * CHUNK + j);
        s->has(s, &c, false);
        for (unsigned j = 0; j < CHUNK; j++)
            sum += c.answer[j];
    }
    return sum;
}

/* Of 512,000 others 2,000 are found at a rate of 1/256, with a standard
   deviation of 44.6; five of them are 223. */
TEST(keys_of_the_set_are_found_and_one_of_256_others)
{
    static const uint64_t keys[] = { CHUNK, 100 * CHUNK, 1000 * CHUNK };
    struct contender s = contender_plain_fuse;
    double ns = 0;

    for (size_t i = 0; i < LENGTH(keys); i++) {
        assert_true(s.build(&s, "plain-fuse", keys[i], false, 1, &ns));
        assert_true(ns > 0);
        assert_int_equal(count_in(&s, 0, keys[i] / CHUNK), keys[i]);
        assert_in_range(count_in(&s, UINT64_C(1) << 40, 2000), 2000 - 223,
                        2000 + 223);
    }
    assert_true(s.bits(&s) / (double)keys[2] < 9.6);
    s.close(&s);
    assert_false(s.build(&s, "plain-fuse", CHUNK, true, 1, &ns));
    s.close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_the_set_are_found_and_one_of_256_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
