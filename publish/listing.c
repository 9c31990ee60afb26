/* listing.c - one list, in as many files as it takes. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

#include "path.h"
#include "sheet.h"
#include "xml.h"

#define MARK "<!-- Written by seen publish; changes to it are lost. -->"

static const char head[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" MARK "\n"
    "<%s xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"\n"
    "        xmlns:rs=\"http://www.openarchives.org/rs/terms/\"\n"
    "        xmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n"
    "        xmlns:dcterms=\"http://purl.org/dc/terms/\">\n";

static void print_link(FILE *to, const char *rel, const char *base,
                       const char *path)
{
    fprintf(to, "  <rs:ln rel=\"%s\" href=\"", rel);
    xml_text(to, base);
    xml_text(to, path);
    fputs("\"/>\n", to);
}

/* What the list is, or the part of it from entry `first` on. */
static void print_about(const struct listing *l, FILE *to, const char *indent,
                        size_t first)
{
    char from[XML_TIME];

    fprintf(to, "%s<rs:md %s", indent, l->about);
    if (l->since) {
        xml_time(from,
                 first < l->entries ? l->since(l->whose, first) : l->from);
        fprintf(to, " from=\"%s\"", from);
    }
    fputs("/>\n", to);
}

/* All before the entries; `index` is the list that this is a part of. */
static void print_head(const struct listing *l, FILE *to, const char *element,
                       const char *index, size_t first)
{
    fprintf(to, head, element);
    if (l->up)
        print_link(to, "up", l->base, l->up);
    if (index)
        print_link(to, "index", l->base, index);
    print_about(l, to, "  ", first);
}

/* --- where it is split -------------------------------------------------- */

struct cut {
    size_t *at; /* the first entry of each part, and the end */
    unsigned parts;
};

/* How many bytes entry i takes; 0 for lack of memory. */
static size_t measure(const struct listing *l, size_t i)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (!to)
        return 0;
    l->print(to, l->whose, i);
    if (fclose(to))
        len = 0;
    free(text);
    return len;
}

static bool cut_at(struct cut *c, size_t i)
{
    size_t *at = realloc(c->at, (c->parts + 2) * sizeof *at);

    if (!at)
        return false;
    c->at = at;
    c->at[c->parts++] = i;
    return true;
}

static enum seen_code cut_init(struct cut *c, const struct listing *l,
                               struct seen_error *why)
{
    const size_t urls = l->most_urls ? l->most_urls : LISTING_URLS;
    const size_t bytes = l->most_bytes ? l->most_bytes : LISTING_BYTES;
    const size_t frame = sizeof head + 256 + strlen(l->about) +
                         12 * strlen(l->base); /* & is &amp; */
    size_t some = 0, len = frame;
    bool good;

    memset(c, 0, sizeof *c);
    good = cut_at(c, 0);
    for (size_t i = 0; good && i < l->entries; i++) {
        size_t each = measure(l, i);

        good = each;
        if (some && (some == urls || len + each > bytes)) {
            good = good && cut_at(c, i);
            some = 0;
            len = frame;
        }
        some++;
        len += each;
    }
    if (!good) {
        free(c->at);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    }
    c->at[c->parts] = l->entries;
    return SEEN_OK;
}

/* --- writing ------------------------------------------------------------ */

static enum seen_code begin(struct sheet *s, const struct listing *l,
                            const char *name, struct seen_error *why)
{
    char *path = path_format("%s/%s", l->folder, name);
    enum seen_code code;

    if (!path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    code = listing_check(path, why);
    if (code == SEEN_OK)
        code = sheet_begin(s, path, why);
    code = path_blame(name, code, why);
    free(path);
    return code;
}

static enum seen_code end(struct sheet *s, size_t *changed,
                          struct seen_error *why)
{
    bool new = false;
    enum seen_code code = sheet_end(s, &new, why);

    *changed += new;
    return code;
}

/* Entries from `first` up to `last` as the file of that name. */
static enum seen_code write_part(const struct listing *l, const char *name,
                                 const char *index, size_t first, size_t last,
                                 size_t *changed, struct seen_error *why)
{
    struct sheet s;
    enum seen_code code = begin(&s, l, name, why);

    if (code != SEEN_OK)
        return code;
    print_head(l, s.to, "urlset", index, first);
    for (size_t i = first; i < last; i++)
        l->print(s.to, l->whose, i);
    fputs("</urlset>\n", s.to);
    return end(&s, changed, why);
}

static enum seen_code write_index(const struct listing *l, const char *name,
                                  const struct cut *c, size_t *changed,
                                  struct seen_error *why)
{
    struct sheet s;
    enum seen_code code = begin(&s, l, name, why);
    char text[XML_TIME];

    if (code != SEEN_OK)
        return code;
    print_head(l, s.to, "sitemapindex", NULL, 0);
    for (unsigned p = 0; p < c->parts; p++) {
        int64_t newest = 0;

        for (size_t i = c->at[p]; l->lastmod && i < c->at[p + 1]; i++) {
            int64_t when = l->lastmod(l->whose, i);

            newest = when > newest ? when : newest;
        }
        fputs("  <sitemap>\n    <loc>", s.to);
        xml_text(s.to, l->base);
        fprintf(s.to, "%s-%u.xml</loc>\n", l->name, p + 1);
        if (l->lastmod) {
            xml_time(text, newest);
            xml_element(s.to, "    ", "lastmod", text);
        }
        if (l->since)
            print_about(l, s.to, "    ", c->at[p]);
        fputs("  </sitemap>\n", s.to);
    }
    fputs("</sitemapindex>\n", s.to);
    return end(&s, changed, why);
}

enum seen_code listing_write(const struct listing *l, unsigned *parts,
                             size_t *changed, struct seen_error *why)
{
    char name[64], part[80];
    struct cut c;
    enum seen_code code = cut_init(&c, l, why);

    if (code != SEEN_OK)
        return code;
    snprintf(name, sizeof name, "%s%s", l->name, l->bare ? "" : ".xml");
    *parts = c.parts > 1 ? c.parts : 0;
    for (unsigned i = 0; i < *parts && code == SEEN_OK; i++) {
        snprintf(part, sizeof part, "%s-%u.xml", l->name, i + 1);
        code = write_part(l, part, name, c.at[i], c.at[i + 1], changed, why);
    }
    if (code == SEEN_OK && *parts)
        code = write_index(l, name, &c, changed, why);
    else if (code == SEEN_OK)
        code = write_part(l, name, NULL, 0, l->entries, changed, why);
    free(c.at);
    return code;
}

enum seen_code listing_check(const char *path, struct seen_error *why)
{
    char start[256] = "";
    FILE *from;
    enum seen_code code = path_read(&from, path, why);

    if (code != SEEN_OK || !from)
        return code;
    start[fread(start, 1, sizeof start - 1, from)] = '\0';
    if (ferror(from))
        code = seen_fail(why, SEEN_IO, 0, "cannot be read");
    fclose(from);
    if (code == SEEN_OK && !strstr(start, MARK))
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "is there, and was not written by seen publish; "
                         "move it away, or publish another folder");
    return code;
}
