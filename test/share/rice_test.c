/* rice_test.c - numbers come back as they were, and never from beyond. */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/key.h>

#include "lib/share/rice.h"

enum { MANY = 60000 };

static struct rice_writer w;
static struct rice_reader r;

static int scratch(void)
{
    char name[] = "/tmp/seen-rice-XXXXXX";
    int fd = mkstemp(name);

    assert_true(fd >= 0);
    unlink(name);
    return fd;
}

/* Numbers of up to `bits` bits, small ones more often. */
static uint64_t number(uint64_t i, unsigned bits)
{
    uint64_t x = seen_mix(i);

    return bits ? (x & (~UINT64_C(0) >> (64 - bits))) >> (x >> 58) % bits : 0;
}

TEST(what_was_written_is_read_and_takes_as_much_as_was_counted)
{
    for (unsigned bits = 0; bits <= 48; bits += 3) {
        struct rice_counts c = { 0 };
        uint64_t length, v;
        unsigned k;
        int fd = scratch();

        for (uint64_t i = 0; i < MANY; i++)
            rice_count(&c, number(i, bits));
        k = rice_best(&c, &length);
        rice_begin(&w, fd, 5, NULL);
        for (uint64_t i = 0; i < MANY; i++)
            rice_put(&w, number(i, bits), k);
        assert_int_equal(rice_end(&w), SEEN_OK);
        assert_int_equal(w.at, 5 + (length + 7) / 8);
        rice_open(&r, fd, 5, length, NULL);
        for (uint64_t i = 0; i < MANY; i++) {
            assert_true(rice_get(&r, k, UINT64_C(1) << 48, &v));
            assert_int_equal(v, number(i, bits));
        }
        assert_int_equal(r.left, 0);
        assert_false(rice_get(&r, k, UINT64_MAX, &v));
        assert_false(rice_take(&r, 1, &v));
        close(fd);
    }
}

TEST(no_other_parameter_is_better)
{
    struct rice_counts c = { 0 };
    uint64_t least, all;
    unsigned best;

    for (uint64_t i = 0; i < 1000; i++)
        rice_count(&c, number(i, 20));
    best = rice_best(&c, &least);
    for (unsigned k = 0; k <= RICE_MOST; k++) {
        all = 0;
        for (uint64_t i = 0; i < 1000; i++)
            all += (number(i, 20) >> k) + 1 + k;
        assert_true(all >= least);
        if (k == best)
            assert_int_equal(all, least);
    }
}

TEST(plain_bits_of_any_number_come_back)
{
    int fd = scratch();
    uint64_t v, all = 0;

    rice_begin(&w, fd, 0, NULL);
    for (unsigned n = 0; n <= 64; n++, all += n)
        rice_bits(&w, seen_mix(n), n);
    assert_int_equal(rice_end(&w), SEEN_OK);
    rice_open(&r, fd, 0, 64 * 65 / 2, NULL);
    for (unsigned n = 0; n <= 64; n++) {
        assert_true(rice_take(&r, n, &v));
        assert_int_equal(v, n ? seen_mix(n) & (~UINT64_C(0) >> (64 - n)) : 0);
    }
    close(fd);
}

TEST(a_number_above_the_most_is_refused)
{
    for (unsigned k = 0; k < 12; k++)
        for (uint64_t most = 0; most < 300; most++) {
            int fd;
            uint64_t v;

            if (most % 37 && most > 3)
                continue;
            fd = scratch();
            rice_begin(&w, fd, 0, NULL);
            rice_put(&w, most, k);
            rice_put(&w, most + 1, k);
            assert_int_equal(rice_end(&w), SEEN_OK);
            rice_open(&r, fd, 0, 8 * w.at, NULL);
            assert_true(rice_get(&r, k, most, &v));
            assert_int_equal(v, most);
            assert_false(rice_get(&r, k, most, &v));
            close(fd);
        }
}

/* Zeros without end, as many as fit: no one ends them. */
TEST(zeros_without_a_one_end_with_the_bits)
{
    static const unsigned char zeros[1000];
    int fd = scratch();
    uint64_t v;

    assert_int_equal(write(fd, zeros, sizeof zeros), sizeof zeros);
    for (uint64_t bits = 0; bits < 200; bits++) {
        rice_open(&r, fd, 0, bits, NULL);
        assert_false(rice_get(&r, 0, UINT64_MAX, &v));
    }
    rice_open(&r, fd, 0, 8 * sizeof zeros, NULL);
    assert_false(rice_get(&r, 56, UINT64_MAX, &v));
    rice_open(&r, fd, 0, 8 * sizeof zeros + 800, NULL);
    assert_false(rice_get(&r, 0, UINT64_MAX, &v));
    assert_int_equal(r.code, SEEN_CORRUPT); /* the file ends before */
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            what_was_written_is_read_and_takes_as_much_as_was_counted),
        cmocka_unit_test(no_other_parameter_is_better),
        cmocka_unit_test(plain_bits_of_any_number_come_back),
        cmocka_unit_test(a_number_above_the_most_is_refused),
        cmocka_unit_test(zeros_without_a_one_end_with_the_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
