/* name_test.c - what may be the name of a file, and what may not. */
#include "test/test.h"

#include <string.h>

#include "harvest/name.h"
#include "harvest/url.h"
#include "lib/text/span.h"

TEST(a_name_is_the_last_segment_with_its_escapes_undone_once)
{
    static const struct {
        const char *url, *file, *host; /* NULL: refused */
    } cases[] = {
        { "https://a.example/x.seen", "x.seen", "a.example.x.seen" },
        { "https://a.example/b/c/x.seen?v=../1", "x.seen",
          "a.example.x.seen" },
        { "https://A.example:443/x.seen#f", "x.seen", "a.example.x.seen" },
        { "http://a.example:8080/x.seen", "x.seen", "a.example-8080.x.seen" },
        { "http://[2001:db8::1]:80/x.seen", "x.seen", "2001_db8__1.x.seen" },
        { "http://[2001:db8::1]:81/x.seen", "x.seen",
          "2001_db8__1-81.x.seen" },
        { "https://a.example/%78.seen", "x.seen", "a.example.x.seen" },
        { "https://a.example/x.see%6e", "x.seen", "a.example.x.seen" },
        { "https://a.example/\xc4\x8d.seen", "\xc4\x8d.seen",
          "a.example.\xc4\x8d.seen" },
        { "https://a.example/A-b_c.1.seen", "A-b_c.1.seen",
          "a.example.A-b_c.1.seen" },
        { "https://a.example/b/../x.seen", "x.seen", "a.example.x.seen" },
        { "https://a.example/../../etc/x.seen", "x.seen", "a.example.x.seen" },
        /* dots, slashes, and their escapes */
        { "https://a.example/.seen", NULL, NULL },
        { "https://a.example/.x.seen", NULL, NULL },
        { "https://a.example/..%2fx.seen", NULL, NULL },
        { "https://a.example/b%2fx.seen", NULL, NULL },
        { "https://a.example/%2e%2e%2fx.seen", NULL, NULL },
        { "https://a.example/%2e%2e%5cx.seen", NULL, NULL },
        { "https://a.example/b\\..\\x%5c.seen", NULL, NULL },
        { "https://a.example/x..seen", NULL, NULL },
        { "https://a.example/%2fetc%2fpasswd.seen", NULL, NULL },
        { "https://a.example/%252e%252e%252fx.seen", NULL, NULL },
        { "https://a.example/-rf.seen", NULL, NULL },
        /* bytes */
        { "https://a.example/x%00.seen", NULL, NULL },
        { "https://a.example/x.seen%00", NULL, NULL },
        { "https://a.example/x%0a.seen", NULL, NULL },
        { "https://a.example/x%1b[31m.seen", NULL, NULL },
        { "https://a.example/x%7f.seen", NULL, NULL },
        { "https://a.example/x%c2%85.seen", NULL, NULL },
        { "https://a.example/x%e2%80%ae.seen", NULL, NULL },
        { "https://a.example/x%ef%bb%bf.seen", NULL, NULL },
        { "https://a.example/x%ff.seen", NULL, NULL },
        { "https://a.example/x%c0%ae.seen", NULL, NULL },
        { "https://a.example/x%ed%a0%80.seen", NULL, NULL },
        { "https://a.example/x%f4%90%80%80.seen", NULL, NULL },
        { "https://a.example/x%c4.seen", NULL, NULL },
        { "https://a.example/x%20y.seen", NULL, NULL },
        { "https://a.example/x*.seen", NULL, NULL },
        { "https://a.example/x:y.seen", NULL, NULL },
        { "https://a.example/x%.seen", NULL, NULL },
        { "https://a.example/x%4.seen", NULL, NULL },
        /* no filter */
        { "https://a.example/", NULL, NULL },
        { "https://a.example/x.seen/", NULL, NULL },
        { "https://a.example/x.SEEN", NULL, NULL },
        { "https://a.example/x.seen.lock", NULL, NULL },
        { "https://a.example/x?y.seen", NULL, NULL },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char url[HARVEST_URL + 1], name[HARVEST_NAME + 1];
        struct seen_error why;

        assert_int_equal(harvest_url_read(url, span_of(cases[i].url), &why),
                         SEEN_OK);
        for (unsigned host = 0; host < 2; host++) {
            const char *want = host ? cases[i].host : cases[i].file;
            enum seen_code code = harvest_name_of(
                name, url, false, host ? HARVEST_NAME_HOST : 0, &why);

            if (!want != (code != SEEN_OK))
                fail_msg("%s: %s", cases[i].url, code ? why.text : name);
            if (want)
                assert_string_equal(name, want);
            else
                assert_int_equal(code, SEEN_RANGE);
        }
    }
}

