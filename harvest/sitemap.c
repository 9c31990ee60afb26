/*
 * sitemap.c - a push parser on the SAX interface of libxml2.
 *
 * What libxml2 may collect, and its bound here:
 *
 *     a tag, comment or instruction that does not end    SITEMAP_PENDING
 *     names of elements and attributes                   DICTIONARY
 *     open elements, attributes of one                   depth, count
 *     entities, DTDs, includes                           none at all
 *     texts, which come to us in pieces                  the entry's fields
 *
 * XML_PARSE_NOENT, DTDLOAD and HUGE are never set. XML_PARSE_NONET is, in case
 * there were something to load.
 */
#include "sitemap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#include "../lib/text/span.h"

#define MAP "http://www.sitemaps.org/schemas/sitemap/0.9"
#define RS "http://www.openarchives.org/rs/terms/"
#define PATCH_TYPE "application/vnd.seen-delta"

enum { DICTIONARY = 1 << 20, PIECE = 16 << 10, MAP_LEVEL = 2 };

/* Bytes of each text, at most; of a URL with some white space. */
enum { URL = SITEMAP_URL + 64, WORD = 64, HASH = 512 };

/* The text that is being collected. */
enum sitemap_field { NOTHING, LOC, LASTMOD };

struct sitemap {
    xmlParserCtxtPtr parser;
    sitemap_handler *handle;
    void *owner;
    enum seen_code code; /* of the first failure */
    struct seen_error why;
    bool begun, page, index, inside; /* a url or sitemap */
    enum sitemap_capability capability;
    unsigned depth;
    uint64_t entries;
    char up[URL + 1];

    enum sitemap_field field;
    size_t len; /* of `text`; more than it has room for: too long */
    char text[URL];
    struct seen_error fault;
    struct sitemap_entry entry; /* its texts are these: */
    char loc[URL], lastmod[WORD], type[WORD], change[WORD], hash[HASH],
        patch_loc[URL], patch_hash[HASH];
};

/* --- failures --- */

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

/* Keep a copy, as far as there is room: such texts are short. */
static struct seen_span keep(char *to, size_t room, struct seen_span s)
{
    size_t n = s.len < room ? s.len : room;

    memcpy(to, s.text, n);
    return (struct seen_span){ to, n };
}

static struct seen_span trim(struct seen_span s)
{
    while (s.len && memchr(" \t\r\n", s.text[0], 4))
        s.text++, s.len--;
    while (s.len && memchr(" \t\r\n", s.text[s.len - 1], 4))
        s.len--;
    return s;
}

static uint64_t number(struct seen_span p)
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

static enum sitemap_capability capability_of(struct seen_span p)
{
    return span_is(p, "description")      ? SITEMAP_DESCRIPTION
           : span_is(p, "capabilitylist") ? SITEMAP_CAPABILITIES
           : span_is(p, "resourcelist")   ? SITEMAP_RESOURCES
           : span_is(p, "changelist")     ? SITEMAP_CHANGES
                                          : SITEMAP_OTHER;
}

/* --- elements of ResourceSync --- */

/* The attributes of an element, as SAX2 of libxml2 hands them over: name,
   prefix, name space, begin and end of the value. */
struct attributes {
    const xmlChar **at;
    int n;
};

static struct seen_span value(struct attributes a, const char *name)
{
    for (int i = 0; i < a.n; i++)
        if (!a.at[5 * i + 2] && !strcmp((const char *)a.at[5 * i], name))
            return (struct seen_span){ (const char *)a.at[5 * i + 3],
                                       (size_t)(a.at[5 * i + 4] -
                                                a.at[5 * i + 3]) };
    return (struct seen_span){ "", 0 };
}

/*
 * Attribute values come as they stand in the document: without
 * XML_PARSE_NOENT "&amp;" is still "&#38;" in them. It is the only reference
 * that a URL needs.
 */
static struct seen_span unescape(char *to, size_t room, struct seen_span s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len && n < room; i++) {
        to[n++] = s.text[i];
        if (span_begins((struct seen_span){ s.text + i, s.len - i }, "&#38;"))
            i += 4;
    }
    return trim((struct seen_span){ to, n });
}

static void metadata(struct sitemap *s, struct attributes a)
{
    struct sitemap_entry *e = &s->entry;
    struct seen_span capability = value(a, "capability");

    if (!s->inside) {
        if (s->depth == MAP_LEVEL && capability.len && !s->entries)
            s->capability = capability_of(capability);
        return;
    }
    if (capability.len)
        e->of = capability_of(capability);
    if (value(a, "hash").len)
        e->hash = keep(s->hash, sizeof s->hash, value(a, "hash"));
    if (value(a, "length").len)
        e->length = number(value(a, "length"));
    if (value(a, "type").len)
        e->type = keep(s->type, sizeof s->type, value(a, "type"));
    if (value(a, "change").len)
        e->change = keep(s->change, sizeof s->change, value(a, "change"));
}

