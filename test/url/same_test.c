/*
 * same_test.c - what holds for every URL, right or wrong.
 *
 * URLs are put together from pieces that the rules care about, and some of
 * their bytes changed, from a fixed seed. Each ends at a page that cannot be
 * read, and is canonicalised into a buffer that ends at one, too.
 */
#include "test/wall.h"

#include <stdio.h>

#include <seen/key.h>
#include <seen/url.h>

#include "lib/url/fast.h"

enum { URLS = 60000, ROOM = 1 << 14 };

static const char *const profiles[] = { "whatwg", "surt", "surt:host",
                                        "surt:1", "surt:2" };

static uint64_t seed = 1;

static size_t below(size_t n)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(seen_mix(seed) % n);
}

#define ANY(list) list[below(sizeof list / sizeof list[0])]

/* Write some URL, of at most ROOM / 2 bytes. */
static size_t some_url(char *url)
{
    static const char *const scheme[] = {
        "http://", "https://", "http://",  "https://",
        "HTTP:",   "ftp://",   "file:",    "foo:",
        "ws:\\\\", "",         "mailto:",  "http://http://",
        "tel:",    "fe:",      "foo:////", "filedesc:"
    };
    static const char *const host[] = { "www.b.example",
                                        "a-b.c.example",
                                        "a.example/",
                                        "www.b.example/",
                                        "b.example/x",
                                        "a.example",
                                        "www.Example.com",
                                        "b\xc3\xbc"
                                        "cher.de",
                                        "1.2.3.4",
                                        "0x7f.1",
                                        "[::1]",
                                        "[fe80::1]",
                                        "u:p@h",
                                        "xn--n3h.com",
                                        "a..b.",
                                        "%41.b%2ec",
                                        "com,example)",
                                        "com,example,)",
                                        "a:8080",
                                        "a:80",
                                        "C|",
                                        "",
                                        "1%29",
                                        "www1.www2.x",
                                        "\xff",
                                        "a b",
                                        "fa\xc3\x9f.de",
                                        "-\xc3\xa9" };
    static const char *const piece[] = {
        /* ordinary ones */
        "/", "a", "B.html", "/", "?", "&", "a=1", "b=2", "-c", "/x",
        /* and others */
        "/", "..", ".", "%2e", "%2E", "%41", "%2541", "%", "%25", "%2f", "%3F",
        "%23", "\xc3\xa9", "\xff", " ", "\t", "\\", "?", "&", "=", "#", ";",
        "(", ")", ",)/", "'", "^", "sid=0123456789abcdef0123456789abcdef",
        "cfid=1&cftoken=2", "|", "{", "(0123456789abcdefghijklmn)/", "x.aspx",
        "C:", "@", "[", ":", ","
    };
    const size_t ordinary = 10, all = sizeof piece / sizeof piece[0];
    const size_t kinds = below(3) ? all : ordinary;
    size_t n, pieces = below(12);

    n = (size_t)snprintf(url, ROOM / 2, "%s%s", ANY(scheme), ANY(host));
    while (pieces--) {
        const char *p = piece[below(kinds)];

        memcpy(url + n, p, strlen(p));
        n += strlen(p);
    }
    if (n && !below(4))
        url[below(n)] = (char)below(256);
    if (!below(500)) /* now and then a long one */
        for (size_t i = n; n < 2 * i + 4096; n++)
            url[n] = url[below(i ? i : 1)];
    return n;
}

static enum seen_code make(struct seen_key *key, char *text, const char *url,
                           size_t len, const char *profile)
{
    return seen_key_make(key, text, url, len, profile, NULL);
}

