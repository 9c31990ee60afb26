/*
 * sitemap.h - read lists of URLs as the bytes come: sitemaps, feeds, and the
 * lists of ResourceSync.
 *
 *     <urlset>                             a sitemap; or, with rs:md, a
 *       <rs:ln rel="up" href=.../>         description, a list of
 *       <rs:md capability=.../>            capabilities, resources, changes
 *       <url>
 *         <loc>...</loc> <lastmod>...</lastmod>
 *         <rs:md hash=... length=... type=... change=.../>
 *         <rs:ln rel=".../patch" href=... hash=... length=.../>
 *         <dc:format>...</dc:format>       a type, if rs:md has none
 *       </url>
 *     <sitemapindex> <sitemap> <loc> ...   lists of lists
 *     <rss> <rdf:RDF> <feed> <entry>       RSS 0.9 to 2.0 and Atom
 *     http://a.example/                    a text with one URL per line
 *
 * Documents may be hostile. They are fed to libxml2 piece by piece and never
 * kept; DTDs are not read, and with them all entities but the five of XML;
 * nesting, attributes, texts and everything that libxml2 would collect are
 * bounded. Other name spaces are skipped. Entries are reported one by one, as
 * they end, so that those before a mistake are known.
 *
 *     web_sitemap_new(&s, "http://a.example/sitemap.xml", handle, owner,
 *                     &why);
 *     while (code == SEEN_OK && (n = more(bytes)))
 *         code = web_sitemap_push(s, bytes, n, &why);
 *     if (code == SEEN_OK)
 *         code = web_sitemap_end(s, &why);
 *     web_sitemap_free(s);
 *
 * Threads: a sitemap belongs to one thread at a time.
 */
#ifndef SEEN_WEB_SITEMAP_H
#define SEEN_WEB_SITEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../lib/text/budget.h"

enum {
    WEB_SITEMAP_DEPTH = 16,         /* elements in elements */
    WEB_SITEMAP_FEED_DEPTH = 200,   /* the same; feeds have whole pages */
    WEB_SITEMAP_ATTRIBUTES = 32,    /* per element */
    WEB_SITEMAP_PENDING = 64 << 10, /* bytes of a tag, comment or the like */
    WEB_SITEMAP_ENTRIES = 500000,   /* ten times what the protocol allows */
    WEB_SITEMAP_FAULTS = 20,        /* bad lines; then it is not a list */
    WEB_SITEMAP_URL = 2048          /* bytes */
};

enum web_sitemap_capability {
    WEB_SITEMAP_PLAIN, /* an ordinary sitemap */
    WEB_SITEMAP_DESCRIPTION,
    WEB_SITEMAP_CAPABILITIES,
    WEB_SITEMAP_RESOURCES,
    WEB_SITEMAP_CHANGES,
    WEB_SITEMAP_OTHER /* dumps, archives */
};

/* Texts are without white space around them, and empty if they are missing;
   they live as long as the call. */
struct web_sitemap_entry {
    bool index; /* of a sitemapindex: another list */
    enum web_sitemap_capability document, of; /* of the list that the entry is
                                                 in; that it leads to */
    const struct seen_error *fault; /* the entry cannot be used, or NULL */
    uint64_t line;                  /* on which it ends */
    struct seen_span url;           /* absolute and canonical; needs a base */
    struct seen_span loc, lastmod, type, change, hash;
    uint64_t length; /* UINT64_MAX if it is not known */
    struct {
        struct seen_span loc, hash;
        uint64_t length;
    } patch;
};

/* Any code but SEEN_OK ends the reading with it. */
typedef enum seen_code web_sitemap_handler(
    void *owner, const struct web_sitemap_entry *entry,
    struct seen_error *why);

struct web_sitemap;

/*
 * With the URL of the document as `base`, all of the above is read, with
 * tolerance: name spaces may be wrong, white space may come first, bytes may be
 * UTF-16, and URLs may be relative, except in a text. SEEN_BAD_URL if `base` is not a URL.
 *
 * If `base` is NULL, only sitemaps and lists of ResourceSync are read, strictly,
 * and `loc` is as the document has it and not checked.
 */
enum seen_code web_sitemap_new(struct web_sitemap **out, const char *base,
                               web_sitemap_handler *handle, void *owner,
                               struct seen_error *why);
void web_sitemap_free(struct web_sitemap *s);

/* From now on reading is paid from a budget, which lives as long as the
   sitemap. When it is empty, the reading ends with SEEN_CORRUPT. */
void web_sitemap_limit(struct web_sitemap *s, struct budget *budget);

/* SEEN_CORRUPT if it is not such a document, with the line in why->at. */
enum seen_code web_sitemap_push(struct web_sitemap *s, const void *bytes,
                                size_t n, struct seen_error *why);
enum seen_code web_sitemap_end(struct web_sitemap *s, struct seen_error *why);

/* What is known so far: is it a web page instead, or an index; which list of
   ResourceSync is it; which list does it belong to (rel="up", "" if none)? */
bool web_sitemap_is_page(const struct web_sitemap *s);
bool web_sitemap_is_index(const struct web_sitemap *s);
enum web_sitemap_capability web_sitemap_capability(
    const struct web_sitemap *s);
const char *web_sitemap_up(const struct web_sitemap *s);

#endif