static void link_to(struct sitemap *s, struct attributes a)
{
    struct sitemap_entry *e = &s->entry;
    struct seen_span rel = value(a, "rel"), href = value(a, "href");

    if (!s->inside) {
        if (s->depth == MAP_LEVEL && span_is(rel, "up") && !s->up[0]) {
            href = unescape(s->text, sizeof s->text, href);
            memcpy(s->up, href.text, href.len);
            s->up[href.len] = '\0';
        }
        return;
    }
    if (e->patch.loc.len ||
        (!span_is(rel, RS "patch") && !span_is(rel, "patch")) ||
        (value(a, "type").len && !span_is(value(a, "type"), PATCH_TYPE)))
        return;
    e->patch.loc = unescape(s->patch_loc, sizeof s->patch_loc, href);
    e->patch.hash = keep(s->patch_hash, sizeof s->patch_hash,
                         value(a, "hash"));
    e->patch.length = number(value(a, "length"));
}

/* --- entries --- */

static void entry_begin(struct sitemap *s)
{
    memset(&s->entry, 0, sizeof s->entry);
    s->entry.index = s->index;
    s->entry.length = s->entry.patch.length = UINT64_MAX;
    s->inside = true;
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
    if (!s->entry.loc.text && s->fault.code == SEEN_OK)
        seen_fail(&s->fault, SEEN_CORRUPT, 0, "an entry has no loc");
    s->entry.document = s->capability;
    s->entry.fault = s->fault.code == SEEN_OK ? NULL : &s->fault;
    code = s->handle(s->owner, &s->entry, &s->why);
    if (code != SEEN_OK) {
        s->code = code;
        xmlStopParser(s->parser);
    }
}

static void field_end(struct sitemap *s)
{
    struct sitemap_entry *e = &s->entry;
    bool fits = s->len <= sizeof s->text;
    struct seen_span text = trim(
        (struct seen_span){ s->text, fits ? s->len : 0 });

    if (s->field == LASTMOD) {
        e->lastmod = keep(s->lastmod, sizeof s->lastmod, text);
    } else if (e->loc.text) {
        seen_fail(&s->fault, SEEN_CORRUPT, 0, "an entry has two locs");
    } else {
        e->loc = keep(s->loc, sizeof s->loc, text);
        if (!fits || text.len > SITEMAP_URL)
            seen_fail(&s->fault, SEEN_RANGE, 0, "a URL has more than %d bytes",
                      SITEMAP_URL);
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
        refuse(s, "is not a sitemap: it begins with another element");
    else if (!space || strcmp(space, MAP))
        refuse(s, "is not a sitemap: it has another name space");
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

/* "ISO-8859-15" is a family and one or two digits. */
static bool in_family(const xmlChar *name, const char *family)
{
    const size_t n = strlen(family);
    const char *digits = (const char *)name + n;

    return !xmlStrncasecmp(name, (const xmlChar *)family, (int)n) &&
           strspn(digits, "0123456789") == strlen(digits) &&
           strlen(digits) >= 1 && strlen(digits) <= 2;
}

/* Of the encodings that libxml2 knows, only those in which "<" is the byte
   "<": in others pending() could not count, and sitemaps do not need them. A
   name that only begins like one of these means different things to libxml2,
   depending on the pieces in which the document comes. */
static void document(void *to)
{
    static const char *const known[] = { "UTF-8", "UTF8", "US-ASCII",
                                         "ASCII" };
    struct sitemap *s = to;
    const xmlChar *name = s->parser->encoding;

    if (!name || in_family(name, "ISO-8859-") ||
        in_family(name, "WINDOWS-125"))
        return;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!xmlStrcasecmp(name, (const xmlChar *)known[i]))
            return;
    refuse(s, "has an encoding other than UTF-8, which sitemaps are in");
}

/* An error of libxml2. Its words quote the document: only bytes that are
   harmless on a terminal are kept. */
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
                        "is not well-formed XML: line %d: %s", error->line,
                        text);
}

/* libxml2 would print parts of the document. */
static void hush(void *to, const char *format, ...)
{
    (void)to;
    (void)format;
}

/* --- the header's functions --- */

enum seen_code sitemap_new(struct sitemap **out, sitemap_handler *handle,
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
    s->handle = handle;
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
        s->code = seen_fail(&s->why, SEEN_CORRUPT, 0,
                            "is not well-formed XML");
    if (s->code != SEEN_OK && why)
        *why = s->why;
    return s->code;
}

/* Bytes that libxml2 keeps because their tag or comment has not ended. */
static size_t pending(const struct sitemap *s)
{
    const xmlParserInput *in = s->parser->input;

    return in ? (size_t)(in->end - in->cur) : 0;
}

enum seen_code sitemap_push(struct sitemap *s, const void *bytes, size_t n,
                            struct seen_error *why)
{
    const char *at = bytes;

    /* Encodings that libxml2 recognises by their first bytes are not counted
       correctly by pending(); all that we accept begins like this. */
    if (n && !s->begun && !strchr("< \t\r\n\xef", *at ? *at : 'x'))
        refuse(s, "is not XML in UTF-8");
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
