/*
 * sitemap_test.c - what is read from sitemaps and feeds, and what is refused.
 *
 * First the strict reader, with what harvest makes of its entries, then the
 * lenient one.
 */
#include <malloc.h>
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harvest/hash.h"
#include "web/sitemap.h"
#include "harvest/url.h"
#include "lib/text/buffer.h"
#include "lib/text/span.h"
#include "lib/text/utf8.h"

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
static enum seen_code take(void *owner, const struct web_sitemap_entry *e,
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
    struct web_sitemap *s;
    enum seen_code code = web_sitemap_new(&s, NULL, take, f, why);

    assert_int_equal(code, SEEN_OK);
    for (size_t at = 0; at < len && code == SEEN_OK; at += step) {
        size_t n = len - at < step ? len - at : step;
        char *piece = malloc(n); /* so that reading past it is seen */

        assert_non_null(piece);
        memcpy(piece, text + at, n);
        code = web_sitemap_push(s, piece, n, why);
        free(piece);
    }
    if (code == SEEN_OK)
        code = web_sitemap_end(s, why);
    if (up)
        strcpy(up, web_sitemap_up(s));
    web_sitemap_free(s);
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
              "<url><loc> </loc></url>"
              "<url><loc>http://a.example/1</loc>"
              "<loc>http://a.example/2</loc></url>"
              "<url><loc>http://a.example/</loc></url></urlset>",
          "! is not an http or https URL\n! is not an http or https URL\n"
          "! an entry has no loc\n! an entry has no loc\n"
          "! an entry has two locs\n"
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
    char up[WEB_SITEMAP_URL + 65];
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
        struct web_sitemap *s;

        assert_int_equal(web_sitemap_new(&s, NULL, take, &f, NULL), SEEN_OK);
        if (web_sitemap_push(s, pages[i], strlen(pages[i]), NULL) == SEEN_OK)
            assert_int_not_equal(web_sitemap_end(s, NULL), SEEN_OK);
        if (i != 1) /* which is no XML at all */
            assert_true(web_sitemap_is_page(s));
        web_sitemap_free(s);
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
    struct web_sitemap *s;
    struct seen_error why;
    size_t before = mallinfo2().uordblks, after = before;
    enum seen_code code;
    char text[64];

    assert_int_equal(web_sitemap_new(&s, NULL, take, &f, &why), SEEN_OK);
    code = web_sitemap_push(s, SET, sizeof SET - 1, &why);
    for (int i = 0; i < 1000000 && code == SEEN_OK; i++) {
        int n = snprintf(text, sizeof text, "<name-number-%d/>", i);

        code = web_sitemap_push(s, text, (size_t)n, &why);
    }
    after = mallinfo2().uordblks;
    web_sitemap_free(s);
    assert_int_equal(code, SEEN_CORRUPT);
    assert_true(after < before + (8 << 20));
}

TEST(a_sitemap_has_at_most_500000_entries)
{
    static const char entry[] = "<url><loc>http://a.example/</loc></url>";
    struct found f = { .n = 0 };
    struct web_sitemap *s;
    struct seen_error why;
    enum seen_code code;

    assert_int_equal(web_sitemap_new(&s, NULL, take, &f, &why), SEEN_OK);
    code = web_sitemap_push(s, SET, sizeof SET - 1, &why);
    while (code == SEEN_OK && f.n <= WEB_SITEMAP_ENTRIES) {
        f.text[0] = '\0';
        code = web_sitemap_push(s, entry, sizeof entry - 1, &why);
    }
    assert_int_equal(code, SEEN_CORRUPT);
    assert_int_equal(f.n, WEB_SITEMAP_ENTRIES);
    web_sitemap_free(s);
}

/* --- with tolerance --- */

#define BASE "http://a.example/lists/1.xml"

/* "p URL lastmod", or "s" for another sitemap, or "! fault". */
static enum seen_code take_url(void *owner, const struct web_sitemap_entry *e,
                               struct seen_error *why)
{
    struct found *f = owner;
    size_t len = strlen(f->text);

