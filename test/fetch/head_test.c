/*
 * head_test.c - heads are read strictly, up to their bounds.
 *
 * Every line ends at a page that must not be touched.
 */
#include "test/wall.h"

#include <limits.h>
#include <stdio.h>

#include "fetch/head.h"

static struct fetch_head h;

static enum seen_code line(const char *text, size_t len)
{
    struct seen_error why = { 0 };
    enum seen_code code;

    code = fetch_head_line(&h, walled(text, len), len, &why);
    assert_true(code == SEEN_OK || *why.text);
    return code;
}

static enum seen_code read_head(const char *text)
{
    enum seen_code code = SEEN_OK;

    fetch_head_init(&h);
    while (*text && code == SEEN_OK) {
        size_t n = strcspn(text, "\n");

        n += text[n] == '\n';
        code = line(text, n);
        text += n;
    }
    return code;
}

#define OK "HTTP/1.1 200 OK\r\n"
#define END "\r\n"

TEST(status_lines_are_strict)
{
    static const char *const good[] = {
        "HTTP/1.1 200 OK\r\n", "HTTP/1.0 404 Not Found\n", "HTTP/1.1 599\r\n",
        "HTTP/1.1 200 \r\n",   "HTTP/1.9 200 \xff\r\n",    "HTTP/1.1 100"
    };
    static const char *const bad[] = {
        "\r\n",
        "HTTP/1.1 20\r\n",
        "HTTP/1.1 2000\r\n",
        "HTTP/1.1  200",
        "HTTP/1.1 600 x",
        "HTTP/1.1 099 x",
        "HTTP/2 200 OK",
        "HTTP/2.0 200 OK",
        "HTTP/1.10 200 OK",
        "http/1.1 200 x",
        " HTTP/1.1 200 OK",
        "HTTP/1.1\t200 OK",
        "HTTP/1.1 -20 x",
        "HTTP/1.1 101 x\r\n",
        "HTTP/1.1 2 0 OK",
        "H",
        "HTTP/1.",
        "x",
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(read_head(good[i]), SEEN_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (read_head(bad[i]) != SEEN_CORRUPT)
            print_error("%s\n", bad[i]);
        assert_int_equal(read_head(bad[i]), SEEN_CORRUPT);
    }
}

TEST(names_have_no_case_and_values_no_blanks_around_them)
{
    assert_int_equal(read_head(OK "cOnTeNt-LENGTH:\t 5 \t\r\n"
                                  "eTag:\"a\"\r\n"
                                  "Content-Type : text/plain\r\n"
                                  "CONTENT-TYPE: Text/XML ; a=b\r\n" END),
                     SEEN_OK);
    assert_true(h.whole);
    assert_int_equal(h.says.length, 5);
    assert_string_equal(h.says.etag, "\"a\"");
    assert_string_equal(h.says.type, "text/xml");
}

TEST(the_first_of_a_name_counts)
{
    assert_int_equal(read_head("HTTP/1.1 302 F\r\nLocation: /a\r\n"
                               "Location: /b\r\nETag: \"a\"\r\n"
                               "ETag: \"b\"\r\n" END),
                     SEEN_OK);
    assert_string_equal(h.location, "/a");
    assert_string_equal(h.says.etag, "\"a\"");
    assert_true(fetch_head_redirects(&h));
}

static const struct {
    const char *text;
    bool good, ranged;
    uint64_t from, last, total;
} ranges[] = {
    { "bytes 0-0/1", true, true, 0, 0, 1 },
    { "bytes 5-9/10", true, true, 5, 9, 10 },
    { "BYTES 5-9/*", true, true, 5, 9, FETCH_UNKNOWN },
    { "bytes   5-9/10", true, true, 5, 9, 10 },
    { "bytes */10", true, false, 0, 0, 10 },
    { "bytes 18446744073709551612-18446744073709551613/18446744073709551614",
      true, true, UINT64_MAX - 3, UINT64_MAX - 2, UINT64_MAX - 1 },
    { "bytes 5-9/9", false, false, 0, 0, 0 },
    { "bytes 9-5/10", false, false, 0, 0, 0 },
    { "bytes 5-18446744073709551615/*", false, false, 0, 0, 0 },
    { "bytes 5-99999999999999999999/*", false, false, 0, 0, 0 },
    { "bytes 5-9", false, false, 0, 0, 0 },
    { "bytes 5-9/", false, false, 0, 0, 0 },
    { "bytes 5-/10", false, false, 0, 0, 0 },
    { "bytes -9/10", false, false, 0, 0, 0 },
    { "bytes */*", false, false, 0, 0, 0 },
    { "bytes 5-9/10x", false, false, 0, 0, 0 },
    { "bytes 5 - 9/10", false, false, 0, 0, 0 },
    { "bytes +5-9/10", false, false, 0, 0, 0 },
    { "bytes=5-9/10", false, false, 0, 0, 0 },
    { "bytes", false, false, 0, 0, 0 },
    { "bytes ", false, false, 0, 0, 0 },
    { "", false, false, 0, 0, 0 },
};

TEST(ranges_make_sense)
{
    char text[200];

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        enum seen_code code;

        snprintf(text, sizeof text,
                 "HTTP/1.1 206 P\r\nContent-Range: %s\r\n" END,
                 ranges[i].text);
        code = read_head(text);
        if (code != (ranges[i].good ? SEEN_OK : SEEN_CORRUPT))
            print_error("%s\n", ranges[i].text);
        assert_int_equal(code, ranges[i].good ? SEEN_OK : SEEN_CORRUPT);
        if (!ranges[i].good)
            continue;
        assert_int_equal(h.ranged, ranges[i].ranged);
        assert_true(h.says.from == ranges[i].from);
        assert_true(h.last == ranges[i].last);
        assert_true(h.says.total == ranges[i].total);
    }
}

