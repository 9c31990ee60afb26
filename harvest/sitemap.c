/*
 * sitemap.c - a push parser on the SAX interface of libxml2.
 *
 * What libxml2 may pile up, and what bounds it here:
 *
 *     a tag, comment or instruction that does not end    SITEMAP_PENDING
 *     names of elements and attributes                   DICTIONARY
 *     open elements, attributes of one                   depth, count
 *     entities, DTDs, includes                           none at all
 *     texts, which come to us in pieces                  the entry's fields
 *
 * XML_PARSE_NOENT, DTDLOAD and HUGE are never given; XML_PARSE_NONET is, for
 * the case that there were something to load.
 */
#include "sitemap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#define MAP "http://www.sitemaps.org/schemas/sitemap/0.9"
#define RS "http://www.openarchives.org/rs/terms/"
#define PATCH_TYPE "application/vnd.seen-delta"

enum { DICTIONARY = 1 << 20, PIECE = 16 << 10, MAP_LEVEL = 2 };

/* Which text is being gathered. */
enum field { NOTHING, LOC, LASTMOD };

struct sitemap {
    xmlParserCtxtPtr parser;
    sitemap_take *take;
    void *owner;
    enum seen_code code; /* of the first failure */
    struct seen_error why;
    bool begun, page, index, inside; /* a url or sitemap */
    enum sitemap_capability capability;
    unsigned depth;
    uint64_t entries;
    char up[ADDRESS_MOST + 1];

    enum field field;
    size_t len; /* of `text`; more than it has room for: too long */
    char text[ADDRESS_MOST + 64];
    bool had_loc;
    struct seen_error fault;
    struct sitemap_entry entry;
};

/* --- to stop --- */

static void stop(struct sitemap *s, enum seen_code code, const char *text)
{
    if (s->code == SEEN_OK)
        s->code = seen_fail(&s->why, code,
                            (uint64_t)xmlSAX2GetLineNumber(s->parser), "%s",
                            text);
    xmlStopParser(s->parser);
}

static void refuse(struct sitemap *s, const char *text)
{
    stop(s, SEEN_CORRUPT, text);
}

/* --- small texts --- */

struct piece {
    const char *text;
    size_t len;
};

static bool is(struct piece p, const char *text)
{
    return p.len == strlen(text) && !memcmp(p.text, text, p.len);
}

/* As much as there is room for, which is all that such fields need. */
static void keep(char *to, size_t room, struct piece p)
{
    size_t n = p.len < room ? p.len : room - 1;

    memcpy(to, p.text, n);
    to[n] = '\0';
}

static uint64_t number(struct piece p)
{
    uint64_t n = 0;

    if (!p.len || p.len > 18)
        return UINT64_MAX;
    for (size_t i = 0; i < p.len; i++) {
        if (p.text[i] < '0' || p.text[i] > '9')
            return UINT64_MAX;
        n = 10 * n + (uint64_t)(p.text[i] - '0');
    }
    return n;
}

static enum sitemap_capability capability_of(struct piece p)
{
    return is(p, "description")      ? CAPABILITY_DESCRIPTION
           : is(p, "capabilitylist") ? CAPABILITY_LIST
           : is(p, "resourcelist")   ? CAPABILITY_RESOURCES
           : is(p, "changelist")     ? CAPABILITY_CHANGES
                                     : CAPABILITY_OTHER;
}

/* --- elements of ResourceSync --- */

/* The attributes of an element, as SAX2 of libxml2 hands them over: name,
   prefix, name space, begin and end of the value. */
struct attributes {
    const xmlChar **at;
    int n;
};

static struct piece value(struct attributes a, const char *name)
{
    for (int i = 0; i < a.n; i++)
        if (!a.at[5 * i + 2] && !strcmp((const char *)a.at[5 * i], name))
            return (
                struct piece){ (const char *)a.at[5 * i + 3],
                               (size_t)(a.at[5 * i + 4] - a.at[5 * i + 3]) };
    return (struct piece){ "", 0 };
}

/*
 * Attribute values are handed over as they stand in the document: without
 * XML_PARSE_NOENT "&amp;" is still "&#38;" in them. It is the one reference
 * that a URL needs; others are no part of a URL that we fetch.
 */