    (void)why;
    f->n++;
    if (e->fault)
        snprintf(f->text + len, sizeof f->text - len, "! %s\n",
                 e->fault->text);
    else
        snprintf(f->text + len, sizeof f->text - len, "%s %.*s %.*s\n",
                 e->index ? "s" : "p", (int)e->url.len, e->url.text,
                 (int)e->lastmod.len, e->lastmod.text);
    return SEEN_OK;
}

/* `words` is NULL, or what the reason for a failure has. */
static void lists(const char *text, size_t len, const char *want,
                  const char *words)
{
    static const size_t steps[] = { 1, 3, 64, 1 << 20 };

    for (size_t i = len > 100000 ? 2 : 0; i < LENGTH(steps); i++) {
        struct found f = { .n = 0 };
        struct seen_error why = { .text = "" };
        struct web_sitemap *s;
        enum seen_code code = web_sitemap_new(&s, BASE, take_url, &f, &why);

        for (size_t at = 0; at < len && code == SEEN_OK; at += steps[i]) {
            size_t n = len - at < steps[i] ? len - at : steps[i];
            char *piece = malloc(n); /* so that reading past it is seen */

            assert_non_null(piece);
            memcpy(piece, text + at, n);
            code = web_sitemap_push(s, piece, n, &why);
            free(piece);
        }
        if (code == SEEN_OK)
            code = web_sitemap_end(s, &why);
        if ((code != SEEN_OK) != (words != NULL) ||
            (words && !strstr(why.text, words)))
            fail_msg("%.300s\n%s", text, why.text);
        assert_string_equal(f.text, want);
        web_sitemap_free(s);
    }
}

static void has(const char *text, const char *want)
{
    lists(text, strlen(text), want, NULL);
}

static void breaks(const char *text, const char *want, const char *words)
{
    lists(text, strlen(text), want, words);
}

#define ATOM "<feed xmlns='http://www.w3.org/2005/Atom'"
#define RSS "<rss version='2.0'><channel><link>http://no.example/</link>"
#define RDF \
    "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' " \
    "xmlns:dc='http://purl.org/dc/elements/1.1/'"

TEST(sitemaps_are_read_in_wrong_name_spaces)
{
    static const char *const roots[] = {
        "<urlset>",
        SET,
        "<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'>",
        "\n\n <?xml version='1.0'?>" SET,
        "\xef\xbb\xbf\n" SET,
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
        "xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'>",
    };

    for (size_t i = 0; i < LENGTH(roots); i++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "%s<url><loc> HTTP://B.example/%%7e\n</loc><lastmod>2024"
                 "</lastmod><image:image><image:loc>http://no.example/"
                 "</image:loc></image:image></url><url><loc>../x</loc></url>"
                 "</urlset>",
                 roots[i]);
        has(text, "p http://b.example/%7e 2024\np http://a.example/x \n");
    }
    has("<s:urlset xmlns:s='http://x.example/'><s:url><s:loc>/1</s:loc>"
        "<loc xmlns='http://y.example/'>/no</loc></s:url></s:urlset>",
        "p http://a.example/1 \n");
    has("<urlset><url><loc/></url><url><loc>/1</loc></url></urlset>",
        "! an entry has no loc\np http://a.example/1 \n");
    has("<sitemapindex><sitemap><loc>/s.xml</loc><lastmod>2024-01-01"
        "</lastmod></sitemap></sitemapindex>",
        "s http://a.example/s.xml 2024-01-01\n");
}

