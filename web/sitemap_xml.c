/*
 * sitemap_xml.c - a push parser on the SAX interface of libxml2.
 *
 * What libxml2 may collect, and its bound here:
 *
 *     a tag, comment or instruction that does not end    WEB_SITEMAP_PENDING
 *     names of elements and attributes                   DICTIONARY
 *     open elements, attributes of one                   depth, count
 *     entities, declarations of a DTD, includes          none at all
 *     texts, which come to us in pieces                  the entry's fields
 *
 * XML_PARSE_NOENT, DTDLOAD and HUGE are never set. XML_PARSE_NONET is, in case
 * there were something to load.
 */
#include "sitemap_reader.h"

#include <stdio.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#include <seen/url.h>

#include "../lib/text/space.h"
#include "../lib/text/span.h"

#define XML "http://www.w3.org/XML/1998/namespace"

enum {
    DICTIONARY = 1 << 20,
    PIECE = 16 << 10,
    /* Steps: of an element, and of each declaration of a name space that is
       open, since the names of an element and of its attributes are compared
       with all of them. */
    ELEMENT = 100
};

/* --- for the forms --- */

struct seen_span web_sitemap_keep(char *to, size_t room, struct seen_span s)
{
    size_t n = s.len < room ? s.len : room;

    if (n)
        memcpy(to, s.text, n);
    return (struct seen_span){ to, n };
}

struct seen_span web_sitemap_attribute(const struct web_sitemap_element *e,
                                       const char *space, const char *name)
{
    for (int i = 0; i < e->attributes; i++) {
        const xmlChar **at = e->attribute + 5 * i;

        if ((space ? at[2] && !strcmp((const char *)at[2], space) : !at[2]) &&
            !strcmp((const char *)at[0], name))
            return (struct seen_span){ (const char *)at[3],
                                       (size_t)(at[4] - at[3]) };
    }
    return (struct seen_span){ "", 0 };
}

struct seen_span web_sitemap_unescape(char *to, size_t room,
                                      struct seen_span s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len && n < room; i++) {
        to[n++] = s.text[i];
        if (span_begins((struct seen_span){ s.text + i, s.len - i }, "&#38;"))
            i += 4;
    }
    return space_trim_xml((struct seen_span){ to, n });
}

bool web_sitemap_home(const struct web_sitemap *s,
                      const struct web_sitemap_element *e, const char *space)
{
    const char *in = e->space ? e->space : "";
    const char *prefix = e->prefix ? e->prefix : "";

    if (!strcmp(in, space))
        return true;
    if (!s->lenient)
        return false;
    if (!*in)
        return !*prefix || (!*s->space && !strcmp(prefix, s->prefix));
    return !strcmp(in, s->space);
}

void web_sitemap_collect(struct web_sitemap *s, enum web_sitemap_field field)
{
    s->field = field;
    s->len = 0;
}

/* --- what libxml2 calls --- */

/* A copy, cut if it is long. */
static void copy(char *to, size_t room, const char *text)
{
    snprintf(to, room, "%s", text ? text : "");
}

static const struct web_sitemap_form *find_form(
    const struct web_sitemap_form *f, const char *root)
{
    while (f->root && strcmp(f->root, root))
        f++;
    return f->root ? f : NULL;
}

static void root(struct web_sitemap *s, const struct web_sitemap_element *e)
{
    s->form = find_form(web_sitemap_forms, e->name);
    if (!s->form && s->lenient)
        s->form = find_form(web_feed_forms, e->name);
    if (!strcmp(e->name, "html"))
        s->page = true;
    copy(s->prefix, sizeof s->prefix, e->prefix);
    copy(s->space, sizeof s->space, e->space);
    if (!s->form)
        web_sitemap_refuse(
            s, !s->lenient ? "is not a sitemap: it begins with another element"
               : s->page   ? "is a web page, not a list"
                           : "is neither a sitemap nor a feed: it begins with "
                             "another element");
    else if (!s->lenient && strcmp(s->space, s->form->space))
        web_sitemap_refuse(s, "is not a sitemap: it has another name space");
}

/* Push an xml:base, resolved. One that makes no sense does not count. */
static void base_begin(struct web_sitemap *s,
                       const struct web_sitemap_element *e)
{
    struct seen_span base = web_sitemap_attribute(e, XML, "base");
    char room[SEEN_KEY_TEXT], raw[WEB_SITEMAP_TEXT];

    if (!base.len || base.len > sizeof raw || s->bases == WEB_SITEMAP_BASES)
        return;
    base = web_sitemap_unescape(raw, sizeof raw, base);
    if (seen_url_whatwg(&base.text, &base.len, room, base.text, base.len,
                        s->base[s->bases].text, s->base[s->bases].len,
                        NULL) != SEEN_OK ||
        base.len > sizeof s->base[0].text)
        return;
    s->bases++;
    s->base[s->bases].depth = s->depth;
    s->base[s->bases].len = base.len;
    memcpy(s->base[s->bases].text, base.text, base.len);
}

