/*
 * uneven_test.c - the rate of filters whose hash functions have few bits.
 *
 * The formula has the number of values as an argument, so that it can be held
 * against filters of 16-bit functions, which are small. The real sizes are in
 * the lab: seen lab narrow-hashes --full.
 */
#include "cases.h"

#include <math.h>

#include <lib/filter/uneven.h>

enum { RANGE = 1 << 16, FILTERS = 300, ASKED = 10000 };

static double plain(double n, double m, double k)
{
    return pow(-expm1(-k * n / m), k);
}

/* Probe j of key i of filter s. The first `narrow` have 16 bits. */
static unsigned probe(uint64_t s, uint64_t i, unsigned j, unsigned narrow,
                      unsigned m)
{
    uint64_t h = seen_mix(seen_mix(s << 32 | i) + j);

    if (j < narrow)
        h = h >> 48 << 48;
    return (unsigned)((h >> 32) * m >> 32);
}

static double simulated(unsigned n, unsigned m, unsigned k, unsigned narrow)
{
    static bool cell[RANGE];
    uint64_t wrong = 0;

    for (uint64_t s = 0; s < FILTERS; s++) {
        memset(cell, 0, sizeof cell);
        for (uint64_t i = 0; i < n; i++)
            for (unsigned j = 0; j < k; j++)
                cell[probe(s, i, j, narrow, m)] = true;
        for (uint64_t i = n; i < n + ASKED; i++) {
            bool all = true;

            for (unsigned j = 0; j < k && all; j++)
                all = cell[probe(s, i, j, narrow, m)];
            wrong += all;
        }
    }
    return (double)wrong / FILTERS / ASKED;
}

/*
 * Of 3,000,000 questions 1 % are wrong: the deviation is 0.6 % of that. The
 * load of a filter deviates by 0.28 / sqrt(m), hence its rate by 2k times
 * that; for 300 filters of 14,000 cells that is 0.2 %. Five deviations of both
 * are 3.2 %. Where the plain formula is off by more, it must be refuted.
 */
TEST(the_rate_is_that_of_filters_with_16_bit_functions)
{
    static const struct {
        double values; /* per cell */
        unsigned k, narrow;
        bool refuted; /* the plain formula */
    } at[] = {
        { 42.9, 7, 7, false }, { 4.48, 7, 7, false }, { 2.15, 7, 7, true },
        { 1.43, 7, 7, true },  { 2, 7, 7, false },    { 1.43, 3, 3, true },
        { 1.43, 8, 4, true },  { 1.43, 7, 1, false }, { 2.5, 12, 12, true },
    };

    for (size_t i = 0; i < LENGTH(at); i++) {
        unsigned m = (unsigned)(RANGE / at[i].values), k = at[i].k;
        struct uneven_filter f = { m, at[i].narrow, k - at[i].narrow, RANGE };
        double n = floor(-log1p(-pow(0.01, 1.0 / k)) * m / k);
        double told = uneven_rate(&f, n);
        double found = simulated((unsigned)n, m, k, at[i].narrow);

        if (fabs(found / told - 1) > 0.032)
            fail_msg("%g values per cell: %g found, %g told", at[i].values,
                     found, told);
        if (at[i].refuted && fabs(found / plain(n, m, k) - 1) < 0.032)
            fail_msg("%g values per cell: the plain formula is right",
                     at[i].values);
    }
}

TEST(the_rate_falls_with_bits_and_is_plain_where_bits_divide_the_range)
{
    double before = 1;

    for (double m = 1e8; m < 5e9; m *= 1.01) {
        struct uneven_filter f = { m, 7, 0, 0x1p32 };
        double rate = uneven_rate(&f, 1e7);

        assert_true(rate <= before);
        assert_true(rate >= plain(1e7, m, 7) * (1 - 1e-12));
        before = rate;
    }
    for (int i = 20; i <= 32; i++) {
        double m = ldexp(1, i);
        struct uneven_filter f = { m, 7, 0, 0x1p32 };

        assert_true(fabs(uneven_rate(&f, m / 10) / plain(m / 10, m, 7) - 1) <
                    1e-9);
    }
}

TEST(the_number_of_keys_follows_from_the_load)
{
    struct uneven_filter f = { 3e9, 5, 2, 0x1p32 };
    double chance = 0, n = 2e8;

    for (int v = 1; v <= 2; v++) {
        double share = v == 2 ? 0x1p32 / 3e9 - 1 : 2 - 0x1p32 / 3e9;

        chance += share * -expm1(-n * (5 * v / 0x1p32 + 2 / 3e9));
    }
    assert_true(fabs(uneven_keys(&f, chance) / n - 1) < 1e-9);
    assert_true(uneven_keys(&f, 0) == 0);
    assert_true(isfinite(uneven_keys(&f, 1)));
}

/* The plan of 100 million keys at 1 % gets what its functions take, and plans
   of a million are what they were: 9593344 bits. */
TEST(plans_are_sized_for_the_functions)
{
    static const struct {
        const char *kind;
        uint64_t capacity;
        double least, most; /* bits per key */
    } want[] = {
        { "bloom", 100000000, 9.592, 9.594 },
        { "bloom:sha1", 100000000, 9.592, 9.594 },
        { "bloom:murmur3", 100000000, 9.60, 9.75 },
        { "bloom:jenkins+md5", 100000000, 9.60, 9.75 },
        { "bloom:orestes", 100000000, 9.592, 9.60 },
        { "bloom:murmur3", 1000000, 9.593343, 9.593345 },
        { "bloom:murmur", 1000000, 9.593343, 9.593345 },
        { "bloom:orestes", 1000000, 9.593343, 9.593345 },
        { "bloom", 1000000, 9.593343, 9.593345 },
    };

    for (size_t i = 0; i < LENGTH(want); i++) {
        struct seen_plan plan = plan_of(want[i].kind, want[i].capacity, 0.01);
        struct seen_filter *f = made(&plan);
        double bits = (double)seen_filter_plan(f)->bits /
                      (double)want[i].capacity;

        if (bits < want[i].least || bits > want[i].most)
            fail_msg("%s: %g bits per key", want[i].kind, bits);
        seen_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_is_that_of_filters_with_16_bit_functions),
        cmocka_unit_test(
            the_rate_falls_with_bits_and_is_plain_where_bits_divide_the_range),
        cmocka_unit_test(the_number_of_keys_follows_from_the_load),
        cmocka_unit_test(plans_are_sized_for_the_functions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
