/*
 * line_test.c - lines of every format, at the edge of a page: each is read
 * where the next byte would be a fault.
 */
#include "test/wall.h"

#include <stdio.h>
#include <stdlib.h>

#include <seen/cdx.h>

#include "lib/cdx/line.h"

static char room[4096];

static void same(struct seen_span found, const char *expected)
{
    char text[sizeof room];

    assert_true(found.len < sizeof text);
    if (found.len)
        memcpy(text, found.text, found.len);
    text[found.len] = '\0';
    assert_string_equal(text, expected ? expected : "");
}

#define CDX " CDX N b a m s k r M S V g"
#define ALEXA " CDX A b e a m s c k r V v D d g M n"
#define WGET " CDX a b a m s k r M V g u"
#define CDXJ "a)/ 20200101000000 {}"

static const struct {
    const char *file, *line;
    const char *key, *url, *time, *mime, *status;
    const char *fault;
} cases[] = {
    { CDX,
      "hr,nsk)/a 20200101000000 http://nsk.hr/a text/html 200 K - - 1 2 g",
      "hr,nsk)/a", "http://nsk.hr/a", "20200101000000", "text/html", "200",
      NULL },
    { CDX,
      "hr,nsk)/ 20200101000000 http://nsk.hr/ text/html 200 K - - 1 2 g\r",
      "hr,nsk)/", "http://nsk.hr/", "20200101000000", "text/html", "200",
      NULL },
    { CDX, "hr,nsk)/ 20200101000000 http://nsk.hr/ text/html 200 K - - 1 2 g ",
      "hr,nsk)/", "http://nsk.hr/", "20200101000000", "text/html", "200",
      NULL },
    { CDX, "hr,nsk)/ - http://nsk.hr/ unk - K - - 1 2 g", "hr,nsk)/",
      "http://nsk.hr/", "-", "unk", "-", NULL },
    /* The key of a POST, as it stands. */
    { CDX,
      "hr,nsk)/?__wb_method=post&a=b 20200101000000 http://nsk.hr/ text/html "
      "200 K - - 1 2 g",
      "hr,nsk)/?__wb_method=post&a=b", "http://nsk.hr/", "20200101000000",
      "text/html", "200", NULL },
    { CDX, "hr,nsk)/ 20200101000000 http://nsk.hr/ text/html 200 K - - 1 2",
      NULL, NULL, NULL, NULL, NULL, "too few columns" },
    { CDX,
      "hr,nsk)/a b 20200101000000 http://nsk.hr/a b text/html 200 K - - 1 2 g",
      NULL, NULL, NULL, NULL, NULL, "too many columns" },
    { CDX, "hr,nsk)/ 20200101000000 http://nsk.hr/ <a html> K - - 1 2 g",
      "hr,nsk)/", "http://nsk.hr/", "20200101000000", "<a", "html>",
      "the status is not a number" },
    { CDX, "hr,nsk)/ 2020010x http://nsk.hr/ text/html 200 K - - 1 2 g",
      "hr,nsk)/", "http://nsk.hr/", "2020010x", "text/html", "200",
      "the timestamp is not a time" },
    { CDX, "a\001)/ 20200101000000 http://nsk.hr/ text/html 200 K - - 1 2 g",
      "a\001)/", "http://nsk.hr/", "20200101000000", "text/html", "200",
      "a control byte" },
    { CDX, "hr,nsk)/\xe6 20200101000000 http://nsk.hr/\xe6 a 200 K - - 1 2 g",
      "hr,nsk)/\xe6", "http://nsk.hr/\xe6", "20200101000000", "a", "200",
      NULL },
    { CDX, "Exception in thread \"main\" java.lang.OutOfMemoryError", NULL,
      NULL, NULL, NULL, NULL, "too few columns" },
    { ALEXA,
      "nsk.hr/ 20200101000000 1.2.3.4 http://nsk.hr/ text/html 200 c k - 1 2 "
      "3 4 f - 5",
      NULL, "http://nsk.hr/", "20200101000000", "text/html", "200", NULL },
    { WGET, "http://a.hr/ 20200101000000 http://b.hr/ t 200 A - - 1 f u", NULL,
      "http://a.hr/", "20200101000000", "t", "200", NULL },
    { CDXJ,
      "hr,nsk)/ 20200101000000 {\"url\": \"http://nsk.hr/\", \"mime\": "
      "\"text/html\", \"status\": \"200\"}",
      "hr,nsk)/", "http://nsk.hr/", "20200101000000", "text/html", "200",
      NULL },
    { CDXJ,
      "hr,nsk)/ 20200101000000 {\"a\":{\"url\":\"no\"},\"u\":\"yes\","
      "\"hsc\":404}",
      "hr,nsk)/", "yes", "20200101000000", NULL, "404", NULL },
    { CDXJ,
      "(hr,nsk,)/ 2015-09-03T13:27:52Z response {\"uri\": \"http://a/\"}",
      "(hr,nsk,)/", "http://a/", "2015-09-03T13:27:52Z", NULL, NULL, NULL },
    { CDXJ, "hr,nsk)/ {\"original\": \"http://a/\"}", "hr,nsk)/", "http://a/",
      NULL, NULL, NULL, NULL },
    { CDXJ,
      "hr,nsk)/ 20200101000000 {\"x\": \"\\\"}\", \"url\": "
      "\"http:\\/\\/a\\u002f\\u0107\\ud83d\\ude00\"}",
      "hr,nsk)/", "http://a/\xc4\x87\xf0\x9f\x98\x80", "20200101000000", NULL,
      NULL, NULL },
    { CDXJ, "hr,nsk)/ 20200101000000 {\"url\": \"http://a/", "hr,nsk)/", NULL,
      "20200101000000", NULL, NULL, "the JSON is missing or cut short" },
    { CDXJ, "hr,nsk)/ 20200101000000 {\"url\": \"http://a/}", "hr,nsk)/", NULL,
      "20200101000000", NULL, NULL, "the JSON is missing or cut short" },
    { CDXJ, "hr,nsk)/ 20200101000000 {\"url\": \"a\\", "hr,nsk)/", NULL,
      "20200101000000", NULL, NULL, "the JSON is missing or cut short" },
    { CDXJ, "no-json", NULL, NULL, NULL, NULL, NULL, "too few columns" },
    { "http://a/", "http://b.example/ c", NULL, "http://b.example/ c", NULL,
      NULL, NULL, NULL },
    { "http://a/", "x\ty", NULL, "x\ty", NULL, NULL, NULL, "a control byte" },
};