TEST(rss_has_links_or_permanent_guids)
{
    has(RSS "<item><title>x</title><link>\n/1?a&amp;b </link>"
            "<pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate></item>"
            "<item><guid>http://a.example/2</guid><link>/3</link></item>"
            "<item><guid isPermaLink='true'>http://a.example/4</guid></item>"
            "<item><guid isPermaLink='false'>http://a.example/no</guid></item>"
            "<item><guid>tag:a.example,2024:5</guid></item>"
            "<item><link/><guid>https://a.example/6</guid></item>"
            "<item><title>no page</title></item>"
            "<item><link><![CDATA[http://a.example/7&8]]></link></item>"
            "</channel></rss>",
        "p http://a.example/1?a&b Mon, 01 Jan 2024 00:00:00 GMT\n"
        "p http://a.example/3 \np http://a.example/4 \n"
        "p https://a.example/6 \np http://a.example/7&8 \n");
    /* Extensions have links and dates, too. */
    has("<rss xmlns:atom='http://www.w3.org/2005/Atom' "
        "xmlns:dc='http://purl.org/dc/elements/1.1/' "
        "xmlns:m='http://m.example/'><channel>"
        "<atom:link href='http://no.example/' rel='self'/>"
        "<item><m:link>http://no.example/</m:link><dc:date>2023</dc:date>"
        "<m:group><link>http://no.example/</link></m:group>"
        "<link>/1</link><atom:link href='http://no.example/'/></item>"
        "<item><pubDate>2</pubDate><dc:date>3</dc:date><link>/2</link>"
        "</item></channel></rss>",
        "p http://a.example/1 2023\np http://a.example/2 2\n");
    /* With an unknown prefix, beside the channel, with a name space. */
    has("<rss><channel><item><media:link>http://no.example/</media:link>"
        "<link>/1</link></item></channel></rss>",
        "p http://a.example/1 \n");
    has("<rss><channel/><item><link>/1</link></item></rss>",
        "p http://a.example/1 \n");
    has("<rss xmlns='http://backend.userland.com/rss2'><channel><item>"
        "<link>/1</link></item></channel></rss>",
        "p http://a.example/1 \n");
    has("<!DOCTYPE rss PUBLIC '-//Netscape Communications//DTD RSS 0.91//EN' "
        "'http://my.netscape.com/publish/formats/rss-0.91.dtd'>" RSS
        "<item><title>caf&eacute;</title><link>/1</link></item></channel>"
        "</rss>",
        "p http://a.example/1 \n");
}

TEST(rss_of_rdf_has_items_beside_the_channel)
{
    has(RDF " xmlns='http://purl.org/rss/1.0/'>"
            "<channel rdf:about='http://no.example/'>"
            "<link>http://no.example/</link></channel>"
            "<item rdf:about='http://a.example/no'><link>/1</link>"
            "<dc:date>2024-01-01T00:00Z</dc:date></item>"
            "<item rdf:about='http://a.example/2?a&amp;b'><title/></item>"
            "</rdf:RDF>",
        "p http://a.example/1 2024-01-01T00:00Z\n"
        "p http://a.example/2?a&b \n");
    has(RDF " xmlns='http://my.netscape.com/rdf/simple/0.9/'><item>"
            "<link>/1</link></item></rdf:RDF>",
        "p http://a.example/1 \n");
    has(RDF " xmlns='http://purl.org/rss/1.0'><item><link>/1</link></item>"
            "</rdf:RDF>",
        "p http://a.example/1 \n");
    has(RDF "><item><link>/1</link></item></rdf:RDF>",
        "p http://a.example/1 \n");
}

TEST(atom_has_alternate_links_relative_to_xml_base)
{
    has(ATOM "><link href='http://no.example/'/>"
             "<entry><link rel='self' href='/no'/><link href=' /1?a&amp;b '/>"
             "<link rel='alternate' href='/no'/><published>2019</published>"
             "<updated>2020</updated></entry>"
             "<entry><updated>2020</updated><published>2019</published>"
             "<link rel='alternate' type='application/pdf' href='/no'/>"
             "<link rel='ALTERNATE' type='text/html' href='/2'/></entry>"
             "<entry><id>http://no.example/</id><published>2021</published>"
             "</entry><entry><published>2021</published>"
             "<link rel='http://www.iana.org/assignments/relation/alternate' "
             "href='/3'/><content type='xhtml'><link href='/no'/></content>"
             "</entry></feed>",
        "p http://a.example/1?a&b 2020\np http://a.example/2 2020\n"
        "p http://a.example/3 2021\n");
    has(ATOM " xml:base='http://b.example/c/d?x&amp;y'>"
             "<entry xml:base='e/'><link href='1'/></entry>"
             "<entry><link xml:base='/f/' href='2'/></entry>"
             "<entry><link href='3'/></entry></feed>",
        "p http://b.example/c/e/1 \np http://b.example/f/2 \n"
        "p http://b.example/c/3 \n");
    has("<a:feed xmlns:a='http://purl.org/atom/ns#'><a:entry>"
        "<a:link href='/1'/><a:modified>2003</a:modified></a:entry></a:feed>",
        "p http://a.example/1 2003\n");
    has("<feed><entry><link href='/1'/></entry></feed>",
        "p http://a.example/1 \n");
    has("<entry xmlns='http://www.w3.org/2005/Atom'><link href='/1'/></entry>",
        "p http://a.example/1 \n");
}