TEST(a_canonical_text_is_its_own_canonical_text)
{
    char *text = wall_new(SEEN_KEY_TEXT) - SEEN_KEY_TEXT;
    char *again = wall_new(SEEN_KEY_TEXT) - SEEN_KEY_TEXT;
    static char url[ROOM];
    uint64_t made = 0;

    for (int i = 0; i < URLS; i++) {
        size_t len = some_url(url);
        char *at = walled(url, len);

        for (size_t p = 0; p < sizeof profiles / sizeof profiles[0]; p++) {
            struct seen_key key, same;
            const char *once;

            if (make(&key, text, at, len, profiles[p]) != SEEN_OK)
                continue;
            made++;
            assert_true(key.len && key.len <= SEEN_KEY_TEXT);
            assert_true((key.text >= at && key.text + key.len <= at + len) ||
                        key.text == text);
            /* The text that is asked again ends at the guard as well. */
            once = memmove(text + SEEN_KEY_TEXT - key.len, key.text, key.len);
            if (make(&same, again, once, key.len, profiles[p]) != SEEN_OK ||
                same.len != key.len || memcmp(same.text, once, key.len))
                fail_msg("%s of %.*s: %.*s, then %.*s", profiles[p], (int)len,
                         url, (int)key.len, once, (int)same.len, same.text);
            assert_true(same.lo == key.lo && same.hi == key.hi);
        }
    }
    assert_true(made > URLS); /* most of them are URLs, after all */
}

/* An ordinary http URL, whose parts may be as long as the fast way has room
   for, and more. */
static size_t ordinary_url(char *url)
{
    static const char *const host[] = { "www.", "www12.",        "a-b.",
                                        "m.",   "news.example.", "w3.",
                                        "" };
    static const char *const end[] = { "com", "co.uk", "example", "x1", "1" };
    static const char *const path[] = { "/",     "a",   "Index",  "-",
                                        ".html", "_",   "%C3%A9", "%20",
                                        "%41",   "%7e", "%2E",    ":",
                                        "//",    "/.",  "(",      "'" };
    static const char *const query[] = {
        "&",
        "=",
        "&",
        "a",
        "b",
        "utm_source",
        "utm_medium",
        "1",
        "B",
        "%20",
        "%3D",
        "%26",
        "a=1&a=1",
        "=&",
        "/",
        "?",
        "(",
        "id=7&sid=9",
        "jsessionid=0123456789abcdef0123456789abcdef&",
        "{",
        "cfid=&cftoken=",
        "aspsessionidabcdefgh=abcdefghijklmnopqrstuvwx"
    };
    size_t n = (size_t)sprintf(url, "http%s://%s", below(2) ? "s" : "",
                               ANY(host));

    for (size_t i = below(below(4) ? 12 : 70); i--;)
        url[n++] = (char)('a' + below(26));
    n += (size_t)sprintf(url + n, ".%s", ANY(end));
    if (!below(10))
        return n;
    url[n++] = '/';
    for (size_t i = below(16); i--;)
        n += (size_t)sprintf(url + n, "%s", path[below(below(4) ? 6 : 16)]);
    if (below(3)) {
        url[n++] = '?';
        for (size_t i = below(below(8) ? 24 : 100); i--;)
            n += (size_t)sprintf(url + n, "%s", ANY(query));
    }
    if (!below(8))
        n += (size_t)sprintf(url + n, "#part");
    if (!below(500)) /* up to the end of what a text has room for */
        while (n < SEEN_KEY_TEXT)
            url[n++] = "ab/&?="[below(6)];
    return n;
}

/* What fits into a URL of this length, by every version of the fast way. A
   space before a URL sends it the slow way, and changes nothing else. */
static unsigned compare_ways(char *with_space, size_t len)
{
    static char slow[SEEN_KEY_TEXT], first[SEEN_KEY_TEXT];
    static char *fast;
    const char *out, *url = with_space + 1;
    size_t n = fast_portable.whatwg(url, len);
    size_t m = fast_portable.surt(first, url, len), slowly;

    if (!fast)
        fast = wall_new(SEEN_KEY_TEXT) - SEEN_KEY_TEXT;
    for (unsigned i = 0; fast_ways(i); i++) {
        const struct fast_way *way = fast_ways(i);
        char *at = walled(url, len);

        if (way->whatwg(at, len) != n || way->surt(fast, at, len) != m ||
            memcmp(fast, first, m) != 0)
            fail_msg("%s of %.*s", way->name, (int)len, url);
    }
    if (n) {
        assert_int_equal(seen_url_whatwg(&out, &slowly, slow, with_space,
                                         len + 1, NULL, 0, NULL),
                         SEEN_OK);
        if (slowly != n || memcmp(out, url, n > len ? len : n) != 0 ||
            (n > len && out[len] != '/'))
            fail_msg("%.*s: %.*s", (int)len, url, (int)slowly, out);
    }
    if (m) {
        assert_int_equal(
            seen_url_surt(&out, &slowly, slow, with_space, len + 1, NULL),
            SEEN_OK);
        if (slowly != m || memcmp(out, first, m) != 0)
            fail_msg("%.*s: %.*s, not %.*s", (int)len, url, (int)m, first,
                     (int)slowly, out);
    }
    return (n ? 1u : 0u) + (m ? 1u : 0u);
}