TEST(a_line_is_read_and_nothing_behind_it)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *line = cases[i].line;
        size_t len = strlen(line), used;
        struct seen_layout l;
        struct seen_capture c;

        cdx_layout_guess(&l, cases[i].file, strlen(cases[i].file));
        assert_true(cdx_line_read(&c, &l, SEEN_DETAIL_ALL, walled(line, len),
                                  len, room, &used));
        if (!cases[i].fault != !c.fault)
            print_error("%s: %s", line, c.fault ? c.fault : "no fault");
        assert_int_equal(!cases[i].fault, !c.fault);
        if (c.fault)
            assert_string_equal(c.fault, cases[i].fault);
        same(c.key, cases[i].key);
        same(c.url, cases[i].url);
        same(c.timestamp, cases[i].time);
        same(c.mime, cases[i].mime);
        same(c.status, cases[i].status);
    }
}

TEST(every_beginning_of_a_line_is_read_or_refused_within_its_bytes)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t n = 0; n <= strlen(cases[i].line); n++)
            for (int detail = 0; detail <= SEEN_DETAIL_ALL; detail++) {
                struct seen_span value;
                struct seen_layout l;
                struct seen_capture c;
                size_t used;

                cdx_layout_guess(&l, cases[i].file, strlen(cases[i].file));
                if (!cdx_line_read(&c, &l, (enum seen_detail)detail,
                                   walled(cases[i].line, n), n, room, &used))
                    continue;
                assert_true(used <= n);
                seen_capture_field(&c, "digest", room, sizeof room, &value);
                cdx_layout_guess(&l, walled(cases[i].line, n), n);
            }
}