TEST(a_text_has_one_url_per_line)
{
    has("http://b.example/1\nhttps://B.example/2\r\n\r\n# no\n"
        " \thttp://b.example/3 \rhttp://b.example",
        "p http://b.example/1 \np https://b.example/2 \n"
        "p http://b.example/3 \np http://b.example/ \n");
    has("\xef\xbb\xbfhttp://b.example/\xc3\xa4\n/x\n",
        "p http://b.example/%C3%A4 \n! a URL needs a scheme\n");
    has("http://b.example/\nmailto:a@b.example\n",
        "p http://b.example/ \n! is not an http or https URL\n");
    breaks("hello\nworld", "! a URL needs a scheme\n! a URL needs a scheme\n",
           "neither XML nor a list");
    breaks("http://b.example/\n\x01\n", "p http://b.example/ \n",
           "neither XML nor a list");
    breaks("\xff\xfe<\n", "! a URL needs a scheme\n",
           "neither XML nor a list");
    breaks("\xef\xbbx", "", "neither XML nor a list");
    breaks("", "", "empty");
    breaks(" \n\xef", "! a URL needs a scheme\n", "neither XML nor a list");
    lists("http://b.example/\n\0", 19, "p http://b.example/ \n",
          "neither XML nor a list");
}

/* UTF-8 as UTF-16, behind `head`. */
static char *widen(const char *head, bool big, const char *text, size_t *len)
{
    struct buffer to = { .bytes = NULL };

    buffer_text(&to, head);
    for (size_t at = 0, left = strlen(text), n; left; at += n, left -= n) {
        uint32_t code = 0, unit[2];
        int units = 1;

        n = utf8_read(text + at, left, &code, NULL);
        unit[0] = code;
        if (code >= 0x10000) {
            unit[0] = 0xd7c0 + (code >> 10);
            unit[1] = 0xdc00 + (code & 0x3ff);
            units = 2;
        }
        for (int i = 0; i < units; i++) {
            buffer_byte(&to, (char)(big ? unit[i] >> 8 : unit[i]));
            buffer_byte(&to, (char)(big ? unit[i] : unit[i] >> 8));
        }
    }
    *len = to.len;
    return to.bytes;
}

static void has_wide(const char *text, bool marked, const char *want)
{
    for (int big = 0; big < 2; big++) {
        size_t len;
        char *wide = widen(!marked ? ""
                           : big   ? "\xfe\xff"
                                   : "\xff\xfe",
                           big, text, &len);

        lists(wide, len, want, NULL);
        free(wide);
    }
}