TEST(heads_have_a_hundred_lines_and_64_kib_with_all_hints)
{
    static char text[FETCH_HEAD_BYTES];
    unsigned n = 0;

    fetch_head_init(&h);
    while (line("HTTP/1.1 103 Hint\r\n", 19) == SEEN_OK &&
           line("\r\n", 2) == SEEN_OK)
        n += 2;
    assert_int_equal(n, FETCH_HEAD_LINES);

    memset(text, 'x', sizeof text);
    for (size_t more = 0; more < 2; more++) {
        fetch_head_init(&h);
        assert_int_equal(line("HTTP/1.1 200\n", 13), SEEN_OK);
        assert_int_equal(line(text, FETCH_HEAD_BYTES - 13 - 1 + more),
                         SEEN_OK);
        assert_int_equal(line("\n", 1), more ? SEEN_RANGE : SEEN_OK);
    }
}

TEST(retry_after_is_read_in_seconds)
{
    static const struct {
        const char *value;
        unsigned after;
    } cases[] = {
        { "0", 0 },
        { "120", 120 },
        { "99999999999", UINT_MAX },
        { "99999999999999999999999", 0 },
        { "-1", 0 },
        { "5s", 0 },
        { "", 0 },
        { "Mon, 16 Nov 2026 10:00:00 GMT", 0 },
    };
    char text[200];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text,
                 "HTTP/1.1 503 Later\r\nRetry-After: %s\r\n\r\n",
                 cases[i].value);
        assert_int_equal(read_head(text), SEEN_OK);
        assert_int_equal(h.says.after, cases[i].after);
    }
}

TEST(texts_that_do_not_fit_are_not_kept)
{
    static char text[FETCH_HEAD_URL + 100];

    fetch_head_init(&h);
    assert_int_equal(line(OK, strlen(OK)), SEEN_OK);
    for (size_t n = 500; n < 520; n++) {
        memset(text, 'x', sizeof text);
        memcpy(text, "ETag: ", 6);
        h.etag[0] = '\0';
        assert_int_equal(line(text, 6 + n), SEEN_OK);
        assert_int_equal(strlen(h.says.etag), n < sizeof h.etag ? n : 0);
    }
    memset(text, 'x', sizeof text);
    memcpy(text, "Location: ", 10);
    assert_int_equal(line(text, 10 + FETCH_HEAD_URL + 1), SEEN_CORRUPT);
    assert_int_equal(line(text, 10 + FETCH_HEAD_URL), SEEN_OK);
    assert_int_equal(strlen(h.location), FETCH_HEAD_URL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_lines_are_strict),
        cmocka_unit_test(names_have_no_case_and_values_no_blanks_around_them),
        cmocka_unit_test(the_first_of_a_name_counts),
        cmocka_unit_test(ranges_make_sense),
        cmocka_unit_test(heads_have_a_hundred_lines_and_64_kib_with_all_hints),
        cmocka_unit_test(retry_after_is_read_in_seconds),
        cmocka_unit_test(texts_that_do_not_fit_are_not_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