static struct piece unescape(char *to, size_t room, struct piece p)
{
    static const char amp[] = "&#38;";
    size_t n = 0;

    for (size_t i = 0; i < p.len && n < room; i++) {
        to[n++] = p.text[i];
        if (p.len - i >= 5 && !memcmp(p.text + i, amp, 5))
            i += 4;
    }
    return (struct piece){ to, n };
}

static void metadata(struct sitemap *s, struct attributes a)
{
    struct sitemap_entry *e = &s->entry;
    struct piece capability = value(a, "capability"), hash;

    if (!s->inside) {
        if (s->depth == MAP_LEVEL && capability.len && !s->entries)
            s->capability = capability_of(capability);
        return;
    }
    if (capability.len)
        e->of = capability_of(capability);
    hash = value(a, "hash");
    if (hash.len)
        hash_read(&e->hash, hash.text, hash.len);
    if (value(a, "length").len)
        e->length = number(value(a, "length"));
    if (value(a, "type").len)
        keep(e->type, sizeof e->type, value(a, "type"));
    if (value(a, "change").len)
        keep(e->change, sizeof e->change, value(a, "change"));
}

static void link_to(struct sitemap *s, struct attributes a)
{
    char text[ADDRESS_MOST + 64];
    struct sitemap_patch *p = &s->entry.patch;
    struct piece rel = value(a, "rel"), hash = value(a, "hash"), href;

    href = unescape(text, sizeof text, value(a, "href"));
    if (!s->inside) {
        if (s->depth == MAP_LEVEL && is(rel, "up") && !s->up[0] &&
            address_read(s->up, href.text, href.len, NULL) != SEEN_OK)
            s->up[0] = '\0';
        return;
    }
    if (p->url[0] || (!is(rel, RS "patch") && !is(rel, "patch")) ||
        (value(a, "type").len && !is(value(a, "type"), PATCH_TYPE)))
        return;
    if (address_read(p->url, href.text, href.len, NULL) != SEEN_OK) {
        p->url[0] = '\0';
        return;
    }
    hash_read(&p->hash, hash.text, hash.len);
    p->length = number(value(a, "length"));
}

/* --- entries --- */

static void entry_begin(struct sitemap *s)
{
    memset(&s->entry, 0, sizeof s->entry);
    s->entry.index = s->index;
    s->entry.length = s->entry.patch.length = UINT64_MAX;
    s->inside = true;
    s->had_loc = false;
    s->fault.code = SEEN_OK;
}

static void entry_end(struct sitemap *s)
{
    enum seen_code code;

    s->inside = false;
    if (++s->entries > SITEMAP_ENTRIES) {
        refuse(s, "has more than 500,000 entries");
        return;
    }
    if (!s->had_loc)
        seen_fail(&s->fault, SEEN_CORRUPT, 0, "an entry has no loc");
    s->entry.document = s->capability;
    s->entry.fault = s->fault.code == SEEN_OK ? NULL : &s->fault;
    code = s->take(s->owner, &s->entry, &s->why);
    if (code != SEEN_OK) {
        s->code = code;
        xmlStopParser(s->parser);
    }
}

static void field_end(struct sitemap *s)
{
    struct sitemap_entry *e = &s->entry;

    if (s->field == LASTMOD) {
        size_t from = 0, to = s->len < sizeof s->text ? s->len : 0;

        while (from < to && strchr(" \t\r\n", s->text[from]))
            from++;
        while (to > from && strchr(" \t\r\n", s->text[to - 1]))
            to--;
        keep(e->lastmod, sizeof e->lastmod,
             (struct piece){ s->text + from, to - from });
    } else if (s->had_loc) {
        seen_fail(&s->fault, SEEN_CORRUPT, 0, "an entry has two locs");
    } else {
        s->had_loc = true;
        if (s->len > sizeof s->text)
            seen_fail(&s->fault, SEEN_RANGE, 0, "a URL has more than %d bytes",
                      ADDRESS_MOST);
        else
            address_read(e->url, s->text, s->len, &s->fault);
    }
    s->field = NOTHING;
}

/* --- what libxml2 calls --- */

