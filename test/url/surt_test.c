/*
 * surt_test.c - URLs as archives file them.
 *
 * What the archives' tools make of the cases was found out from their rules
 * (doc/profiles.md), and compared with an independent version of them.
 */
#include "lib/url/surt.h"
#include "test/test.h"

#include <stdio.h>
#include <string.h>

#include <seen/url.h>

struct pair {
    const char *url, *out;
};

static void check(const char *url, const char *expected)
{
    char text[SEEN_KEY_TEXT];
    const char *out = NULL;
    size_t len = 0;
    struct seen_error why = { .text = "" };
    enum seen_code code = seen_url_surt(&out, &len, text, url, strlen(url),
                                        &why);

    if (!expected) {
        if (code != SEEN_BAD_URL || !*why.text || why.at > strlen(url) || out)
            fail_msg("%s: not refused, but %.*s", url, (int)len,
                     out ? out : "");
        return;
    }
    if (code != SEEN_OK)
        fail_msg("%s: %s", url, why.text);
    if (len != strlen(expected) || memcmp(out, expected, len))
        fail_msg("%s: %.*s instead of %s", url, (int)len, out, expected);
}

#define CHECK(table) \
    for (size_t i = 0; i < sizeof(table) / sizeof(table)[0]; i++) \
    check((table)[i].url, (table)[i].out)

TEST(the_host_is_reversed_and_the_scheme_dropped)
{
    static const struct pair cases[] = {
        { "http://a.example.com/b", "com,example,a)/b" },
        { "https://a.example.com/b", "com,example,a)/b" },
        { "ftp://a.example.com/b", "com,example,a)/b" },
        { "metadata://a.example/b", "example,a)/b" },
        { "HTTP://A.Example.COM/B", "com,example,a)/b" },
        { "localhost/x", "localhost)/x" },
        { "a.example", "example,a)/" },
        { "http://a.example", "example,a)/" },
        { "http://a.example?b", "example,a)/?b" },
        { "  http://a.exam\tple/\nb ", "example,a)/b" },
        { "http://", NULL },
        { "http:///", NULL },
        { "https://:80/", NULL },
        { "foo://:80/", NULL },
        { "http://.../", NULL },
        { "", NULL },
        { "   ", NULL },
    };

    CHECK(cases);
}

TEST(www_is_dropped_once_with_its_digits)
{
    static const struct pair cases[] = {
        { "http://www.a.example/", "example,a)/" },
        { "http://www2.a.example/", "example,a)/" },
        { "http://WWW007.a.example/", "example,a)/" },
        { "http://www.www.a.example/", "example,a,www)/" },
        { "http://wwww.a.example/", "example,a,wwww)/" },
        { "http://www2a.example/", "example,www2a)/" },
        { "http://www.com/", "com)/" },
        { "http://www/", "www)/" },
        { "http://a.www.example/", "example,www,a)/" },
        { "dns://www.a.example/", "example,a,www)/" },
    };

    CHECK(cases);
}

TEST(ports_stay_unless_they_are_those_of_http)
{
    static const struct pair cases[] = {
        { "http://a.example:80/", "example,a)/" },
        { "https://a.example:443/", "example,a)/" },
        { "https://a.example:80/", "example,a:80)/" },
        { "http://a.example:8080/", "example,a:8080)/" },
        { "ftp://a.example:21/", "example,a:21)/" },
        { "http://a.example:/", "example,a)/" },
        { "http://a.example:0/", "example,a)/" },
        { "http://a.example:0081/", "example,a:81)/" },
        { "http://localhost:8080/", "localhost:8080)/" },
        { "http://a.example:x/", NULL },
        { "http://a.example:65536/", NULL },
        { "http://a.example:80:80/", NULL },
    };

    CHECK(cases);
}

TEST(credentials_and_fragments_are_dropped)
{
    static const struct pair cases[] = {
        { "http://u:p@a.example/b#c", "example,a)/b" },
        { "http://u@x@a.example/", "example,a)/" },
        { "http://a.example#b/c?d", "example,a)/" },
        { "http://a.example/b?c#d?e", "example,a)/b?c" },
    };

    CHECK(cases);
}

