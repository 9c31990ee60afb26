/* http_chunks_test.c - bodies in chunks are the same however they are cut. */
#include "test/wall.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/http/parse.h"

/* A text of our own, in which zeros count. */
#define TEXT(literal) \
    { \
        literal, sizeof(literal) - 1 \
    }

struct body {
    int status;
    size_t len, used;
    char bytes[8192];
};

/* Take a body in pieces of n bytes, of which the first may be shorter. */
static void take(struct body *b, const char *text, size_t len, size_t first,
                 size_t n)
{
    struct http_chunks c = { 0 };
    size_t at = 0, end = first;

    b->status = HTTP_PARTIAL;
    b->len = 0;
    for (; at < len && b->status == HTTP_PARTIAL; end += n) {
        if (end > len)
            end = len;
        while (at < end && b->status == HTTP_PARTIAL) {
            size_t used = 0;
            struct seen_span data = { NULL, 0 };

            b->status = http_chunks(&c, walled(text + at, end - at), end - at,
                                    &used, &data);
            assert_true(used <= end - at);
            assert_true(data.len <= used);
            assert_true(b->len + data.len <= sizeof b->bytes);
            memcpy(b->bytes + b->len, data.text, data.len);
            b->len += data.len;
            at += used;
        }
    }
    b->used = at;
}

/* The same, however it is cut. */
static void take_anyhow(struct body *b, const char *text, size_t len)
{
    static struct body other;

    take(b, text, len, len, len);
    for (size_t first = 0; first <= len; first++)
        for (size_t n = 1; n <= len; n = n < 4 ? n + 1 : n * 7) {
            take(&other, text, len, first, n);
            assert_int_equal(other.status, b->status);
            assert_int_equal(other.used, b->used);
            assert_int_equal(other.len, b->len);
            assert_memory_equal(other.bytes, b->bytes, b->len);
        }
}

TEST(chunks_give_the_same_body_wherever_they_are_cut)
{
    static const struct {
        const char *text, *body;
        size_t rest; /* bytes behind it */
    } cases[] = {
        { "0\r\n\r\n", "", 0 },
        { "5\r\nhello\r\n0\r\n\r\n", "hello", 0 },
        { "5\r\nhello\r\n1\r\n,\r\n00006\r\n world\r\n000\r\n\r\nGET ",
          "hello, world", 4 },
        { "a\r\n0123456789\r\nA\r\n\r\n0\r\n\r\n\r\n\r\r\n0\r\n\r\n",
          "0123456789\r\n0\r\n\r\n\r\n\r", 0 },
        { "1;a\r\nx\r\n1 \t; a=\"b;\t\xff\"\r\ny\r\n0;c\r\n\r\n", "xy", 0 },
        { "1;a;b=c ; d = \"\\\"\\\\,\" ;e=f\r\nx\r\n0 ;g=h\r\n\r\n", "x", 0 },
        { "1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\n\r\n", "x", 2 },
    };
    static struct body b;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len = strlen(cases[i].text);

        take_anyhow(&b, cases[i].text, len);
        assert_int_equal(b.status, HTTP_WHOLE);
        assert_int_equal(b.used, len - cases[i].rest);
        assert_true(
            span_is((struct seen_span){ b.bytes, b.len }, cases[i].body));
    }
}