/* An element within a text: a strict reader refuses it. */
static void within_text(struct web_sitemap *s)
{
    if (s->field != WEB_FIELD_FORMAT && !s->lenient)
        web_sitemap_refuse(s, "has elements inside a loc or lastmod");
    s->field = WEB_FIELD_NONE;
}

static void begin_element(void *to, const xmlChar *local,
                          const xmlChar *prefix, const xmlChar *uri,
                          int spaces, const xmlChar **space, int n,
                          int defaulted, const xmlChar **attribute)
{
    struct web_sitemap *s = to;
    struct web_sitemap_element e = { (const char *)local, (const char *)prefix,
                                     (const char *)uri, attribute, n };

    (void)space;
    (void)defaulted;
    if (s->code != SEEN_OK ||
        !web_sitemap_pay(s, ELEMENT +
                                (uint64_t)s->parser->nsNr * (uint64_t)(n + 1)))
        return;
    if (++s->depth >
        (s->lenient ? WEB_SITEMAP_FEED_DEPTH : WEB_SITEMAP_DEPTH)) {
        web_sitemap_refuse(s, "nests too deep");
        return;
    }
    if (n > WEB_SITEMAP_ATTRIBUTES || spaces > WEB_SITEMAP_ATTRIBUTES) {
        web_sitemap_refuse(s, "an element has too many attributes");
        return;
    }
    if (s->field != WEB_FIELD_NONE)
        within_text(s);
    if (s->depth == 1 && s->code == SEEN_OK)
        root(s, &e);
    if (s->code != SEEN_OK)
        return;
    if (s->lenient)
        base_begin(s, &e);
    s->form->begin(s, &e);
}

static void end_element(void *to, const xmlChar *local, const xmlChar *prefix,
                        const xmlChar *uri)
{
    struct web_sitemap *s = to;

    (void)local;
    (void)prefix;
    (void)uri;
    if (s->code != SEEN_OK)
        return;
    if (s->field != WEB_FIELD_NONE) {
        bool fits = s->len <= sizeof s->text;

        s->form->end(
            s,
            space_trim_xml((struct seen_span){ s->text, fits ? s->len : 0 }),
            fits);
        s->field = WEB_FIELD_NONE;
    } else if (s->entry_depth && s->depth == s->entry_depth) {
        web_sitemap_entry_end(s);
    }
    if (s->bases && s->base[s->bases].depth == s->depth)
        s->bases--;
    s->depth--;
}

static void characters(void *to, const xmlChar *text, int len)
{
    struct web_sitemap *s = to;
    size_t n = (size_t)len;

    if (s->code != SEEN_OK || s->field == WEB_FIELD_NONE)
        return;
    if (n >
        sizeof s->text - (s->len < sizeof s->text ? s->len : sizeof s->text)) {
        s->len = sizeof s->text + 1; /* too long, whatever follows */
        return;
    }
    memcpy(s->text + s->len, text, n);
    s->len += n;
}

/*
 * Called before anything of a DTD is read. RSS 0.91 has a DOCTYPE, so a lenient
 * reader accepts one; what it names is not loaded, and what it declares is
 * refused. So is a ">" in a name, after which libxml2 takes the DOCTYPE for
 * whole if a piece of the document ends there.
 */
static void doctype(void *to, const xmlChar *name, const xmlChar *external,
                    const xmlChar *system)
{
    struct web_sitemap *s = to;

    if (name && (!xmlStrcasecmp(name, (const xmlChar *)"html")))
        s->page = true;
    if (!s->lenient)
        web_sitemap_refuse(s, "has a DOCTYPE, which no sitemap needs");
    else if (s->page)
        web_sitemap_refuse(s, "is a web page, not a list");
    else if ((external && xmlStrchr(external, '>')) ||
             (system && xmlStrchr(system, '>')))
        web_sitemap_refuse(s, "has a DOCTYPE that is not that of a feed");
}

static void declared(void *to)
{
    web_sitemap_refuse(to, "declares things of its own, as only a DTD may");
}

static void declared_entity(void *to, const xmlChar *name, int type,
                            const xmlChar *public, const xmlChar *system,
                            xmlChar *content)
{
    (void)name, (void)type, (void)public, (void)system, (void)content;
    declared(to);
}

static void declared_attribute(void *to, const xmlChar *element,
                               const xmlChar *name, int type, int def,
                               const xmlChar *value, xmlEnumerationPtr tree)
{
    (void)element, (void)name, (void)type, (void)def, (void)value;
    xmlFreeEnumeration(tree); /* it is ours */
    declared(to);
}

static void declared_element(void *to, const xmlChar *name, int type,
                             xmlElementContentPtr content)
{
    (void)name, (void)type, (void)content;
    declared(to);
}

static void declared_notation(void *to, const xmlChar *name,
                              const xmlChar *public, const xmlChar *system)
{
    (void)name, (void)public, (void)system;
    declared(to);
}

