/* hash_sort_threads_test.c - sorted hashes, compared with those of qsort(). */
#include "test/test.h"

#include <stdlib.h>

#include <seen/key.h>

#include "lib/filter/hash_sort.h"

enum { MOST = HASH_BLOCK + 300000 };

static uint64_t value[2][HASH_BLOCK], want[MOST], got[MOST];

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* n values, of which `distinct` differ. */
static void check(size_t n, size_t distinct, uint64_t salt, uint64_t mask,
                  unsigned threads)
{
    uint64_t *block[] = { value[0], value[1] };
    size_t sorted = n, kept = 0;

    for (size_t i = 0; i < n; i++) {
        block[i / HASH_BLOCK][i % HASH_BLOCK] = i % distinct;
        want[i] = seen_mix((i % distinct) ^ salt) & mask;
    }
    qsort(want, n, sizeof *want, by_size);
    for (size_t i = 0; i < n; i++)
        if (!i || want[i] != want[i - 1])
            want[kept++] = want[i];
    assert_true(hash_sort(block, got, &sorted, salt, mask, threads));
    assert_int_equal(sorted, kept);
    assert_memory_equal(got, want, kept * sizeof *got);
}

TEST(any_number_of_threads_sorts_and_drops_equal_hashes)
{
    const unsigned threads[] = { 1, 2, 7, 1000 };

    for (unsigned i = 0; i < 4; i++) {
        check(0, 1, 1, UINT64_MAX, threads[i]);
        check(1, 1, 2, UINT64_MAX, threads[i]);
        check(1000, 10, 3, UINT64_MAX, threads[i]);
        check(300000, 200000, 4, ~UINT64_C(0xff), threads[i]);
    }
    check(MOST, MOST - 1000, 5, ~UINT64_C(0xff), 1);
    check(MOST, MOST - 1000, 6, ~UINT64_C(0xff), 3);
}

/* All are in a few buckets, so that some threads have none. */
TEST(uneven_hashes_are_sorted_too)
{
    check(MOST, 5, 7, UINT64_MAX, 8);
    check(MOST, 1, 9, UINT64_MAX, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_sorts_and_drops_equal_hashes),
        cmocka_unit_test(uneven_hashes_are_sorted_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
