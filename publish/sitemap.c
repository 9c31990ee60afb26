/*
 * sitemap.c - the XML of lists.
 *
 * There are three doors for bytes, and each escapes for its place: text
 * between tags or in quotes, a path that becomes a URL, a time. Names of
 * elements and attributes are ours and pass as they are.
 *
 * The same state must give the same bytes, in this version and the next: a
 * list that did not change is not written again, and its readers see no new
 * date.
 */
#include "sitemap.h"

#include <string.h>
#include <time.h>

#include "../lib/text/hex.h"
#include "../lib/text/percent.h"
#include "../lib/text/xml.h"

static const char spaces[] =
    " xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"\n"
    "        xmlns:rs=\"http://www.openarchives.org/rs/terms/\"\n"
    "        xmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n"
    "        xmlns:dcterms=\"http://purl.org/dc/terms/\">\n";

/* --- texts -------------------------------------------------------------- */

/* An apostrophe needs no escape within double quotes. Without one, lists that
   earlier versions wrote stay byte for byte the same. */
void publish_sitemap_text(struct buffer *b, const char *text)
{
    for (;; text++) {
        size_t len = strcspn(text, "'");

        buffer_xml(b, text, len);
        text += len;
        if (!*text)
            return;
        buffer_byte(b, '\'');
    }
}

void publish_sitemap_url(struct buffer *b, const char *base, const char *path)
{
    publish_sitemap_text(b, base);
    percent_encode(b, path, strlen(path), PERCENT_SEGMENTS);
}

void publish_sitemap_time(char text[PUBLISH_TIME], int64_t seconds)
{
    time_t then = (time_t)seconds;
    struct tm when;

    if (!gmtime_r(&then, &when) ||
        !strftime(text, PUBLISH_TIME, "%Y-%m-%dT%H:%M:%SZ", &when))
        strcpy(text, "1970-01-01T00:00:00Z");
}

void publish_sitemap_element(struct buffer *b, const char *name,
                             const char *text)
{
    if (!text)
        return;
    buffer_format(b, "    <%s>", name);
    publish_sitemap_text(b, text);
    buffer_format(b, "</%s>\n", name);
}

/* --- attributes --------------------------------------------------------- */

static void put_attribute(struct buffer *b, const char *name,
                          const char *value)
{
    if (value)
        buffer_format(b, " %s=\"%s\"", name, value);
}

static void put_time(struct buffer *b, const char *name,
                     const int64_t *seconds)
{
    char text[PUBLISH_TIME];

    if (!seconds)
        return;
    publish_sitemap_time(text, *seconds);
    put_attribute(b, name, text);
}

static void put_file(struct buffer *b, const struct publish_sitemap_file *file)
{
    char hex[2 * SEEN_DIGEST + 1];

    if (!file)
        return;
    if (file->digest) {
        hex_write(hex, file->digest, SEEN_DIGEST);
        buffer_format(b, " hash=\"sha-256:%s\"", hex);
    }
    buffer_text(b, " length=\"");
    buffer_number(b, file->length);
    buffer_byte(b, '"');
    put_attribute(b, "type", file->type);
}

/* --- a list ------------------------------------------------------------- */

static const char *element_of(const struct publish_sitemap *s)
{
    return s->index ? "sitemapindex" : "urlset";
}

static void put_link(struct buffer *b, const char *rel, const char *base,
                     const char *path)
{
    if (!path)
        return;
    buffer_format(b, "  <rs:ln rel=\"%s\" href=\"", rel);
    publish_sitemap_text(b, base);
    publish_sitemap_text(b, path);
    buffer_text(b, "\"/>\n");
}

void publish_sitemap_begin(struct buffer *b, const struct publish_sitemap *s)
{
    buffer_text(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    if (s->comment)
        buffer_format(b, "<!-- %s -->\n", s->comment);
    buffer_format(b, "<%s%s", element_of(s), spaces);
    put_link(b, "up", s->base, s->up);
    put_link(b, "index", s->base, s->whole);
    buffer_text(b, "  <rs:md");
    put_attribute(b, "capability", s->capability);
    put_time(b, "at", s->at);
    put_time(b, "from", s->from);
    buffer_text(b, "/>\n");
}

void publish_sitemap_end(struct buffer *b, const struct publish_sitemap *s)
{
    buffer_format(b, "</%s>\n", element_of(s));
}

/* --- an entry ----------------------------------------------------------- */

void publish_sitemap_entry(struct buffer *b,
                           const struct publish_sitemap_entry *e)
{
    char text[PUBLISH_TIME];

    buffer_format(b, "  <%s>\n    <loc>", e->part ? "sitemap" : "url");
    publish_sitemap_url(b, e->base, e->path);
    buffer_text(b, "</loc>\n");
    if (e->lastmod) {
        publish_sitemap_time(text, *e->lastmod);
        publish_sitemap_element(b, "lastmod", text);
    }
    if (!e->capability && !e->change && !e->file)
        return;
    buffer_text(b, "    <rs:md");
    put_attribute(b, "capability", e->capability);
    put_time(b, "from", e->from);
    put_attribute(b, "change", e->change);
    put_time(b, "datetime", e->when);
    put_file(b, e->file);
    buffer_text(b, "/>\n");
}

void publish_sitemap_entry_end(struct buffer *b,
                               const struct publish_sitemap_entry *e)
{
    buffer_format(b, "  </%s>\n", e->part ? "sitemap" : "url");
}

void publish_sitemap_link(struct buffer *b, const char *rel, const char *base,
                          const char *path,
                          const struct publish_sitemap_file *file)
{
    if (!path) {
        b->failed = true;
        return;
    }
    buffer_format(b, "    <rs:ln rel=\"%s\" href=\"", rel);
    publish_sitemap_url(b, base, path);
    buffer_byte(b, '"');
    put_file(b, file);
    buffer_text(b, "/>\n");
}