static void root(struct sitemap *s, const char *name, const char *space)
{
    if (!strcmp(name, "html"))
        s->page = true;
    s->index = !strcmp(name, "sitemapindex");
    if (!s->index && strcmp(name, "urlset"))
        refuse(s, "is no sitemap: it begins with another element");
    else if (!space || strcmp(space, MAP))
        refuse(s, "is no sitemap: its name space is another one");
}

static void begin_element(void *to, const xmlChar *local,
                          const xmlChar *prefix, const xmlChar *uri,
                          int spaces, const xmlChar **space, int n,
                          int defaulted, const xmlChar **attribute)
{
    struct sitemap *s = to;
    const char *name = (const char *)local, *in = (const char *)uri;
    struct attributes a = { attribute, n };

    (void)prefix;
    (void)space;
    (void)defaulted;
    if (s->code != SEEN_OK)
        return;
    if (++s->depth > SITEMAP_DEPTH) {
        refuse(s, "nests too deep");
        return;
    }
    if (n > SITEMAP_ATTRIBUTES || spaces > SITEMAP_ATTRIBUTES) {
        refuse(s, "an element has too many attributes");
        return;
    }
    if (s->field != NOTHING) {
        refuse(s, "has elements inside a loc or lastmod");
        return;
    }
    if (s->depth == 1) {
        root(s, name, in);
    } else if (in && !strcmp(in, MAP)) {
        if (s->depth == 2 && !strcmp(name, s->index ? "sitemap" : "url"))
            entry_begin(s);
        else if (s->depth == 3 && s->inside && !strcmp(name, "loc"))
            s->field = LOC;
        else if (s->depth == 3 && s->inside && !strcmp(name, "lastmod"))
            s->field = LASTMOD;
        s->len = 0;
    } else if (in && !strcmp(in, RS) && s->depth == 2u + s->inside) {
        if (!strcmp(name, "md"))
            metadata(s, a);
        else if (!strcmp(name, "ln"))
            link_to(s, a);
    }
}

static void end_element(void *to, const xmlChar *local, const xmlChar *prefix,
                        const xmlChar *uri)
{
    struct sitemap *s = to;

    (void)local;
    (void)prefix;
    (void)uri;
    if (s->code != SEEN_OK)
        return;
    if (s->field != NOTHING)
        field_end(s);
    else if (s->inside && s->depth == 2)
        entry_end(s);
    s->depth--;
}

static void characters(void *to, const xmlChar *text, int len)
{
    struct sitemap *s = to;
    size_t n = (size_t)len;

    if (s->code != SEEN_OK || s->field == NOTHING)
        return;
    if (n >
        sizeof s->text - (s->len < sizeof s->text ? s->len : sizeof s->text)) {
        s->len = sizeof s->text + 1; /* too long, whatever follows */
        return;
    }
    memcpy(s->text + s->len, text, n);
    s->len += n;
}

/* Called before anything of a DTD is read. */
static void doctype(void *to, const xmlChar *name, const xmlChar *external,
                    const xmlChar *system)
{
    struct sitemap *s = to;

    (void)external;
    (void)system;
    if (name && (!xmlStrcasecmp(name, (const xmlChar *)"html")))
        s->page = true;
    refuse(s, "has a DOCTYPE, which no sitemap needs");
}

/* Of the encodings that libxml2 knows, those in which "<" is a "<": in
   others what it piles up cannot be counted, nor do sitemaps need them. */
static void document(void *to)
{
    static const char *const known[] = { "UTF-8", "UTF8", "US-ASCII",
                                         "ASCII" };
    struct sitemap *s = to;
    const xmlChar *name = s->parser->encoding;

    if (!name || !xmlStrncasecmp(name, (const xmlChar *)"ISO-8859-", 9) ||
        !xmlStrncasecmp(name, (const xmlChar *)"WINDOWS-125", 11))
        return;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!xmlStrcasecmp(name, (const xmlChar *)known[i]))
            return;
    refuse(s, "has an encoding other than UTF-8, which sitemaps are in");
}

/* What libxml2 found. Its words quote the document: only what is sure to be
   harmless on a terminal is taken over. */
