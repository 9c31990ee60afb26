/*
 * sitemap.h - read sitemaps and the lists of ResourceSync, as the bytes come.
 *
 *     <urlset>                             a sitemap; or, with rs:md, a
 *       <rs:ln rel="up" href=.../>         description, a list of
 *       <rs:md capability=.../>            capabilities, resources, changes
 *       <url>
 *         <loc>...</loc> <lastmod>...</lastmod>
 *         <rs:md hash=... length=... type=... change=.../>
 *         <rs:ln rel=".../patch" href=... hash=... length=.../>
 *       </url>
 *     <sitemapindex> <sitemap> <loc> ...   lists of lists
 *
 * Documents may be hostile. They are fed to libxml2 piece by piece and never
 * kept; a DOCTYPE is refused, and with it all entities but the five of XML;
 * nesting, attributes, texts and everything that libxml2 would collect are
 * bounded. Other name spaces are skipped. Entries are reported one by one, as
 * they end; their URLs are as the document has them, and not checked.
 *
 *     sitemap_new(&s, handle, owner, &why);
 *     while (code == SEEN_OK && (n = more(bytes)))
 *         code = sitemap_push(s, bytes, n, &why);
 *     if (code == SEEN_OK)
 *         code = sitemap_end(s, &why);
 *     sitemap_free(s);
 *
 * Threads: a sitemap belongs to one thread at a time.
 */
#ifndef SEEN_HARVEST_SITEMAP_H
#define SEEN_HARVEST_SITEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

enum {
    SITEMAP_DEPTH = 16,         /* elements in elements */
    SITEMAP_ATTRIBUTES = 32,    /* per element */
    SITEMAP_PENDING = 64 << 10, /* bytes of a tag, comment or the like */
    SITEMAP_ENTRIES = 500000,   /* ten times what the protocol allows */
    SITEMAP_URL = 2048          /* bytes */
};

enum sitemap_capability {
    SITEMAP_PLAIN, /* an ordinary sitemap */
    SITEMAP_DESCRIPTION,
    SITEMAP_CAPABILITIES,
    SITEMAP_RESOURCES,
    SITEMAP_CHANGES,
    SITEMAP_OTHER /* dumps, archives */
};

/* Texts are without white space around them, and empty if they are missing;
   they live as long as the call. */
struct sitemap_entry {
    bool index; /* of a sitemapindex: another list */
    enum sitemap_capability document; /* of the list that the entry is in */
    enum sitemap_capability of;       /* of the list that it leads to */
    const struct seen_error *fault;   /* the entry cannot be used, or NULL */
    struct seen_span loc, lastmod, type, change, hash;
    uint64_t length; /* UINT64_MAX if it is not known */
    struct {
        struct seen_span loc, hash;
        uint64_t length;
    } patch;
};

/* Any code but SEEN_OK ends the reading with it. */
typedef enum seen_code sitemap_handler(void *owner,
                                       const struct sitemap_entry *entry,
                                       struct seen_error *why);

struct sitemap;
enum seen_code sitemap_new(struct sitemap **out, sitemap_handler *handle,
                           void *owner, struct seen_error *why);
void sitemap_free(struct sitemap *s);

/* SEEN_CORRUPT if it is not such a document, with the line in why->at. */
enum seen_code sitemap_push(struct sitemap *s, const void *bytes, size_t n,
                            struct seen_error *why);
enum seen_code sitemap_end(struct sitemap *s, struct seen_error *why);

/* What is known so far: is it a web page instead, or an index; which list of
   ResourceSync is it; which list does it belong to (rel="up", "" if none)? */
bool sitemap_is_page(const struct sitemap *s);
bool sitemap_is_index(const struct sitemap *s);
enum sitemap_capability sitemap_capability(const struct sitemap *s);
const char *sitemap_up(const struct sitemap *s);

#endif
