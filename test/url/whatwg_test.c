/*
 * whatwg_test.c - URLs as browsers write them.
 *
 * The cases follow the sections of the WHATWG URL standard. NULL as the
 * result: the standard says "failure".
 */
#include "test/test.h"

#include <stdio.h>
#include <string.h>

#include <seen/url.h>

#include "lib/url/text.h"

struct pair {
    const char *url, *out;
};

static void check(const char *url, const char *base, const char *expected)
{
    char text[SEEN_KEY_TEXT];
    const char *out = NULL;
    size_t len = 0;
    struct seen_error why = { .text = "" };
    enum seen_code code = seen_url_whatwg(&out, &len, text, url, strlen(url),
                                          base, base ? strlen(base) : 0, &why);

    if (!expected) {
        if (code != SEEN_BAD_URL || !*why.text || why.at > strlen(url) || out)
            fail_msg("%s: not refused, but %.*s", url, (int)len, out);
        return;
    }
    if (code != SEEN_OK)
        fail_msg("%s: %s", url, why.text);
    if (len != strlen(expected) || memcmp(out, expected, len))
        fail_msg("%s: %.*s instead of %s", url, (int)len, out, expected);
}

#define CHECK(table) \
    for (size_t i = 0; i < sizeof(table) / sizeof(table)[0]; i++) \
    check((table)[i].url, NULL, (table)[i].out)

TEST(what_is_canonical_is_not_copied)
{
    static const char *const url[] = {
        "http://a.example/",
        "https://www.example.com/a/b.html?c=d&e=f/g?h",
        "http://a.example/%7Ex;y=(1)!$'*,@|[]",
    };
    char text[SEEN_KEY_TEXT];
    const char *out;
    size_t len;

    for (size_t i = 0; i < sizeof url / sizeof url[0]; i++) {
        assert_int_equal(seen_url_whatwg(&out, &len, text, url[i],
                                         strlen(url[i]), NULL, 0, NULL),
                         SEEN_OK);
        assert_ptr_equal(out, url[i]);
        assert_int_equal(len, strlen(url[i]));
    }
}

TEST(a_fragment_is_dropped)
{
    static const struct pair cases[] = {
        { "http://a.example/b#c", "http://a.example/b" },
        { "http://a.example/b?c#d?e", "http://a.example/b?c" },
        { "http://a.example#", "http://a.example/" },
        { "mailto:a@b#c", "mailto:a@b" },
        { "foo://h#f", "foo://h" },
    };

    CHECK(cases);
}

TEST(what_surrounds_and_breaks_a_url_is_no_part_of_it)
{
    static const struct pair cases[] = {
        { " \x01 http://a.example/ \x1f", "http://a.example/" },
        { "ht\ntp://a.exa\tmple/x\r\ny", "http://a.example/xy" },
        { "\t", NULL },
        { "", NULL },
    };

    CHECK(cases);
}

TEST(schemes_and_hosts_are_in_lower_case_and_paths_are_not)
{
    static const struct pair cases[] = {
        { "HTTP://A.Example/B?C", "http://a.example/B?C" },
        { "hTTps:a.example", "https://a.example/" },
        { "Foo://A.Example/B", "foo://A.Example/B" },
        { "a.example/b", NULL },
        { "//a.example/b", NULL },
        { "1http://a.example/", NULL },
        { ":", NULL },
        { "http://", NULL },
        { "http:", NULL },
        { "http:///", NULL },
        { "http://?q", NULL },
    };

    CHECK(cases);
}

TEST(special_urls_take_any_slashes_before_the_host)
{
    static const struct pair cases[] = {
        { "http:/a.example/b", "http://a.example/b" },
        { "http:////a.example/b", "http://a.example/b" },
        { "http:\\\\a.example\\b\\c", "http://a.example/b/c" },
        { "http:/\\/a.example/\\b", "http://a.example//b" },
        { "ws:\\a.example", "ws://a.example/" },
        { "foo:\\a", "foo:\\a" },
        { "foo:/a\\b", "foo:/a\\b" },
    };

    CHECK(cases);
}

