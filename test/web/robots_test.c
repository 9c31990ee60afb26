/* robots_test.c - RFC 9309, section by section. */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/buffer.h"
#include "lib/text/span.h"
#include "test/wall.h"
#include "web/robots.h"

static struct web_robots *parsed(const char *text, size_t len,
                                 const char *agent)
{
    struct web_robots *r;

    assert_int_equal(web_robots_new(&r, walled(text, len), len, agent, NULL),
                     SEEN_OK);
    return r;
}

static struct web_robots_verdict ask(const struct web_robots *r,
                                     struct seen_span url)
{
    struct web_robots_verdict v;

    web_robots_ask(r, walled(url.text, url.len), url.len, &v);
    assert_true(v.line ? v.rule.len : !v.rule.len);
    return v;
}

/* A file, a crawler, and URLs with spaces between them. */
struct robots_case {
    const char *file, *agent, *allowed, *denied;
};

static void all_are(const struct web_robots *r, const char *file,
                    const char *urls, bool allowed)
{
    struct seen_span rest = span_of(urls), url;

    while (span_cut(&rest, ' ', &url))
        if (ask(r, url).allowed != allowed)
            fail_msg("%.*s is %s by:\n%s", (int)url.len, url.text,
                     allowed ? "denied" : "allowed", file);
}

static void check(const struct robots_case *c, size_t n)
{
    for (; n; c++, n--) {
        struct web_robots *r = parsed(c->file, strlen(c->file), c->agent);

        all_are(r, c->file, c->allowed, true);
        all_are(r, c->file, c->denied, false);
        web_robots_free(r);
    }
}

TEST(groups_are_found_by_product_token_and_merged)
{
    static const char both[] = "User-agent: ant\nDisallow: /1\n"
                               "User-agent: bee\nDisallow: /2\n\n"
                               "User-agent: *\nDisallow: /3\n"
                               "user-agent: ANT\nuser-agent: cow\n\n\n"
                               "Allow: /1/1\nDisallow: /4\n"
                               "User-agent: dog\n";
    static const struct robots_case cases[] = {
        { both, "ant", "/ /2 /3 /1/1", "/1 /4 /1/2" },
        { both, "Ant", "/2", "/1" },
        { both, "bee", "/1 /3 /4", "/2 /2/x" },
        { both, "cow", "/1 /2 /3", "/4" },
        { both, "dog", "/1 /2 /3 /4", "" }, /* named, without rules */
        { both, "eel", "/1 /2 /4", "/3" },  /* falls back to * */
        { both, "an", "/1", "/3" },
        { both, "ants", "/1", "/3" },
        { both, "*", "/1", "/3" },
        { both, "", "/1", "/3" },
        /* A version does not count, on either side. */
        { both, "ant/2.1 (+http://a.example/)", "/3", "/1" },
        { "User-agent: ant/2.1\nDisallow: /", "ant", "", "/" },
        { "User-agent: ant colony\nDisallow: /", "ant", "", "/" },
        { "User-agent: ant colony\nDisallow: /", "ant colony", "/", "" },
        { "User-agent: ant-lion\nDisallow: /", "ant", "/", "" },
        { "User-agent: ant_lion2\nDisallow: /", "ant_lion", "", "/" },
        { "User-agent: 4ants\nDisallow: /", "4ANTS", "", "/" },
        { "User-agent: f\xc3\xb6"
          "o\nDisallow: /",
          "F\xc3\xb6O", "", "/" },
        { "User-agent: * # all\nDisallow: /", "ant", "", "/" },
        { "User-agent: * and ant\nDisallow: /", "bee", "", "/" },
        { "User-agent: *ant\nDisallow: /", "ant", "/", "" },
        { "User-agent:\nDisallow: /", "ant", "/", "" },
        { "Disallow: /\nUser-agent: ant\nAllow: /x", "ant", "/ /x", "" },
        /* Only rules end the list of crawlers that a group is for. */
        { "User-agent: ant\nSitemap: http://a.example/\nUnknown: x\n"
          "Crawl-delay: 1\n\nUser-agent: bee\nDisallow: /",
          "ant", "", "/" },
        { "User-agent: ant\nDisallow:\nUser-agent: *\nDisallow: /", "ant", "/",
          "" },
        { "", "ant", "/ /x http://a.example", "" },
    };

    check(cases, LENGTH(cases));
}

