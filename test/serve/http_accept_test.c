/* http_accept_test.c - clients are given what they like best. */
#include "test/wall.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/http/parse.h"

#define GET "GET / HTTP/1.1\r\n"
#define H "Host: h\r\n"

TEST(clients_get_what_they_accept)
{
    static const struct {
        const char *accept;
        bool html, json; /* over the other */
    } cases[] = {
        { "*/*", false, false }, /* curl, wget, fetch() */
        { "", false, false },
        { "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,"
          "image/webp,*/*;q=0.8",
          true, false }, /* Firefox */
        { "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,"
          "image/webp,image/apng,*/*;q=0.8,application/signed-exchange;"
          "v=b3;q=0.7",
          true, false }, /* Chrome */
        { "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
          true, false }, /* Safari */
        { "text/html, application/xhtml+xml, image/jxr, */*", true,
          false }, /* Internet Explorer */
        { "application/json, text/javascript, */*; q=0.01", false,
          true },                                             /* jQuery */
        { "application/json, text/plain, */*", false, true }, /* axios */
        { "application/json", false, true },
        { "application/json, text/html", false, false },
        { "application/json;q=0.9, text/html", true, false },
        { "text/html;q=0.123, application/json;q=0.124", false, true },
        { "text/html;q=0", false, false },
        { "text/html;q=0, */*", false, true },
        { "text/*, application/json;q=0.5", true, false },
        { "text/*, application/json", false, true },
        { "text/*;q=0.1, text/html;q=0.9, application/json;q=0.5", true,
          false },
        { "TEXT/HTML", true, false },
        { "text/html;charset=utf-8", true, false },
        { "text/html;a=\",;q=0\" ;Q=0.5\t, application/json;q=.9", true,
          false },
        { "application/json;q=2, text/html;q=0.001", true, false },
        { "text/html;q=0.0001, application/json;q=0.1", false, true },
        { ",,;;=,text,/,*,text/html", true, false },
        { "text/html;a=\"", true, false },
        { "text/html;a=\"\\\",\";q=0.1, application/json;q=0.2", false, true },
        { "text/html;q=0.x, application/json;q=0.1", false, true },
        { "text/htmlx, xtext/html, text/htm", false, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        struct http_request r;
        size_t used;
        int n = snprintf(text, sizeof text, GET H "Accept: %s\r\n\r\n",
                         cases[i].accept);

        assert_int_equal(
            http_parse(&r, walled(text, (size_t)n), (size_t)n, &used),
            HTTP_WHOLE);
        if (http_prefers(&r, "text/html", "application/json") !=
                cases[i].html ||
            http_prefers(&r, "application/json", "text/html") != cases[i].json)
            fail_msg("%s", cases[i].accept);
    }
}

TEST(several_accept_headers_are_one_and_none_likes_nothing)
{
    static const char two[] = GET H "Accept: application/json;q=0.3\r\n"
                                    "accept: text/html;q=0.4\r\n\r\n";
    static const char none[] = GET H "\r\n";
    struct http_request r;
    size_t used;

    assert_int_equal(
        http_parse(&r, walled(two, sizeof two - 1), sizeof two - 1, &used),
        HTTP_WHOLE);
    assert_true(http_prefers(&r, "text/html", "application/json"));
    assert_int_equal(
        http_parse(&r, walled(none, sizeof none - 1), sizeof none - 1, &used),
        HTTP_WHOLE);
    assert_false(http_prefers(&r, "text/html", "application/json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_get_what_they_accept),
        cmocka_unit_test(
            several_accept_headers_are_one_and_none_likes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
