/*
 * http_test.c - requests are read strictly, and the same however they come.
 *
 * Every text that is parsed here ends at a page that must not be touched, and
 * every request is given byte by byte as well.
 */
#include "test/wall.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/http/parse.h"
#include "serve/http/scan.h"

/* A text of our own, in which zeros count. */
#define TEXT(literal) \
    { \
        literal, sizeof(literal) - 1 \
    }

static int parse(struct http_request *r, const char *text, size_t len,
                 size_t *used)
{
    return http_parse(r, walled(text, len), len, used);
}

/* The answer to all of a text, of which no beginning may say anything else
   than the same, or that there must be more. */
static int parse_anyhow(struct http_request *r, const char *text, size_t len,
                        size_t *used)
{
    int status = parse(r, text, len, used), early;

    for (size_t n = 0; n < len; n++) {
        early = parse(r, text, n, used);
        if (early != HTTP_PARTIAL && early != status)
            print_error("%d after %zu bytes of %s\n", early, n, text);
        assert_true(early == HTTP_PARTIAL || early == status);
        if (early == HTTP_WHOLE)
            assert_int_equal(n, *used); /* or it was whole before */
        if (early != HTTP_PARTIAL)
            break;
    }
    return parse(r, text, len, used);
}

static void assert_span(struct seen_span s, const char *text)
{
    if (!span_is(s, text))
        print_error("\"%.*s\" should be \"%s\"\n", (int)s.len, s.text, text);
    assert_true(span_is(s, text));
}

/* --- heads --- */

#define H "Host: h\r\n"
#define END "\r\n"

enum { CLOSE = 1, WAITS = 2, CHUNKED = 4, SIZED = 8, OLD = 16 };