TEST(default_ports_are_dropped)
{
    static const struct pair cases[] = {
        { "http://a.example:80/", "http://a.example/" },
        { "https://a.example:443/", "https://a.example/" },
        { "ftp://a.example:21/", "ftp://a.example/" },
        { "ws://a.example:80/", "ws://a.example/" },
        { "wss://a.example:443/", "wss://a.example/" },
        { "http://a.example:443/", "http://a.example:443/" },
        { "http://a.example:/", "http://a.example/" },
        { "http://a.example:0/", "http://a.example:0/" },
        { "http://a.example:0008080/", "http://a.example:8080/" },
        { "http://a.example:65535/", "http://a.example:65535/" },
        { "http://a.example:65536/", NULL },
        { "http://a.example:99999999999/", NULL },
        { "http://a.example:8a/", NULL },
        { "http://a.example:-1/", NULL },
        { "http://:80/", NULL },
        { "foo://h:80/", "foo://h:80/" },
        { "foo://:80/", NULL },
    };

    CHECK(cases);
}

TEST(credentials_are_kept_and_escaped)
{
    static const struct pair cases[] = {
        { "http://u:p@a.example/", "http://u:p@a.example/" },
        { "http://u@a.example/", "http://u@a.example/" },
        { "http://u:@a.example/", "http://u@a.example/" },
        { "http://:p@a.example/", "http://:p@a.example/" },
        { "http://:@a.example/", "http://a.example/" },
        { "http://@a.example/", "http://a.example/" },
        { "http://a@b@c.example/", "http://a%40b@c.example/" },
        { "http://a:b:c@d.example/", "http://a:b%3Ac@d.example/" },
        { "http://;=[]|^@d.example/", "http://%3B%3D%5B%5D%7C%5E@d.example/" },
        { "http://u@/x", NULL },
        { "foo://u@/x", NULL },
    };

    CHECK(cases);
}

TEST(dot_segments_are_resolved_escaped_or_not)
{
    static const struct pair cases[] = {
        { "http://a.example/b/./c/../d", "http://a.example/b/d" },
        { "http://a.example/..", "http://a.example/" },
        { "http://a.example/../../b", "http://a.example/b" },
        { "http://a.example/b/..", "http://a.example/" },
        { "http://a.example/b/.", "http://a.example/b/" },
        { "http://a.example/b/%2e%2E/c", "http://a.example/c" },
        { "http://a.example/b/.%2e", "http://a.example/" },
        { "http://a.example/%2E/b", "http://a.example/b" },
        { "http://a.example/.../b", "http://a.example/.../b" },
        { "http://a.example/b//../c", "http://a.example/b/c" },
        { "http://a.example//b//", "http://a.example//b//" },
        { "http://a.example/b%2f..", "http://a.example/b%2f.." },
        { "http://a.example/?../b", "http://a.example/?../b" },
        { "foo://h/..", "foo://h/" },
        { "foo:/a/../b", "foo:/b" },
    };

    CHECK(cases);
}

TEST(each_part_escapes_what_its_set_names)
{
    static const struct pair cases[] = {
        { "http://a.example/ \"<>`{}^|'~",
          "http://a.example/%20%22%3C%3E%60%7B%7D%5E|'~" },
        { "http://a.example/? \"<>`{}^|'~",
          "http://a.example/?%20%22%3C%3E`{}^|%27~" },
        { "foo://h/?'", "foo://h/?'" },
        { "foo:a b\"<>\x01\x7f", "foo:a b\"<>%01%7F" },
        { "foo:a ?b", "foo:a%20?b" },
        { "foo:a  #b", "foo:a %20" },
        { "http://a.example/%", "http://a.example/%" },
        { "http://a.example/%zz%4", "http://a.example/%zz%4" },
        { "http://a.example/\xc3\xa9?\xe2\x82\xac",
          "http://a.example/%C3%A9?%E2%82%AC" },
    };

    CHECK(cases);
}