TEST(the_longest_rule_decides_and_allow_wins_a_tie)
{
#define ALL "User-agent: *\n"
    static const struct robots_case cases[] = {
        { ALL "Disallow: /\nAllow: /a\nDisallow: /a/b\n", "x", "/a /ab /a/c",
          "/ /b /a/b /a/bc" },
        { ALL "Allow: /a/b\nDisallow: /a/\n", "x", "/a/b /a", "/a/ /a/c" },
        { ALL "Disallow: /a\nAllow: /a\n", "x", "/a", "" },
        { ALL "Allow: /a\nDisallow: /a\n", "x", "/a", "" },
        { ALL "Allow: /page\nDisallow: /*.htm\n", "x", "/page",
          "/page.htm /x.htm" },
        { ALL "Allow: /a/page.\nDisallow: /*.html\n", "x", "/a/page.html",
          "/a/b.html" },
        { ALL "Allow: /$\nDisallow: /\n", "x", "/ http://a.example",
          "/a /?a" },
        { ALL "Allow: /aaaa\nDisallow: /*****\n", "x", "", "/b / /aaaa" },
        { ALL "Allow: /aaaa\nDisallow: /****\n", "x", "/aaaa", "/b /" },
        { ALL "Disallow: *\nAllow: /a\n", "x", "/a", "/b /" },
        { ALL "Disallow: /\xc3\xa4\nAllow: /*\n", "x", "/a", "/%c3%a4" },
        /* Neither empty rules nor those without a slash match. */
        { ALL "Disallow:\nDisallow: a\nDisallow: http://a.example/\n"
              "Disallow: $\n",
          "x", "/ /a http://a.example/http://a.example/", "" },
        { ALL "Disallow: /\n", "x", "/robots.txt http://a.example/robots.txt",
          "/robots.txt?x /a/robots.txt /robots.txt2" },
        /* As others read it: where the index page is allowed, so is its
           folder. */
        { ALL "Disallow: /\nAllow: /a/index.html\n", "x",
          "/a/ /a/index.html /a/index.html2", "/a /a/x /a/index.htm / /b/" },
    };

    check(cases, LENGTH(cases));
}

TEST(stars_are_any_text_and_a_dollar_is_the_end)
{
    static const struct robots_case cases[] = {
        { ALL "Disallow: /a*b\n", "x", "/a /ac /ba", "/ab /axxb /abx /a?b" },
        { ALL "Disallow: /a*b$\n", "x", "/abx /a", "/ab /abb /axbxb" },
        { ALL "Disallow: /a*b*c$\n", "x", "/ac /acb /abcd",
          "/abc /a/b/c /abcbc /abcc" },
        { ALL "Disallow: *m\n", "x", "/foo", "/moo /a?m" },
        { ALL "Disallow: /**x*$\n", "x", "/a", "/x /ax /xa" },
        { ALL "Disallow: /x*aab\n", "x", "/xaa /xaba", "/xaaab /xaaaab" },
        { ALL "Disallow: /a*a$\n", "x", "/a /ab", "/aa /aba" },
        { ALL "Disallow: /a$\n", "x", "/ab /a/ /a?", "/a /a#x" },
        { ALL "Disallow: /a$b\n", "x", "/a", "/a$b /a%24bc" },
        { ALL "Disallow: /a$$\n", "x", "/a /a$b", "/a$ /a%24" },
        { ALL "Disallow: /a%24\nDisallow: /b%2ac\n", "x", "/a /bxc",
          "/a$ /a$b /a%24 /b*c /b%2Ac" },
        { ALL "Disallow: /*s=\n", "x", "/s/", "/?s=1 /a?b&s=" },
    };

    check(cases, LENGTH(cases));
}

