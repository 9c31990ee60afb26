/* sitemap_test.c - what is read from sitemaps, and what is refused. */
#include <malloc.h>
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harvest/hash.h"
#include "harvest/sitemap.h"
#include "harvest/url.h"
#include "lib/text/span.h"

#define SPACES \
    " xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'" \
    " xmlns:rs='http://www.openarchives.org/rs/terms/'" \
    " xmlns:dc='http://purl.org/dc/elements/1.1/'"
#define SET "<urlset" SPACES ">"
#define DIGITS "0123456789abcdef"
#define HASH "sha-256:" DIGITS DIGITS DIGITS DIGITS

struct found {
    size_t n;
    char text[8192];
};

/* What harvest makes of an entry. */
static enum seen_code take(void *owner, const struct sitemap_entry *e,
                           struct seen_error *why)
{
    struct found *f = owner;
    size_t len = strlen(f->text);
    char url[HARVEST_URL + 1], patch[HARVEST_URL + 1] = "";
    struct harvest_hash hash, patch_hash;
    struct seen_error fault;

    (void)why;
    f->n++;
    if (e->fault || harvest_url_read(url, e->loc, &fault) != SEEN_OK) {
        snprintf(f->text + len, sizeof f->text - len, "! %s\n",
                 e->fault ? e->fault->text : fault.text);
        return SEEN_OK;
    }
    harvest_hash_read(&hash, e->hash);
    harvest_hash_read(&patch_hash, e->patch.hash);
    if (e->patch.loc.len)
        assert_int_equal(harvest_url_read(patch, e->patch.loc, NULL), SEEN_OK);
    snprintf(f->text + len, sizeof f->text - len,
             "%s%d %d %s %.*s %.*s %.*s %d %02x%02x %lld | %s %d %lld\n",
             e->index ? "i" : "u", e->document, e->of, url,
             (int)e->lastmod.len, e->lastmod.text, (int)e->type.len,
             e->type.text, (int)e->change.len, e->change.text, hash.known,
             hash.known ? hash.digest[0] : 0, hash.known ? hash.digest[31] : 0,
             (long long)e->length, patch, patch_hash.known,
             (long long)e->patch.length);
    return SEEN_OK;
}

static enum seen_code read_map(struct found *f, const char *text, size_t len,
                               size_t step, char *up, struct seen_error *why)
{
    struct sitemap *s;
    enum seen_code code = sitemap_new(&s, take, f, why);

    assert_int_equal(code, SEEN_OK);
    for (size_t at = 0; at < len && code == SEEN_OK; at += step) {
        size_t n = len - at < step ? len - at : step;
        char *piece = malloc(n); /* so that reading past it is seen */

        assert_non_null(piece);
        memcpy(piece, text + at, n);
        code = sitemap_push(s, piece, n, why);
        free(piece);
    }
    if (code == SEEN_OK)
        code = sitemap_end(s, why);
    if (up)
        strcpy(up, sitemap_up(s));
    sitemap_free(s);
    return code;
}

static void gives(const char *text, const char *want)
{
    static const size_t steps[] = { 1, 3, 64, 1 << 20 };

    for (size_t i = strlen(text) > 100000 ? 2 : 0;
         i < sizeof steps / sizeof steps[0]; i++) {
        struct found f = { .n = 0 };
        struct seen_error why;

        if (read_map(&f, text, strlen(text), steps[i], NULL, &why) != SEEN_OK)
            fail_msg("%s\n%s", text, why.text);
        assert_string_equal(f.text, want);
    }
}

static void refused(const char *text, size_t len, const char *words)
{
    static const size_t steps[] = { 1, 3, 64, 1 << 20 };

    for (size_t i = len > 100000 ? 2 : 0; i < sizeof steps / sizeof steps[0];
         i++) {
        struct found f = { .n = 0 };
        struct seen_error why = { .code = SEEN_OK };

        if (read_map(&f, text, len, steps[i], NULL, &why) != SEEN_CORRUPT)
            fail_msg("%.200s\nis taken", text);
        if (!strstr(why.text, words))
            fail_msg("%.200s\n%s", text, why.text);
        for (const char *at = why.text; *at; at++)
            assert_true(*at >= ' ' && *at <= '~');
    }
}

