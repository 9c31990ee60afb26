/*
 * sitemap_form.c - what the elements of sitemaps and of ResourceSync mean.
 *
 * The reader (sitemap_reader.h) knows names, depths and texts; here is what
 * they stand for:
 *
 *     depth 1  urlset, sitemapindex
 *     depth 2  url or sitemap: an entry       rs:md, rs:ln: of the whole list
 *     depth 3  loc, lastmod, dc:format        rs:md, rs:ln: of the entry
 *
 * An element counts at its own depth only, so that an extension of somebody
 * else's with a <loc> inside gives no URL. Two locs make an entry invalid:
 * nothing says which is meant.
 */
#include "sitemap_reader.h"

#include <string.h>

#include "../lib/text/number.h"
#include "../lib/text/span.h"

#define MAP "http://www.sitemaps.org/schemas/sitemap/0.9"
#define RS "http://www.openarchives.org/rs/terms/"
#define DC "http://purl.org/dc/elements/1.1/"
#define PATCH_TYPE "application/vnd.seen-delta"

enum { MAP_LEVEL = 2 };

static uint64_t number(struct seen_span p)
{
    uint64_t n;

    return number_digits(p, &n) ? n : UINT64_MAX;
}

static enum web_sitemap_capability capability_of(struct seen_span p)
{
    return span_is(p, "description")      ? WEB_SITEMAP_DESCRIPTION
           : span_is(p, "capabilitylist") ? WEB_SITEMAP_CAPABILITIES
           : span_is(p, "resourcelist")   ? WEB_SITEMAP_RESOURCES
           : span_is(p, "changelist")     ? WEB_SITEMAP_CHANGES
                                          : WEB_SITEMAP_OTHER;
}

/* An attribute without a name space. */
static struct seen_span value(const struct web_sitemap_element *e,
                              const char *name)
{
    return web_sitemap_attribute(e, NULL, name);
}

static void metadata(struct web_sitemap *s,
                     const struct web_sitemap_element *a)
{
    struct web_sitemap_entry *e = &s->entry;
    struct seen_span capability = value(a, "capability");

    if (!s->entry_depth) {
        if (s->depth == MAP_LEVEL && capability.len && !s->entries)
            s->capability = capability_of(capability);
        return;
    }
    if (capability.len)
        e->of = capability_of(capability);
    if (value(a, "hash").len)
        e->hash = web_sitemap_keep(s->hash, sizeof s->hash, value(a, "hash"));
    if (value(a, "length").len)
        e->length = number(value(a, "length"));
    if (value(a, "type").len)
        e->type = web_sitemap_keep(s->type, sizeof s->type, value(a, "type"));
    if (value(a, "change").len)
        e->change = web_sitemap_keep(s->change, sizeof s->change,
                                     value(a, "change"));
}

static void link_to(struct web_sitemap *s, const struct web_sitemap_element *a)
{
    struct web_sitemap_entry *e = &s->entry;
    struct seen_span rel = value(a, "rel"), href = value(a, "href");

    if (!s->entry_depth) {
        if (s->depth == MAP_LEVEL && span_is(rel, "up") && !s->up[0]) {
            href = web_sitemap_unescape(s->text, sizeof s->text, href);
            memcpy(s->up, href.text, href.len);
            s->up[href.len] = '\0';
        }
        return;
    }
    if (e->patch.loc.len ||
        (!span_is(rel, RS "patch") && !span_is(rel, "patch")) ||
        (value(a, "type").len && !span_is(value(a, "type"), PATCH_TYPE)))
        return;
    e->patch.loc = web_sitemap_unescape(s->patch_loc, sizeof s->patch_loc,
                                        href);
    e->patch.hash = web_sitemap_keep(s->patch_hash, sizeof s->patch_hash,
                                     value(a, "hash"));
    e->patch.length = number(value(a, "length"));
}

static void begin(struct web_sitemap *s, const struct web_sitemap_element *e)
{
    const char *name = e->name, *in = e->space ? e->space : "";
    bool inside = s->entry_depth;

    if (web_sitemap_home(s, e, MAP)) {
        if (s->depth == 2 && !strcmp(name, s->form->index ? "sitemap" : "url"))
            web_sitemap_entry_begin(s);
        else if (s->depth == 3 && inside && !strcmp(name, "loc"))
            web_sitemap_collect(s, WEB_FIELD_LOC);
        else if (s->depth == 3 && inside && !strcmp(name, "lastmod"))
            web_sitemap_collect(s, WEB_FIELD_LASTMOD);
    } else if (!strcmp(in, RS) && s->depth == 2u + inside) {
        if (!strcmp(name, "md"))
            metadata(s, e);
        else if (!strcmp(name, "ln"))
            link_to(s, e);
    } else if (!strcmp(in, DC) && s->depth == 3 && inside &&
               !strcmp(name, "format")) {
        web_sitemap_collect(s, WEB_FIELD_FORMAT);
    }
}

static void end(struct web_sitemap *s, struct seen_span text, bool fits)
{
    struct web_sitemap_entry *e = &s->entry;

    if (s->field == WEB_FIELD_FORMAT) {
        if (!e->type.len)
            e->type = web_sitemap_keep(s->type, sizeof s->type, text);
    } else if (s->field == WEB_FIELD_LASTMOD) {
        e->lastmod = web_sitemap_keep(s->lastmod, sizeof s->lastmod, text);
    } else if (e->loc.text) {
        seen_fail(&s->fault, SEEN_CORRUPT, 0, "an entry has two locs");
    } else {
        web_sitemap_loc(s, text, fits);
    }
}

const struct web_sitemap_form web_sitemap_forms[] = {
    { "urlset", MAP, false, false, begin, end },
    { "sitemapindex", MAP, false, true, begin, end },
    { .root = NULL },
};