TEST(percent_encoding_is_normalised_on_both_sides)
{
    static const struct robots_case cases[] = {
        { ALL "Disallow: /\xe3\x83\x84\n", "x", "/%E3%83%85",
          "/%E3%83%84 /%e3%83%84 /\xe3\x83\x84" },
        { ALL "Disallow: /%e3%83%84\n", "x", "/", "/%E3%83%84 /\xe3\x83\x84" },
        { ALL "Disallow: /%62%61%7A\n", "x", "/b", "/baz /%62az" },
        { ALL "Disallow: /~a\n", "x", "/a", "/%7ea /%7Ea /~a" },
        { ALL "Disallow: /a%2fb\n", "x", "/a/b", "/a%2Fb /a%2fb" },
        { ALL "Disallow: /a/b\n", "x", "/a%2fb", "/a/b" },
        { ALL "Disallow: /a%3fb\n", "x", "/a?b", "/a%3Fb" },
        { ALL "Disallow: /a?b=c%26d\n", "x", "/a?b=c&d", "/a?b=c%26d" },
        { ALL "Disallow: /a?b=c+d\n", "x", "/a?b=c%2Bd", "/a?b=c+d" },
        { ALL "Disallow: /a<b|c\n", "x", "/a", "/a%3cb%7Cc /a<b|c" },
        { ALL "Disallow: /a:b,(c)\n", "x", "/a", "/a%3ab%2C%28c%29 /a:b,(c)" },
        /* The RFC's table has these two as one. */
        { ALL "Disallow: /a?b=https://c.example\n", "x", "/a?b=https",
          "/a?b=https://c.example /a?b=https%3A%2F%2Fc.example" },
        { ALL "Disallow: /a?b=https%3A%2f%2Fc.example\n", "x", "/a?b=https",
          "/a?b=https://c.example /a?b=https%3A%2F%2Fc.example" },
        { ALL "Disallow: /*b=c%2fd\n", "x", "/a", "/a?b=c%2Fd /b=c%2fd" },
        { ALL "Disallow: /a?b=http://c?d&e\n", "x", "/",
          "/a?b=http://c?d&e /a?b=http:%2F%2Fc%3fd&e" },
        /* Not escapes. */
        { ALL "Disallow: /100%\nDisallow: /%4\nDisallow: /%gg\n", "x",
          "/10 /% /%g", "/100% /100%25 /%4x /%254 /%gg /%25gg" },
        { ALL "Disallow: /\xff\n", "x", "/\xfe", "/\xff /%ff" },
        { ALL "Disallow: /a\x01"
              "b\n",
          "x", "/axb", "/a%01b" },
        { ALL "Disallow: /A\n", "x", "/a", "/A /%41" },
    };

    check(cases, LENGTH(cases));
}

TEST(the_path_of_a_url_counts_with_its_query)
{
    static const struct robots_case cases[] = {
        { ALL "Disallow: /a;b?c\n", "x", "/a;b http://b.example/a",
          "http://u@b.example:10/a;b?c#d //b.example/a;b?c a.example/a;b?c "
          "/a;b?cd ftp://b.example/a;b?c" },
        { ALL "Disallow: /?c\n", "x", "http://c.example a#?c",
          "http://b.example?c b.example/?c ?c" },
        { ALL "Disallow: /b\n", "x", "http://b.example /a/b",
          "a/b http://b/b /b://c" },
        { ALL "Disallow: //a\n", "x", "http://b.example/a",
          "http://b.example//a" },
    };

    check(cases, LENGTH(cases));
}

