/* xml_test.c - whatever the bytes are, XML comes out. */
#define _DEFAULT_SOURCE
#include "test/publish/folder.h"

#include "lib/text/xml.h"
#include "publish/path.h"
#include "publish/xml.h"

static char *escaped(const char *text)
{
    char *out;
    size_t len;
    FILE *to = open_memstream(&out, &len);

    xml_text(to, text);
    fclose(to);
    return out;
}

TEST(text_means_the_same_in_elements_and_attributes)
{
    static const struct {
        const char *text, *xml;
    } some[] = {
        { "", "" },
        { "a<b>&\"'", "a&lt;b&gt;&amp;&quot;'" },
        { "]]>", "]]&gt;" },
        { "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x90\x9d",
          "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x90\x9d" },
        { "\x01"
          "a\x1b\x7f",
          "\xef\xbf\xbd"
          "a\xef\xbf\xbd\xef\xbf\xbd" },
        { "a\nb\tc", "a\xef\xbf\xbd"
                     "b\xef\xbf\xbd"
                     "c" },
        { "\xff", "\xef\xbf\xbd" },
        { "\xc3", "\xef\xbf\xbd" },                 /* cut */
        { "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" }, /* too long */
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xf4\x90\x80\x80",
          "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    };

    for (size_t i = 0; i < LENGTH(some); i++) {
        char *xml = escaped(some[i].text);

        assert_string_equal(xml, some[i].xml);
        free(xml);
    }
}

/* Every sequence of up to three bytes: what is clean stays as it is, and
   what was cleaned is clean. */
TEST(cleaned_is_clean)
{
    for (unsigned i = 0; i < 1U << 24; i += i < 70000 ? 1 : 97) {
        char text[4] = { (char)(i & 255), (char)(i >> 8 & 255),
                         (char)(i >> 16), 0 };
        char *clean = xml_cleaned(text);

        assert_true(xml_clean(clean));
        if (xml_clean(text))
            assert_string_equal(clean, text);
        else
            assert_non_null(strstr(clean, "\xef\xbf\xbd"));
        free(clean);
    }
}

TEST(nothing_is_read_behind_the_end)
{
    static const char *const cut[] = { "\xc3", "\xe2\x82", "\xf0\x9f\x90" };

    for (size_t i = 0; i < LENGTH(cut); i++) {
        char *exact = strdup(cut[i]);

        assert_int_equal(xml_char(exact, strlen(exact)), 0);
        free(exact);
    }
    assert_int_equal(xml_char("", 0), 0);
}

TEST(names_become_urls)
{
    static const struct {
        const char *path, *url;
    } some[] = {
        { "haw.seen", "http://a/b/haw.seen" },
        { "sub/x y.seen", "http://a/b/sub/x%20y.seen" },
        { "50%?#&.seen", "http://a/b/50%25%3F%23%26.seen" },
        { "\xc5\xbe.seen", "http://a/b/%C5%BE.seen" },
    };

    for (size_t i = 0; i < LENGTH(some); i++) {
        char *url = path_url("http://a/b/", some[i].path);

        assert_string_equal(url, some[i].url);
        free(url);
    }
}

TEST(times_are_those_of_greenwich)
{
    char text[XML_TIME];

    xml_time(text, 0);
    assert_string_equal(text, "1970-01-01T00:00:00Z");
    xml_time(text, 1794798000);
    assert_string_equal(text, "2026-11-16T03:00:00Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_means_the_same_in_elements_and_attributes),
        cmocka_unit_test(cleaned_is_clean),
        cmocka_unit_test(nothing_is_read_behind_the_end),
        cmocka_unit_test(names_become_urls),
        cmocka_unit_test(times_are_those_of_greenwich),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
