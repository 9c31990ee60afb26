/* charset_test.c - where a charset is found, and what its bytes are. */
#include "test/wall.h"

#include "lib/text/span.h"
#include "web/charset.h"

#define MARK8 "\xef\xbb\xbf"

TEST(labels_are_those_of_the_standard)
{
    static const struct {
        const char *label, *name;
    } cases[] = {
        { "utf8", "utf-8" },
        { " UTF-8\n", "utf-8" },
        { "ISO-8859-1", "windows-1252" },
        { "ascii", "windows-1252" },
        { "latin2", "iso-8859-2" },
        { "iso-8859-9", "windows-1254" },
        { "gb2312", "gbk" },
        { "sjis", "shift_jis" },
        { "utf-16", "utf-16le" },
        { "hz-gb-2312", "replacement" },
        { "iso_8859-1:1987", "windows-1252" },
        { "", NULL },
        { "utf-7", NULL },
        { "utf", NULL },
        { "utf-8 utf8", NULL },
        { "none-of-these-that-is-quite-long-for-a-label", NULL },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t n = strlen(cases[i].label);
        const struct web_charset *c = web_charset_find(
            walled(cases[i].label, n), n);

        assert_int_equal(c != NULL, cases[i].name != NULL);
        if (c)
            assert_string_equal(web_charset_name(c), cases[i].name);
    }
}

TEST(the_mark_the_header_and_the_meta_are_asked_in_this_order)
{
#define META "<meta charset=koi8-r>"
    static const struct {
        const char *bytes, *header, *name;
        size_t skip;
        bool certain;
    } cases[] = {
        { MARK8 META, "latin2", "utf-8", 3, true },
        { "\xff\xfex", "latin2", "utf-16le", 2, true },
        { "\xfe\xff", NULL, "utf-16be", 2, true },
        { META, "latin2", "iso-8859-2", 0, true },
        { META, "nonsense", "koi8-r", 0, false },
        { META, NULL, "koi8-r", 0, false },
        { "<META x\n charset = 'KOI8-R' >", NULL, "koi8-r", 0, false },
        { "<meta/charset=\"koi8-r\">", NULL, "koi8-r", 0, false },
        { "<meta http-equiv=content-type content='text/html; "
          "charset=koi8-r'>",
          NULL, "koi8-r", 0, false },
        { "<meta content='text/html; CharSet = \"koi8-r\"' "
          "http-equiv=Content-Type>",
          NULL, "koi8-r", 0, false },
        { "<meta content='charset=koi8-r'>", NULL, NULL, 0, false },
        { "<meta http-equiv=content-type content='charset=x'>" META, NULL,
          "koi8-r", 0, false },
        { "<meta http-equiv=content-type content='charset charset=koi8-r'>",
          NULL, "koi8-r", 0, false },
        { "<!-- " META " --><meta charset=gbk>", NULL, "gbk", 0, false },
        { "<!-->" META, NULL, "koi8-r", 0, false },
        { "<p title='" META "'><meta charset=gbk>", NULL, "gbk", 0, false },
        { "</p " META "><!x " META, NULL, NULL, 0, false },
        { "<metax charset=koi8-r>", NULL, NULL, 0, false },
        { "<meta charset=koi8-r", NULL, NULL, 0, false },
        { "<meta charset=utf-16>", NULL, "utf-8", 0, false },
        { "<meta charset=x-user-defined>", NULL, "windows-1252", 0, false },
        { "<?xml version='1.0' encoding=\"koi8-r\"?>", NULL, "koi8-r", 0,
          false },
        { "<?xml encoding='koi8-r'?><meta charset=gbk>", NULL, "gbk", 0,
          false },
        { "<?xml encoding='koi8-r", NULL, NULL, 0, false },
        { "<?xml encoding", NULL, NULL, 0, false },
        { "", NULL, NULL, 0, false },
        { "<", NULL, NULL, 0, false },
        { "<meta", NULL, NULL, 0, false },
        { "<meta charset", NULL, NULL, 0, false },
        { "<meta charset=", NULL, NULL, 0, false },
        { "<meta charset='", NULL, NULL, 0, false },
        { "<!--", NULL, NULL, 0, false },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t n = strlen(cases[i].bytes);
        struct web_encoding e;

        web_charset_of(&e, walled(cases[i].bytes, n), n, cases[i].header);
        if ((e.charset != NULL) != (cases[i].name != NULL))
            print_error("of: %s\n", cases[i].bytes);
        assert_int_equal(e.charset != NULL, cases[i].name != NULL);
        if (e.charset)
            assert_string_equal(web_charset_name(e.charset), cases[i].name);
        assert_int_equal(e.skip, cases[i].skip);
        assert_int_equal(e.certain, cases[i].certain);
    }
}