TEST(all_fast_ways_agree_with_the_slow_way)
{
    static char url[ROOM + 1];
    uint64_t quick = 0, ordinary = 0;

    url[0] = ' ';
    for (int i = 0; i < URLS; i++) {
        size_t len = some_url(url + 1);

        if (len < SEEN_KEY_TEXT)
            quick += compare_ways(url, len);
        len = i % 3 ? SEEN_KEY_TEXT : ordinary_url(url + 1);
        if (len < SEEN_KEY_TEXT)
            ordinary += compare_ways(url, len);
    }
    assert_true(quick > URLS / 40);
    assert_true(ordinary > URLS / 6);
}

/* What is not ordinary is found wherever it stands among blocks of bytes. */
TEST(no_place_in_a_url_is_overlooked)
{
    static const char *const odd[] = { "/./b",     "//b",    "/%2e/b", "/%2E",
                                       "/",        "'",      "(",      "\x7f",
                                       "?b=2&a=1", "?a/./b", "?'",     "#" };
    static char url[ROOM + 1];

    url[0] = ' ';
    for (size_t k = 0; k < 200; k++)
        for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
            size_t n = (size_t)sprintf(url + 1, "http://a.example/");

            memset(url + 1 + n, 'a', k);
            n += k;
            n += (size_t)sprintf(url + 1 + n, "%s", odd[i]);
            compare_ways(url, n);
            memset(url + 1 + n, 'c', 70);
            compare_ways(url, n + 70);
        }
}

/* A part of a path is a prefix of the whole one. */
TEST(a_shorter_profile_gives_a_prefix)
{
    static char url[ROOM], a[SEEN_KEY_TEXT], b[SEEN_KEY_TEXT];

    for (int i = 0; i < URLS / 4; i++) {
        size_t len = some_url(url);
        struct seen_key whole, part;

        if (make(&whole, a, url, len, "surt") != SEEN_OK)
            continue;
        for (size_t p = 2; p < sizeof profiles / sizeof profiles[0]; p++) {
            assert_int_equal(make(&part, b, url, len, profiles[p]), SEEN_OK);
            assert_true(part.len <= whole.len);
            assert_memory_equal(part.text, whole.text, part.len);
        }
    }
}

/* A page is the same page under its SURT and under its WHATWG address. */
TEST(a_browser_does_not_change_where_archives_file_a_page)
{
    static const char *const url[] = {
        "HTTP://www.Example.com:80/a/./b/../c d/?b=1&a=%41#f",
        "https://b\xc3\xbc"
        "cher.example/\xc3\xa9?\xc3\xa9",
        "http://1.2.3.4:8080/%7Ea",
    };
    char a[SEEN_KEY_TEXT], b[SEEN_KEY_TEXT], c[SEEN_KEY_TEXT];

    for (size_t i = 0; i < sizeof url / sizeof url[0]; i++) {
        struct seen_key one, two, browser;
        size_t len = strlen(url[i]);

        assert_int_equal(make(&one, a, url[i], len, "surt"), SEEN_OK);
        assert_int_equal(make(&browser, b, url[i], len, "whatwg"), SEEN_OK);
        assert_int_equal(make(&two, c, browser.text, browser.len, "surt"),
                         SEEN_OK);
        assert_int_equal(one.len, two.len);
        assert_memory_equal(one.text, two.text, one.len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_canonical_text_is_its_own_canonical_text),
        cmocka_unit_test(all_fast_ways_agree_with_the_slow_way),
        cmocka_unit_test(no_place_in_a_url_is_overlooked),
        cmocka_unit_test(a_shorter_profile_gives_a_prefix),
        cmocka_unit_test(a_browser_does_not_change_where_archives_file_a_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
