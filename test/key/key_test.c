/* key_test.c - from a URL to the 128 bits that stand for it. */
#include "test/test.h"

#include <string.h>

#include <seen/key.h>

/*
 * The first is in the xxHash project's self-check, the second was computed
 * with its library. They are hash version 1 of every file: were they to
 * change, no stored filter could be asked any more.
 */
TEST(a_key_is_the_unseeded_xxh3_128_of_its_text)
{
    static const struct {
        const char *text;
        uint64_t hi, lo;
    } known[] = {
        { "", UINT64_C(0x99aa06d3014798d8), UINT64_C(0x6001c324468d497f) },
        { "https://haw.nsk.hr/en", UINT64_C(0x20871dd8310e636d),
          UINT64_C(0xcd511aed2262a87b) },
    };
    struct seen_key key;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        seen_key_hash(&key, known[i].text, strlen(known[i].text));
        assert_true(key.hi == known[i].hi && key.lo == known[i].lo);
        assert_ptr_equal(key.text, known[i].text);
        assert_int_equal(key.len, strlen(known[i].text));
    }
}

TEST(under_raw_the_bytes_are_hashed_as_they_stand)
{
    static const char url[] = "HTTP://A.example:80/%7Ex?b&a#f";
    char text[SEEN_KEY_TEXT];
    struct seen_key key, same;

    seen_key_hash(&same, url, sizeof url - 1);
    assert_int_equal(
        seen_key_make(&key, text, url, sizeof url - 1, "raw", NULL), SEEN_OK);
    assert_ptr_equal(key.text, url);
    assert_true(key.lo == same.lo && key.hi == same.hi);
}

TEST(what_is_no_url_is_refused_and_the_key_is_untouched)
{
    static char long_url[SEEN_KEY_TEXT + 1];
    const struct {
        const char *url;
        size_t len;
        const char *profile;
        uint64_t at;
        enum seen_code code;
    } refused[] = {
        { "", 0, "raw", 0, SEEN_BAD_URL },
        { long_url, SEEN_KEY_TEXT + 1, "raw", SEEN_KEY_TEXT, SEEN_BAD_URL },
        { "http://a.example/", 17, "nonesuch", 0, SEEN_RANGE },
        { "http://a.example/", 17, "", 0, SEEN_RANGE },
        { "http://a.example/", 17, "RAW", 0, SEEN_RANGE },
    };
    char text[SEEN_KEY_TEXT];

    memset(long_url, 'a', sizeof long_url);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct seen_key key = { .lo = 7, .hi = 8 };
        struct seen_error why = { .at = 99 };

        assert_int_equal(seen_key_make(&key, text, refused[i].url,
                                       refused[i].len, refused[i].profile,
                                       &why),
                         refused[i].code);
        assert_int_equal(why.code, refused[i].code);
        assert_int_equal(why.at, refused[i].at);
        assert_true(strlen(why.text) > 0);
        assert_true(key.lo == 7 && key.hi == 8);
    }
}

TEST(the_longest_url_is_a_key)
{
    static char url[SEEN_KEY_TEXT];
    char text[SEEN_KEY_TEXT];
    struct seen_key key;

    memset(url, 'a', sizeof url);
    assert_int_equal(seen_key_make(&key, text, url, sizeof url, "raw", NULL),
                     SEEN_OK);
    assert_int_equal(key.len, SEEN_KEY_TEXT);
}

/* seen_mix() is a bijection, so numbers have distinct lower halves. */
TEST(numbers_have_keys_without_text)
{
    struct seen_key a, b;

    seen_key_number(&a, 1);
    seen_key_number(&b, 2);
    assert_null(a.text);
    assert_true(a.lo != b.lo && a.hi != b.hi);
}