TEST(a_sitemap_has_locs_and_dates)
{
    gives(SET "</urlset>", "");
    gives("<?xml version='1.0' encoding='UTF-8'?>\n" SET
          "<url><loc> http://a.example/x.seen\n</loc>"
          "<lastmod> 2026-11-15 </lastmod><priority>0.5</priority></url>"
          "<url><lastmod>2026</lastmod><loc>http://a.example/?a=1&amp;b=2"
          "&#x26;c&#61;3</loc></url><!-- > <url> --><?pi?></urlset>",
          "u0 0 http://a.example/x.seen 2026-11-15   0 0000 -1 |  0 -1\n"
          "u0 0 http://a.example/?a=1&b=2&c=3 2026   0 0000 -1 |  0 -1\n");
    gives("\xef\xbb\xbf" SET
          "<url><loc><![CDATA[http://a.example/&]]></loc></url></urlset>",
          "u0 0 http://a.example/&    0 0000 -1 |  0 -1\n");
    gives("<?xml version='1.0' encoding='iso-8859-1'?>" SET
          "<url><loc>http://a.example/\xe9</loc></url></urlset>",
          "u0 0 http://a.example/%C3%A9    0 0000 -1 |  0 -1\n");
    gives("<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'>"
          "<s:url><s:loc>http://a.example/</s:loc></s:url></s:urlset>",
          "u0 0 http://a.example/    0 0000 -1 |  0 -1\n");
}

TEST(resourcesync_adds_hash_length_type_and_patches)
{
    gives(SET "<rs:md capability='resourcelist' at='2026'/>"
              "<url><loc>http://a.example/x.seen</loc><rs:md hash='md5:1 " HASH
              "' length='246448' type='application/vnd.seen'/>"
              "<dc:title>A &lt;title&gt;</dc:title></url></urlset>",
          "u3 0 http://a.example/x.seen  application/vnd.seen  1 01ef 246448 "
          "|  0 -1\n");
    gives(SET "<rs:md capability='changelist'/>"
              "<url><loc>http://a.example/x.seen</loc>"
              "<rs:md change='updated' hash='" HASH "' length='9'/>"
              "<rs:ln rel='http://www.openarchives.org/rs/terms/patch' "
              "href='http://a.example/d?a=1&amp;b=2' hash='" HASH
              "' length='7' type='application/vnd.seen-delta'/></url>"
              "</urlset>",
          "u4 0 http://a.example/x.seen   updated 1 01ef 9 | "
          "http://a.example/d?a=1&b=2 1 7\n");
    gives(SET "<rs:md capability='capabilitylist'/>"
              "<url><loc>http://a.example/s.xml</loc>"
              "<rs:md capability='resourcelist'/></url>"
              "<url><loc>http://a.example/c.xml</loc>"
              "<rs:md capability='changelist'/></url>"
              "<url><loc>http://a.example/d.xml</loc>"
              "<rs:md capability='resourcedump'/></url></urlset>",
          "u2 3 http://a.example/s.xml    0 0000 -1 |  0 -1\n"
          "u2 4 http://a.example/c.xml    0 0000 -1 |  0 -1\n"
          "u2 5 http://a.example/d.xml    0 0000 -1 |  0 -1\n");
    gives("<sitemapindex" SPACES "><rs:md capability='resourcelist'/>"
          "<sitemap><loc>http://a.example/1.xml</loc></sitemap>"
          "<url><loc>http://a.example/no</loc></url></sitemapindex>",
          "i3 0 http://a.example/1.xml    0 0000 -1 |  0 -1\n");
}

TEST(numbers_and_hashes_that_are_none_are_not_known)
{
    static const char *const bad[] = {
        "hash='sha-256:0123'",
        "hash='" HASH "0'",
        "hash='x" HASH "'",
        "hash='sha-256:" DIGITS DIGITS DIGITS "0123456789abcdeg'",
        "length='-1'",
        "length='1.5'",
        "length=' 1'",
        "length='99999999999999999999999999'",
        "length=''",
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[1024];

        snprintf(text, sizeof text,
                 SET "<url><loc>http://a.example/</loc><rs:md %s/></url>"
                     "</urlset>",
                 bad[i]);
        gives(text, "u0 0 http://a.example/    0 0000 -1 |  0 -1\n");
    }
}

TEST(entries_that_are_not_urls_are_faults_one_by_one)
{
    gives(SET "<url><loc>file:///etc/passwd</loc></url>"
              "<url><loc>../x.seen</loc></url><url></url>"
              "<url><loc>http://a.example/1</loc>"
              "<loc>http://a.example/2</loc></url>"
              "<url><loc>http://a.example/</loc></url></urlset>",
          "! is not an http or https URL\n! is not an http or https URL\n"
          "! an entry has no loc\n! an entry has two locs\n"
          "u0 0 http://a.example/    0 0000 -1 |  0 -1\n");
}