/* A U+FFFD for each maximal part, as decoders of UTF-8 do it. */
TEST(what_is_no_utf8_becomes_a_replacement_character)
{
    static const struct pair cases[] = {
        { "http://a.example/\xff", "http://a.example/%EF%BF%BD" },
        { "http://a.example/\xc3(", "http://a.example/%EF%BF%BD(" },
        { "http://a.example/\xe2\x82x", "http://a.example/%EF%BF%BDx" },
        { "http://a.example/\xed\xa0\x80",
          "http://a.example/%EF%BF%BD%EF%BF%BD%EF%BF%BD" },
        { "http://a.example/\xc0\xaf", "http://a.example/%EF%BF%BD%EF%BF%BD" },
        { "http://\xff.example/", NULL },
        { "http://%C3\xa9.example/", NULL },
    };

    CHECK(cases);
}

TEST(ipv4_addresses_come_in_many_forms)
{
    static const struct pair cases[] = {
        { "http://127.0.0.1/", "http://127.0.0.1/" },
        { "http://0x7f.1/", "http://127.0.0.1/" },
        { "http://0177.0.0.01/", "http://127.0.0.1/" },
        { "http://2130706433/", "http://127.0.0.1/" },
        { "http://1.2.3/", "http://1.2.0.3/" },
        { "http://1.2.3.4./", "http://1.2.3.4/" },
        { "http://0x/", "http://0.0.0.0/" },
        { "http://0xFFFFFFFF/", "http://255.255.255.255/" },
        { "http://%31.2.3.4/", "http://1.2.3.4/" },
        { "http://4294967296/", NULL },
        { "http://1.2.3.256/", NULL },
        { "http://256.1/", NULL },
        { "http://1.2.3.4.5/", NULL },
        { "http://1.2.3.08/", NULL },
        { "http://1..2/", NULL },
        { "http://a.0x1g/", "http://a.0x1g/" },
        { "http://a.1/", NULL },
        { "http://1.a/", "http://1.a/" },
        { "http://1.2.3.4../", "http://1.2.3.4../" },
        { "foo://0x7f.1/", "foo://0x7f.1/" },
    };

    CHECK(cases);
}

TEST(ipv6_addresses_are_compressed)
{
    static const struct pair cases[] = {
        { "http://[::1]/", "http://[::1]/" },
        { "http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]/" },
        { "http://[2001:DB8:0:0:1:0:0:1]/", "http://[2001:db8::1:0:0:1]/" },
        { "http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/" },
        { "http://[1:2:3:4:5:6:0:8]/", "http://[1:2:3:4:5:6:0:8]/" },
        { "http://[::]/", "http://[::]/" },
        { "http://[1::]/", "http://[1::]/" },
        { "http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/" },
        { "http://[1:2:3:4:5:6:7::]/", "http://[1:2:3:4:5:6:7:0]/" },
        { "foo://[::0:1]/", "foo://[::1]/" },
        { "http://[1:2:3:4:5:6:7]/", NULL },
        { "http://[1:2:3:4:5:6:7:8:9]/", NULL },
        { "http://[::1:2:3:4:5:6:7:8]/", NULL },
        { "http://[1::2::3]/", NULL },
        { "http://[:1]/", NULL },
        { "http://[1:]/", NULL },
        { "http://[12345::]/", NULL },
        { "http://[::1.2.3]/", NULL },
        { "http://[::1.2.3.04]/", NULL },
        { "http://[::1.2.3.256]/", NULL },
        { "http://[::1%eth0]/", NULL },
        { "http://[::1/", NULL },
        { "http://[::1]a/", NULL },
        { "http://[]/", NULL },
    };

    CHECK(cases);
}