static const struct {
    const char *text;
    enum http_method method;
    const char *target, *host;
    unsigned flags;
    uint64_t length;
    unsigned headers;
} good[] = {
    { "GET / HTTP/1.1\r\n" H END, HTTP_GET, "/", "h", 0, 0, 1 },
    { "\r\nGET / HTTP/1.1\r\n" H END, HTTP_GET, "/", "h", 0, 0, 1 },
    { "GET /haw/http://haw.nsk.hr/en HTTP/1.1\r\nHost: 127.0.0.1:8088\r\n"
      "User-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n",
      HTTP_GET, "/haw/http://haw.nsk.hr/en", "127.0.0.1:8088", 0, 0, 3 },
    { "HEAD /a HTTP/1.1\r\n" H END, HTTP_HEAD_ONLY, "/a", "h", 0, 0, 1 },
    { "PUT /a HTTP/1.1\r\n" H END, HTTP_PUT, "/a", "h", 0, 0, 1 },
    { "DELETE /a HTTP/1.1\r\n" H END, HTTP_DELETE, "/a", "h", 0, 0, 1 },
    { "PATCH /a HTTP/1.1\r\n" H END, HTTP_OTHER, "/a", "h", 0, 0, 1 },
    { "get / HTTP/1.1\r\n" H END, HTTP_OTHER, "/", "h", 0, 0, 1 },
    { "G!#$%&'*+-.^_`|~9 / HTTP/1.1\r\n" H END, HTTP_OTHER, "/", "h", 0, 0,
      1 },
    { "OPTIONS * HTTP/1.1\r\n" H END, HTTP_OPTIONS, "*", "h", 0, 0, 1 },
    { "OPTIONS / HTTP/1.1\r\n" H END, HTTP_OPTIONS, "/", "h", 0, 0, 1 },

    /* targets */
    { "GET /a//b/?c=d&e?f HTTP/1.1\r\n" H END, HTTP_GET, "/a//b/?c=d&e?f", "h",
      0, 0, 1 },
    { "GET /\"<>\\^`{|}#%zz HTTP/1.1\r\n" H END, HTTP_GET, "/\"<>\\^`{|}#%zz",
      "h", 0, 0, 1 },
    { "GET /\xc4\x8d\xff HTTP/1.1\r\n" H END, HTTP_GET, "/\xc4\x8d\xff", "h",
      0, 0, 1 },
    { "GET //evil.example/ HTTP/1.1\r\n" H END, HTTP_GET, "//evil.example/",
      "h", 0, 0, 1 },
    { "GET http://a.b/c?d HTTP/1.1\r\n" H END, HTTP_GET, "/c?d", "a.b", 0, 0,
      1 },
    { "GET HTTPS://a.b:80/ HTTP/1.1\r\n" H END, HTTP_GET, "/", "a.b:80", 0, 0,
      1 },
    { "GET http://a.b HTTP/1.1\r\n" H END, HTTP_GET, "/", "a.b", 0, 0, 1 },
    { "GET https://a.b HTTP/1.1\r\n" H END, HTTP_GET, "/", "a.b", 0, 0, 1 },
    { "GET http://a/http://b/ HTTP/1.0\r\n\r\n", HTTP_GET, "/http://b/", "a",
      CLOSE | OLD, 0, 0 },

    /* hosts */
    { "GET / HTTP/1.1\r\nHost:a\r\n\r\n", HTTP_GET, "/", "a", 0, 0, 1 },
    { "GET / HTTP/1.1\r\nhOST:   a_b.C-d.  \r\n\r\n", HTTP_GET, "/",
      "a_b.C-d.", 0, 0, 1 },
    { "GET / HTTP/1.1\r\nHost:\ta:1\t \r\n\r\n", HTTP_GET, "/", "a:1", 0, 0,
      1 },
    { "GET / HTTP/1.1\r\nHost: 0.0.0.0=5000\r\n\r\n", HTTP_GET, "/",
      "0.0.0.0=5000", 0, 0, 1 },
    { "GET / HTTP/1.1\r\nHost: a~b!$&'()*+;=:8\r\n\r\n", HTTP_GET, "/",
      "a~b!$&'()*+;=:8", 0, 0, 1 },
    { "GET / HTTP/1.1\r\nHost: a:\r\n\r\n", HTTP_GET, "/", "a:", 0, 0, 1 },
    { "GET / HTTP/1.1\r\nHost: a:65535\r\n\r\n", HTTP_GET, "/", "a:65535", 0,
      0, 1 },
    { "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", HTTP_GET, "/", "[::1]", 0, 0,
      1 },
    { "GET / HTTP/1.1\r\nHost: [2001:DB8::1.2.3.4]:80\r\n\r\n", HTTP_GET, "/",
      "[2001:DB8::1.2.3.4]:80", 0, 0, 1 },

    /* versions and what becomes of the connection */
    { "GET / HTTP/1.0\r\n\r\n", HTTP_GET, "/", "", CLOSE | OLD, 0, 0 },
    { "GET / HTTP/1.9\r\n" H END, HTTP_GET, "/", "h", 0, 0, 1 },
    { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", HTTP_GET, "/", "",
      OLD, 0, 1 },
    { "GET / HTTP/1.0\r\nConnection: Keep-Alive, x\r\n\r\n", HTTP_GET, "/", "",
      OLD, 0, 1 },
    { "GET / HTTP/1.0\r\nConnection: keep-alive,close\r\n\r\n", HTTP_GET, "/",
      "", CLOSE | OLD, 0, 1 },
    { "GET / HTTP/1.1\r\n" H "Connection: close\r\n\r\n", HTTP_GET, "/", "h",
      CLOSE, 0, 2 },
    { "GET / HTTP/1.1\r\n" H "Connection: ,TE ,\tCLOSE\t,\r\n\r\n", HTTP_GET,
      "/", "h", CLOSE, 0, 2 },
    { "GET / HTTP/1.1\r\n" H
      "Connection: a\r\nConnection: close\r\nConnection: b\r\n\r\n",
      HTTP_GET, "/", "h", CLOSE, 0, 4 },
    { "GET / HTTP/1.1\r\n" H "Connection: closed, aclose\r\n\r\n", HTTP_GET,
      "/", "h", 0, 0, 2 },
    { "GET / HTTP/1.1\r\n" H "Connection: Upgrade, HTTP2-Settings\r\n"
      "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
      HTTP_GET, "/", "h", 0, 0, 4 },

    /* bodies */
    { "POST / HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n", HTTP_POST, "/", "h",
      SIZED, 0, 2 },
    { "POST / HTTP/1.1\r\n" H "CONTENT-LENGTH:  007 \r\n\r\n", HTTP_POST, "/",
      "h", SIZED, 7, 2 },
    { "POST / HTTP/1.1\r\n" H "Content-Length: 9223372036854775807\r\n\r\n",
      HTTP_POST, "/", "h", SIZED, INT64_MAX, 2 },
    { "GET / HTTP/1.0\r\nContent-Length: 3\r\n\r\n", HTTP_GET, "/", "",
      CLOSE | OLD | SIZED, 3, 1 },
    { "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n", HTTP_POST,
      "/", "h", CHUNKED, 0, 2 },
    { "POST / HTTP/1.1\r\n" H "transfer-encoding:  ChunkeD \r\n\r\n",
      HTTP_POST, "/", "h", CHUNKED, 0, 2 },
    { "PUT / HTTP/1.1\r\n" H
      "Expect: 100-Continue\r\nContent-Length: 5\r\n\r\n",
      HTTP_PUT, "/", "h", WAITS | SIZED, 5, 3 },
    { "PUT / HTTP/1.1\r\n" H
      "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
      HTTP_PUT, "/", "h", WAITS | CHUNKED, 0, 3 },
    { "PUT / HTTP/1.1\r\n" H "Expect: 100-continue\r\n\r\n", HTTP_PUT, "/",
      "h", 0, 0, 2 }, /* for nothing */
    { "PUT / HTTP/1.1\r\n" H "Expect: more\r\nContent-Length: 5\r\n\r\n",
      HTTP_PUT, "/", "h", SIZED, 5, 3 },
    { "PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
      HTTP_PUT, "/", "", CLOSE | OLD | SIZED, 5, 2 },

    /* other headers */
    { "GET / HTTP/1.1\r\n" H "!#$%&'*+-.^_`|~09: \"\t\xff\r\n\r\n", HTTP_GET,
      "/", "h", 0, 0, 2 },
    { "GET / HTTP/1.1\r\n" H "A:\r\nB: \r\nC: \t\r\n\r\n", HTTP_GET, "/", "h",
      0, 0, 4 },
    { "GET / HTTP/1.1\r\n" H "Hosts: a b\r\nHos: /\r\n\r\n", HTTP_GET, "/",
      "h", 0, 0, 3 },
    { "GET / HTTP/1.1\r\n" H
      "Content_Length: x\r\nTransfer_Encoding: x\r\n\r\n",
      HTTP_GET, "/", "h", 0, 0, 3 },
};

