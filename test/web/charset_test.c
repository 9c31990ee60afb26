/* charset_test.c - where a charset is found, and what its bytes are. */
#include "test/wall.h"

#include <stdio.h>

#include "lib/text/span.h"
#include "lib/text/utf8.h"
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
    assert_null(web_charset_find("utf-8\0", 6)); /* zero is no space */
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
        { "euc-jp", B("\xad\xa1\xfc\xe2\x8e\xb1\x8f\xb0\xa1"),
          "\u2460\u9ad9\uff71\u4e02" },
        { "euc-jp", B("\xa4<\x8e\xff\x8f\xa2<\x8f\xf4\xa1\xf5\xa1\x8f\xb0"),
          "\ufffd<\ufffd\ufffd<\ufffd\ufffd\ufffd" },
        { "iso-2022-jp", B("\x1b$B-!|b\x1b(J\\~\x1b(I1\x1b$@$\""),
          "\u2460\u9ad9\u00a5\u203e\uff71\u3042" },
        { "iso-2022-jp", B("\x1b(B\x1b$B\x1b(Bx\x1b$\"\x0e\x80\x1b$B$\x80$"),
          "\ufffd\ufffdx\ufffd$\"\ufffd\ufffd\ufffd\ufffd" },
        { "gb18030", B("\xa3\xa0\xfeQ\x95\x32\x90\x31"),
          "\u3000\ue816\U00020087" },
        { "big5", B("\xa1\x45\xa2\x41\xa2\xcc"), "\u2027\u2215\u5341" },
        { "euc-kr", B("\xa2\xe8x"), "\ufffdx" },
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

static void query(struct buffer *to, const char *label, const char *text,
                  size_t len)
{
    struct web_charset_writer w = {
        .charset = web_charset_find(label, strlen(label)),
    };

    to->len = 0;
    web_charset_query(&w, to, walled(text, len), len);
    buffer_byte(to, '\0');
    web_charset_writer_clear(&w);
}

/* As Chromium 156 writes them in a page of the charset. */
TEST(queries_are_written_as_browsers_do)
{
    static const struct {
        const char *label, *text, *query;
    } cases[] = {
        { "windows-1252", "?q=\u00e9\u0416", "?q=%E9%26%231046%3B" },
        { "windows-1252", "?q=\xc2\x81", "?q=%81" },
        { "x-user-defined", "?q=\uf780\u00e9", "?q=%80%26%23233%3B" },
        { "shift_jis", "?q=\u3042\u2015x", "?q=%82%A0%81\\x" },
        { "shift_jis", "\u00a5\u203e\u2212\uff71\u9ad9", "\\~%81|%B1%FB%FC" },
        { "shift_jis", "\u2014\ue000\u301c",
          "%26%238212%3B%26%2357344%3B%26%2312316%3B" },
        { "euc-jp", "\u3042\uff71\u9ad9\u2170\u2212",
          "%A4%A2%8E%B1%FC%E2%FC%F1%A1%DD" },
        { "euc-jp", "\u00a5\u203e\u00e9", "\\~%26%23233%3B" },
        { "iso-2022-jp", "?q=\u3042&r=a", "?q=%1B$B$%22%1B(B&r=a" },
        { "iso-2022-jp", "\u3042\u6f22\u2460", "%1B$B$%224A-!%1B(B" },
        { "iso-2022-jp", "\u00a5\u00a5\u203e", "%1B(J\\\\~%1B(B" },
        { "iso-2022-jp", "\u00a5a ~\u00a5\u3042",
          "%1B(J\\a %1B(B~%1B(J\\%1B$B$%22%1B(B" },
        { "iso-2022-jp", "\u3042\u00e9\u3042",
          "%1B$B$%22%1B(B%26%23233%3B%1B$B$%22%1B(B" },
        { "iso-2022-jp", "\u00a5\u00e9a", "%1B(J\\%26%23233%3Ba%1B(B" },
        { "iso-2022-jp", "\uff71\uff9e\u2212", "%1B$B%%22!+!]%1B(B" },
        { "iso-2022-jp", "\u3042\n\u3042\x1b",
          "%1B$B$%22\n$%22%1B(B%26%2365533%3B" },
        { "gbk", "\u4e2d\u20ac\u3400\U00020087",
          "%D6%D0%80%26%2313312%3B%26%23131207%3B" },
        { "gb18030", "\u4e2d\u20ac\u3400\U00020087",
          "%D6%D0%A2%E3%819%EE9%952%901" },
        { "gb18030", "\ue5e5\ue81e\ufe10\ue7c7\ufffd",
          "%26%2358853%3B%FEY%A6%D9%815%F47%841%A47" },
        { "big5", "\u4e2d\u2550\u5341\u2574\uff5e",
          "%A4%A4%F9%F9%A4Q%A1Z%A1%E3" },
        { "big5", "\u00ca\u43f0\u2022",
          "%26%23202%3B%26%2317392%3B%26%238226%3B" },
        { "euc-kr", "\uac00\uac02\u20ac", "%B0%A1%81A%A2%E6" },
    };
    struct buffer to = { .bytes = NULL };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        query(&to, cases[i].label, cases[i].text, strlen(cases[i].text));
        if (strcmp(to.bytes, cases[i].query) != 0)
            print_error("of: %s %zu\n", cases[i].label, i);
        assert_string_equal(to.bytes, cases[i].query);
    }
    buffer_clear(&to);
}

