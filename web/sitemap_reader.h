/*
 * sitemap_reader.h - the inside of a reader of lists, for the files that it is
 * made of:
 *
 *     bytes ──> sitemap_wide.c: UTF-16 to UTF-8
 *                 │
 *                 └──> sitemap.c ──┬── "<" ──> sitemap_xml.c ──┬──> sitemap_form.c
 *                        ^         │           elements, texts └──> feed_form.c
 *                        │         └── else: a URL per line              │
 *                        └────────────── entries ────────────────────────┘
 *
 * A form is a kind of XML document: which element it begins with, and what its
 * other elements mean.
 */
#ifndef SEEN_WEB_SITEMAP_READER_H
#define SEEN_WEB_SITEMAP_READER_H

#include "sitemap.h"

/* Bytes of each text, at most; of a URL with some white space. */
enum {
    WEB_SITEMAP_TEXT = WEB_SITEMAP_URL + 64,
    WEB_SITEMAP_WORD = 64,
    WEB_SITEMAP_HASH = 512,
    WEB_SITEMAP_BASES = 4 /* xml:base of a feed, channel, entry and link */
};

/* An element as SAX2 of libxml2 hands it over. An attribute is five pointers:
   name, prefix, name space, begin and end of the value. */
struct web_sitemap_element {
    const char *name, *prefix, *space;
    const unsigned char **attribute;
    int attributes;
};

/* The text that is being collected. */
enum web_sitemap_field {
    WEB_FIELD_NONE,
    WEB_FIELD_LOC,     /* loc, link */
    WEB_FIELD_LASTMOD, /* lastmod, pubDate, updated */
    WEB_FIELD_DATE,    /* another date, if there is no better one */
    WEB_FIELD_GUID,    /* a URL, if there is no link */
    WEB_FIELD_FORMAT
};

struct web_sitemap_form {
    const char *root, *space; /* the root element and its name space */
    bool feed, index;
    void (*begin)(struct web_sitemap *s, const struct web_sitemap_element *e);
    void (*end)(struct web_sitemap *s, struct seen_span text, bool fits);
};

/* The bytes as UTF-8; sitemap_wide.c. Until two bytes are there, none goes on. */
void web_sitemap_wide(struct web_sitemap *s, const char *bytes, size_t n);
void web_sitemap_wide_end(struct web_sitemap *s);
void web_sitemap_text(struct web_sitemap *s, const char *bytes, size_t n);

extern const struct web_sitemap_form web_sitemap_forms[], web_feed_forms[];

struct web_sitemap {
    struct _xmlParserCtxt *parser; /* NULL: not yet, or a list of lines */
    bool lenient;                  /* the caller gave a base */
    bool lines;                    /* one URL per line */
    struct budget *budget;         /* or NULL */
    web_sitemap_handler *handle;
    void *owner;
    enum seen_code code; /* of the first failure */
    struct seen_error why;
    const struct web_sitemap_form *form;
    bool begun, page;
    struct {
        enum web_sitemap_units {
            WEB_UNITS_UNKNOWN,
            WEB_UNITS_BYTES,
            WEB_UNITS_LITTLE,
            WEB_UNITS_BIG
        } units;
        bool held; /* half a unit, in `byte` */
        unsigned char byte;
        uint32_t high; /* half a surrogate pair, or 0 */
    } wide; /* UTF-16 on its way to UTF-8; only if lenient */
    bool returned; /* the last byte of a line was CR */
    unsigned mark; /* bytes of a byte order mark */
    enum web_sitemap_capability capability;
    unsigned depth, entry_depth; /* 0: not inside an entry */
    uint64_t entries, faults, line;
    char up[WEB_SITEMAP_TEXT + 1];

    /* What the root says its elements are in. */
    char prefix[WEB_SITEMAP_WORD], space[WEB_SITEMAP_HASH];

    unsigned bases;
    struct {
        unsigned depth;
        size_t len;
        char text[WEB_SITEMAP_TEXT];
    } base[WEB_SITEMAP_BASES + 1]; /* the first is the document's own */

    enum web_sitemap_field field;
    size_t len; /* bytes of the text; above its room if it is too long */
    char text[WEB_SITEMAP_TEXT];
    struct seen_error fault;
    bool html;                      /* the link is to an HTML page */
    unsigned loc_base, guid_base;   /* bases that hold for the two */
    struct web_sitemap_entry entry; /* its texts are the following */
    char loc[WEB_SITEMAP_TEXT], guid[WEB_SITEMAP_TEXT],
        lastmod[WEB_SITEMAP_WORD], type[WEB_SITEMAP_WORD],
        change[WEB_SITEMAP_WORD], hash[WEB_SITEMAP_HASH],
        patch_loc[WEB_SITEMAP_TEXT], patch_hash[WEB_SITEMAP_HASH];
    size_t guid_len;
};

/* End the reading; the first reason counts. */
void web_sitemap_refuse(struct web_sitemap *s, const char *text);

/* Pay for a step of the reading; false if that ends it. */
bool web_sitemap_pay(struct web_sitemap *s, uint64_t steps);

/* An entry begins at the element that was begun last; it ends, and is handed
   over unless it has nothing that a feed's entry must have. */
void web_sitemap_entry_begin(struct web_sitemap *s);
void web_sitemap_entry_end(struct web_sitemap *s);

/* --- XML --- */

enum seen_code web_sitemap_xml_new(struct web_sitemap *s,
                                   struct seen_error *why);
void web_sitemap_xml_push(struct web_sitemap *s, const char *bytes, size_t n);
void web_sitemap_xml_end(struct web_sitemap *s);
void web_sitemap_xml_free(struct web_sitemap *s);
uint64_t web_sitemap_xml_line(const struct web_sitemap *s);

/* The value of an attribute, with a name space or without; empty if missing. */
struct seen_span web_sitemap_attribute(const struct web_sitemap_element *e,
                                       const char *space, const char *name);

/*
 * Attribute values come as they stand in the document: without
 * XML_PARSE_NOENT "&amp;" is still "&#38;" in them. It is the only reference
 * that a URL needs. The result is without white space around it.
 */
struct seen_span web_sitemap_unescape(char *to, size_t room,
                                      struct seen_span s);

/* Keep a copy, as far as there is room: such texts are short. */
struct seen_span web_sitemap_keep(char *to, size_t room, struct seen_span s);

/* Is the element of the vocabulary that the root is of? With a lenient reader
   a wrong name space counts, too, if the root has the same. */
bool web_sitemap_home(const struct web_sitemap *s,
                      const struct web_sitemap_element *e, const char *space);

/* Collect the text of the element that was begun last. */
void web_sitemap_collect(struct web_sitemap *s, enum web_sitemap_field field);

/* The URL of an entry; a text that is too long is a fault of the entry. */
void web_sitemap_loc(struct web_sitemap *s, struct seen_span text, bool fits);

#endif