TEST(names_are_encoded_by_idna)
{
    static const struct pair cases[] = {
        { "http://b\xc3\xbc"
          "cher.example/",
          "http://xn--bcher-kva.example/" },
        { "http://B\xc3\x9c"
          "CHER.example/",
          "http://xn--bcher-kva.example/" },
        { "http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/" },
        { "http://XN--Bcher-Kva.example/", "http://xn--bcher-kva.example/" },
        { "http://fa\xc3\x9f.example/", "http://xn--fa-hia.example/" },
        { "http://\xef\xbc\xa7\xef\xbd\x8f.example/", "http://go.example/" },
        { "http://a\xe3\x80\x82"
          "b/",
          "http://a.b/" },
        { "http://a\xc2\xad"
          "b/",
          "http://ab/" },
        { "http://\xe2\x98\x83.example/", "http://xn--n3h.example/" },
        { "http://xn--n3h.example/", "http://xn--n3h.example/" },
        { "http://ab--\xc3\xa9/", "http://xn--ab---epa/" },
        { "http://-\xc3\x89-/", "http://xn-----bja/" },
        { "http://\xc3\xa9+b/", "http://xn--+b-9ia/" },
        { "http://ab--c.-d-.e_f/", "http://ab--c.-d-.e_f/" },
        { "http://a..b./", "http://a..b./" },
        { "http://\xef\xbd\x98n--a/", NULL },
        { "http://\xef\xbd\x98n--n3h/", "http://xn--n3h/" },
        { "http://\xc2\xad/", NULL },
        { "http://\xef\xbf\xbd/", NULL },
        { "foo://b\xc3\xbc/", "foo://b%C3%BC/" },
    };

    CHECK(cases);
}

TEST(names_of_ascii_are_kept_whatever_they_stand_for)
{
    static const struct pair cases[] = {
        { "http://xn--/", "http://xn--/" },
        { "http://XN--A/", "http://xn--a/" },
        { "http://xn--a.xn--zca/", "http://xn--a.xn--zca/" },
        { "http://xn--ls8h=/", "http://xn--ls8h=/" },
        { "http://xn--8i7caa.example/", "http://xn--8i7caa.example/" },
        { "http://xn--a-ecp.ru/", "http://xn--a-ecp.ru/" },
        { "http://xn--1ug.example/", "http://xn--1ug.example/" },
        { "http://xn--xn---epa/", "http://xn--xn---epa/" },
        { "http://xn--a%b/", NULL },
        { "http://xn--a<b/", NULL },
        { "http://xn--.1/", NULL },
    };

    CHECK(cases);
}

/* What a label stands for counts if another label is not ASCII. */
TEST(encoded_labels_beside_others_must_decode)
{
    static const struct pair cases[] = {
        { "http://xn--zca.\xc3\xa9/", "http://xn--zca.xn--9ca/" },
        { "http://XN--N3H.\xc3\x89/", "http://xn--n3h.xn--9ca/" },
        { "http://xn--ab---epa.\xc3\xa9/", "http://xn--ab---epa.xn--9ca/" },
        { "http://xn--+b-9ia.\xc3\xa9/", "http://xn--+b-9ia.xn--9ca/" },
        { "http://xn--.\xc3\xa9/", NULL },         /* nothing */
        { "http://xn--abc-.\xc3\xa9/", NULL },     /* ASCII */
        { "http://xn--a.\xc3\xa9/", NULL },        /* U+0080 */
        { "http://xn--ls8h=.\xc3\xa9/", NULL },    /* = is no digit */
        { "http://xn--99999999.\xc3\xa9/", NULL }, /* above U+10FFFF */
        { "http://xn--8i7caa.\xc3\xa9/", NULL },   /* mapped to www */
        { "http://xn--xn---epa.\xc3\xa9/", NULL }, /* encoded twice */
        { "http://xn--1ug.\xc3\xa9/", NULL },      /* a joiner alone */
        { "http://xn--a-yoc.\xc3\xa9/", NULL },    /* both directions */
        { "http://xn--te\xc5\xa1la/", NULL },
    };

    CHECK(cases);
}