TEST(addresses_are_reversed_too)
{
    static const struct pair cases[] = {
        { "http://1.2.3.4/", "4,3,2,1)/" },
        { "http://1.2.3.4:81/x", "4,3,2,1:81)/x" },
        { "http://017.0.0.1/", "1,0,0,15)/" },
        { "http://1.010.1.1/", "1,1,8,1)/" },
        { "http://10.0.258/", "2,1,0,10)/" },
        { "http://3232235777/", "1,1,168,192)/" },
        { "http://4294967297/", "1,0,0,0)/" },
        { "http://1.2.3.256/", "256,3,2,1)/" },
        { "http://08.1.1.1/", "1,1,1,08)/" },
        { "http://0x7f.1/", "1,0x7f)/" },
        { "http://1.2.3.4.5/", "5,4,3,2,1)/" },
        { "http://[2001:DB8::1]/x", "2001:db8::1)/x" },
        { "http://[fe80::1]:8080/x", "fe80::1:8080)/x" },
        { "http://[::ffff:1.2.3.4]/", "4,3,2,::ffff:1)/" },
        { "http://[::1%25eth0]/", NULL },
    };

    CHECK(cases);
}

TEST(hosts_are_unescaped_encoded_and_tidied)
{
    static const struct pair cases[] = {
        { "http://%41.ex%61mple/", "example,a)/" },
        { "http://a..b...example./", "example,b,a)/" },
        { "http://.a.example/", "example,a)/" },
        { "http://b\xc3\xbc"
          "cher.example/",
          "example,xn--bcher-kva)/" },
        { "http://B%C3%9CCHER.example/", "example,xn--bcher-kva)/" },
        { "http://fa\xc3\x9f.example/", "example,fass)/" },
        { "http://\xe2\x98\x83.example/", "example,xn--n3h)/" },
        { "http://xn--n3h.example/", "example,xn--n3h)/" },
        { "http://a b.example/", "example,a%20b)/" },
        { "http://a%23b.example/", "example,a%23b)/" },
        { "http://a_b.example/", "example,a_b)/" },
        { "http://\xff.example/", "example,%ff)/" },
        /* What would end the host, or begin another label, is escaped. */
        { "http://a)b,c.example/", "example,a%29b%2cc)/" },
        { "http://a%2Fb%3Fc%3A80.example/", "example,a%2fb%3fc%3a80)/" },
    };

    CHECK(cases);
}

TEST(paths_are_unescaped_repeatedly_and_escaped_once)
{
    static const struct pair cases[] = {
        { "http://a.example/%41%42", "example,a)/ab" },
        { "http://a.example/%25%34%31", "example,a)/a" },
        { "http://a.example/%2525252541", "example,a)/a" },
        { "http://a.example/%", "example,a)/%25" },
        { "http://a.example/%zz%2", "example,a)/%25zz%252" },
        { "http://a.example/a b", "example,a)/a%20b" },
        { "http://a.example/\xc3\x89", "example,a)/%c3%89" },
        { "http://a.example/%C3%89", "example,a)/%c3%89" },
        { "http://a.example/\xe9", "example,a)/%e9" },
        { "http://a.example/%23%00%7F", "example,a)/%23%00%7f" },
        { "http://a.example/%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D",
          "example,a)/\"<>[\\]^`{|}" },
        { "http://a.example/a%2Fb", "example,a)/a/b" },
        { "http://a.example/a%3Fb", "example,a)/a?b" },
        { "http://a.example/a+b", "example,a)/a+b" },
    };

    CHECK(cases);
}

TEST(dots_and_double_slashes_are_resolved)
{
    static const struct pair cases[] = {
        { "http://a.example//b///c", "example,a)/b/c" },
        { "http://a.example/b/./c/../d", "example,a)/b/d" },
        { "http://a.example/b/%2e%2e/c", "example,a)/c" },
        { "http://a.example/b/..", "example,a)/" },
        { "http://a.example/b/c/..", "example,a)/b" },
        { "http://a.example/b//../c", "example,a)/b/c" },
        /* A ".." too many stays, and the next takes it away. */
        { "http://a.example/../b", "example,a)/../b" },
        { "http://a.example/../../b", "example,a)/b" },
        { "http://a.example/.../b", "example,a)/.../b" },
    };

    CHECK(cases);
}

TEST(a_slash_at_the_end_is_dropped_except_at_the_root)
{
    static const struct pair cases[] = {
        { "http://a.example/", "example,a)/" },
        { "http://a.example//", "example,a)/" },
        { "http://a.example/b/", "example,a)/b" },
        { "http://a.example/b//", "example,a)/b" },
        { "http://a.example/b/?c", "example,a)/b?c" },
        { "http://a.example/b/.", "example,a)/b" },
        { "http://a.example/?b/", "example,a)/?b/" },
    };

    CHECK(cases);
}

