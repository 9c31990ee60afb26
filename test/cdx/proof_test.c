/*
 * proof_test.c - what is proved about a key is right; and the key of each line
 * of an index is what a lookup of its URL makes, whatever its key column has.
 */
#include "test/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/ingest.h>

#include "lib/cdx/line.h"
#include "lib/cdx/proof.h"

enum { ROOM = 400, PAST = 64 };

static uint64_t dice;

static uint64_t some(uint64_t n)
{
    dice = seen_mix(dice + 1);
    return dice % n;
}

static const char *one_of(const char *const *list)
{
    size_t n = 0;

    while (list[n])
        n++;
    return list[some(n)];
}

/* --- URLs of all sorts --- */

static const char *const schemes[] = { "http://",  "http://", "https://",
                                       "https://", "HTTP://", "ftp://",
                                       "http:/",   "",        NULL };
static const char *const hosts[] = { "www.example.com",
                                     "example.com",
                                     "EXAMPLE.com",
                                     "www2.a.example",
                                     "www.www.x.org",
                                     "www.com",
                                     "a..b.com",
                                     "x.y-z.co.uk",
                                     "8.0.0.1",
                                     "010.1",
                                     "www.1.2.3.4",
                                     "xn--bcher-kva.de",
                                     "b\xc3\xbc"
                                     "cher.de",
                                     "a_b.example",
                                     "com",
                                     "user@h.example",
                                     "h.example:8080",
                                     "h.example:80",
                                     "h.example:443",
                                     "www.h.example.",
                                     "w.example",
                                     "wwwa.example",
                                     "www12a.example",
                                     ".a.example",
                                     NULL };
static const char *const paths[] = {
    "/",
    "/a",
    "/a/b.html",
    "/A/b",
    "//a",
    "/a//b",
    "/./a",
    "/a/../b",
    "/.a",
    "/a.",
    "/a%20b",
    "/a%c3%a9",
    "/a%C3%A9",
    "/a%2fb",
    "/a%2520",
    "/a%",
    "/%41",
    "/a%7e%0a",
    "/a%23",
    "/a#b",
    "/a(b)",
    "/a)b",
    "/a\\b",
    "/\xc4\x8d",
    "/a,b;c=d",
    "/(s(abcdefghijklmnopqrstuvwx))/x.aspx",
    "/%",
    "/a%3fb",
    "/a%3f/b",
    "/a-long-path-of-more-than-sixty-four-bytes/so-that-it-takes/two-turns",
    "/a@b:c",
    "/%e0%",
    "",
    "/a/%2e%2e/b",
    "/a+b",
    NULL
};
static const char *const queries[] = {
    "",
    "",
    "",
    "?",
    "?a=1",
    "?a=1&b=2",
    "?b=2&a=1",
    "?A=B",
    "?a&a=&a=1",
    "?q=http://x/../y//z",
    "?sid=0123456789abcdef0123456789abcdef",
    "?a=1&phpsessid=0123456789abcdef0123456789abcdef&b=2",
    "?cfid=1&cftoken=2",
    "?jsessionid=0123456789ABCDEF0123456789ABCDEF",
    "?aspsessionidabcdefgh=abcdefghijklmnopqrstuvwx",
    "?video=17&wide=1",
    "?a=%20b",
    "?a=(b)",
    "?a=1&&b",
    "?&",
    "??a",
    "?a=1#b",
    "?b-a=1&b=1",
    "?inside=1&outside=2&besides=3",
    NULL
};

/* Names that sort in all ways, or may be those of sessions. */
static const char *const names[] = { "a",     "b",    "id",       "ida",
                                     "id-a",  "page", "per_page", "nid",
                                     "sid",   "fid",  "my_sid",   "jsessionid",
                                     "cfid",  "",     "1",        "1-a",
                                     "video", NULL };

/* An ordinary URL as an index has most of, with hosts and texts around 64
   bytes, where those that look at as many begin anew. */