#define NINE "123456789."
#define TEN "1234567890"
#define SIXTY TEN TEN TEN TEN TEN TEN

TEST(names_may_be_of_any_length)
{
    static const struct pair cases[] = {
        { "http://" SIXTY TEN "/", NULL }, /* an address, out of range */
        { "http://" SIXTY "abcd/", "http://" SIXTY "abcd/" },
        { "http://" SIXTY "\xc3\x84.de/", "http://xn--" SIXTY "-99e.de/" },
        { "http://" SIXTY "e\xcc\x81.de/", "http://xn--" SIXTY "-zjf.de/" },
        { "http://" SIXTY "\xe2\x80\xa0/", "http://xn--" SIXTY "-5g71b/" },
        { "http://" SIXTY "\xc3\x9f\xe2\x98\x83/",
          "http://xn--" SIXTY "-k1e01600d/" },
        { "http://" SIXTY "-\xc3\xa9-/", "http://xn--" SIXTY "---0pf/" },
        { "http://" NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE
              NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE
                  NINE "\xc3\xa9/",
          "http://" NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE
              NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE
                  NINE "xn--9ca/" },
        { "http://" SIXTY "\xd9\x8a/", NULL },   /* both directions */
        { "http://" SIXTY "\xe2\x80\x8d/", NULL }, /* a joiner */
        { "http://" SIXTY "\xe2\x92\x88/", NULL }, /* not allowed */
    };

    CHECK(cases);
}

TEST(symbols_and_sharp_s_are_both_kept)
{
    static const struct pair cases[] = {
        { "http://\xe2\x98\x83\xc3\x9f/", "http://xn--zca921q/" },
        { "http://\xe2\x98\x83\xe1\xba\x9e/", "http://xn--zca921q/" },
        { "http://fa\xe1\xba\x9e.de/", "http://xn--fa-hia.de/" },
        { "http://\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb/", NULL },
    };

    CHECK(cases);
}

TEST(forbidden_characters_are_refused_in_hosts)
{
    static const char special[] = " #%/:<>?@[\\]^|\x7f\x01";
    static const char opaque[] = " :<>@[\\]^|";
    char url[32];

    for (const char *c = special; *c; c++) {
        if (strchr("#/?\\@:", *c))
            continue;
        snprintf(url, sizeof url, "http://a%cb/", *c);
        check(url, NULL, NULL);
    }
    for (const char *c = special; *c; c++) {
        snprintf(url, sizeof url, "http://a%%%02xb/", (unsigned)*c);
        check(url, NULL, NULL);
    }
    check("http://a%00b/", NULL, NULL);
    for (const char *c = opaque; *c; c++) {
        if (strchr("@:", *c))
            continue;
        snprintf(url, sizeof url, "foo://a%cb/", *c);
        check(url, NULL, NULL);
    }
    check("http://a!$&'()*+,;=`{}~\"b/", NULL, "http://a!$&'()*+,;=`{}~\"b/");
}

TEST(files_have_drives_and_mostly_no_host)
{
    static const struct pair cases[] = {
        { "file:///a/b", "file:///a/b" },
        { "file:a", "file:///a" },
        { "file:/a", "file:///a" },
        { "file:\\\\h\\a", "file://h/a" },
        { "file://localhost/a", "file:///a" },
        { "file://LOCALHOST", "file:///" },
        { "file:", "file:///" },
        { "file:///C|/a", "file:///C:/a" },
        { "file:C|", "file:///C:" },
        { "file://c:/a", "file:///c:/a" },
        { "file:///C:/../..", "file:///C:/" },
        { "file:///C:a/..", "file:///" },
        { "file:///a/C|", "file:///a/C|" },
        { "file://h:80/", NULL },
        { "file://u@h/", NULL },
        { "file://1.2.3.256/", NULL },
        { "file:#", "file:///" },
        { "file:?q", "file:///?q" },
    };

    CHECK(cases);
}