TEST(queries_are_sorted_by_name_and_value)
{
    static const struct pair cases[] = {
        { "http://a.example/?b=1&a=2", "example,a)/?a=2&b=1" },
        { "http://a.example/?a=2&b&a=1", "example,a)/?a=1&a=2&b" },
        { "http://a.example/?a=&a", "example,a)/?a&a=" },
        { "http://a.example/?a-b=1&a=1", "example,a)/?a=1&a-b=1" },
        { "http://a.example/?a=1&", "example,a)/?&a=1" },
        { "http://a.example/?B=1&a=C", "example,a)/?a=c&b=1" },
        { "http://a.example/?b=1%26a=2", "example,a)/?a=2&b=1" },
        { "http://a.example/?x=a%20b+c", "example,a)/?x=a%20b+c" },
        { "http://a.example/?u=http://B.example//c/../d",
          "example,a)/?u=http://b.example//c/../d" },
        { "http://a.example/?", "example,a)/" },
        { "http://a.example/b??", "example,a)/b??" },
        { "http://a.example/?&", "example,a)/?&" },
        { "http://a.example/?b=x=y", "example,a)/?b=x=y" },
    };

    CHECK(cases);
}

#define ID32 "0123456789abcdefABCDEF0123456789"
#define ID24 "abcdefghijklmnopqrstuvwx"

TEST(session_ids_are_taken_out_of_queries)
{
    static const struct pair cases[] = {
        { "http://a.example/?jsessionid=" ID32, "example,a)/" },
        { "http://a.example/?JSESSIONID=" ID32 "&b=1", "example,a)/?b=1" },
        { "http://a.example/?b=1&PHPSESSID=" ID32 "&a=1",
          "example,a)/?a=1&b=1" },
        { "http://a.example/?b=1&sid=" ID32, "example,a)/?&b=1" },
        { "http://a.example/?sid=" ID32 "&jsessionid=" ID32, "example,a)/" },
        { "http://a.example/?ASPSESSIONIDABCDEFGH=" ID24 "&x",
          "example,a)/?x" },
        { "http://a.example/?CFID=1&CFTOKEN=2-3&x", "example,a)/?x" },
        { "http://a.example/?x&cfid=1&cftoken=2", "example,a)/?&x" },
        { "http://a.example/?my_sid=" ID32 "&x", "example,a)/?my_x" },
        /* Of two, the last: the tools look once. */
        { "http://a.example/?sid=" ID32 "&x&sid=" ID32,
          "example,a)/?&sid=0123456789abcdefabcdef0123456789&x" },
        /* These are none. */
        { "http://a.example/?sid=1", "example,a)/?sid=1" },
        { "http://a.example/?sid=" ID32 "0",
          "example,a)/?sid=0123456789abcdefabcdef01234567890" },
        { "http://a.example/?cftoken=2&cfid=1",
          "example,a)/?cfid=1&cftoken=2" },
        { "http://a.example/?cfid=&cftoken=2", "example,a)/?cfid=&cftoken=2" },
        { "http://a.example/?aspsessionidabcdefg1=" ID24,
          "example,a)/?aspsessionidabcdefg1=" ID24 },
        { "http://a.example/b;jsessionid=" ID32,
          "example,a)/b;jsessionid=0123456789abcdefabcdef0123456789" },
    };

    CHECK(cases);
}

TEST(session_ids_are_taken_out_of_the_paths_of_asp_net)
{
    static const struct pair cases[] = {
        { "http://a.example/(S(" ID24 "))/b.aspx", "example,a)/b.aspx" },
        { "http://a.example/x/(a(" ID24 ")F(" ID24 "))/y/b.ASPX?c",
          "example,a)/x/y/b.aspx?c" },
        { "http://a.example/(" ID24 ")/b.aspx", "example,a)/b.aspx" },
        { "http://a.example/(" ID24 ")/b.aspxx/c", "example,a)/b.aspxx/c" },
        { "http://a.example/(" ID24 ")/b.html",
          "example,a)/(" ID24 ")/b.html" },
        { "http://a.example/(" ID24 "y)/b.aspx",
          "example,a)/(" ID24 "y)/b.aspx" },
        { "http://a.example/(" ID24 ")/.aspx", "example,a)/(" ID24 ")/.aspx" },
        { "http://a.example/(s(" ID24 ")/b.aspx",
          "example,a)/(s(" ID24 ")/b.aspx" },
    };

    CHECK(cases);
}

