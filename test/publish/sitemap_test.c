/* sitemap_test.c - the XML of lists, whatever the bytes are. */
#include "test/publish/folder.h"

#include "lib/text/xml.h"
#include "publish/file.h"
#include "publish/sitemap.h"

static char *escaped(const char *text)
{
    struct buffer b = { .bytes = NULL };

    publish_sitemap_text(&b, text);
    return buffer_take(&b);
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

        assert_non_null(xml);
        assert_string_equal(xml, some[i].xml);
        free(xml);
    }
}

/* Every sequence of up to three bytes: what is clean stays as it is, and
   what was cleaned is clean. */
TEST(what_is_shown_can_be_shown)
{
    for (unsigned i = 0; i < 1U << 24; i += i < 70000 ? 1 : 97) {
        char text[4] = { (char)(i & 255), (char)(i >> 8 & 255),
                         (char)(i >> 16), 0 };
        char *clean = publish_shown(text);

        assert_true(xml_valid(clean, strlen(clean)));
        if (xml_valid(text, strlen(text)))
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
        struct buffer b = { .bytes = NULL };
        char *url;

        publish_sitemap_url(&b, "http://a/b/", some[i].path);
        url = buffer_take(&b);
        assert_string_equal(url, some[i].url);
        free(url);
    }
}

#define HEAD(element) \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" \
    "<!-- mine -->\n" \
    "<" element " xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"\n" \
    "        xmlns:rs=\"http://www.openarchives.org/rs/terms/\"\n" \
    "        xmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n" \
    "        xmlns:dcterms=\"http://purl.org/dc/terms/\">\n"

/* Every byte: what is on the web stays as it is. */
TEST(a_list_is_written_like_this)
{
    static const unsigned char digest[SEEN_DIGEST] = { 0x01, 0xff };
    static const int64_t at = 1794798000, then = 0;
    const struct publish_sitemap list = { .comment = "mine",
                                          .base = "http://a/b&c/",
                                          .up = "up.xml",
                                          .whole = "sitemap.xml",
                                          .capability = "resourcelist",
                                          .at = &at };
    const struct publish_sitemap_file file = { digest, 42,
                                               PUBLISH_FILTER_TYPE };
    const struct publish_sitemap_file text = { digest, 7, PUBLISH_TEXT_TYPE };
    const struct publish_sitemap_entry item = { .base = "http://a/b&c/",
                                                .path = "x y.seen",
                                                .lastmod = &then,
                                                .file = &file };
    const struct publish_sitemap_entry gone = {
        .base = "http://a/", .path = "z.seen", .change = "deleted", .when = &at
    };
    struct buffer b = { .bytes = NULL };
    char *xml;

    publish_sitemap_begin(&b, &list);
    publish_sitemap_entry(&b, &item);
    publish_sitemap_link(&b, "alternate", "http://a/", "x y.csv", &text);
    publish_sitemap_element(&b, "dc:title", "Peter & Paul's");
    publish_sitemap_element(&b, "dc:date", NULL);
    publish_sitemap_entry_end(&b, &item);
    publish_sitemap_entry(&b, &gone);
    publish_sitemap_entry_end(&b, &gone);
    publish_sitemap_end(&b, &list);
    xml = buffer_take(&b);
    assert_non_null(xml);
    assert_string_equal(
        xml, HEAD("urlset") /* */
        "  <rs:ln rel=\"up\" href=\"http://a/b&amp;c/up.xml\"/>\n"
        "  <rs:ln rel=\"index\" href=\"http://a/b&amp;c/sitemap.xml\"/>\n"
        "  <rs:md capability=\"resourcelist\" at=\"2026-11-16T03:00:00Z\"/>\n"
        "  <url>\n"
        "    <loc>http://a/b&amp;c/x%20y.seen</loc>\n"
        "    <lastmod>1970-01-01T00:00:00Z</lastmod>\n"
        "    <rs:md hash=\"sha-256:01ff0000000000000000000000000000"
        "00000000000000000000000000000000\" length=\"42\" "
        "type=\"application/vnd.seen\"/>\n"
        "    <rs:ln rel=\"alternate\" href=\"http://a/x%20y.csv\" "
        "hash=\"sha-256:01ff0000000000000000000000000000"
        "00000000000000000000000000000000\" length=\"7\" "
        "type=\"text/csv\"/>\n"
        "    <dc:title>Peter &amp; Paul's</dc:title>\n"
        "  </url>\n"
        "  <url>\n"
        "    <loc>http://a/z.seen</loc>\n"
        "    <rs:md change=\"deleted\" datetime=\"2026-11-16T03:00:00Z\"/>\n"
        "  </url>\n"
        "</urlset>\n");
    free(xml);
}

TEST(an_index_is_written_like_this)
{
    static const int64_t at = 1794798000;
    const struct publish_sitemap index = { .index = true,
                                           .comment = "mine",
                                           .base = "http://a/",
                                           .capability = "changelist",
                                           .from = &at };
    const struct publish_sitemap_entry part = { .part = true,
                                                .base = "http://a/",
                                                .path = "changelist-1.xml",
                                                .lastmod = &at,
                                                .capability = "changelist",
                                                .from = &at };
    struct buffer b = { .bytes = NULL };
    char *xml;

    publish_sitemap_begin(&b, &index);
    publish_sitemap_entry(&b, &part);
    publish_sitemap_entry_end(&b, &part);
    publish_sitemap_end(&b, &index);
    xml = buffer_take(&b);
    assert_non_null(xml);
    assert_string_equal(
        xml, HEAD("sitemapindex") /* */
        "  <rs:md capability=\"changelist\" from=\"2026-11-16T03:00:00Z\"/>\n"
        "  <sitemap>\n"
        "    <loc>http://a/changelist-1.xml</loc>\n"
        "    <lastmod>2026-11-16T03:00:00Z</lastmod>\n"
        "    <rs:md capability=\"changelist\" from=\"2026-11-16T03:00:00Z\"/>\n"
        "  </sitemap>\n"
        "</sitemapindex>\n");
    free(xml);
}

TEST(times_are_those_of_greenwich)
{
    char text[PUBLISH_TIME];

    publish_sitemap_time(text, 0);
    assert_string_equal(text, "1970-01-01T00:00:00Z");
    publish_sitemap_time(text, 1794798000);
    assert_string_equal(text, "2026-11-16T03:00:00Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_means_the_same_in_elements_and_attributes),
        cmocka_unit_test(what_is_shown_can_be_shown),
        cmocka_unit_test(nothing_is_read_behind_the_end),
        cmocka_unit_test(names_become_urls),
        cmocka_unit_test(a_list_is_written_like_this),
        cmocka_unit_test(an_index_is_written_like_this),
        cmocka_unit_test(times_are_those_of_greenwich),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