TEST(legends_and_comments_hold_no_capture)
{
    struct seen_layout l;
    struct seen_capture c;
    size_t used;

    cdx_layout_guess(&l, CDX, strlen(CDX));
    assert_false(cdx_line_read(&c, &l, SEEN_DETAIL_KEY, CDX, 26, room, &used));
    assert_false(cdx_line_read(&c, &l, SEEN_DETAIL_KEY, "\r", 1, room, &used));
    cdx_layout_guess(&l, CDXJ, strlen(CDXJ));
    assert_false(
        cdx_line_read(&c, &l, SEEN_DETAIL_KEY, "!meta {}", 8, room, &used));
}

/* Of what was guessed only the columns that are read must agree. */
TEST(a_second_legend_is_passed_over_if_it_agrees_and_bad_if_it_differs)
{
#define NINE "a)/ 20200101000000 http://a/ text/html 200 K - 1 g"
    static const struct {
        const char *file, *legend;
        bool agrees;
    } rows[] = {
        { CDX, CDX, true },
        { CDX, CDX "\r", true },
        { CDX, " CDX N b a m s k r M V S g", false },
        { CDX, " CDX N b a m s k r V g", false },
        { CDX, " CDX a b N m s k r M S V g", false },
        { CDX, "\tCDX\tN\tb\ta\tm\ts\tk\tr\tM\tS\tV\tg", false },
        { CDX, " CDX ", false },
        { CDX, ALEXA, false },
        { NINE, " CDX N b a m s k r V g", true },
        { NINE, " CDX N b a m s k r v g", true },
        { NINE, " CDX N b m a s k r V g", false },
        { NINE, CDX, false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len = strlen(rows[i].legend), used;
        struct seen_layout l;
        struct seen_capture c;

        cdx_layout_guess(&l, rows[i].file, strlen(rows[i].file));
        assert_int_equal(!rows[i].agrees,
                         cdx_line_read(&c, &l, SEEN_DETAIL_KEY,
                                       walled(rows[i].legend, len), len, room,
                                       &used));
        if (!rows[i].agrees)
            assert_string_equal(
                c.fault, "a second legend that differs: split the file at it");
    }
}

TEST(any_column_and_any_field_is_found_by_its_name)
{
    static const char cdx[] = "a)/ 2020 http://a/ text/html 200 K - - 1 2 g";
    static const char json[] = "a)/ 2020 {\"x y\": [1, 2], \"n\": 3.5 , "
                               "\"e\": \"a\\nb\"}";
    struct seen_layout l;
    struct seen_capture c;
    struct seen_span v;
    size_t used;

    cdx_layout_guess(&l, CDX, strlen(CDX));
    cdx_line_read(&c, &l, SEEN_DETAIL_KEY, cdx, sizeof cdx - 1, room, &used);
    assert_true(seen_capture_field(&c, "digest", NULL, 0, &v));
    same(v, "K");
    assert_true(seen_capture_field(&c, "g", NULL, 0, &v));
    same(v, "g");
    assert_false(seen_capture_field(&c, "nonesuch", NULL, 0, &v));
    cdx_layout_guess(&l, CDXJ, strlen(CDXJ));
    cdx_line_read(&c, &l, SEEN_DETAIL_KEY, json, sizeof json - 1, room, &used);
    assert_true(seen_capture_field(&c, "x y", room, sizeof room, &v));
    same(v, "[1, 2]");
    assert_true(seen_capture_field(&c, "n", room, sizeof room, &v));
    same(v, "3.5");
    assert_true(seen_capture_field(&c, "e", room, sizeof room, &v));
    same(v, "a\nb");
    assert_false(seen_capture_field(&c, "x", room, sizeof room, &v));
}

static const struct {
    const char *key, *url, *text;
    enum seen_made made;
} keys[] = {
    { "com,example)/a", "http://other/", "com,example)/a", SEEN_MADE_TRUSTED },
    { "com,example,)/a/", "http://other/", "com,example)/a",
      SEEN_MADE_REPAIRED },
    { "com,example)/a/?b=c", "http://other/", "com,example)/a?b=c",
      SEEN_MADE_REPAIRED },
    { "(com,example,)/", "http://other/", "com,example)/",
      SEEN_MADE_REPAIRED },
    { "com,example:8080)/a", "http://other/", "com,example:8080)/a",
      SEEN_MADE_TRUSTED },
    { "example.com/a", "http://www.Example.com/a", "com,example)/a",
      SEEN_MADE_DERIVED },
    { "01_03_03).pdf", "http://example.com/01_03_03).pdf",
      "com,example)/01_03_03).pdf", SEEN_MADE_DERIVED },
};

TEST(keys_are_trusted_put_right_or_derived)
{
    static const struct seen_keying surt = { "surt", SEEN_KEYS_TRUSTED };
    static const struct seen_keying derive = { "surt", SEEN_KEYS_DERIVED };
    static const struct seen_keying raw = { "raw", SEEN_KEYS_AUTO };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char line[256], text[SEEN_KEY_TEXT];
        struct seen_layout l;
        struct seen_capture c;
        struct seen_key key;
        struct seen_error why;
        enum seen_made made;
        size_t used;
        int n = snprintf(line, sizeof line, "%s 2020 %s t 200 K - - 1 2 g",
                         keys[i].key, keys[i].url);

        cdx_layout_guess(&l, CDX, strlen(CDX));
        for (int detail = 0; detail <= SEEN_DETAIL_ALL; detail++) {
            cdx_line_read(&c, &l, (enum seen_detail)detail, line, (size_t)n,
                          room, &used);
            assert_int_equal(
                seen_capture_key(&key, text, &c, &surt, &made, &why), SEEN_OK);
            same((struct seen_span){ key.text, key.len }, keys[i].text);
            assert_int_equal(made, keys[i].made);
            assert_int_equal(
                seen_capture_key(&key, text, &c, &raw, &made, &why), SEEN_OK);
            same((struct seen_span){ key.text, key.len }, keys[i].url);
        }
        assert_int_equal(
            seen_capture_key(&key, text, &c, &derive, &made, &why), SEEN_OK);
        assert_int_equal(made, keys[i].made == SEEN_MADE_DERIVED
                                   ? SEEN_MADE_DERIVED
                                   : SEEN_MADE_CORRECTED);
    }
}