TEST(lines_end_as_they_like_and_bad_ones_are_skipped)
{
    static const struct robots_case cases[] = {
        { "User-agent: x\r\nDisallow: /a\r\n\r\nDisallow: /b", "x", "/",
          "/a /b" },
        { "User-agent: x\rDisallow: /a\r\rDisallow: /b\r", "x", "/", "/a /b" },
        { "\xef\xbb\xbfUser-agent: x\nDisallow: /", "x", "", "/" },
        { "\xef\xbbUser-agent: x\nDisallow: /", "x", "", "/" },
        { "\xef\x11\xbfUser-agent: x\nDisallow: /", "x", "/", "" },
        { "User-agent: x\n\xef\xbb\xbf"
          "Disallow: /",
          "x", "/", "" },
        { " \tuser-AGENT \t:\t x # y\n  disALLOW: /a # b\n", "x", "/", "/a" },
        { ALL "Disallow: /a#b\n#Disallow: /c\n", "x", "/c", "/a /ab" },
        { ALL "Disallow: /a b\n", "x", "/a", "/a%20b" },
        { ALL "Disallow /a\nDisallow /b /c\n", "x", "/b", "/a" },
        { ALL ": /a\nDisallow\n:\n\n=\nDisallow: /b\nDisallow = /c\n", "x",
          "/a /c", "/b" },
        { "useragent: x\ndissallow: /a\nDisalow: /b\ndisallows: /c\n", "x",
          "/c", "/a /b" },
        { "<html>\n<body>User-agent: *\nDisallow: /\n", "x", "/", "" },
    };
    static const char zero[] = ALL "Disallow: /a\0b\n\0\nDisallow: /c";
    struct web_robots *r = parsed(zero, sizeof zero - 1, "x");

    check(cases, LENGTH(cases));
    assert_true(ask(r, span_of("/a")).allowed);
    assert_false(ask(r, span_of("/a%00b")).allowed);
    assert_false(ask(r, span_of("/c")).allowed);
    web_robots_free(r);
}

TEST(the_deciding_line_is_reported)
{
    static const char text[] = "User-agent: x\r\n\r\nDisallow : /a # b\r\r\n"
                               "ALLOW: /a/b\n";
    struct web_robots *r = parsed(text, sizeof text - 1, "x");
    struct web_robots_verdict v = ask(r, span_of("/a/c"));

    assert_false(v.allowed);
    assert_int_equal(v.line, 3);
    assert_true(span_is(v.rule, "Disallow : /a"));
    v = ask(r, span_of("/a/b"));
    assert_true(v.allowed);
    assert_int_equal(v.line, 5);
    assert_true(span_is(v.rule, "ALLOW: /a/b"));
    v = ask(r, span_of("/"));
    assert_true(v.allowed);
    assert_int_equal(v.line, 0);
    web_robots_free(r);
}

TEST(the_delay_is_that_of_the_crawlers_groups)
{
    static const struct {
        const char *file;
        double delay;
    } cases[] = {
        { "", -1 },
        { "Crawl-delay: 5\n" ALL, -1 },
        { ALL "Crawl-delay: 5\n", 5 },
        { ALL "crawl-delay :0.25 # s\n", 0.25 },
        { ALL "Crawl-delay: 0\n", 0 },
        { ALL "Crawl-delay: .3\n", 0.3 },
        { ALL "Crawl-delay: 1.\n", 1 },
        { ALL "Crawl-delay: 1.2.3\n", -1 },
        { ALL "Crawl-delay: -1\n", -1 },
        { ALL "Crawl-delay: 5s\n", -1 },
        { ALL "Crawl-delay: .\n", -1 },
        { ALL "Crawl-delay: nan\n", -1 },
        { ALL "Crawl-delay: 1e9\n", -1 },
        { ALL "Crawl-delay: 99999999999999999999\n", -1 },
        { ALL "Crawl-delay: 5\nUser-agent: x\nDisallow: /\n", -1 },
        { ALL "Crawl-delay: 5\nUser-agent: x\nCrawl-delay: 2\n", 2 },
        { ALL "Crawl-delay: 5\nUser-agent: y\nCrawl-delay: 9\n", 5 },
        { "User-agent: x\n" ALL "Crawl-delay: 5\nCrawl-delay: 2\n", 5 },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct web_robots *r = parsed(cases[i].file, strlen(cases[i].file),
                                      "x");

        if (web_robots_delay(r) < cases[i].delay ||
            web_robots_delay(r) > cases[i].delay)
            fail_msg("%s\n%g", cases[i].file, web_robots_delay(r));
        web_robots_free(r);
    }
}