TEST(a_profile_says_what_the_text_of_a_url_is)
{
    static const char url[] = "HTTP://www.A.example:80/x/../Y/z?b&a#f";
    static const struct {
        const char *profile, *text;
    } cases[] = {
        { "raw", url },
        { "whatwg", "http://www.a.example/Y/z?b&a" },
        { "surt", "example,a)/y/z?a&b" },
        { "surt:host", "example,a)/" },
        { "surt:1", "example,a)/y" },
        { "surt:2", "example,a)/y/z" },
        { "surt:99", "example,a)/y/z" },
    };
    char text[SEEN_KEY_TEXT];
    struct seen_profile profile;
    struct seen_key key, same;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(seen_key_make(&key, text, url, sizeof url - 1,
                                       cases[i].profile, NULL),
                         SEEN_OK);
        assert_int_equal(key.len, strlen(cases[i].text));
        assert_memory_equal(key.text, cases[i].text, key.len);
        seen_key_hash(&same, cases[i].text, key.len);
        assert_true(key.lo == same.lo && key.hi == same.hi);

        assert_int_equal(seen_profile_find(&profile, cases[i].profile, NULL),
                         SEEN_OK);
        assert_int_equal(
            seen_key_make_as(&same, text, url, sizeof url - 1, &profile, NULL),
            SEEN_OK);
        assert_true(key.lo == same.lo && key.hi == same.hi);
    }
}

TEST(no_profile_has_two_names)
{
    static const char *const names[] = {
        "",
        "r",
        "rawx",
        "RAW",
        "Whatwg",
        "whatwg:1",
        "surt:",
        "surt:0",
        "surt:01",
        "surt:100",
        "surt:999999999999",
        "surt:-1",
        "surt:1x",
        "surt:hosts",
        "surt1",
        "surtx",
        "sur",
    };
    struct seen_profile out = { SEEN_RAW, 7 };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(seen_profile_find(&out, names[i], NULL), SEEN_RANGE);
    assert_int_equal(out.segments, 7);
}

TEST(an_unknown_profile_is_refused_by_name)
{
    struct seen_error why;

    assert_int_equal(seen_profile_find(NULL, "raw", NULL), SEEN_OK);
    assert_int_equal(seen_profile_find(NULL, "nonesuch", &why), SEEN_RANGE);
    assert_non_null(strstr(why.text, "nonesuch"));
}

TEST(every_profile_is_listed_and_found)
{
    struct seen_profile_entry entry;
    unsigned n = 0;

    for (; seen_profile_list(n, &entry); n++) {
        assert_int_equal(seen_profile_find(NULL, entry.name, NULL), SEEN_OK);
        assert_memory_equal(entry.synopsis, entry.name, strlen(entry.name));
        assert_true(strlen(entry.summary) > 10);
    }
    assert_int_equal(n, 3);
}

/* Numbers are stored by programs and scripts: they never change. */
TEST(codes_have_their_numbers_and_names_for_good)
{
    static const struct {
        enum seen_code code;
        int number;
        const char *name;
    } known[] = {
        { SEEN_OK, 0, "SEEN_OK" },
        { SEEN_NOMEM, 1, "SEEN_NOMEM" },
        { SEEN_RANGE, 2, "SEEN_RANGE" },
        { SEEN_FULL, 3, "SEEN_FULL" },
        { SEEN_MISMATCH, 4, "SEEN_MISMATCH" },
        { SEEN_CORRUPT, 5, "SEEN_CORRUPT" },
        { SEEN_IO, 6, "SEEN_IO" },
        { SEEN_BUSY, 7, "SEEN_BUSY" },
        { SEEN_UNABLE, 8, "SEEN_UNABLE" },
        { SEEN_EXISTS, 9, "SEEN_EXISTS" },
        { SEEN_ABSENT, 10, "SEEN_ABSENT" },
        { SEEN_BAD_URL, 11, "SEEN_BAD_URL" },
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(known[i].code, known[i].number);
        assert_string_equal(seen_code_name(known[i].code), known[i].name);
    }
    assert_string_equal(seen_code_name((enum seen_code)12), "SEEN_UNKNOWN");
    assert_string_equal(seen_code_name((enum seen_code) - 1), "SEEN_UNKNOWN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_the_unseeded_xxh3_128_of_its_text),
        cmocka_unit_test(under_raw_the_bytes_are_hashed_as_they_stand),
        cmocka_unit_test(what_is_no_url_is_refused_and_the_key_is_untouched),
        cmocka_unit_test(the_longest_url_is_a_key),
        cmocka_unit_test(numbers_have_keys_without_text),
        cmocka_unit_test(a_profile_says_what_the_text_of_a_url_is),
        cmocka_unit_test(no_profile_has_two_names),
        cmocka_unit_test(an_unknown_profile_is_refused_by_name),
        cmocka_unit_test(every_profile_is_listed_and_found),
        cmocka_unit_test(codes_have_their_numbers_and_names_for_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