TEST(good_requests_give_what_they_say)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct http_request r;
        size_t len = strlen(good[i].text), used = 0;
        int status = parse_anyhow(&r, good[i].text, len, &used);
        unsigned flags = good[i].flags;

        if (status != HTTP_WHOLE)
            print_error("%d: %s\n", status, good[i].text);
        assert_int_equal(status, HTTP_WHOLE);
        assert_int_equal(used, len);
        assert_int_equal(r.method, good[i].method);
        assert_span(r.target, good[i].target);
        assert_span(r.host, good[i].host);
        assert_int_equal(r.minor, !(flags & OLD));
        assert_int_equal(r.close, !!(flags & CLOSE));
        assert_int_equal(r.waits, !!(flags & WAITS));
        assert_int_equal(r.chunked, !!(flags & CHUNKED));
        assert_int_equal(r.sized, !!(flags & SIZED));
        assert_int_equal(r.length, good[i].length);
        assert_int_equal(r.headers, good[i].headers);
    }
}

TEST(headers_are_found_by_their_names_in_any_case)
{
    static const char text[] = "GET /x HTTP/1.1\r\nHost: a\r\nX-Y: \t1  2 \r\n"
                               "x-y: 3\r\nEmpty: \r\n\r\nGET";
    struct http_request r;
    struct seen_span value;
    size_t used;

    assert_int_equal(parse(&r, text, sizeof text - 1, &used), HTTP_WHOLE);
    assert_int_equal(used, sizeof text - 4);
    assert_span(r.line, "GET /x HTTP/1.1");
    assert_true(http_find(&r, "x-Y", &value));
    assert_span(value, "1  2");
    assert_true(http_find(&r, "EMPTY", &value));
    assert_span(value, "");
    assert_false(http_find(&r, "X", &value));
    assert_span(r.header[2].name, "x-y");
    assert_span(r.header[2].value, "3");
}

