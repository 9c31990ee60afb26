/* number_test.c - numbers are read entirely or not at all, and shown well. */
#include "test/test.h"

#include <math.h>

#include "lib/text/number.h"
#include "lib/text/span.h"

TEST(counts_are_whole_and_may_end_with_a_unit)
{
    static const struct {
        const char *text;
        uint64_t count;         /* 0: refused */
    } cases[] = {
        { "1", 1 },
        { "007", 7 },
        { "5k", 5000 },
        { "5M", 5000000 },
        { "5G", UINT64_C(5000000000) },
        { "5T", UINT64_C(5000000000000) },
        { "18446744073709551615", UINT64_MAX },
        { "18446744073709551k", UINT64_C(18446744073709551000) },
        { "18446744073709552k", 0 },
        { "18446744073709551616", 0 },
        { "", 0 },
        { "0", 0 },
        { "-1", 0 },
        { "+1", 0 },
        { " 1", 0 },
        { "1 ", 0 },
        { "1x", 0 },
        { "1.", 0 },
        { "1e3", 0 },
        { "k", 0 },
        { "1kM", 0 },
        { "nan", 0 },
        { "0x1", 0 },
        { "1,000", 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t count = 0;
        const char *wrong = number_count(cases[i].text, &count);

        assert_int_equal(count, cases[i].count);
        assert_int_equal(wrong == NULL, cases[i].count != 0);
    }
}

TEST(digits_are_a_number_below_10_to_the_18)
{
    static const char *const bad[] = { "", "-1", " 1", "1x",
                                       "1000000000000000000" };
    uint64_t n;

    assert_true(number_digits(span_of("999999999999999999"), &n));
    assert_int_equal(n, UINT64_C(999999999999999999));
    assert_true(number_digits(span_of("007"), &n) && n == 7);
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_true(!number_digits(span_of(bad[i]), &n) && n == 0);
}

TEST(times_have_a_unit)
{
    static const struct {
        const char *text;
        uint64_t seconds; /* 0: refused */
    } cases[] = {
        { "1s", 1 },
        { "45s", 45 },
        { "30m", 1800 },
        { "6h", 21600 },
        { "1d", 86400 },
        { "36525d", UINT64_C(3155760000) },
        { "36526d", 0 },
        { "18446744073709551616s", 0 },
        { "213503982334602d", 0 },
        { "", 0 },
        { "0h", 0 },
        { "6", 0 },
        { "h", 0 },
        { "6hh", 0 },
        { "6 h", 0 },
        { "6h ", 0 },
        { "-6h", 0 },
        { "+6h", 0 },
        { "1.5h", 0 },
        { "1h30m", 0 },
        { "6w", 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t seconds = 0;
        const char *wrong = number_seconds(cases[i].text, &seconds);

        assert_int_equal(seconds, cases[i].seconds);
        assert_int_equal(wrong == NULL, cases[i].seconds != 0);
    }
}

TEST(moments_are_dates_in_utc_or_unix_times)
{
    static const struct {
        const char *text;
        uint64_t moment; /* UINT64_MAX: refused */
    } cases[] = {
        { "0", 0 },
        { "1769817600", 1769817600 },
        { "2026-01-31T00:00:00Z", 1769817600 },
        { "1970-01-01T00:00:01Z", 1 },
        { "9999-12-31T23:59:59Z", UINT64_C(253402300799) },
        { "253402300799", UINT64_C(253402300799) },
        { "253402300800", UINT64_MAX },
        { "99999999999999999999", UINT64_MAX },
        { "1969-12-31T23:59:59Z", UINT64_MAX },
        { "2026-02-30T00:00:00Z", UINT64_MAX },
        { "2026-1-31T00:00:00Z", UINT64_MAX },
        { "2026-01-31T00:00:00", UINT64_MAX },
        { "2026-01-31T24:00:00Z", UINT64_MAX },
        { "2026-01-31", UINT64_MAX },
        { "2026-01-31T00:00:00Zx", UINT64_MAX },
        { "-1", UINT64_MAX },
        { " 1", UINT64_MAX },
        { "1.5", UINT64_MAX },
        { "", UINT64_MAX },
        { "now", UINT64_MAX },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t moment = UINT64_MAX;
        const char *wrong = number_moment(cases[i].text, &moment);

        if (moment != cases[i].moment ||
            (wrong == NULL) != (cases[i].moment != UINT64_MAX))
            fail_msg("%s: %llu", cases[i].text, (unsigned long long)moment);
    }
}

TEST(rates_are_between_0_and_1)
{
    static const struct {
        const char *text;
        double rate;            /* 0: refused */
    } cases[] = {
        { "0.01", 0.01 }, { "1%", 0.01 },   { "1e-2", 0.01 }, { ".5", 0.5 },
        { "50%", 0.5 },   { "1E-3", 1e-3 }, { "0.1%", 1e-3 }, { "0", 0 },
        { "1", 0 },       { "100%", 0 },    { "-0.1", 0 },    { "nan", 0 },
        { "inf", 0 },     { "0x1p-3", 0 },  { "1e-400", 0 },  { "1 %", 0 },
        { "%", 0 },       { ".", 0 },       { "", 0 },        { "0.1x", 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double rate = 0;
        const char *wrong = number_rate(cases[i].text, &rate);

        assert_true(fabs(rate - cases[i].rate) < 1e-15);
        assert_int_equal(wrong == NULL, cases[i].rate > 0);
    }
}

TEST(numbers_are_shown_as_people_read_them)
{
    assert_string_equal(show_count(0), "0");
    assert_string_equal(show_count(999), "999");
    assert_string_equal(show_count(1000), "1,000");
    assert_string_equal(show_count(UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(show_estimate(-1), "0");
    assert_string_equal(show_estimate(1234.5), "1,235");
    assert_string_equal(show_estimate(NAN), "0");
    assert_string_equal(show_estimate(INFINITY), "4,611,686,018,427,387,904");
    assert_string_equal(show_bytes(0), "0 bytes");
    assert_string_equal(show_bytes(999), "999 bytes");
    assert_string_equal(show_bytes(1000), "1.0 kB");
    assert_string_equal(show_bytes(999999), "1.0 MB");
    assert_string_equal(show_bytes(12345678), "12 MB");
    assert_string_equal(show_bytes(UINT64_MAX), "18 EB");
    assert_string_equal(show_counted(0, "URL"), "0 URLs");
    assert_string_equal(show_counted(1, "URL"), "1 URL");
    assert_string_equal(show_counted(1000, "line"), "1,000 lines");
    assert_string_equal(show_counted(1, "patch"), "1 patch");
    assert_string_equal(show_counted(2, "patch"), "2 patches");
    assert_string_equal(show_estimated(1.4, "URL"), "1 URL");
    assert_string_equal(show_estimated(1.5, "URL"), "2 URLs");
    assert_string_equal(show_rate(0), "0 %");
    assert_string_equal(show_rate(0.01), "1 %");
    assert_string_equal(show_rate(0.00928), "0.93 %");
    assert_string_equal(show_rate(1e-12), "below 1e-10 %");
    assert_string_equal(show_rate(0.125), "12 %");
    assert_string_equal(show_rate(1), "100 %");
    assert_string_equal(show_rate(3.8e-10), "3.8e-08 %");
    assert_string_equal(show_percent(0), "0.0 %");
    assert_string_equal(show_percent(0.5), "50.0 %");
    assert_string_equal(show_percent(0.00001), "0.001 %");
    assert_string_equal(show_time(0.123), "0.12 s");
    assert_string_equal(show_time(61), "1 min 1 s");
    assert_string_equal(show_time(7260), "2 h 1 min");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_whole_and_may_end_with_a_unit),
        cmocka_unit_test(digits_are_a_number_below_10_to_the_18),
        cmocka_unit_test(times_have_a_unit),
        cmocka_unit_test(moments_are_dates_in_utc_or_unix_times),
        cmocka_unit_test(rates_are_between_0_and_1),
        cmocka_unit_test(numbers_are_shown_as_people_read_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