TEST(paths_of_other_schemes_may_be_opaque)
{
    static const struct pair cases[] = {
        { "mailto:A@B.example", "mailto:A@B.example" },
        { "data:text/plain,a/../b", "data:text/plain,a/../b" },
        { "urn:isbn:1", "urn:isbn:1" },
        { "javascript:a(/b?c#d)", "javascript:a(/b?c" },
        { "foo:", "foo:" },
        { "foo://", "foo://" },
        { "foo:///", "foo:///" },
        { "foo:/", "foo:/" },
        { "foo:/.//p", "foo:/.//p" },
        { "foo:/a/..//p", "foo:/.//p" },
        { "foo:/.//../p", "foo:/p" },
    };

    CHECK(cases);
}

TEST(relative_urls_are_resolved_against_a_base)
{
    static const struct {
        const char *url, *base, *out;
    } cases[] = {
        { "g", "http://a.example/b/c/d?q", "http://a.example/b/c/g" },
        { "./g/", "http://a.example/b/c/d?q", "http://a.example/b/c/g/" },
        { "/g", "http://a.example/b/c/d?q", "http://a.example/g" },
        { "//g", "http://a.example/b/c/d?q", "http://g/" },
        { "\\\\g\\h", "http://a.example/b", "http://g/h" },
        { "?y", "http://a.example/b/c/d?q", "http://a.example/b/c/d?y" },
        { "#s", "http://a.example/b/c/d?q", "http://a.example/b/c/d?q" },
        { "", "http://a.example/b/c/d?q#f", "http://a.example/b/c/d?q" },
        { "../../../g", "http://a.example/b/c/d", "http://a.example/g" },
        { "http:g", "http://a.example/b/c", "http://a.example/b/g" },
        { "http:/g", "http://a.example/b/c", "http://a.example/g" },
        { "https:g", "http://a.example/b/c", "https://g/" },
        { "g", "http://u:p@a.example:81/b", "http://u:p@a.example:81/g" },
        { "//x:80", "http://u:p@a.example:81/b", "http://x/" },
        { "http://b.example/x", "foo:bar", "http://b.example/x" },
        { "#s", "mailto:a", "mailto:a" },
        { "s", "mailto:a", NULL },
        { "", "mailto:a", NULL },
        { "c", "foo:/a/b", "foo:/a/c" },
        { "c", "foo://h", "foo://h/c" },
        { "..", "foo:/a/b", "foo:/" },
        { "//c/d", "foo:/a/b", "foo://c/d" },
        { "x", "foo:/.//p", "foo:/.//x" },
        { "?x", "foo:/.//p", "foo:/.//p?x" },
        { "/a", "file:///C:/x/y", "file:///C:/a" },
        { "/D:/a", "file:///C:/x/y", "file:///D:/a" },
        { "D:", "file:///C:/x/y", "d:" }, /* a scheme like any other */
        { "D|/z", "file:///C:/x/y", "file:///D:/z" },
        { "z", "file:///C:/x/y", "file:///C:/x/z" },
        { "..", "file:///C:/", "file:///C:/" },
        { "//h/z", "file:///C:/x/y", "file://h/z" },
        { "/z", "file://h/C:/x", "file://h/C:/z" },
        { "?q", "file://h/x?p", "file://h/x?q" },
        { "file:z", "file://h/x/y", "file://h/x/z" },
        { "file:z", "http://h/x/y", "file:///z" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(cases[i].url, cases[i].base, cases[i].out);
}

TEST(a_base_that_is_none_is_told_as_such)
{
    char text[SEEN_KEY_TEXT];
    struct seen_error why;
    const char *out;
    size_t len;

    assert_int_equal(
        seen_url_whatwg(&out, &len, text, "x", 1, "nonsense", 8, &why),
        SEEN_BAD_URL);
    assert_non_null(strstr(why.text, "base"));
}

TEST(the_byte_at_fault_is_told)
{
    static const struct {
        const char *url;
        uint64_t at;
    } cases[] = {
        { "http://a.example:x/", 17 }, { "  http://a:1x/", 12 },
        { "h\tttp://a:\n1x/", 12 },    { "nothing", 0 },
        { "http://u@1.2.3.4.5/", 9 },  { "http://a.example:65536", 21 },
    };
    char text[SEEN_KEY_TEXT];
    struct seen_error why;
    const char *out;
    size_t len;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(seen_url_whatwg(&out, &len, text, cases[i].url,
                                         strlen(cases[i].url), NULL, 0, &why),
                         SEEN_BAD_URL);
        assert_int_equal(why.at, cases[i].at);
    }
}

TEST(a_url_may_be_as_long_as_a_key)
{
    static char url[SEEN_KEY_TEXT + 2] = "HTTP://a/";
    char text[SEEN_KEY_TEXT];
    struct seen_error why;
    const char *out;
    size_t len;

    memset(url + 9, 'x', sizeof url - 9);
    assert_int_equal(
        seen_url_whatwg(&out, &len, text, url, SEEN_KEY_TEXT, NULL, 0, NULL),
        SEEN_OK);
    assert_int_equal(len, SEEN_KEY_TEXT);
    assert_int_equal(seen_url_whatwg(&out, &len, text, url, SEEN_KEY_TEXT + 1,
                                     NULL, 0, &why),
                     SEEN_BAD_URL);
    assert_int_equal(why.at, SEEN_KEY_TEXT);
    url[100] = ' '; /* it is the canonical one that is too long now */
    assert_int_equal(
        seen_url_whatwg(&out, &len, text, url, SEEN_KEY_TEXT, NULL, 0, &why),
        SEEN_BAD_URL);
    assert_int_equal(why.at, SEEN_KEY_TEXT);
    assert_non_null(strstr(why.text, "canonical"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_canonical_is_not_copied),
        cmocka_unit_test(a_fragment_is_dropped),
        cmocka_unit_test(what_surrounds_and_breaks_a_url_is_no_part_of_it),
        cmocka_unit_test(
            schemes_and_hosts_are_in_lower_case_and_paths_are_not),
        cmocka_unit_test(special_urls_take_any_slashes_before_the_host),
        cmocka_unit_test(default_ports_are_dropped),
        cmocka_unit_test(credentials_are_kept_and_escaped),
        cmocka_unit_test(dot_segments_are_resolved_escaped_or_not),
        cmocka_unit_test(each_part_escapes_what_its_set_names),
        cmocka_unit_test(what_is_no_utf8_becomes_a_replacement_character),
        cmocka_unit_test(ipv4_addresses_come_in_many_forms),
        cmocka_unit_test(ipv6_addresses_are_compressed),
        cmocka_unit_test(names_are_encoded_by_idna),
        cmocka_unit_test(names_of_ascii_are_kept_whatever_they_stand_for),
        cmocka_unit_test(encoded_labels_beside_others_must_decode),
        cmocka_unit_test(names_may_be_of_any_length),
        cmocka_unit_test(symbols_and_sharp_s_are_both_kept),
        cmocka_unit_test(forbidden_characters_are_refused_in_hosts),
        cmocka_unit_test(files_have_drives_and_mostly_no_host),
        cmocka_unit_test(paths_of_other_schemes_may_be_opaque),
        cmocka_unit_test(relative_urls_are_resolved_against_a_base),
        cmocka_unit_test(a_base_that_is_none_is_told_as_such),
        cmocka_unit_test(the_byte_at_fault_is_told),
        cmocka_unit_test(a_url_may_be_as_long_as_a_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