TEST(other_name_spaces_and_places_do_not_count)
{
    gives(SET "<url><x xmlns='http://x.example/'><loc>http://no.example/</loc>"
              "</x><loc xmlns=''>http://no.example/</loc>"
              "<dc:identifier>http://no.example/</dc:identifier>"
              "<loc>http://a.example/</loc>"
              "<g xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
              "<loc>http://no.example/</loc></g></url></urlset>",
          "u0 0 http://a.example/    0 0000 -1 |  0 -1\n");
}

TEST(the_list_above_is_known)
{
    struct found f = { .n = 0 };
    char up[SITEMAP_URL + 65];
    static const char text[] = SET
        "<rs:ln rel='describedby' href='http://a.example/no'/>"
        "<rs:ln rel='up' href='http://a.example/c.xml?a&amp;b'/>"
        "<rs:ln rel='up' href='http://a.example/2.xml'/></urlset>";

    assert_int_equal(read_map(&f, text, sizeof text - 1, 5, up, NULL),
                     SEEN_OK);
    assert_string_equal(up, "http://a.example/c.xml?a&b");
}

TEST(what_is_no_sitemap_is_refused_in_words)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "", "empty" },
        { " ", "" },
        { "hello", "not XML" },
        { "<urlset>", "name space" },
        { "<urlset/>", "name space" },
        { "<rss/>", "another element" },
        { "<html><body>", "another element" },
        { SET, "well-formed" },
        { SET "<url></urlset>", "well-formed" },
        { SET "</urlset><x/>", "well-formed" },
        { SET "\x01</urlset>", "well-formed" },
        { SET "\xff</urlset>", "well-formed" },
        { SET "<url><loc>http://a.example/&x;</loc></url></urlset>",
          "well-formed" },
        { SET "<url><loc>http://a.example/&#0;</loc></url></urlset>",
          "well-formed" },
        { SET "<url><loc>http://a<b/></loc></url></urlset>", "inside" },
        { "<!DOCTYPE urlset>" SET "</urlset>", "DOCTYPE" },
        { "<!DOCTYPE urlset SYSTEM 'http://127.0.0.1/x.dtd'>" SET "</urlset>",
          "DOCTYPE" },
        { "<!DOCTYPE urlset [<!ENTITY a 'b'>]>" SET
          "<url><loc>&a;</loc></url></urlset>",
          "DOCTYPE" },
        { "<!DOCTYPE urlset [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>" SET
          "<url><loc>&a;</loc></url></urlset>",
          "DOCTYPE" },
        { "<!DOCTYPE x [<!ENTITY % p SYSTEM 'http://127.0.0.1/'> %p;]>" SET
          "</urlset>",
          "DOCTYPE" },
        { "<?xml version='1.0' encoding='UTF-7'?>" SET "</urlset>", "" },
        { "<?xml version='1.0' encoding='ISO-2022-JP'?>" SET "</urlset>", "" },
        { "<?xml version='1.0' encoding='none-such'?>" SET "</urlset>", "" },
        { "\xff\xfe<\0?\0", "not XML" },
        { SET "<x:y/></urlset>", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refused(cases[i].text, strlen(cases[i].text), cases[i].words);
}

TEST(a_page_for_people_is_recognised)
{
    static const char *const pages[] = {
        "<!DOCTYPE html><html><body><p>Hello<br>",
        "<!doctype HTML>",
        "<html xmlns='http://www.w3.org/1999/xhtml'/>",
        "<html>",
    };

    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        struct found f = { .n = 0 };
        struct sitemap *s;

        assert_int_equal(sitemap_new(&s, take, &f, NULL), SEEN_OK);
        if (sitemap_push(s, pages[i], strlen(pages[i]), NULL) == SEEN_OK)
            assert_int_not_equal(sitemap_end(s, NULL), SEEN_OK);
        if (i != 1) /* which is no XML at all */
            assert_true(sitemap_is_page(s));
        sitemap_free(s);
    }
}

/* `before`, then `unit` until there are `len` bytes, then `after`. */
static char *long_text(const char *before, const char *unit, size_t len,
                       const char *after, size_t *all)
{
    size_t b = strlen(before), u = strlen(unit), n = b;
    char *text = malloc(b + len + u + strlen(after) + 1);

    assert_non_null(text);
    memcpy(text, before, b);
    while (n < len + b) {
        memcpy(text + n, unit, u);
        n += u;
    }
    strcpy(text + n, after);
    *all = n + strlen(after);
    return text;
}

