/*
 * local_test.c - the peer of `blocked` is the filter that it claims to be.
 *
 * A peer that forgets keys, errs more often than its formula or answers
 * without looking would make a comparison of speeds worthless. The source is
 * included, because programs of the benchmark are no library, and for the
 * versions of its loops.
 */
#include "bench/local.c"

#include <math.h>
#include <stdlib.h>

#include "test/test.h"

enum { KEYS = 200000, ASKED = 400000 };

/* Instead of huge pages. */
void *limit_buffer(size_t size)
{
    return aligned_alloc(LINE, size);
}

void *limit_lines(void *buffer)
{
    return buffer;
}

void limit_free(void *buffer, size_t size)
{
    (void)size;
    free(buffer);
}

static struct fast_local peer;
static uint64_t hash[KEYS + ASKED];
static bool answer[KEYS + ASKED];

static int open_peer(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < LENGTH(hash); i++)
        hash[i] = seen_mix(i);
    if (!bench_local_open(&peer, KEYS))
        return 1;
    bench_local_add(&peer, hash, KEYS);
    return 0;
}

static int close_peer(void **state)
{
    (void)state;
    bench_local_close(&peer);
    return 0;
}

/* How many of n keys from `first` on are said to be in, in calls of `batch`. */
static size_t count_in(size_t first, size_t n, size_t batch)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i += batch)
        peer.has(&peer, hash + first + i, n - i < batch ? n - i : batch,
                 answer + i);
    for (size_t i = 0; i < n; i++)
        sum += answer[i];
    return sum;
}

/* A large filter fetches further ahead; one that says it is large does, too. */
static void check_found(void)
{
    static const size_t batch[] = { 1,  7,   31,  32,  33,  40,
                                    41, 127, 128, 129, 256, KEYS };

    for (size_t i = 0; i < LENGTH(batch); i++)
        assert_int_equal(count_in(0, KEYS, batch[i]), KEYS);
}

TEST(what_was_added_is_always_found)
{
    size_t size = peer.size;

    check_found();
    peer.size = FAR_FROM;
    check_found();
    peer.size = size;
}

/* Inserts look ahead, too: a key must not be lost at the end of a call. */
TEST(keys_that_are_added_in_small_calls_are_found)
{
    static const size_t batch[] = { 1, 2, 31, 32, 33, 100 };
    const size_t size = peer.size;

    for (size_t i = 0; i < 2 * LENGTH(batch); i++) {
        memset(peer.cells, 0, size);
        peer.size = i % 2 ? FAR_FROM : size;
        assert_int_equal(count_in(0, 1000, 256), 0);
        for (size_t j = 0, n = batch[i / 2]; j < KEYS; j += n)
            bench_local_add(&peer, hash + j, KEYS - j < n ? KEYS - j : n);
        assert_int_equal(count_in(0, KEYS, 256), KEYS);
    }
    peer.size = size;
}

/*
 * The keys of a line are Poisson with mean l = 512 / 10. With j of them a bit
 * is clear with chance (1 - 1/512)^(6 j), and six probes find set bits with
 * the sixth power of the rest: 0.96 % on average. Five standard deviations of
 * 400,000 answers are 8 % of that; 10 % is the band, because the probes of a
 * key are multiples of one number and not quite independent.
 */
TEST(the_rate_is_near_the_formula)
{
    const double l = 8.0 * LINE / BITS_PER_KEY;
    double expected = 0, found;

    for (int j = 0; j < 300; j++) {
        double chance = exp(j * log(l) - l - lgamma(j + 1));

        expected += chance *
                    pow(1 - pow(1 - 1.0 / (8 * LINE), PROBES * j), PROBES);
    }
    assert_true(expected > 0.0090 && expected < 0.0102);
    found = (double)count_in(KEYS, ASKED, 256) / ASKED;
    if (fabs(found / expected - 1) > 0.10)
        fail_msg("the rate is %g, the formula gives %g", found, expected);
}

/* The portable loop tests probe by probe: it is the reference. */
TEST(both_versions_give_the_same_answers)
{
#if defined __x86_64__
    static bool other[KEYS + ASKED];

    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
        skip();
    has_portable(&peer, hash, LENGTH(hash), answer);
    has_avx2(&peer, hash, LENGTH(hash), other);
    assert_memory_equal(answer, other, sizeof answer);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_always_found),
        cmocka_unit_test(keys_that_are_added_in_small_calls_are_found),
        cmocka_unit_test(the_rate_is_near_the_formula),
        cmocka_unit_test(both_versions_give_the_same_answers),
    };

    return cmocka_run_group_tests(tests, open_peer, close_peer);
}