TEST(sitemaps_belong_to_no_group)
{
    static const char text[] = "Sitemap: http://a.example/1\n"
                               "User-agent: y\nsite-map : /2?a=b:c # d\n"
                               "Sitemap:\nDisallow: /\nSITEMAP:http://b/";
    struct web_robots *r = parsed(text, sizeof text - 1, "x");
    struct seen_span url;

    assert_true(web_robots_sitemap(r, 0, &url));
    assert_true(span_is(url, "http://a.example/1"));
    assert_true(web_robots_sitemap(r, 1, &url));
    assert_true(span_is(url, "/2?a=b:c"));
    assert_true(web_robots_sitemap(r, 2, &url));
    assert_true(span_is(url, "http://b/"));
    assert_false(web_robots_sitemap(r, 3, &url));
    web_robots_free(r);
}

TEST(the_status_decides_whether_the_file_counts)
{
    static const struct {
        int status;
        enum web_robots_answer answer;
    } cases[] = {
        { 200, WEB_ROBOTS_READ },  { 204, WEB_ROBOTS_READ },
        { 301, WEB_ROBOTS_ALLOW }, { 304, WEB_ROBOTS_ALLOW },
        { 400, WEB_ROBOTS_ALLOW }, { 401, WEB_ROBOTS_ALLOW },
        { 404, WEB_ROBOTS_ALLOW }, { 410, WEB_ROBOTS_ALLOW },
        { 429, WEB_ROBOTS_DENY },  { 500, WEB_ROBOTS_DENY },
        { 503, WEB_ROBOTS_DENY },  { 0, WEB_ROBOTS_DENY },
        { 100, WEB_ROBOTS_DENY },  { 999, WEB_ROBOTS_DENY },
    };

    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_int_equal(web_robots_status(cases[i].status), cases[i].answer);
}

/* `first`, then comments up to byte `at`, then `last`. */
static struct web_robots *padded(size_t at, const char *last)
{
    struct buffer b = { .bytes = NULL };
    struct web_robots *r;

    buffer_text(&b, ALL "Disallow: /first\n");
    while (b.len < at)
        buffer_text(&b, b.len + 1 == at ? "\n" : "#");
    buffer_text(&b, last);
    assert_int_equal(web_robots_new(&r, b.bytes, b.len, "x", NULL), SEEN_OK);
    buffer_clear(&b);
    return r;
}

TEST(whole_lines_of_500_KiB_count)
{
    enum { LAST = sizeof "Disallow: /last" - 1, MOST = WEB_ROBOTS_MOST };
    static const struct {
        size_t at;
        const char *last;
        bool counts;
    } cases[] = {
        { MOST - LAST - 1, "Disallow: /last\nAllow: /last/x", true },
        { MOST - LAST, "Disallow: /last\nAllow: /last/x", true },
        { MOST - LAST, "Disallow: /last", true },
        { MOST - LAST, "Disallow: /last/x", false },
        { MOST - LAST + 1, "Disallow: /last\n", false },
        { MOST, "Disallow: /last\n", false },
        { MOST + 100, "Disallow: /last\n", false },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct web_robots *r = padded(cases[i].at, cases[i].last);

        assert_false(ask(r, span_of("/first")).allowed);
        assert_int_equal(ask(r, span_of("/last/x")).allowed, !cases[i].counts);
        assert_true(ask(r, span_of("/la")).allowed);
        web_robots_free(r);
    }
}