TEST(lists_may_be_in_utf_16)
{
    static const char *const says[] = {
        "",
        "<?xml version='1.0'?>",
        "<?xml version='1.0' encoding='UTF-16'?>",
        "<?xml version='1.0' encoding='utf-16le'?>",
        "<?xml version='1.0' encoding='utf-8'?>\n",
    };
    char text[1024];

    for (size_t i = 0; i < LENGTH(says); i++) {
        snprintf(text, sizeof text,
                 "%s" SET
                 "<url><loc>/\u00e9\U0001f600?a=1&amp;b</loc><lastmod>"
                 "2026</lastmod></url></urlset>",
                 says[i]);
        has_wide(text, true,
                 "p http://a.example/%C3%A9%F0%9F%98%80?a=1&b 2026\n");
        has_wide(text, false,
                 "p http://a.example/%C3%A9%F0%9F%98%80?a=1&b 2026\n");
    }
    has_wide("\n " RSS "<item><link>/1</link></item></channel></rss>", true,
             "p http://a.example/1 \n");
    has_wide(ATOM "><entry><link href='/\u4e2d'/></entry></feed>", true,
             "p http://a.example/%E4%B8%AD \n");
    has_wide("http://b.example/1\r\nhttp://b.example/\u4e2d\r\n", true,
             "p http://b.example/1 \np http://b.example/%E4%B8%AD \n");
    has("<?xml version='1.0' encoding='utf-16'?>" SET
        "<url><loc>/\u00e9</loc></url></urlset>",
        "p http://a.example/%C3%A9 \n");
    has("<?xml version='1.0' encoding='ISO-8859-1'?>" SET
        "<url><loc>/\xe9</loc></url></urlset>",
        "p http://a.example/%C3%A9 \n");
}

TEST(wrong_utf_16_ends_nothing_else)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *want, *words;
    } cases[] = {
        { "\xff\xfe", 2, "", "empty" },
        { "\xfe", 1, "! a URL needs a scheme\n", "neither XML" },
        { "\xff\xfeh\0t\0t\0p\0:\0/\0/\0b\0/\0\x3d\xd8x\0\0\xdc\n", 27,
          "p http://b/%EF%BF%BDx%EF%BF%BD%EF%BF%BD \n", NULL },
        { "\xff\xfeh\0t\0t\0p\0:\0/\0/\0b\0/\0\x3d\xd8", 22,
          "p http://b/%EF%BF%BD \n", NULL },
        { "<\0a\0", 4, "", "well-formed" },
        { "\0<\0a\0b\0c\0>", 10, "", "another element" },
        { "\0\0<\0", 4, "", "neither XML" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++)
        lists(cases[i].bytes, cases[i].len, cases[i].want, cases[i].words);
    refused("\xff\xfe<\0", 4, "not XML in UTF-8");
}

TEST(what_precedes_a_mistake_is_read)
{
    breaks(SET "<url><loc>/1</loc></url><url><loc>/2</url>",
           "p http://a.example/1 \n", "well-formed");
    breaks(RSS "<item><link>/1</link></item><item><title>&nbsp;",
           "p http://a.example/1 \n", "well-formed");
    breaks(SET "<url><loc>/1</loc></url>", "p http://a.example/1 \n",
           "well-formed");
    has(SET "<url><loc>/1<b/></loc></url><url/><url><loc>/2</loc>"
            "<loc>/3</loc></url><url><loc>ftp://b.example/</loc></url>"
            "<url><loc>http://:/</loc></url><url><loc>/4</loc></url></urlset>",
        "! an entry has no loc\n! an entry has no loc\n"
        "! an entry has two locs\n! is not an http or https URL\n"
        "! a URL needs a host\np http://a.example/4 \n");
}