static void fault(void *to, xmlErrorPtr error)
{
    struct sitemap *s = to;
    char text[100];
    size_t n = 0;

    if (error->level < XML_ERR_ERROR || s->code != SEEN_OK)
        return;
    if (error->code == XML_ERR_NO_MEMORY) { /* or the dictionary is full */
        s->code = seen_fail(&s->why, SEEN_CORRUPT, 0,
                            "has more different names than there is room for");
        return;
    }
    for (const char *at = error->message; at && *at && n + 1 < sizeof text;
         at++)
        if (*at >= ' ' && *at <= '~')
            text[n++] = *at;
    text[n] = '\0';
    s->code = seen_fail(&s->why, SEEN_CORRUPT, (uint64_t)error->line,
                        "is no well-formed XML: line %d: %s", error->line,
                        text);
}

/* What libxml2 would print of documents it cannot name: their bytes. */
static void hush(void *to, const char *format, ...)
{
    (void)to;
    (void)format;
}

/* --- the door --- */

enum seen_code sitemap_new(struct sitemap **out, sitemap_take *take,
                           void *owner, struct seen_error *why)
{
    struct sitemap *s = calloc(1, sizeof *s);
    xmlSAXHandler sax = {
        .initialized = XML_SAX2_MAGIC,
        .startDocument = document,
        .internalSubset = doctype,
        .startElementNs = begin_element,
        .endElementNs = end_element,
        .characters = characters,
        .ignorableWhitespace = characters,
        .cdataBlock = characters,
        .serror = fault,
    };

    *out = NULL;
    xmlSetGenericErrorFunc(NULL, hush); /* of this thread */
    if (s)
        s->parser = xmlCreatePushParserCtxt(&sax, s, NULL, 0, NULL);
    if (!s || !s->parser) {
        free(s);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a sitemap");
    }
    s->take = take;
    s->owner = owner;
    xmlCtxtUseOptions(s->parser, XML_PARSE_NONET);
    xmlDictSetLimit(s->parser->dict, DICTIONARY);
    *out = s;
    return SEEN_OK;
}

void sitemap_free(struct sitemap *s)
{
    if (!s)
        return;
    xmlFreeDoc(s->parser->myDoc);
    xmlFreeParserCtxt(s->parser);
    free(s);
}

static enum seen_code result(struct sitemap *s, struct seen_error *why)
{
    if (s->code == SEEN_OK &&
        (!s->parser->wellFormed || s->parser->errNo == XML_ERR_NO_MEMORY))
        s->code = seen_fail(&s->why, SEEN_CORRUPT, 0, "is no well-formed XML");
    if (s->code != SEEN_OK && why)
        *why = s->why;
    return s->code;
}

/* Bytes that libxml2 holds because what they belong to has not ended. */
static size_t pending(const struct sitemap *s)
{
    const xmlParserInput *in = s->parser->input;

    return in ? (size_t)(in->end - in->cur) : 0;
}

enum seen_code sitemap_push(struct sitemap *s, const void *bytes, size_t n,
                            struct seen_error *why)
{
    const char *at = bytes;

    /* Other encodings that libxml2 recognises by their first bytes are not
       counted rightly by pending(); "<" itself begins all that we take. */
    if (n && !s->begun && !strchr("< \t\r\n\xef", *at ? *at : 'x'))
        refuse(s, "is no XML in UTF-8");
    s->begun = s->begun || n;
    while (n && s->code == SEEN_OK) {
        size_t some = n < PIECE ? n : PIECE;

        xmlParseChunk(s->parser, at, (int)some, 0);
        if (s->code == SEEN_OK && pending(s) > SITEMAP_PENDING)
            refuse(s, "has a tag or comment without end");
        at += some;
        n -= some;
        result(s, NULL);
    }
    return result(s, why);
}

enum seen_code sitemap_end(struct sitemap *s, struct seen_error *why)
{
    if (s->code == SEEN_OK && !s->begun)
        refuse(s, "is empty");
    if (s->code == SEEN_OK)
        xmlParseChunk(s->parser, "", 0, 1);
    return result(s, why);
}

bool sitemap_is_page(const struct sitemap *s)
{
    return s->page;
}

const char *sitemap_up(const struct sitemap *s)
{
    return s->up;
}

enum sitemap_capability sitemap_capability(const struct sitemap *s)
{
    return s->capability;
}

bool sitemap_is_index(const struct sitemap *s)
{
    return s->index;
}