static int make_long_url(char *to)
{
    int n = sprintf(to, "http%s://%s%.*s.%s%sexample/", some(2) ? "s" : "",
                    some(2)   ? ""
                    : some(3) ? "www."
                              : "www31.",
                    (int)(some(9) ? some(20) + 1 : some(12) + 45),
                    "host-of-many-letters-and-4711-digits-that-is-long-enough",
                    some(3) ? "" : "sub.", some(5) ? "" : "co.");
    int parameters = some(2) ? (int)some(6) : 0;

    n += sprintf(to + n, "%.*s",
                 (int)(some(4) ? some(40) : some(12) + 50 + 64 * some(2)),
                 "Path/of-several/president/words.html/x/y/z/and/many/more/of/"
                 "them/until/there/are/more/than/two/times/sixty-four/bytes/"
                 "of/text.php");
    for (int i = 0; i < parameters; i++)
        n += sprintf(to + n, "%c%s%s%.*s", i ? '&' : '?', one_of(names),
                     some(9) ? "=" : "",
                     (int)(some(9) ? some(9) : some(3) + 31),
                     "0123456789abcdef0123456789abcdefg");
    return n;
}

/* A URL, mostly an ordinary one; some bytes of others are changed. */
static size_t make_url(char *to)
{
    int n;

    if (some(2))
        n = make_long_url(to);
    else if (some(2))
        n = snprintf(to, ROOM, "http%s://%s%s.example/%c/%llu.html%s",
                     some(2) ? "s" : "", some(2) ? "www." : "",
                     some(3) ? "a" : "b-c", some(5) ? 'p' : 'P',
                     (unsigned long long)some(6), some(3) ? "" : "?id=1");
    else
        n = snprintf(to, ROOM, "%s%s%s%s%s", one_of(schemes), one_of(hosts),
                     one_of(paths), some(3) ? "" : "/", one_of(queries));
    if (!some(8))
        to[some((uint64_t)n)] = "/.%#?&=:@(,-A\\"[some(14)];
    return (size_t)n;
}

/* A key as other tools write it: ours, or one that differs in some way. */
static size_t make_key(char *to, const char *url, size_t len)
{
    const char *surt;
    char text[SEEN_KEY_TEXT], *at;
    size_t n;

    if (seen_url_surt(&surt, &n, text, url, len, NULL) != SEEN_OK || !some(20))
        return (size_t)snprintf(to, ROOM, "com,example)/odd%llu",
                                (unsigned long long)some(9));
    assert_true(n < ROOM - 40);
    memcpy(to, surt, n);
    to[n] = '\0';
    at = memchr(to, ')', n);
    switch (some(12)) {
    case 0: /* case, sessions, order and escapes as in the URL */
        if (at && strchr(url, '/') && (surt = strstr(url, "://")) &&
            (surt = strchr(surt + 3, '/')))
            n = (size_t)(at + 1 - to) +
                (size_t)snprintf(at + 1, 200, "%.199s", surt);
        break;
    case 1: /* www kept */
        if (at) {
            memmove(at + 4, at, n - (size_t)(at - to));
            memcpy(at, ",www", 4);
            n += 4;
        }
        break;
    case 2: to[n++] = '/'; break;
    case 3: /* OpenWayback's */
        if (at) {
            memmove(at + 1, at, n - (size_t)(at - to));
            *at = ',';
            n++;
        }
        break;
    case 4: to[some(n)] = "/.%#?&=:@(,-A\\ac"[some(16)]; break;
    case 5: n += (size_t)sprintf(to + n, "?__wb_method=post"); break;
    }
    return n;
}

/* --- proofs --- */

TEST(what_is_proved_is_the_surt_of_the_url)
{
    char key[ROOM + PAST] = { 0 }, url[ROOM + PAST] = { 0 };
    char text[SEEN_KEY_TEXT];
    uint64_t right = 0, shown = 0;

    dice = 26;
    for (int i = 0; i < 300000; i++) {
        struct seen_span u = { url, make_url(url) };
        struct seen_span k = { key, make_key(key, url, u.len) };
        bool proved = cdx_scanner_portable.proof(k, u), equal;
        const char *surt = NULL;
        size_t n;

        equal = seen_url_surt(&surt, &n, text, url, u.len, NULL) == SEEN_OK &&
                n == k.len && !memcmp(surt, key, n);
        if (proved && !equal)
            fail_msg("%.*s is not that of %.*s", (int)k.len, key, (int)u.len,
                     url);
        right += equal;
        shown += proved;
        for (const struct cdx_scanner *const *s = cdx_scanner_all(); *s; s++)
            if ((*s)->proof(k, u) != proved)
                fail_msg("%.*s and %.*s: scanners differ", (int)k.len, key,
                         (int)u.len, url);
    }
    assert_in_range(right, 100000, 200000);
    assert_in_range(shown, right / 2, right);
}

