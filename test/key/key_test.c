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

/* What a batch must make of these is what single calls make of them. */
static const char *const some_urls[] = {
    "http://a.example/",
    "HTTP://A.example:80/%7ex?b=2&a=1#f",
    "",
    "not a url",
    "http://",
    "https://www.b.example/path/to/page.html;jsessionid=0123",
    "http://a.example/",
    "http://[::1]/x",
    "http://b\xc3\xbc"
    "cher.example/\xc3\xa4",
    "com,example)/news",
    "http://a.example/a b",
    "http://1.2.3.4.5.6/",
};

TEST(keys_of_a_batch_are_those_of_single_urls)
{
    static const char *const profile[] = { "raw",       "whatwg", "surt",
                                           "surt:host", "surt:1", "surt:99" };
    enum { TIMES = 5, N = TIMES * LENGTH(some_urls) + 1 };
    static char room[N * SEEN_KEY_TEXT], text[SEEN_KEY_TEXT];
    static char long_url[SEEN_KEY_TEXT + 1];
    struct seen_span url[N];
    struct seen_key key[N], one;
    enum seen_code code[N];

    memset(long_url, 'a', sizeof long_url);
    for (size_t i = 0; i < N; i++) {
        url[i].text = some_urls[i % LENGTH(some_urls)];
        url[i].len = strlen(url[i].text);
    }
    url[N - 1] = (struct seen_span){ long_url, sizeof long_url };
    for (size_t p = 0; p < LENGTH(profile); p++) {
        struct seen_profile as;
        size_t made, k = 0;

        assert_int_equal(seen_profile_find(&as, profile[p], NULL), SEEN_OK);
        made = seen_key_make_many(key, code, room, sizeof room, url, N, &as);
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(code[i], seen_key_make_as(&one, text, url[i].text,
                                                       url[i].len, &as, NULL));
            if (code[i] != SEEN_OK)
                continue;
            assert_true(key[k].lo == one.lo && key[k].hi == one.hi);
            assert_int_equal(key[k].len, one.len);
            assert_memory_equal(key[k].text, one.text, one.len);
            k++;
        }
        assert_int_equal(k, made);
        assert_true(k > 0 && k < N);
        assert_int_equal(
            seen_key_make_many(key, NULL, room, sizeof room, url, N, &as),
            made);
    }
}

TEST(a_batch_ends_where_its_room_for_text_does)
{
    static char room[SEEN_KEY_TEXT + 20];
    const struct seen_span url[] = { { "HTTP://A.example/1", 18 },
                                     { "HTTP://A.example/2", 18 },
                                     { "HTTP://A.example/3", 18 } };
    struct seen_profile whatwg, raw;
    enum seen_code code[3];
    struct seen_key key[3];

    seen_profile_find(&whatwg, "whatwg", NULL);
    seen_profile_find(&raw, "raw", NULL);
    assert_int_equal(
        seen_key_make_many(key, code, room, sizeof room, url, 3, &whatwg), 2);
    assert_int_equal(code[0], SEEN_OK);
    assert_int_equal(code[1], SEEN_OK);
    assert_int_equal(code[2], SEEN_FULL);
    assert_memory_equal(key[0].text, "http://a.example/1", 18);
    assert_memory_equal(key[1].text, "http://a.example/2", 18);
    assert_int_equal(seen_key_make_many(key, code, NULL, 0, url, 3, &whatwg),
                     0);
    assert_int_equal(code[0], SEEN_FULL);
    assert_int_equal(seen_key_make_many(key, code, NULL, 0, url, 3, &raw), 3);
    assert_int_equal(seen_key_make_many(key, code, NULL, 0, url, 0, &raw), 0);
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
        cmocka_unit_test(keys_of_a_batch_are_those_of_single_urls),
        cmocka_unit_test(a_batch_ends_where_its_room_for_text_does),
        cmocka_unit_test(codes_have_their_numbers_and_names_for_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