TEST(http_is_recognised_however_it_is_misspelled)
{
    static const struct pair cases[] = {
        { "http://https://a.example/b", "example,a)/b" },
        { "http://http://http://a.example/b", "example,a)/b" },
        { "http://https://a.example:80/b", "example,a:80)/b" },
        { "http:////a.example/b", "example,a)/b" },
        { "http:a.example/b", "example,a)/b" },
        { "http:/a.example:8080/b", "example,a:8080)/b" },
        { "//a.example/b", "example,a)/b" },
    };

    CHECK(cases);
}

TEST(what_has_no_host_keeps_its_scheme)
{
    static const struct pair cases[] = {
        { "dns:www.a.example", "dns:www.a.example" },
        { "dns:A.example", "dns:a.example" },
        { "warcinfo:a-b.warc.gz", "warcinfo:a-b.warc.gz" },
        { "filedesc:A.arc", "filedesc:A.arc" },
        { "filedesc://A.arc?b&a", "filedesc://A.arc?b&a" },
        { "mailto:A@b.example", "mailto:a@b.example" },
        { "urn:pageinfo:https://A.example/?b&a",
          "urn:pageinfo:https://a.example?a&b" },
        { "URN:a%41", "urn:aa" },
        { "a.example:8080/x", "a.example:8080/x" },
        { "file:///a/B/", "file:/a/b" },
        { "javascript:f()/2", "javascript:f()/2" },
        { "x:", "x:" },
    };

    CHECK(cases);
}

TEST(a_surt_is_its_own_surt)
{
    static const struct pair cases[] = {
        { "com,example)/", "com,example)/" },
        { "com,example)/a?b&a", "com,example)/a?b&a" },
        { "com,example:8080)/A", "com,example:8080)/A" },
        { "localhost:8080)/", "localhost:8080)/" },
        { "fe80::1)/", "fe80::1)/" },
        { "com,example)", "com,example)" },
        { "com,example,)/", "com,example)/" },
        { "com,example,)/a/", "com,example)/a" },
        { "com,example)/a//", "com,example)/a" },
        { "com,example)//", "com,example)/" },
        { "com,example)/a/?b/", "com,example)/a?b/" },
        { " com,example,)/ ", "com,example)/" },
    };

    CHECK(cases);
}

TEST(a_foreign_surt_is_told_from_a_url)
{
    static const struct {
        const char *key, *out; /* NULL: it is none */
    } cases[] = {
        { "com,example)/a", "com,example)/a" },
        { "com,example,)/a", "com,example)/a" },
        { "com,example,,)/a/", "com,example)/a" },
        { "com,example:8080)/", "com,example:8080)/" },
        { "example:8080)/", "example:8080)/" },
        { "com,example)", "com,example)" },
        { "http://a.example/", NULL },
        { "http://a.example/b)/c", NULL },
        { "a.example/b", NULL },
        { "dns:a.example", NULL },
        { "mailto:a)/b", NULL },
        { "javascript:f()/2", NULL },
        { "javascript:f)/2", NULL },
        { "http:8080x)/", NULL },
        { "com,example)a", NULL },
        { "com,example?)/", NULL },
        { ")/", NULL },
        { "-", NULL },
        { "", NULL },
    };
    char text[SEEN_KEY_TEXT];
    const char *out;
    size_t len;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *key = cases[i].key, *expected = cases[i].out;
        size_t n = strlen(key);

        if (!expected) {
            assert_int_equal(seen_url_surt_key(&out, &len, text, key, n, NULL),
                             SEEN_MISMATCH);
            continue;
        }
        assert_int_equal(seen_url_surt_key(&out, &len, text, key, n, NULL),
                         SEEN_OK);
        assert_int_equal(len, strlen(expected));
        assert_memory_equal(out, expected, len);
        if (!strcmp(key, expected))
            assert_ptr_equal(out, key);
    }
}