TEST(what_has_no_end_is_refused_long_before_it_takes_memory)
{
    static const struct {
        const char *before, *unit, *words;
    } cases[] = {
        { SET "<", "x", "without end" },
        { SET "<url a='", "x", "without end" },
        { SET "<url ", "a='1' ", "" },
        { SET "<!--", "x<y>", "without end" },
        { SET "<?pi ", "x<y>", "without end" },
        { "<!DOCTYPE x [", "<!ENTITY a 'b'>", "" },
        { "", " ", "" },
        { SET, "<a>", "deep" },
        { SET "<url xmlns:a", "='b' xmlns:a", "" },
        { SET "<url><loc>&", "a", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len;
        char *text = long_text(cases[i].before, cases[i].unit, 8 << 20, "",
                               &len);

        refused(text, len, cases[i].words);
        free(text);
    }
}

TEST(an_element_with_many_attributes_is_refused)
{
    char text[4096] = SET "<url ";

    for (int i = 0; i < 40; i++)
        sprintf(text + strlen(text), "a%d='' ", i);
    strcat(text, "/></urlset>");
    refused(text, strlen(text), "too many attributes");
}

TEST(long_texts_are_read_over_and_long_addresses_are_faults)
{
    size_t len;
    char *text = long_text(SET "<url><loc>http://a.example/", "x", 4 << 20,
                           "</loc></url><url><loc>http://b.example/</loc>"
                           "</url></urlset>",
                           &len);
    char *title = long_text(SET "<url><dc:title>", "x", 4 << 20,
                            "</dc:title><loc>http://b.example/</loc>"
                            "</url></urlset>",
                            &len);

    gives(text, "! a URL has more than 2048 bytes\n"
                "u0 0 http://b.example/    0 0000 -1 |  0 -1\n");
    gives(title, "u0 0 http://b.example/    0 0000 -1 |  0 -1\n");
    free(text);
    free(title);
}

/* Names that are all different fill the dictionary of libxml2. */
TEST(a_million_names_are_too_many)
{
    struct found f = { .n = 0 };
    struct sitemap *s;
    struct seen_error why;
    size_t before = mallinfo2().uordblks, after = before;
    enum seen_code code;
    char text[64];

    assert_int_equal(sitemap_new(&s, take, &f, &why), SEEN_OK);
    code = sitemap_push(s, SET, sizeof SET - 1, &why);
    for (int i = 0; i < 1000000 && code == SEEN_OK; i++) {
        int n = snprintf(text, sizeof text, "<name-number-%d/>", i);

        code = sitemap_push(s, text, (size_t)n, &why);
    }
    after = mallinfo2().uordblks;
    sitemap_free(s);
    assert_int_equal(code, SEEN_CORRUPT);
    assert_true(after < before + (8 << 20));
}

TEST(a_sitemap_has_at_most_500000_entries)
{
    static const char entry[] = "<url><loc>http://a.example/</loc></url>";
    struct found f = { .n = 0 };
    struct sitemap *s;
    struct seen_error why;
    enum seen_code code;

    assert_int_equal(sitemap_new(&s, take, &f, &why), SEEN_OK);
    code = sitemap_push(s, SET, sizeof SET - 1, &why);
    while (code == SEEN_OK && f.n <= SITEMAP_ENTRIES) {
        f.text[0] = '\0';
        code = sitemap_push(s, entry, sizeof entry - 1, &why);
    }
    assert_int_equal(code, SEEN_CORRUPT);
    assert_int_equal(f.n, SITEMAP_ENTRIES);
    sitemap_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sitemap_has_locs_and_dates),
        cmocka_unit_test(resourcesync_adds_hash_length_type_and_patches),
        cmocka_unit_test(numbers_and_hashes_that_are_none_are_not_known),
        cmocka_unit_test(entries_that_are_not_urls_are_faults_one_by_one),
        cmocka_unit_test(other_name_spaces_and_places_do_not_count),
        cmocka_unit_test(the_list_above_is_known),
        cmocka_unit_test(what_is_no_sitemap_is_refused_in_words),
        cmocka_unit_test(a_page_for_people_is_recognised),
        cmocka_unit_test(
            what_has_no_end_is_refused_long_before_it_takes_memory),
        cmocka_unit_test(an_element_with_many_attributes_is_refused),
        cmocka_unit_test(
            long_texts_are_read_over_and_long_addresses_are_faults),
        cmocka_unit_test(a_million_names_are_too_many),
        cmocka_unit_test(a_sitemap_has_at_most_500000_entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