TEST(only_1024_bytes_are_searched)
{
    char page[2048];
    struct web_encoding e;

    for (size_t at = 950; at < 1100; at++) {
        memset(page, ' ', sizeof page);
        memcpy(page + at, META, strlen(META));
        web_charset_of(&e, walled(page, sizeof page), sizeof page, NULL);
        assert_int_equal(e.charset != NULL, at + strlen(META) <= 1024);
    }
}

TEST(bytes_become_utf_8)
{
    static const struct {
        const char *label;
        struct seen_span bytes;
        const char *text;
    } cases[] = {
#define B(text) { text, sizeof text - 1 }
        { "utf-8", B("a\xc3\xa9\xff\xe2\x82z"),
          "a\xc3\xa9\xef\xbf\xbd\xef\xbf\xbdz" },
        { "latin1", B("a\xe9\x80\x81"), "a\xc3\xa9\xe2\x82\xac\xc2\x81" },
        { "windows-1253", B("\xaa\xe1"), "\xef\xbf\xbd\xce\xb1" },
        { "windows-1255", B("\xe0\xd9"), "\xd7\x90\xef\xbf\xbd" },
        { "windows-1258", B("a\xcc"), "a\xcc\x80" },
        { "koi8-u", B("\xae\xc1"), "\xd1\x9e\xd0\xb0" },
        { "macintosh", B("\xdb"), "\xe2\x82\xac" },
        { "x-user-defined", B("\x80"), "\xef\x9e\x80" },
        { "utf-16", B("a\0\xe9\0\x3d\xd8\0\xde"),
          "a\xc3\xa9\xf0\x9f\x98\x80" },
        { "utf-16be", B("\0a\xd8\0\0b\xdc\0\0"),
          "a\xef\xbf\xbd"
          "b\xef\xbf\xbd\xef\xbf\xbd" },
        { "shift_jis", B("\x82\xa0\x83\"x"), "\xe3\x81\x82\xef\xbf\xbd\"x" },
        { "euc-jp", B("\xa4\xa2"), "\xe3\x81\x82" },
        { "iso-2022-jp", B("\x1b$B$\"\x1b(Bz"), "\xe3\x81\x82z" },
        { "gbk", B("\xd6\xd0\x80"), "\xe4\xb8\xad\xe2\x82\xac" },
        { "big5", B("\xa4\xa4"), "\xe4\xb8\xad" },
        { "euc-kr", B("\xb0\xa1\xb0"), "\xea\xb0\x80\xef\xbf\xbd" },
        { "replacement", B("<a href=x>"), "\xef\xbf\xbd" },
        { "replacement", B(""), "" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct buffer to = { .bytes = NULL };
        struct seen_span b = cases[i].bytes;

        web_charset_decode(
            &to, web_charset_find(cases[i].label, strlen(cases[i].label)),
            walled(b.text, b.len), b.len);
        buffer_byte(&to, '\0');
        if (strcmp(to.bytes, cases[i].text) != 0)
            print_error("of: %s %zu\n", cases[i].label, i);
        assert_string_equal(to.bytes, cases[i].text);
        buffer_clear(&to);
    }
}

TEST(a_document_that_does_not_say_is_utf_8_or_windows)
{
    assert_string_equal(web_charset_name(web_charset_guess("a\xc3\xa9", 3)),
                        "utf-8");
    assert_string_equal(web_charset_name(web_charset_guess("a\xe9", 2)),
                        "windows-1252");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_those_of_the_standard),
        cmocka_unit_test(
            the_mark_the_header_and_the_meta_are_asked_in_this_order),
        cmocka_unit_test(only_1024_bytes_are_searched),
        cmocka_unit_test(bytes_become_utf_8),
        cmocka_unit_test(a_document_that_does_not_say_is_utf_8_or_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