TEST(chunks_that_are_none_are_refused)
{
    static const struct seen_span cases[] = {
        TEXT("\r\n"),
        TEXT("g"),
        TEXT(" 1"),
        TEXT("-1"),
        TEXT("+1"),
        TEXT("0x1"),
        TEXT(";"),
        TEXT("1\n"),
        TEXT("1\rx"),
        TEXT("1 \r\n"),
        TEXT("1 2\r\n"),
        TEXT("1\0\r\n"),
        TEXT("1;\r\n"),
        TEXT("1; \r\n"),
        TEXT("1;;a\r\n"),
        TEXT("1;a;\r\n"),
        TEXT("1;=a\r\n"),
        TEXT("1;a=\r\n"),
        TEXT("1;a=;b\r\n"),
        TEXT("1;a b\r\n"),
        TEXT("1;a \r\n"),
        TEXT("1;a=b c\r\n"),
        TEXT("1;a=\"b\r\n"),
        TEXT("1;a=\"b\\\r\n"),
        TEXT("1;a=\"b\"c\r\n"),
        TEXT("1;a\n"),
        TEXT("1;a\rb"),
        TEXT("1;\0"),
        TEXT("1;\x7f"),
        TEXT("8000000000000000"),
        TEXT("10000000000000001"),
        TEXT("1\r\nab"),
        TEXT("1\r\na\n"),
        TEXT("1\r\na\r\r"),
        TEXT("1\r\na0"),
        TEXT("1\r\na\r\n\r\n"),
        TEXT("0\r\n\n"),
        TEXT("0\r\n\rx"),
        TEXT("0\r\n a: b\r\n"),
        TEXT("0\r\na\r\n"),
        TEXT("0\r\na : b\r\n"),
        TEXT("0\r\n: b\r\n"),
        TEXT("0\r\na: b\n"),
        TEXT("0\r\na: b\r\r"),
        TEXT("0\r\na: \0\r\n"),
        TEXT("0\r\na: b\r\n c\r\n"),
        TEXT("0\r\nGET / HTTP/1.1\r\n"),
    };
    static struct body b;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        take_anyhow(&b, cases[i].text, cases[i].len);
        if (b.status != 400)
            print_error("%d: %s\n", b.status, cases[i].text);
        assert_int_equal(b.status, 400);
    }
}

TEST(a_chunk_may_be_huge_and_what_is_around_it_may_not)
{
    static const char piece[4096];
    static char text[16384];
    static struct body b;
    struct http_chunks c = { 0 };
    struct seen_span data;
    size_t used, n = 0;

    assert_int_equal(http_chunks(&c, "7fffffffffffffff\r\n", 18, &used, &data),
                     HTTP_PARTIAL);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(http_chunks(&c, piece, sizeof piece, &used, &data),
                         HTTP_PARTIAL);
        assert_int_equal(data.len, sizeof piece);
    }

    memset(text, '0', sizeof text); /* digits without end */
    take(&b, text, sizeof text, sizeof text, 1);
    assert_int_equal(b.status, 400);
    assert_true(b.used < 8192);
    memset(text, 'x', sizeof text);
    memcpy(text, "1;", 2); /* an extension */
    take(&b, text, sizeof text, sizeof text, 1);
    assert_int_equal(b.status, 400);
    memcpy(text, "0\r\na:", 5); /* a trailer */
    take(&b, text, sizeof text, sizeof text, 1);
    assert_int_equal(b.status, 400);
    for (n = 3; n + 3 <= sizeof text; n += 4) /* many trailers */
        memcpy(text + n, "a:\r\n", 4);
    take(&b, text, n, n, 1);
    assert_int_equal(b.status, 400);
    for (n = 0; n + 64 <= sizeof text; n += 64) { /* many extensions */
        memset(text + n, 'x', 64);
        memcpy(text + n, "1;", 2);
        memcpy(text + n + 59, "\r\nz\r\n", 5);
    }
    take(&b, text, n, n, 1);
    assert_int_equal(b.status, 400);
    for (n = 0; n + 6 <= sizeof text; n += 6) /* many bytes are fine */
        memcpy(text + n, "1\r\nz\r\n", 6);
    take(&b, text, n, n, 1);
    assert_int_equal(b.status, HTTP_PARTIAL);
    assert_int_equal(b.used, n);
    assert_int_equal(b.len, n / 6);
}

TEST(an_end_stays_an_end)
{
    struct http_chunks c = { 0 };
    struct seen_span data;
    size_t used;

    assert_int_equal(http_chunks(&c, "", 0, &used, &data), HTTP_PARTIAL);
    assert_int_equal(http_chunks(&c, "0\r\n\r\n5", 6, &used, &data),
                     HTTP_WHOLE);
    assert_int_equal(used, 5);
    assert_int_equal(http_chunks(&c, "5", 1, &used, &data), HTTP_WHOLE);
    assert_int_equal(used, 0);
    memset(&c, 0, sizeof c);
    assert_int_equal(http_chunks(&c, "x", 1, &used, &data), 400);
    assert_int_equal(http_chunks(&c, "5", 1, &used, &data), 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_give_the_same_body_wherever_they_are_cut),
        cmocka_unit_test(chunks_that_are_none_are_refused),
        cmocka_unit_test(a_chunk_may_be_huge_and_what_is_around_it_may_not),
        cmocka_unit_test(an_end_stays_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