TEST(a_lenient_reader_is_as_safe)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "<!DOCTYPE html><html>", "web page" },
        { "<html><body>", "web page" },
        { "<opml/>", "another element" },
        { "<!DOCTYPE rss [<!ENTITY a 'b'>]>" RSS "</channel></rss>",
          "declares" },
        { "<!DOCTYPE rss [<!ENTITY % p SYSTEM 'http://127.0.0.1/'> %p;]>",
          "declares" },
        { "<!DOCTYPE rss [<!ATTLIST rss a (b|c) 'b'>]>" RSS, "declares" },
        { "<!DOCTYPE rss [<!ELEMENT rss (a,b)*>]>" RSS, "declares" },
        { "<!DOCTYPE rss [<!NOTATION a SYSTEM 'b'>]>" RSS, "declares" },
        { "<!DOCTYPE rss PUBLIC 'a' 'b>c'>" RSS, "" },
        { "<!DOCTYPE rss SYSTEM 'b>c'>" RSS, "" },
        { "<?xml version='1.0' encoding='UTF-7'?>" RSS, "" },
        { RSS "<item><link>&a;</link></item></channel></rss>", "well-formed" },
    };
    size_t len;
    char *deep = long_text(RSS, "<a>", 3 * WEB_SITEMAP_FEED_DEPTH, "", &len);

    for (size_t i = 0; i < LENGTH(cases); i++)
        breaks(cases[i].text, "", cases[i].words);
    lists(deep, len, "", "deep");
    free(deep);
    deep = long_text(RSS "<item><link>/", "x", 4 << 20,
                     "</link></item><item><link>/1</link></item></channel>"
                     "</rss>",
                     &len);
    lists(deep, len,
          "! a URL has more than 2048 bytes\np http://a.example/1 \n", NULL);
    free(deep);
    deep = long_text(ATOM "><entry><link href='/", "x", 4000,
                     "'/></entry></feed>", &len);
    lists(deep, len, "! a URL has more than 2048 bytes\n", NULL);
    free(deep);
    deep = long_text("http://a.example/", "x", 4 << 20,
                     "\nhttp://a.example/1\n", &len);
    lists(deep, len,
          "! a URL has more than 2048 bytes\np http://a.example/1 \n", NULL);
    free(deep);
}

TEST(the_base_must_be_a_url)
{
    struct found f = { .n = 0 };
    struct seen_error why;
    struct web_sitemap *s;

    assert_int_equal(web_sitemap_new(&s, "x", take_url, &f, &why),
                     SEEN_BAD_URL);
    assert_null(s);
}

/* An element is looked up among all declarations that are open. */
TEST(name_spaces_are_paid_for_and_a_list_that_costs_too_much_ends)
{
    struct budget budget = { .left = 1000000000 };
    struct buffer text = { .bytes = NULL };
    struct found f = { .n = 0 };
    struct web_sitemap *s;
    struct seen_error why;

    buffer_text(&text, "<rss><channel><item><link>/x</link></item>");
    for (int i = 0; i < 100; i++) {
        buffer_text(&text, "<c");
        for (int k = 0; k < 31; k++)
            buffer_format(&text, " xmlns:a%d_%d='u'", i, k);
        buffer_text(&text, ">");
    }
    for (int i = 0; i < 1000; i++)
        buffer_text(&text, "<x/>");
    for (int i = 0; i < 2; i++) {
        enum seen_code code = web_sitemap_new(&s, BASE, take_url, &f, &why);

        assert_int_equal(code, SEEN_OK);
        web_sitemap_limit(s, &budget);
        code = web_sitemap_push(s, text.bytes, text.len, &why);
        if (!i) {
            assert_int_equal(code, SEEN_OK);
            assert_true(1000000000 - budget.left > 1000 * 3100);
            budget.left = 1000000;
        } else {
            assert_int_equal(code, SEEN_CORRUPT);
            assert_string_equal(why.text, "costs too much to read");
            assert_int_equal(f.n, 2); /* the entry before: twice */
        }
        web_sitemap_free(s);
    }
    buffer_clear(&text);
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
        cmocka_unit_test(sitemaps_are_read_in_wrong_name_spaces),
        cmocka_unit_test(rss_has_links_or_permanent_guids),
        cmocka_unit_test(rss_of_rdf_has_items_beside_the_channel),
        cmocka_unit_test(atom_has_alternate_links_relative_to_xml_base),
        cmocka_unit_test(a_text_has_one_url_per_line),
        cmocka_unit_test(lists_may_be_in_utf_16),
        cmocka_unit_test(wrong_utf_16_ends_nothing_else),
        cmocka_unit_test(what_precedes_a_mistake_is_read),
        cmocka_unit_test(a_lenient_reader_is_as_safe),
        cmocka_unit_test(the_base_must_be_a_url),
        cmocka_unit_test(
            name_spaces_are_paid_for_and_a_list_that_costs_too_much_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