/* FNV-1a of a line per character that the charset has: "3042 %82%A0". The sums
   are those of what Chromium 156 wrote. */
TEST(each_character_is_written_as_browsers_do)
{
    static const struct {
        const char *label;
        unsigned characters;
        uint64_t sum;
    } cases[] = {
        { "gbk", 23957, 0xf76aa90ed93677b8 },
        { "gb18030", 194431, 0x37b3a15053ba72b2 },
        { "big5", 14653, 0x07cfde8cdb578d24 },
        { "euc-jp", 7392, 0x5b6da9e704a0e35d },
        { "iso-2022-jp", 7392, 0x3903cd30c9bd34be },
        { "shift_jis", 7393, 0xa4984b5238fbc12b },
        { "euc-kr", 17048, 0x1136368ac435f629 },
        { "koi8-u", 128, 0x80131fd95f4ec8b2 },
        { "windows-1252", 128, 0xf31611d02abc113f },
        { "macintosh", 128, 0xc78269909845f7d7 },
    };
    struct buffer line = { .bytes = NULL };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *label = cases[i].label;
        struct web_charset_writer w = {
            .charset = web_charset_find(label, strlen(label)),
        };
        uint64_t sum = 0xcbf29ce484222325;
        unsigned characters = 0;

        for (uint32_t code = 0x80; code < 0x30000; code++) {
            char utf8[4], none[24];
            size_t at;

            if (code >= 0xd800 && code < 0xe000)
                continue;
            line.len = 0;
            buffer_format(&line, "%x ", (unsigned)code);
            at = line.len;
            web_charset_query(&w, &line, utf8, utf8_write(utf8, code));
            buffer_text(&line, "\n");
            snprintf(none, sizeof none, "%%26%%23%u%%3B", (unsigned)code);
            if (!strncmp(line.bytes + at, none, strlen(none)))
                continue;
            characters++;
            for (size_t b = 0; b < line.len; b++)
                sum = (sum ^ (unsigned char)line.bytes[b]) * 0x100000001b3;
        }
        web_charset_writer_clear(&w);
        if (characters != cases[i].characters || sum != cases[i].sum)
            print_error("of: %s\n", label);
        assert_int_equal(characters, cases[i].characters);
        assert_int_equal(sum, cases[i].sum);
    }
    buffer_clear(&line);
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
        cmocka_unit_test(queries_are_written_as_browsers_do),
        cmocka_unit_test(each_character_is_written_as_browsers_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