TEST(a_surt_is_cut_after_some_segments)
{
    static const struct {
        const char *surt;
        unsigned segments;
        const char *out;
    } cases[] = {
        { "com,example)/a/b/c?d", 0, "com,example)/" },
        { "com,example)/a/b/c?d", 1, "com,example)/a" },
        { "com,example)/a/b/c?d", 2, "com,example)/a/b" },
        { "com,example)/a/b/c?d", 3, "com,example)/a/b/c" },
        { "com,example)/a/b/c?d", 9, "com,example)/a/b/c" },
        { "com,example)/", 0, "com,example)/" },
        { "com,example)/", 1, "com,example)/" },
        { "com,example)/?d/e", 0, "com,example)/" },
        { "com,example)/?d/e", 1, "com,example)/" },
        { "com,example:81)/a?d/e", 1, "com,example:81)/a" },
        { "com,example)", 0, "com,example)" },
        { "dns:a.example", 0, "dns:a.example" },
        { "urn:a/b/c?d", 1, "urn:a/b/c?d" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len = surt_cut(cases[i].surt, strlen(cases[i].surt),
                              cases[i].segments);

        assert_int_equal(len, strlen(cases[i].out));
        assert_memory_equal(cases[i].surt, cases[i].out, len);
    }
}

TEST(the_byte_at_fault_is_told)
{
    char text[SEEN_KEY_TEXT];
    struct seen_error why;
    const char *out;
    size_t len;

    assert_int_equal(
        seen_url_surt(&out, &len, text, " h\tttp://a.b:x/", 15, &why),
        SEEN_BAD_URL);
    assert_int_equal(why.at, 9);
}

TEST(a_url_may_be_as_long_as_a_key)
{
    static char url[SEEN_KEY_TEXT + 1] = "http://a/";
    char text[SEEN_KEY_TEXT];
    struct seen_error why;
    const char *out;
    size_t len;

    memset(url + 9, 'x', sizeof url - 9);
    assert_int_equal(seen_url_surt(&out, &len, text, url, SEEN_KEY_TEXT, NULL),
                     SEEN_OK);
    assert_int_equal(len, SEEN_KEY_TEXT - 6);
    assert_int_equal(seen_url_surt(&out, &len, text, url, sizeof url, &why),
                     SEEN_BAD_URL);
    assert_int_equal(why.at, SEEN_KEY_TEXT);
    memset(url + 9, ' ', SEEN_KEY_TEXT - 10);
    assert_int_equal(seen_url_surt(&out, &len, text, url, SEEN_KEY_TEXT, &why),
                     SEEN_BAD_URL);
    assert_int_equal(why.at, SEEN_KEY_TEXT);
}

/* Sorted in time: a hundred of these take a second by insertion. */
TEST(as_many_parameters_as_fit_are_sorted)
{
    static char url[SEEN_KEY_TEXT] = "http://a/?";
    char text[SEEN_KEY_TEXT];
    const char *out;
    size_t len;

    for (size_t i = 10; i < sizeof url; i++)
        url[i] = i % 2 ? '&' : (char)('z' - (int)(i * 26 / sizeof url));
    for (int i = 0; i < 100; i++)
        assert_int_equal(
            seen_url_surt(&out, &len, text, url, sizeof url, NULL), SEEN_OK);
    assert_memory_equal(out, "a)/?&a&a&", 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_reversed_and_the_scheme_dropped),
        cmocka_unit_test(www_is_dropped_once_with_its_digits),
        cmocka_unit_test(ports_stay_unless_they_are_those_of_http),
        cmocka_unit_test(credentials_and_fragments_are_dropped),
        cmocka_unit_test(addresses_are_reversed_too),
        cmocka_unit_test(hosts_are_unescaped_encoded_and_tidied),
        cmocka_unit_test(paths_are_unescaped_repeatedly_and_escaped_once),
        cmocka_unit_test(dots_and_double_slashes_are_resolved),
        cmocka_unit_test(a_slash_at_the_end_is_dropped_except_at_the_root),
        cmocka_unit_test(queries_are_sorted_by_name_and_value),
        cmocka_unit_test(session_ids_are_taken_out_of_queries),
        cmocka_unit_test(session_ids_are_taken_out_of_the_paths_of_asp_net),
        cmocka_unit_test(http_is_recognised_however_it_is_misspelled),
        cmocka_unit_test(what_has_no_host_keeps_its_scheme),
        cmocka_unit_test(a_surt_is_its_own_surt),
        cmocka_unit_test(a_foreign_surt_is_told_from_a_url),
        cmocka_unit_test(a_surt_is_cut_after_some_segments),
        cmocka_unit_test(the_byte_at_fault_is_told),
        cmocka_unit_test(a_url_may_be_as_long_as_a_key),
        cmocka_unit_test(as_many_parameters_as_fit_are_sorted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
