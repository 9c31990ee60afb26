/*
 * sitemap.h - read sitemaps, and the lists of ResourceSync, as they come.
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
 * A document may come from anyone. It is fed to libxml2 piece by piece and
 * never held; a DOCTYPE is refused, and with it all entities but the five of
 * XML; nesting, attributes, texts and everything that libxml2 would pile up
 * are bounded. What other name spaces say is skipped. Entries come out one by
 * one, as they end.
 *
 *     sitemap_new(&s, take, owner, &why);
 *     while (code == SEEN_OK && (n = more(bytes)))
 *         code = sitemap_push(s, bytes, n, &why);
 *     if (code == SEEN_OK)
 *         code = sitemap_end(s, &why);
 *     sitemap_free(s);
 *
 * Threads: a sitemap belongs to one at a time.
 */
#ifndef SEEN_HARVEST_SITEMAP_H
#define SEEN_HARVEST_SITEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

#include "address.h"
#include "hash.h"

enum {
    SITEMAP_DEPTH = 16,         /* elements in elements */
    SITEMAP_ATTRIBUTES = 32,    /* of an element */
    SITEMAP_PENDING = 64 << 10, /* bytes of a tag, comment or the like */
    SITEMAP_ENTRIES = 500000    /* ten times what the protocol allows */
};

enum sitemap_capability {
    CAPABILITY_NONE, /* an ordinary sitemap */
    CAPABILITY_DESCRIPTION,
    CAPABILITY_LIST,
    CAPABILITY_RESOURCES,
    CAPABILITY_CHANGES,
    CAPABILITY_OTHER /* dumps, archives: nothing for us */
};

struct sitemap_patch {
    char url[ADDRESS_MOST + 1]; /* "" if there is none */
    struct hash hash;
    uint64_t length; /* UINT64_MAX if it is not told */
};

struct sitemap_entry {
    bool index;                       /* of a sitemapindex: another list */
    enum sitemap_capability document; /* of the list that it stands in */
    enum sitemap_capability of;       /* of what it leads to */
    char url[ADDRESS_MOST + 1];       /* canonical */
    const struct seen_error *fault;   /* no good URL: then the rest is moot */
    char lastmod[64], type[64], change[16];
    struct hash hash;
    uint64_t length; /* UINT64_MAX if it is not told */
    struct sitemap_patch patch;
};

/* Another code than SEEN_OK ends the reading with it. The entry lives as
   long as the call. */
typedef enum seen_code sitemap_take(void *owner,
                                    const struct sitemap_entry *entry,
                                    struct seen_error *why);

struct sitemap;
enum seen_code sitemap_new(struct sitemap **out, sitemap_take *take,
                           void *owner, struct seen_error *why);
void sitemap_free(struct sitemap *s);

/* SEEN_CORRUPT for what is no such document, with the line in why->at. */
enum seen_code sitemap_push(struct sitemap *s, const void *bytes, size_t n,
                            struct seen_error *why);
enum seen_code sitemap_end(struct sitemap *s, struct seen_error *why);

/* What is known so far: is it a page for people instead? The list that says
   what else there is (rel="up"), "" if none; how many entries there were. */
bool sitemap_is_page(const struct sitemap *s);
const char *sitemap_up(const struct sitemap *s);
enum sitemap_capability sitemap_capability(const struct sitemap *s);
bool sitemap_is_index(const struct sitemap *s);

#endif