TEST(a_key_that_is_not_that_of_its_url_is_derived_from_it)
{
    static const struct {
        const char *key, *url, *text;
        enum seen_made made;
    } lines[] = {
        { "com,example)/a", "http://www.example.com/A/", "com,example)/a",
          SEEN_MADE_TRUSTED },
        { "com,example,)/a/", "http://example.com/a", "com,example)/a",
          SEEN_MADE_REPAIRED },
        { "com,example,)/a/", "http://example.com/b", "com,example)/b",
          SEEN_MADE_CORRECTED },
        { "com,example)/A", "http://example.com/A", "com,example)/a",
          SEEN_MADE_CORRECTED },
        { "com,example)/?b&a", "ftp://example.com/?b&a", "com,example)/?a&b",
          SEEN_MADE_CORRECTED },
        { "com,example)/a?__wb_method=post", "http://example.com/a",
          "com,example)/a", SEEN_MADE_CORRECTED },
        { "example.com/a", "http://example.com/b", "com,example)/b",
          SEEN_MADE_DERIVED },
        /* Nobody asks about these URLs. */
        { "com,example)/a", "-", "com,example)/a", SEEN_MADE_TRUSTED },
        { "com,example)/a", "example.com", "com,example)/a",
          SEEN_MADE_TRUSTED },
        { "com,example)/a", "example.com:80", "com,example)/a",
          SEEN_MADE_TRUSTED },
        { "com,example)/a", "http://:8/", "com,example)/a",
          SEEN_MADE_TRUSTED },
    };
    static const struct seen_keying keep = { "surt", SEEN_KEYS_AUTO };

    for (size_t i = 0; i < LENGTH(lines); i++) {
        char line[256], text[SEEN_KEY_TEXT];
        struct seen_layout l;
        struct seen_capture c;
        struct seen_key key;
        enum seen_made made;
        size_t used;
        int n = snprintf(line, sizeof line, "%s 2020 %s t 200 K - - 1 2 g",
                         lines[i].key, lines[i].url);

        cdx_layout_guess(&l, CDX, strlen(CDX));
        cdx_line_read(&c, &l, SEEN_DETAIL_URL, line, (size_t)n, room, &used);
        assert_int_equal(seen_capture_key(&key, text, &c, &keep, &made, NULL),
                         SEEN_OK);
        same((struct seen_span){ key.text, key.len }, lines[i].text);
        assert_int_equal(made, lines[i].made);
    }
}