TEST(a_long_line_is_cut)
{
    struct buffer b = { .bytes = NULL }, url = { .bytes = NULL };
    size_t at;
    struct web_robots *r;

    buffer_text(&b, ALL);
    at = b.len;
    buffer_text(&b, "Disallow: /");
    buffer_text(&url, "/");
    while (b.len - at < WEB_ROBOTS_LINE) {
        buffer_byte(&b, 'a');
        buffer_byte(&url, 'a');
    }
    buffer_text(&b, "bcd\n");
    r = parsed(b.bytes, b.len, "x");
    assert_false(ask(r, (struct seen_span){ url.bytes, url.len }).allowed);
    assert_true(ask(r, (struct seen_span){ url.bytes, url.len - 1 }).allowed);
    web_robots_free(r);
    buffer_clear(&b);
    buffer_clear(&url);
}

/* --- what it costs --- */

/* A file of 500 KB whose rules are these, with their number for "#". */
static struct web_robots *filled(const char *rule)
{
    struct buffer b = { .bytes = NULL };
    struct web_robots *r;
    char number[24];

    buffer_text(&b, ALL);
    for (unsigned n = 0; b.len < WEB_ROBOTS_MOST - 20000; n++) {
        for (const char *p = rule; *p; p++) {
            snprintf(number, sizeof number, "%u", n);
            if (*p == '#')
                buffer_text(&b, number);
            else if (*p == '@') /* ever longer */
                for (unsigned i = 0; i < n % 1000; i++)
                    buffer_byte(&b, 'a');
            else
                buffer_byte(&b, *p);
        }
        buffer_byte(&b, '\n');
    }
    assert_int_equal(web_robots_new(&r, b.bytes, b.len, "x", NULL), SEEN_OK);
    buffer_clear(&b);
    return r;
}

static uint64_t steps_of(const struct web_robots *r, const char *piece,
                         size_t len)
{
    struct buffer url = { .bytes = NULL };
    struct web_robots_verdict v;

    buffer_byte(&url, '/');
    while (url.len < len)
        buffer_text(&url, piece);
    web_robots_ask(r, url.bytes, len, &v);
    buffer_clear(&url);
    return v.steps;
}

TEST(a_question_takes_time_linear_in_the_url_whatever_the_rules)
{
    static const char *const rules[] = {
        "Disallow: /#",
        "Disallow: /a/@$",
        "Disallow: /@\nAllow: /@b",
        "Disallow: /*#",
        "Disallow: /*a*a*a*a*a*a*a*a*a*a*a*a*a*a*#",
        "Disallow: /a*@b\nAllow: /*a?@%2f#",
        "Disallow: /*?a=%2F#&b=*\nDisallow: /?%2f#$",
    };
    static const char *const pieces[] = { "a", "1", "a/", "?%2F", "a%2f?" };
    enum { EACH = 70 + 2 * WEB_ROBOTS_STATES / 64 + 1 };

    for (size_t i = 0; i < LENGTH(rules); i++) {
        struct web_robots *r = filled(rules[i]);

        for (size_t j = 0; j < LENGTH(pieces); j++) {
            uint64_t half = steps_of(r, pieces[j], 4000);
            uint64_t all = steps_of(r, pieces[j], 8000);

            assert_true(half <= 4001 * EACH);
            assert_true(all <= 2 * half + EACH);
        }
        web_robots_free(r);
    }
}

TEST(many_rules_without_stars_cost_a_few_steps_per_byte)
{
    struct web_robots *r = filled("Disallow: /#/x");

    assert_int_equal(web_robots_approximate(r), 0);
    assert_true(steps_of(r, "20", 100) <= 70 * 100);
    assert_false(ask(r, span_of("/20202/x")).allowed);
    assert_true(ask(r, span_of("/20202/y")).allowed);
    web_robots_free(r);
}