static void declared_unparsed(void *to, const xmlChar *name,
                              const xmlChar *public, const xmlChar *system,
                              const xmlChar *notation)
{
    (void)name, (void)public, (void)system, (void)notation;
    declared(to);
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
    static const xmlChar utf16[] = "UTF-16";
    struct web_sitemap *s = to;
    const xmlChar *name = s->parser->input->encoding;

    if (!name)
        name = s->parser->encoding;
    if (!name || (s->lenient && !xmlStrcasecmp(name, utf16)) ||
        in_family(name, "ISO-8859-") || in_family(name, "WINDOWS-125"))
        return;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!xmlStrcasecmp(name, (const xmlChar *)known[i]))
            return;
    web_sitemap_refuse(
        s, "has an encoding other than UTF-8, which sitemaps are in");
}

/* An error of libxml2. Its words quote the document: only bytes that are
   harmless on a terminal are kept. */
static void fault(void *to, xmlErrorPtr error)
{
    struct web_sitemap *s = to;
    char text[100];
    size_t n = 0;

    if (error->level < XML_ERR_ERROR || s->code != SEEN_OK)
        return;
    if (s->lenient && (error->domain == XML_FROM_NAMESPACE ||
                       error->code == XML_WAR_UNDECLARED_ENTITY))
        return; /* an unknown prefix; &eacute; of a DTD that is not read */
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

/* --- the door --- */

static bool is_wide(const struct web_sitemap *s)
{
    return s->wide.units == WEB_UNITS_LITTLE || s->wide.units == WEB_UNITS_BIG;
}

enum seen_code web_sitemap_xml_new(struct web_sitemap *s,
                                   struct seen_error *why)
{
    xmlSAXHandler sax = {
        .initialized = XML_SAX2_MAGIC,
        .startDocument = document,
        .internalSubset = doctype,
        .entityDecl = declared_entity,
        .attributeDecl = declared_attribute,
        .elementDecl = declared_element,
        .notationDecl = declared_notation,
        .unparsedEntityDecl = declared_unparsed,
        .startElementNs = begin_element,
        .endElementNs = end_element,
        .characters = characters,
        .ignorableWhitespace = characters,
        .cdataBlock = characters,
        .serror = fault,
    };

    xmlSetGenericErrorFunc(NULL, hush); /* of this thread */
    s->parser = xmlCreatePushParserCtxt(&sax, s, NULL, 0, NULL);
    if (!s->parser)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a sitemap");
    xmlCtxtUseOptions(s->parser, XML_PARSE_NONET |
                                     (is_wide(s) ? XML_PARSE_IGNORE_ENC : 0));
    /* Else libxml2 ends at a document in UTF-8 that says it is in UTF-16. */
    if (s->lenient && !is_wide(s))
        s->parser->encoding = xmlStrdup((const xmlChar *)"UTF-8");
    xmlDictSetLimit(s->parser->dict, DICTIONARY);
    return SEEN_OK;
}

void web_sitemap_xml_free(struct web_sitemap *s)
{
    if (!s->parser)
        return;
    xmlFreeDoc(s->parser->myDoc);
    xmlFreeParserCtxt(s->parser);
}

uint64_t web_sitemap_xml_line(const struct web_sitemap *s)
{
    return (uint64_t)xmlSAX2GetLineNumber(s->parser);
}

/* Bytes that libxml2 keeps because their tag or comment has not ended. */
static size_t pending(const struct web_sitemap *s)
{
    const xmlParserInput *in = s->parser->input;

    return in ? (size_t)(in->end - in->cur) : 0;
}

/* What libxml2 knows, but did not report. */
static void check(struct web_sitemap *s)
{
    if (s->code != SEEN_OK) {
        xmlStopParser(s->parser);
        return;
    }
    if (s->parser->errNo == XML_PARSER_EOF) /* no room for a piece */
        s->code = seen_fail(&s->why, SEEN_NOMEM, 0, "no memory for a sitemap");
    else if (!s->parser->wellFormed || s->parser->disableSAX ||
             s->parser->errNo == XML_ERR_NO_MEMORY)
        s->code = seen_fail(&s->why, SEEN_CORRUPT, 0,
                            "is not well-formed XML");
}

void web_sitemap_xml_push(struct web_sitemap *s, const char *bytes, size_t n)
{
    while (n && s->code == SEEN_OK) {
        size_t some = n < PIECE ? n : PIECE;

        xmlParseChunk(s->parser, bytes, (int)some, 0);
        if (s->code == SEEN_OK && pending(s) > WEB_SITEMAP_PENDING)
            web_sitemap_refuse(s, "has a tag or comment without end");
        bytes += some;
        n -= some;
        check(s);
    }
}

void web_sitemap_xml_end(struct web_sitemap *s)
{
    xmlParseChunk(s->parser, "", 0, 1);
    check(s);
}