TEST(a_text_gets_the_name_of_the_file_that_it_becomes)
{
    static const struct {
        const char *url, *name;
    } cases[] = {
        { "https://a.example/f/haw.csv", "haw.seen" },
        { "https://a.example/f/haw.json?v=2", "haw.seen" },
        { "https://a.example/haw.2026.txt", "haw.2026.seen" },
        { "https://a.example/export?of=haw.csv", "export.seen" },
        { "https://a.example/haw.csv.csv", "haw.csv.seen" },
        { "https://a.example/.csv", NULL },
        { "https://a.example/", NULL },
        { "https://a.example/..csv", NULL },
        { "https://a.example/%2e%2e%2fx.csv", NULL },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char url[HARVEST_URL + 1], name[HARVEST_NAME + 1];

        assert_int_equal(harvest_url_read(url, span_of(cases[i].url), NULL),
                         SEEN_OK);
        if (harvest_name_of(name, url, true, 0, NULL) != SEEN_OK)
            name[0] = '\0';
        assert_string_equal(name, cases[i].name ? cases[i].name : "");
    }
}

TEST(folders_come_before_a_name_and_their_escapes_stay_within_them)
{
    static const struct {
        const char *url, *path, *both;
    } cases[] = {
        { "http://a.example/x.seen", "x.seen", "a.example.x.seen" },
        { "http://a.example/b/x.seen", "b.x.seen", "a.example.b.x.seen" },
        { "http://a.example:81/b/c-d/x.seen?v", "b.c-d.x.seen",
          "a.example-81.b.c-d.x.seen" },
        { "http://a.example/%C4%8D/x.seen", "\xc4\x8d.x.seen",
          "a.example.\xc4\x8d.x.seen" },
        { "http://a.example/b%2Fc/x.seen", NULL, NULL },
        { "http://a.example/b//x.seen", NULL, NULL },
        { "http://a.example/.b/x.seen", NULL, NULL },
        { "http://a.example/-b/x.seen", NULL, "a.example.-b.x.seen" },
        { "http://a.example/b%0a/x.seen", NULL, NULL },
        { "http://a.example/b%zz/x.seen", NULL, NULL },
        { "http://a.example/b/.seen", NULL, NULL },
        { "http://a.example/b/-x.seen", NULL, NULL },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char url[HARVEST_URL + 1], name[HARVEST_NAME + 1];
        const char *want = cases[i].path;

        assert_int_equal(harvest_url_read(url, span_of(cases[i].url), NULL),
                         SEEN_OK);
        for (unsigned with = HARVEST_NAME_PATH;
             with <= (HARVEST_NAME_PATH | HARVEST_NAME_HOST);
             with += HARVEST_NAME_HOST, want = cases[i].both) {
            struct seen_error why;
            enum seen_code code = harvest_name_of(name, url, false, with,
                                                  &why);

            if (!want != (code != SEEN_OK))
                fail_msg("%s: %s", cases[i].url, code ? why.text : name);
            if (want)
                assert_string_equal(name, want);
        }
    }
}