TEST(compiled_rules_are_not_many_times_as_large_as_their_file)
{
    static const struct {
        const char *before, *after;
        size_t tenths; /* bytes per ten bytes of the file */
    } known[] = {
        { "Disallow: /", "/folder", 23 }, /* usual ones */
        { "Allow:/", "", 35 },            /* the shortest ones */
        { "Allow:/?", "", 60 },           /* in two spellings */
    };

    for (size_t i = 0; i < LENGTH(known); i++) {
        struct buffer file = { .bytes = NULL };
        struct web_robots *r;
        size_t size;

        buffer_text(&file, "User-agent: *\n");
        for (unsigned n = 0; file.len < WEB_ROBOTS_MOST - 40; n++)
            buffer_format(&file, "%s%x%s\n", known[i].before, n,
                          known[i].after);
        assert_int_equal(
            web_robots_new(&r, file.bytes, file.len, "seen", NULL), SEEN_OK);
        size = web_robots_size(r);
        assert_true(size > file.len / 2);
        if (10 * size > known[i].tenths * file.len)
            fail_msg("%s: %zu for %zu", known[i].before, size, file.len);
        web_robots_free(r);
        buffer_clear(&file);
    }
}

TEST(past_the_limit_of_stars_more_is_forbidden_and_not_less)
{
    static const char text[] = "Disallow: /long/*/of/a/rule/#\n"
                               "Allow: /long/x/of/a/rule/*/of/a/rule/#\n"
                               "Disallow: /s*t";
    struct web_robots *r = filled(text);

    assert_true(web_robots_approximate(r) > 0);
    assert_false(ask(r, span_of("/long/y/of/a/rule/1")).allowed);
    assert_false(ask(r, span_of("/long/anything")).allowed);
    /* Short rules are exact, and so is what is not below /long/. */
    assert_false(ask(r, span_of("/st")).allowed);
    assert_true(ask(r, span_of("/s")).allowed);
    assert_true(ask(r, span_of("/lon")).allowed);
    web_robots_free(r);
}

/* --- as a matcher that tries everything --- */

/* What files and URLs are made of here, in both spellings. */
static const struct token {
    const char *written, *first, *second; /* in a query */
} tokens[] = {
    { "a", "a", "a" },       { "b", "b", "b" },
    { "ab", "ab", "ab" },    { "/", "/", "/" },
    { "%2f", "%2F", "/" },   { "%3F", "%3F", "?" },
    { "%3d", "%3D", "%3D" }, { "=", "=", "=" },
    { "%7e", "~", "~" },     { "\xc3\xa4", "%C3%A4", "%C3%A4" },
    { "%61", "a", "a" },     { "?", "?", "?" },
    { "%2A", "*", "*" },     { "*", "\1", "\1" },
};

struct random_text {
    char written[100], first[100], second[100];
    size_t octets;
    bool query, anchored;
};

static unsigned pick(uint64_t *seed, unsigned n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)((*seed >> 33) % n);
}

static void make(struct random_text *t, uint64_t *seed, bool pattern)
{
    unsigned n = pick(seed, 7), kinds = LENGTH(tokens) - !pattern;

    memset(t, 0, sizeof *t);
    t->written[0] = t->first[0] = t->second[0] = '/';
    while (n--) {
        const struct token *it = &tokens[pick(seed, kinds)];
        size_t len = strlen(t->first);

        strcat(t->written, it->written);
        t->octets += strlen(it->first);
        if (*it->first == '\1' && t->first[len - 1] == '\1')
            continue; /* stars in a row are one */
        if (!strcmp(it->written, "?"))
            t->query = true;
        strcat(t->first, it->first);
        strcat(t->second, t->query ? it->second : it->first);
    }
    t->anchored = pattern && !pick(seed, 5);
    t->octets += 1 + t->anchored;
    if (t->anchored)
        strcat(t->written, "$");
}

static bool tries(const char *pattern, bool anchored, const char *text)
{
    if (!*pattern)
        return !anchored || !*text;
    if (*pattern != '\1')
        return *text == *pattern && tries(pattern + 1, anchored, text + 1);
    for (;; text++) {
        if (tries(pattern + 1, anchored, text))
            return true;
        if (!*text)
            return false;
    }
}