TEST(a_key_is_compared_with_that_of_its_url)
{
    static const struct {
        const char *key, *url;
        enum seen_code code;
    } pairs[] = {
        { "com,example)/a", "http://www.example.com/a", SEEN_OK },
        { "com,example)/a", "HTTPS://example.com/A/", SEEN_OK },
        { "com,example,)/a/", "http://example.com/a", SEEN_OK },
        { "(com,example,)/a", "http://example.com/a", SEEN_OK },
        { "com,example)/?a=1&b=2", "http://example.com/?b=2&a=1", SEEN_OK },
        { "com,example)/?b=2&a=1", "http://example.com/?b=2&a=1",
          SEEN_MISMATCH },
        { "com,example)/A", "http://example.com/A", SEEN_MISMATCH },
        { "com,example,www)/", "http://www.example.com/", SEEN_MISMATCH },
        { "com,example)/", "http://other.example/", SEEN_MISMATCH },
        { "com,example)/a?__wb_method=post", "http://example.com/a",
          SEEN_UNABLE },
        { "example.com/a", "http://example.com/b", SEEN_UNABLE },
        { "dns:example.com", "dns:example.com", SEEN_UNABLE },
        { "com,example)/", "dns:example.com", SEEN_UNABLE },
        { "com,example)/", "-", SEEN_UNABLE },
        { "com,example)/", "http://", SEEN_UNABLE },
    };
    static char text[2 * SEEN_KEY_TEXT];

    for (size_t i = 0; i < LENGTH(pairs); i++)
        for (int json = 0; json < 2; json++)
            for (int detail = 0; detail <= SEEN_DETAIL_ALL; detail++) {
                struct seen_layout l;
                struct seen_capture c;
                struct seen_key key[2];
                char line[256];
                size_t used;
                int n = sprintf(line, "%s 20200101000000 %s%s%s", pairs[i].key,
                                json ? "{\"url\": \"" : "", pairs[i].url,
                                json ? "\"}" : " t 200 K - - 1 2 g");

                cdx_layout_guess(&l, json ? line : CDX,
                                 json ? (size_t)n : strlen(CDX));
                assert_true(cdx_line_read(&c, &l, (enum seen_detail)detail,
                                          line, (size_t)n, room, &used));
                assert_int_equal(seen_capture_check(&c, text, key),
                                 pairs[i].code);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_read_and_nothing_behind_it),
        cmocka_unit_test(
            every_beginning_of_a_line_is_read_or_refused_within_its_bytes),
        cmocka_unit_test(legends_and_comments_hold_no_capture),
        cmocka_unit_test(
            a_second_legend_is_passed_over_if_it_agrees_and_bad_if_it_differs),
        cmocka_unit_test(any_column_and_any_field_is_found_by_its_name),
        cmocka_unit_test(keys_are_trusted_put_right_or_derived),
        cmocka_unit_test(a_key_that_is_not_that_of_its_url_is_derived_from_it),
        cmocka_unit_test(a_key_is_compared_with_that_of_its_url),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