/* All the lengths of a host and of a text around 64 bytes and twice that, with
   a byte changed at each place. */
TEST(each_byte_of_a_key_counts)
{
    char key[ROOM + PAST] = { 0 }, url[ROOM + PAST] = { 0 };
    char name[80], path[140];

    dice = 64;
    for (size_t i = 0; i < 70 + 130; i++) {
        size_t name_len = i < 70 ? i + 1 : 7, path_len = i < 70 ? 9 : i - 69;
        struct seen_span k = { key, 0 }, u = { url, 0 };

        memset(name, 'h', name_len);
        memset(path, 'p', path_len);
        path[0] = '/';
        u.len = (size_t)sprintf(url, "http://www2.%.*s.org%.*s?b=1",
                                (int)name_len, name, (int)path_len, path);
        k.len = (size_t)sprintf(key, "org,%.*s)%.*s?b=1", (int)name_len, name,
                                (int)path_len, path);
        if (path_len == 1)
            assert_int_equal(key[k.len - 5], '/');
        for (const struct cdx_scanner *const *s = cdx_scanner_all(); *s; s++) {
            assert_true((*s)->proof(k, u));
            for (size_t at = 0; at < k.len; at++) {
                char *to = some(2) ? &key[at] : &url[u.len - at - 1];
                char before = *to;

                *to = "axX/.,)?&%#(\"\\ \xe9\x1f"[some(17)];
                if (*to != before && (*s)->proof(k, u)) {
                    char text[SEEN_KEY_TEXT];
                    const char *surt;
                    size_t n;

                    assert_int_equal(
                        seen_url_surt(&surt, &n, text, url, u.len, NULL),
                        SEEN_OK);
                    assert_int_equal(n, k.len);
                    assert_memory_equal(surt, key, n);
                }
                *to = before;
            }
        }
    }
}

TEST(a_query_that_is_not_in_order_is_not_proved)
{
    static const char *const unsorted[] = {
        "1=x&=y",   "b=1&a=2",        "a-b=1&a=2",  "1&=",
        "b&a",      "a=2&a=1",        "a=&a",       "b=1&a",
        "a=1&",     "1&&2",           "1=1&2=2&=3", "abc=1&abb=1",
        "a&b=1&&c", "a=b=c&a=b-c&a=1"
    };
    char key[ROOM + PAST] = { 0 }, url[ROOM + PAST] = { 0 };

    for (size_t i = 0; i < LENGTH(unsorted); i++) {
        struct seen_span k = { key, 0 }, u = { url, 0 };

        k.len = (size_t)sprintf(key, "com,example)/?%s", unsorted[i]);
        u.len = (size_t)sprintf(url, "http://example.com/?%s", unsorted[i]);
        for (const struct cdx_scanner *const *s = cdx_scanner_all(); *s; s++)
            if ((*s)->proof(k, u))
                fail_msg("%s is proved", unsorted[i]);
    }
}

TEST(an_ordinary_line_needs_no_derivation)
{
    static const char *const pairs[][2] = {
        { "com,example)/", "http://example.com/" },
        { "com,example)/a/b.html", "https://www.example.com/a/b.html" },
        { "com,example)/a/b", "http://www3.example.com/A/B/" },
        { "uk,co,x-y)/a%20b%c3%a9?q=%23",
          "http://x-y.co.uk/a%20b%C3%A9?q=%23" },
        { "com,example)/?a=1&b=2&id=17", "http://example.com/?a=1&b=2&id=17" },
        { "com,example)/a?fid=17&nid=123456789&page=2&sid=3",
          "http://www12.example.com/a?fid=17&nid=123456789&page=2&sid=3" },
        { "com,example)/president?id=1&id=2&id-a=3&ida=4",
          "https://example.com/president?id=1&id=2&id-a=3&ida=4" },
        { "com,example)/?u=http://x//y/./(", "http://example.com/?u=http://x"
                                             "//y/./" },
    };
    char key[ROOM + PAST] = { 0 }, url[ROOM + PAST] = { 0 };

    for (size_t i = 0; i < LENGTH(pairs); i++) {
        struct seen_span k = { key, strlen(strcpy(key, pairs[i][0])) };
        struct seen_span u = { url, strlen(strcpy(url, pairs[i][1])) };

        for (const struct cdx_scanner *const *s = cdx_scanner_all(); *s; s++)
            assert_int_equal((*s)->proof(k, u), i + 1 < LENGTH(pairs));
    }
}