enum { RULES = 12 };

/* The rule that decides, or -1. */
static int decides(const struct random_text rule[RULES],
                   const bool allow[RULES], const struct random_text *url)
{
    size_t longest = 0;
    int best = -1;

    for (int i = 0; i < RULES; i++) {
        const struct random_text *it = &rule[i];

        if (!tries(it->first, it->anchored, url->first) &&
            !(it->query && tries(it->second, it->anchored, url->second)))
            continue;
        if (best < 0 || it->octets > longest ||
            (it->octets == longest && allow[i] && !allow[best])) {
            longest = it->octets;
            best = i;
        }
    }
    return best;
}

TEST(answers_are_those_of_a_matcher_that_tries_everything)
{
    uint64_t seed = 1;

    for (int files = 0; files < 3000; files++) {
        struct random_text rule[RULES], url;
        bool allow[RULES];
        char text[RULES * 120] = ALL;
        struct web_robots *r;

        for (int i = 0; i < RULES; i++) {
            make(&rule[i], &seed, true);
            allow[i] = pick(&seed, 2);
            strcat(strcat(text, allow[i] ? "Allow: " : "Disallow: "),
                   rule[i].written);
            strcat(text, "\n");
        }
        r = parsed(text, strlen(text), "x");
        for (int urls = 0; urls < 20; urls++) {
            char whole[120] = "http://host.example";
            struct web_robots_verdict v;
            int best;

            make(&url, &seed, false);
            best = decides(rule, allow, &url);
            v = ask(r, span_of(strcat(whole, url.written)));
            if (v.allowed != (best < 0 || allow[best]) ||
                v.line != (best < 0 ? 0 : (unsigned)best + 2))
                fail_msg("%s: line %u instead of %d of\n%s", url.written,
                         v.line, best + 2, text);
        }
        web_robots_free(r);
    }
}

TEST(a_url_of_any_length_has_an_answer)
{
    struct buffer url = { .bytes = NULL };
    struct web_robots *r = parsed(ALL "Disallow: /%ff*$\n",
                                  sizeof ALL "Disallow: /%ff*$\n" - 1, "x");

    buffer_byte(&url, '/');
    while (url.len < 100000)
        buffer_byte(&url, '\xff');
    assert_false(ask(r, (struct seen_span){ url.bytes, url.len }).allowed);
    assert_true(ask(r, (struct seen_span){ "", 0 }).allowed);
    web_robots_free(r);
    buffer_clear(&url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_found_by_product_token_and_merged),
        cmocka_unit_test(the_longest_rule_decides_and_allow_wins_a_tie),
        cmocka_unit_test(stars_are_any_text_and_a_dollar_is_the_end),
        cmocka_unit_test(percent_encoding_is_normalised_on_both_sides),
        cmocka_unit_test(the_path_of_a_url_counts_with_its_query),
        cmocka_unit_test(lines_end_as_they_like_and_bad_ones_are_skipped),
        cmocka_unit_test(the_deciding_line_is_reported),
        cmocka_unit_test(the_delay_is_that_of_the_crawlers_groups),
        cmocka_unit_test(sitemaps_belong_to_no_group),
        cmocka_unit_test(the_status_decides_whether_the_file_counts),
        cmocka_unit_test(whole_lines_of_500_KiB_count),
        cmocka_unit_test(a_long_line_is_cut),
        cmocka_unit_test(
            a_question_takes_time_linear_in_the_url_whatever_the_rules),
        cmocka_unit_test(many_rules_without_stars_cost_a_few_steps_per_byte),
        cmocka_unit_test(
            compiled_rules_are_not_many_times_as_large_as_their_file),
        cmocka_unit_test(
            past_the_limit_of_stars_more_is_forbidden_and_not_less),
        cmocka_unit_test(answers_are_those_of_a_matcher_that_tries_everything),
        cmocka_unit_test(a_url_of_any_length_has_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
