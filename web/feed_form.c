/*
 * feed_form.c - what the elements of feeds mean.
 *
 *     <rss> <channel>                          RSS 2.0 and its ancestors
 *       <item> <link>URL</link> <pubDate>...
 *              <guid>URL</guid>                if there is no link
 *     <rdf:RDF>                                RSS 0.9 and 1.0
 *       <item rdf:about="URL"> <link>URL</link> <dc:date>...
 *     <feed>                                   Atom 1.0 and 0.3
 *       <entry> <link rel="alternate" href="URL"/> <updated>...
 *
 * Many feeds have a name space that is missing, misspelt or of an earlier
 * version. So elements count if they are of the name space that the root has,
 * too (web_sitemap_home()); elements of extensions, such as <media:title>,
 * have another.
 */
#include "sitemap_reader.h"

#include <string.h>

#include "../lib/text/span.h"

#define ATOM "http://www.w3.org/2005/Atom"
#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define RSS10 "http://purl.org/rss/1.0/"
#define RSS09 "http://my.netscape.com/rdf/simple/0.9/"
#define DC "http://purl.org/dc/elements/1.1/"
#define TERMS "http://purl.org/dc/terms/"
#define IANA "http://www.iana.org/assignments/relation/"

/* Dates of Dublin Core may stand in all of them. */
static bool is_date(const struct web_sitemap_element *e)
{
    return e->space &&
           ((!strcmp(e->space, DC) && !strcmp(e->name, "date")) ||
            (!strcmp(e->space, TERMS) &&
             (!strcmp(e->name, "modified") || !strcmp(e->name, "created"))));
}

/* --- RSS --- */

static void keep_guid(struct web_sitemap *s, struct seen_span url)
{
    if (!span_begins(url, "http://") && !span_begins(url, "https://"))
        return; /* an identifier */
    s->guid_len = web_sitemap_keep(s->guid, sizeof s->guid, url).len;
    s->guid_base = s->bases;
}

static void rss_field(struct web_sitemap *s,
                      const struct web_sitemap_element *e)
{
    if (!strcmp(e->name, "link"))
        web_sitemap_collect(s, WEB_FIELD_LOC);
    else if (!strcmp(e->name, "pubDate"))
        web_sitemap_collect(s, WEB_FIELD_LASTMOD);
    else if (!strcmp(e->name, "guid") &&
             !span_like(web_sitemap_attribute(e, NULL, "isPermaLink"),
                        "false"))
        web_sitemap_collect(s, WEB_FIELD_GUID);
}

/* Items are in the channel or, in the RDF forms and by mistake, beside it. */
static void rss_begin(struct web_sitemap *s,
                      const struct web_sitemap_element *e)
{
    bool home = web_sitemap_home(s, e, RSS10) ||
                (e->space && !strcmp(e->space, RSS09)) ||
                (!strcmp(s->form->root, "RDF") && !e->prefix);
    char room[WEB_SITEMAP_TEXT];

    if (!s->entry_depth) {
        if (home && s->depth <= 3 && !strcmp(e->name, "item")) {
            web_sitemap_entry_begin(s);
            keep_guid(s, web_sitemap_unescape(
                             room, sizeof room,
                             web_sitemap_attribute(e, RDF, "about")));
        }
    } else if (s->depth == s->entry_depth + 1) {
        if (is_date(e))
            web_sitemap_collect(s, WEB_FIELD_DATE);
        else if (home)
            rss_field(s, e);
    }
}

/* --- Atom --- */

/* The first link to the entry's page, but one to HTML before others. */
static void atom_link(struct web_sitemap *s,
                      const struct web_sitemap_element *e)
{
    struct seen_span rel = web_sitemap_attribute(e, NULL, "rel");
    struct seen_span type = web_sitemap_attribute(e, NULL, "type");
    struct seen_span href = web_sitemap_attribute(e, NULL, "href");
    bool html = !type.len || span_like(type, "text/html") ||
                span_like(type, "application/xhtml+xml");
    char room[WEB_SITEMAP_TEXT];
    bool fits = href.len <= sizeof room;

    if ((rel.len && !span_like(rel, "alternate") &&
         !span_like(rel, IANA "alternate")) ||
        !href.len || (s->entry.loc.text && (s->html || !html)))
        return;
    s->html = html;
    s->fault.code = SEEN_OK;
    web_sitemap_loc(s, web_sitemap_unescape(room, sizeof room, href), fits);
}

static void atom_begin(struct web_sitemap *s,
                       const struct web_sitemap_element *e)
{
    const char *name = e->name;

    if (!s->entry_depth) {
        if (s->depth <= 2 && web_sitemap_home(s, e, ATOM) &&
            !strcmp(name, "entry"))
            web_sitemap_entry_begin(s);
    } else if (s->depth == s->entry_depth + 1) {
        if (is_date(e))
            web_sitemap_collect(s, WEB_FIELD_DATE);
        else if (!web_sitemap_home(s, e, ATOM))
            return;
        else if (!strcmp(name, "link"))
            atom_link(s, e);
        else if (!strcmp(name, "updated") || !strcmp(name, "modified"))
            web_sitemap_collect(s, WEB_FIELD_LASTMOD);
        else if (!strcmp(name, "published") || !strcmp(name, "issued"))
            web_sitemap_collect(s, WEB_FIELD_DATE);
    }
}

/* --- texts of both --- */

static void end(struct web_sitemap *s, struct seen_span text, bool fits)
{
    struct web_sitemap_entry *e = &s->entry;

    switch (s->field) {
    case WEB_FIELD_LOC:
        if (!e->loc.text && (text.len || !fits))
            web_sitemap_loc(s, text, fits);
        break;
    case WEB_FIELD_GUID: keep_guid(s, text); break;
    case WEB_FIELD_DATE:
        if (e->lastmod.len)
            break;
        /* fallthrough */
    default:
        e->lastmod = web_sitemap_keep(s->lastmod, sizeof s->lastmod, text);
    }
}

const struct web_sitemap_form web_feed_forms[] = {
    { "rss", "", true, false, rss_begin, end },
    { "RDF", RDF, true, false, rss_begin, end },
    { "feed", ATOM, true, false, atom_begin, end },
    { "entry", ATOM, true, false, atom_begin, end },
    { .root = NULL },
};