/* --- whole indexes --- */

struct set {
    uint64_t key[90000];
    size_t n;
};

static enum seen_code take(void *to, unsigned thread, struct seen_batch *b,
                           struct seen_error *why)
{
    struct set *s = to;

    (void)thread, (void)why;
    for (size_t i = 0; i < b->n; i++) {
        assert_true(s->n < LENGTH(s->key));
        s->key[s->n++] = b->key[i].hi;
    }
    return SEEN_OK;
}

static int order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void make_distinct(struct set *s)
{
    size_t n = 0;

    qsort(s->key, s->n, sizeof s->key[0], order);
    for (size_t i = 0; i < s->n; i++)
        if (!i || s->key[i] != s->key[i - 1])
            s->key[n++] = s->key[i];
    s->n = n;
}

/* Four ways to write a line: the last two are not read at once. */
static void put_line(FILE *file, int form, struct seen_span key,
                     struct seen_span url, int time)
{
    fprintf(file, "%.*s %d%s ", (int)key.len, key.text, 2000 + time,
            time % 9 ? "0101000000" : "0101");
    fputs(form == 1   ? "{\"url\": \""
          : form == 2 ? "{\"mime\": \"text/html\", \"url\":\""
          : form == 3 ? "t "
                      : "",
          file);
    fprintf(file, "%.*s", (int)url.len, url.text);
    fputs(form == 0   ? " text/html 200 K - - 1 2 g\n"
          : form == 1 ? "\", \"mime\": \"text/html\"}\n"
          : form == 2 ? "\"}\n"
                      : "\r\n",
          file);
}

static void put_index(const char *name, int form, struct set *wanted)
{
    FILE *file = fopen(name, "wb");
    char key[ROOM], url[ROOM];

    assert_non_null(file);
    if (form == 3)
        fputs(" CDX N b m a\n", file);
    wanted->n = 0;
    for (int i = 0; i < 20000; i++) {
        struct seen_span u = { url, make_url(url) }, k;
        struct seen_key made;
        char text[SEEN_KEY_TEXT];

        for (size_t j = 0; j < u.len; j++)
            if (form && (url[j] == '\\' || url[j] == '"'))
                url[j] = 'x';
        if (seen_key_make(&made, text, u.text, u.len, "surt", NULL) != SEEN_OK)
            continue;
        if (!cdx_asks(u))
            continue;
        k = (struct seen_span){ key, make_key(key, url, u.len) };
        if (memchr(key, ' ', k.len) || !k.len)
            continue;
        for (uint64_t j = some(4); j < 4; j++) {
            put_line(file, form, k, u, (int)j * 4);
            if (!some(9) && !strncmp(url, "http://", 7)) {
                /* As a rule of the same key. */
                char other[ROOM + 20];
                size_t n = (size_t)sprintf(other, "%s%s%.*s",
                                           some(2) ? "https://" : "http://",
                                           some(2)   ? ""
                                           : some(2) ? "www."
                                                     : "www7.",
                                           (int)u.len - 7, url + 7);

                if (seen_key_make(&made, text, other, n, "surt", NULL) ==
                    SEEN_OK) {
                    put_line(file, form, k, (struct seen_span){ other, n },
                             (int)j);
                    assert_true(wanted->n < LENGTH(wanted->key));
                    wanted->key[wanted->n++] = made.hi;
                }
                seen_key_make(&made, text, u.text, u.len, "surt", NULL);
            }
        }
        assert_true(wanted->n < LENGTH(wanted->key));
        wanted->key[wanted->n++] = made.hi;
    }
    assert_int_equal(fclose(file), 0);
    make_distinct(wanted);
}

static bool select_all(void *to, const struct seen_capture *c)
{
    (void)to, (void)c;
    return true;
}