TEST(a_name_has_at_most_200_bytes)
{
    char text[400], url[HARVEST_URL + 1], name[HARVEST_NAME + 1];

    for (size_t n = 190; n < 300; n++) {
        strcpy(text, "http://a.example/");
        memset(text + 17, 'x', n - 5);
        strcpy(text + 17 + n - 5, ".seen");
        assert_int_equal(harvest_url_read(url, span_of(text), NULL), SEEN_OK);
        assert_int_equal(harvest_name_of(name, url, false, 0, NULL),
                         n <= HARVEST_NAME ? SEEN_OK : SEEN_RANGE);
        assert_int_equal(
            harvest_name_of(name, url, false, HARVEST_NAME_HOST, NULL),
            n + 10 <= HARVEST_NAME ? SEEN_OK : SEEN_RANGE);
    }
}

TEST(an_address_is_an_absolute_url_of_http_without_password)
{
    static const struct {
        const char *text, *url; /* NULL: refused */
    } cases[] = {
        { "http://a.example", "http://a.example/" },
        { "  HTTPS://A.Example:443/b/./c#d \r\n", "https://a.example/b/c" },
        { "http://a.example/\xc3\xa9 b", "http://a.example/%C3%A9%20b" },
        { "http://0x7f.1/", "http://127.0.0.1/" },
        { "http://2130706433/", "http://127.0.0.1/" },
        { "http://a.example/\x1b[31m", "http://a.example/%1B[31m" },
        { "", NULL },
        { "   ", NULL },
        { "/x.seen", NULL },
        { "x.seen", NULL },
        { "//a.example/x.seen", NULL },
        { "http:x.seen", NULL },
        { "http:/a.example/", NULL },
        { "file:///etc/passwd", NULL },
        { "gopher://a.example/", NULL },
        { "ftp://a.example/", NULL },
        { "data:text/plain,x", NULL },
        { "javascript:alert(1)", NULL },
        { "http://", NULL },
        { "http://u@a.example/", NULL },
        { "http://u:p@a.example/", NULL },
        { "http://a example/", NULL },
        { "http://a.example:99999/", NULL },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char url[HARVEST_URL + 1];
        enum seen_code code = harvest_url_read(url, span_of(cases[i].text),
                                               NULL);

        if ((code == SEEN_OK) != (cases[i].url != NULL))
            fail_msg("%s: %d", cases[i].text, code);
        if (cases[i].url)
            assert_string_equal(url, cases[i].url);
    }
}

TEST(long_addresses_are_refused_also_when_escapes_make_them_long)
{
    char text[HARVEST_URL + 64], url[HARVEST_URL + 1];

    memset(text, 'x', sizeof text);
    memcpy(text, "http://a.example/", 17);
    assert_int_equal(
        harvest_url_read(url, (struct seen_span){ text, HARVEST_URL }, NULL),
        SEEN_OK);
    assert_int_equal(strlen(url), HARVEST_URL);
    assert_int_equal(
        harvest_url_read(url, (struct seen_span){ text, HARVEST_URL + 1 },
                         NULL),
        SEEN_BAD_URL);
    memset(text + 17, 0xe9, 1000);
    assert_int_equal(
        harvest_url_read(url, (struct seen_span){ text, 17 + 1000 }, NULL),
        SEEN_BAD_URL);
    assert_int_equal(harvest_url_under(url, "http://a.example/b", "c", NULL),
                     SEEN_OK);
    assert_string_equal(url, "http://a.example/b/c");
    assert_int_equal(
        harvest_url_under(url, "http://a.example/b/?x=/", "c", NULL), SEEN_OK);
    assert_string_equal(url, "http://a.example/b/c");
    assert_int_equal(harvest_url_rooted(url, "http://a.example/b/", "c", NULL),
                     SEEN_OK);
    assert_string_equal(url, "http://a.example/c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_gets_the_name_of_the_file_that_it_becomes),
        cmocka_unit_test(
            a_name_is_the_last_segment_with_its_escapes_undone_once),
        cmocka_unit_test(
            folders_come_before_a_name_and_their_escapes_stay_within_them),
        cmocka_unit_test(a_name_has_at_most_200_bytes),
        cmocka_unit_test(
            an_address_is_an_absolute_url_of_http_without_password),
        cmocka_unit_test(
            long_addresses_are_refused_also_when_escapes_make_them_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