#define GET "GET / HTTP/1.1\r\n"
#define POST "POST / HTTP/1.1\r\n" H

static const struct {
    struct seen_span text;
    int status;
} bad[] = {
    /* no request at all */
    { TEXT(" "), 400 },
    { TEXT("\n"), 400 },
    { TEXT("\rG"), 400 },
    { TEXT("\r\n\r\n"), 400 },
    { TEXT("\0"), 400 },
    { TEXT("\x16\x03\x01\x02"), 400 },     /* TLS */
    { TEXT("*1\r\n$4\r\nPING\r\n"), 400 }, /* Redis */
    { TEXT("GET\r\n"), 400 },
    { TEXT("GET \r\n"), 400 },
    { TEXT("GET\t/"), 400 },
    { TEXT("G\xc3T /"), 400 },
    { TEXT("G(T /"), 400 },
    { TEXT("GET /\r\n"), 400 }, /* HTTP/0.9 */
    { TEXT("GET  / HTTP/1.1\r\n"), 400 },
    { TEXT("GET /  HTTP/1.1\r\n"), 400 },
    { TEXT("GET / HTTP/1.1 \r\n"), 400 },
    { TEXT("GET / a HTTP/1.1\r\n"), 400 },
    { TEXT("GET / \r\n"), 400 },
    { TEXT("GET / HTTP/1.1\n"), 400 },
    { TEXT("GET / HTTP/1.1\r\r\n"), 400 },
    { TEXT("GET /\tHTTP/1.1\r\n"), 400 },
    { TEXT("MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM"), 501 },

    /* targets */
    { TEXT("GET /a\0b HTTP/1.1\r\n"), 400 },
    { TEXT("GET /a\x7f HTTP/1.1\r\n"), 400 },
    { TEXT("GET /a\x1f HTTP/1.1\r\n"), 400 },
    { TEXT("GET a HTTP/1.1\r\n"), 400 },
    { TEXT("GET ?a HTTP/1.1\r\n"), 400 },
    { TEXT("GET * HTTP/1.1\r\n"), 400 },
    { TEXT("OPTIONS ** HTTP/1.1\r\n"), 400 },
    { TEXT("OPTIONS *?a HTTP/1.1\r\n"), 400 },
    { TEXT("GET a.b:80 HTTP/1.1\r\n"), 400 },
    { TEXT("CONNECT a.b:80 HTTP/1.1\r\n"), 501 },
    { TEXT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 400 },
    { TEXT("GET http:// HTTP/1.1\r\n"), 400 },
    { TEXT("GET http:/// HTTP/1.1\r\n"), 400 },
    { TEXT("GET http://:80/ HTTP/1.1\r\n"), 400 },
    { TEXT("GET http:/a/ HTTP/1.1\r\n"), 400 },
    { TEXT("GET ftp://a/ HTTP/1.1\r\n"), 400 },
    { TEXT("GET http://u@a/ HTTP/1.1\r\n"), 400 },
    { TEXT("GET http://a?b HTTP/1.1\r\n"), 400 },
    { TEXT("GET http://a#b HTTP/1.1\r\n"), 400 },
    { TEXT("GET http://a\\b/ HTTP/1.1\r\n"), 400 },

    /* versions */
    { TEXT("GET / HTTP/2.0\r\n"), 505 },
    { TEXT("GET / HTTP/0.9\r\n"), 505 },
    { TEXT("GET / HTTP/1\r\n"), 400 },
    { TEXT("GET / HTTP/1.\r\n"), 400 },
    { TEXT("GET / HTTP/1.10\r\n"), 400 },
    { TEXT("GET / HTTP/11.1\r\n"), 400 },
    { TEXT("GET / HTTP/01.1\r\n"), 400 },
    { TEXT("GET / HTTP/1,1\r\n"), 400 },
    { TEXT("GET / http/1.1\r\n"), 400 },
    { TEXT("GET / HTTPS/1.1\r\n"), 400 },

    /* lines */
    { TEXT(GET "Host: a\n\r\n"), 400 },
    { TEXT(GET "Host: a\r\n\n"), 400 },
    { TEXT(GET "Host: a\r\r\n\r\n"), 400 },
    { TEXT(GET H "A: b\rc\r\n\r\n"), 400 },
    { TEXT(GET H "A: b\r\n c\r\n\r\n"), 400 },
    { TEXT(GET H "A: b\r\n\tc\r\n\r\n"), 400 },
    { TEXT(GET " " H END), 400 },
    { TEXT(GET H "A : b\r\n\r\n"), 400 },
    { TEXT(GET H "A\t: b\r\n\r\n"), 400 },
    { TEXT(GET H "A b: c\r\n\r\n"), 400 },
    { TEXT(GET H ": b\r\n\r\n"), 400 },
    { TEXT(GET H "A\r\n\r\n"), 400 },
    { TEXT(GET H "A(b): c\r\n\r\n"), 400 },
    { TEXT(GET H "A\xc3: c\r\n\r\n"), 400 },
    { TEXT(GET H "A\0: c\r\n\r\n"), 400 },
    { TEXT(GET H "A: b\0c\r\n\r\n"), 400 },
    { TEXT(GET H "A: b\x0b\r\n\r\n"), 400 },
    { TEXT(GET H "A: b\x7f\r\n\r\n"), 400 },
    { TEXT(GET H "A: b\x1b[0m\r\n\r\n"), 400 },

    /* hosts */
    { TEXT(GET END), 400 },
    { TEXT("GET http://a/ HTTP/1.1\r\n\r\n"), 400 },
    { TEXT(GET H H END), 400 },
    { TEXT(GET "Host: a\r\nhost: b\r\n\r\n"), 400 },
    { TEXT("GET / HTTP/1.0\r\n" H H END), 400 },
    { TEXT(GET "Host: \r\n\r\n"), 400 },
    { TEXT(GET "Host: .\r\n\r\n"), 400 },
    { TEXT(GET "Host: .a\r\n\r\n"), 400 },
    { TEXT(GET "Host: a..b\r\n\r\n"), 400 },
    { TEXT(GET "Host: a b\r\n\r\n"), 400 },
    { TEXT(GET "Host: a,b\r\n\r\n"), 400 },
    { TEXT(GET "Host: a%41\r\n\r\n"), 400 },
    { TEXT(GET "Host: a\tb\r\n\r\n"), 400 },
    { TEXT(GET "Host: a\"b\r\n\r\n"), 400 },
    { TEXT(GET "Host: a<b\r\n\r\n"), 400 },
    { TEXT(GET "Host: a/b\r\n\r\n"), 400 },
    { TEXT(GET "Host: u@a\r\n\r\n"), 400 },
    { TEXT(GET "Host: http://a\r\n\r\n"), 400 },
    { TEXT(GET "Host: a:b\r\n\r\n"), 400 },
    { TEXT(GET "Host: a:1:2\r\n\r\n"), 400 },
    { TEXT(GET "Host: a:65536\r\n\r\n"), 400 },
    { TEXT(GET "Host: a:99999999999999999999\r\n\r\n"), 400 },
    { TEXT(GET "Host: a:-1\r\n\r\n"), 400 },
    { TEXT(GET "Host: :80\r\n\r\n"), 400 },
    { TEXT(GET "Host: \xc4\x8d.hr\r\n\r\n"), 400 },
    { TEXT(GET "Host: [\r\n\r\n"), 400 },
    { TEXT(GET "Host: []\r\n\r\n"), 400 },
    { TEXT(GET "Host: [::1\r\n\r\n"), 400 },
    { TEXT(GET "Host: [::1]a\r\n\r\n"), 400 },
    { TEXT(GET "Host: [::1%25eth0]\r\n\r\n"), 400 },
    { TEXT(GET "Host: [a]\r\n\r\n"), 400 },

    /* how it ends */
    { TEXT(POST "Content-Length:\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: +1\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: -1\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: 1 2\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: 1,1\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: 0x1\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: 1a\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: 9223372036854775808\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: 18446744073709551617\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: 1\r\ncontent-length: 2\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
      400 },
    { TEXT(POST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"),
      400 },
    { TEXT("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
    { TEXT(POST "Transfer-Encoding:\r\n\r\n"), 400 },
    { TEXT(POST "Transfer-Encoding:\tchunked\r\n\r\n"), 400 },
    { TEXT(POST "Transfer-Encoding: chunked\t \r\n\r\n"), 400 },
    { TEXT(POST "Content-Length:\t 5\r\n\r\n"), 400 },
    { TEXT(POST "Content-Length: 5\t\r\n\r\n"), 400 },
    { TEXT(POST "Transfer-Encoding: ,chunked\r\n\r\n"), 400 },
    { TEXT(POST "Transfer-Encoding: chunked,\r\n\r\n"), 400 },
    { TEXT(POST "Transfer-Encoding: chunked, chunked\r\n\r\n"), 400 },
    { TEXT(POST "Transfer-Encoding: chunked, gzip\r\n\r\n"), 400 },
    { TEXT(POST "Transfer-Encoding: chunked\r\n"
                "Transfer-Encoding: chunked\r\n\r\n"),
      400 },
    { TEXT(POST "Transfer-Encoding: chunked\r\n"
                "Transfer-Encoding: identity\r\n\r\n"),
      400 },
    { TEXT(POST "Transfer-Encoding: gzip\r\n\r\n"), 501 },
    { TEXT(POST "Transfer-Encoding: gzip, chunked\r\n\r\n"), 501 },
    { TEXT(POST "Transfer-Encoding: identity\r\n\r\n"), 501 },
    { TEXT(POST "Transfer-Encoding: xchunked\r\n\r\n"), 501 },
    { TEXT(POST "Transfer-Encoding: \"chunked\"\r\n\r\n"), 501 },
    { TEXT(POST "Transfer-Encoding: chunked;a=b\r\n\r\n"), 501 },
    { TEXT(POST "Transfer-Encoding: chunked\xff\r\n\r\n"), 501 },
};

TEST(bad_requests_are_refused_and_not_only_at_their_end)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct http_request r;
        size_t used = 12345;
        int status = parse_anyhow(&r, bad[i].text.text, bad[i].text.len,
                                  &used);

        if (status != bad[i].status)
            print_error("%d: %s\n", status, bad[i].text.text);
        assert_int_equal(status, bad[i].status);
    }
}

TEST(each_control_byte_is_refused_wherever_it_stands)
{
    static const char text[] = "GET /target/of/some/length HTTP/1.1\r\n"
                               "Host: example.com\r\nAccept: text/html\r\n"
                               "\r\n";

    for (size_t at = 0; at < sizeof text - 1; at++)
        for (int c = 0; c < 0x80; c++) {
            char odd[sizeof text];
            struct http_request r;
            size_t used;

            if (is_text((char)c) || c == text[at])
                continue;
            memcpy(odd, text, sizeof text);
            odd[at] = (char)c;
            if (parse(&r, odd, sizeof text - 1, &used) != 400)
                fail_msg("%d at %zu", c, at);
        }
}

/* --- limits --- */

/* `before`, n bytes of x, `after`: what is the answer? */
static int parse_long(const char *before, size_t n, const char *after)
{
    static char text[1 << 16];
    size_t a = strlen(before), b = strlen(after), used;
    struct http_request r;

    memcpy(text, before, a);
    memset(text + a, 'x', n);
    memcpy(text + a + n, after, b);
    return parse(&r, text, a + n + b, &used);
}

TEST(a_long_target_is_refused_before_it_ends)
{
    static const char rest[] = " HTTP/1.1\r\n" H END;

    assert_int_equal(parse_long("GET /", HTTP_TARGET - 1, rest), HTTP_WHOLE);
    assert_int_equal(parse_long("GET /", HTTP_TARGET - 1, ""), HTTP_PARTIAL);
    assert_int_equal(parse_long("GET /", HTTP_TARGET, rest), 414);
    assert_int_equal(parse_long("GET /", HTTP_TARGET, ""), 414);
    assert_int_equal(parse_long("GET /", 40000, rest), 414);
    assert_int_equal(parse_long("GET http://a/", HTTP_TARGET - 9, rest),
                     HTTP_WHOLE);
    assert_int_equal(parse_long("GET http://a/", HTTP_TARGET - 8, rest), 414);
}

TEST(a_long_head_is_refused_before_it_ends)
{
    static const char head[] = GET H "A: ";
    size_t most = HTTP_HEAD - (sizeof head - 1);

    assert_int_equal(parse_long(head, most - 4, "\r\n\r\n"), HTTP_WHOLE);
    assert_int_equal(parse_long(head, most - 4, "\r\n\r\nGET / HT"),
                     HTTP_WHOLE);
    assert_int_equal(parse_long(head, most - 3, "\r\n\r\n"), 431);
    assert_int_equal(parse_long(head, most - 1, ""), HTTP_PARTIAL);
    assert_int_equal(parse_long(head, most, ""), 431);
    assert_int_equal(parse_long(head, 40000, "\n"), 431);
    assert_int_equal(parse_long(GET, HTTP_HEAD, ""), 431); /* a name */
}

TEST(many_headers_are_refused)
{
    char text[16 + 8 * (HTTP_HEADERS + 1) + 8] = GET H;
    struct http_request r;
    size_t used;

    for (unsigned i = 1; i < HTTP_HEADERS; i++)
        strcat(text, "A: b\r\n");
    strcat(text, "\r\n");
    assert_int_equal(parse(&r, text, strlen(text), &used), HTTP_WHOLE);
    assert_int_equal(r.headers, HTTP_HEADERS);
    strcpy(text + strlen(text) - 2, "A: b\r\n\r\n");
    assert_int_equal(parse_anyhow(&r, text, strlen(text), &used), 431);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_requests_give_what_they_say),
        cmocka_unit_test(headers_are_found_by_their_names_in_any_case),
        cmocka_unit_test(bad_requests_are_refused_and_not_only_at_their_end),
        cmocka_unit_test(each_control_byte_is_refused_wherever_it_stands),
        cmocka_unit_test(a_long_target_is_refused_before_it_ends),
        cmocka_unit_test(a_long_head_is_refused_before_it_ends),
        cmocka_unit_test(many_headers_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