TEST(the_key_of_each_line_is_what_a_lookup_of_its_url_makes)
{
    static struct set wanted, found;

    for (int form = 0; form < 4; form++) {
        struct seen_agreement first = { 0 };

        dice = (uint64_t)form;
        put_index("odd", form, &wanted);
        for (int way = 0; way < 5; way++) {
            const char *name = "odd";
            struct seen_ingest in = { .keying = { "surt", SEEN_KEYS_AUTO },
                                      .keys = take,
                                      .to = &found,
                                      .every = way == 4 };

            if (way == 1)
                in.keying.keys = SEEN_KEYS_DERIVED;
            in.select = way == 2 ? select_all : NULL;
            in.detail = way == 3 ? SEEN_DETAIL_ALL : SEEN_DETAIL_KEY;
            found.n = 0;
            assert_int_equal(
                seen_source_open(&in.source, &name, 1, NULL, NULL), SEEN_OK);
            assert_int_equal(seen_ingest_run(&in, NULL), SEEN_OK);
            seen_source_close(in.source);
            make_distinct(&found);
            assert_int_equal(in.rejects.count, 0);
            assert_int_equal(found.n, wanted.n);
            assert_memory_equal(found.key, wanted.key,
                                wanted.n * sizeof wanted.key[0]);
            if (!way)
                first = in.agreement;
            assert_true(in.agreement.differ > 1000);
            assert_int_equal(in.agreement.checked, first.checked);
            assert_int_equal(in.agreement.differ, first.differ);
            assert_int_equal(in.agreement.line, first.line);
        }
    }
}

/* A short time and a short URL may end where a time of 14 digits would. */
TEST(the_url_is_found_behind_times_of_any_length)
{
    static struct set found;
    FILE *file = fopen("times", "wb");
    const char *name = "times";
    struct seen_ingest in = { .keying = { "surt", SEEN_KEYS_AUTO },
                              .keys = take,
                              .to = &found,
                              .every = true };
    uint64_t wanted[400];
    size_t n = 0;

    assert_non_null(file);
    fputs(" CDX N b a m s k r M V g\n", file);
    for (int time = 1; time <= 17; time++)
        for (int host = 1; host <= 16; host++) {
            char url[40], text[SEEN_KEY_TEXT];
            struct seen_key made;
            size_t len = (size_t)sprintf(url, "http://%.*s", host,
                                         "abcdefghijklmnop");

            fprintf(file, "com,example)/ %.*s %s text/html 200 A - - 1 g\n",
                    time, time == 1 ? "-" : "20200101000000999", url);
            assert_int_equal(
                seen_key_make(&made, text, url, len, "surt", NULL), SEEN_OK);
            wanted[n++] = made.hi;
        }
    assert_int_equal(fclose(file), 0);
    found.n = 0;
    assert_int_equal(seen_source_open(&in.source, &name, 1, NULL, NULL),
                     SEEN_OK);
    assert_int_equal(seen_ingest_run(&in, NULL), SEEN_OK);
    seen_source_close(in.source);
    assert_int_equal(found.n, n);
    assert_memory_equal(found.key, wanted, n * sizeof wanted[0]);
}

TEST(an_object_in_json_behind_a_short_time_is_not_the_first_one)
{
    static struct set found;
    static const char line[] =
        "com,example)/ 2020 {\"abcde\": {\"url\": \"http://evil.example/\"}, "
        "\"url\": \"http://a.example/\"}\n";
    FILE *file = fopen("nested", "wb");
    const char *name = "nested";
    struct seen_ingest in = { .keying = { "surt", SEEN_KEYS_AUTO },
                              .keys = take,
                              .to = &found };
    char text[SEEN_KEY_TEXT];
    struct seen_key made;

    assert_non_null(file);
    fputs(line, file);
    assert_int_equal(fclose(file), 0);
    found.n = 0;
    assert_int_equal(seen_source_open(&in.source, &name, 1, NULL, NULL),
                     SEEN_OK);
    assert_int_equal(seen_ingest_run(&in, NULL), SEEN_OK);
    seen_source_close(in.source);
    seen_key_make(&made, text, "http://a.example/", 17, "surt", NULL);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.key[0], made.hi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_proved_is_the_surt_of_the_url),
        cmocka_unit_test(each_byte_of_a_key_counts),
        cmocka_unit_test(a_query_that_is_not_in_order_is_not_proved),
        cmocka_unit_test(an_ordinary_line_needs_no_derivation),
        cmocka_unit_test(
            the_key_of_each_line_is_what_a_lookup_of_its_url_makes),
        cmocka_unit_test(the_url_is_found_behind_times_of_any_length),
        cmocka_unit_test(
            an_object_in_json_behind_a_short_time_is_not_the_first_one),
    };

    return cmocka_run_group_tests(tests, folder_enter, folder_remove);
}
