/*
 * links_reader.h - what the files of links.h share: a document being read.
 *
 * References are collected first and resolved at the end, because a <base> or
 * a <meta name=robots> counts for what stands before it, too.
 */
#ifndef SEEN_WEB_LINKS_READER_H
#define SEEN_WEB_LINKS_READER_H

#include "charset.h"
#include "fold.h"
#include "header.h"
#include "links.h"

/* Bytes of the document, or of `kept`, which may move while it grows. */
struct web_place {
    const char *text; /* NULL: at `at` of kept */
    size_t at, len;
};

struct web_found {
    struct web_place url, text, rel;
    enum web_link_kind kind;
    bool nofollow, requisite;
    bool plain; /* not relative to <base>, and in UTF-8: of a header, of CSS */
};

struct web_reader {
    const struct web_document *doc;
    struct web_page *page;
    struct budget *budget;
    const struct web_charset *charset;
    bool guessed;                   /* a <meta> may change the charset */
    const struct web_charset *late; /* it did: read again */
    struct web_wishes wishes;

    struct web_found *found;
    size_t count, room, most;
    bool cut;
    struct buffer kept;    /* decoded texts of references */
    struct buffer scratch; /* of the moment */
    bool has_base;
    struct web_place base;
    enum seen_code code; /* SEEN_NOMEM */
};

static inline struct seen_span web_place_span(const struct web_reader *r,
                                              struct web_place p)
{
    if (p.text || !p.len)
        return (struct seen_span){ p.text ? p.text : "", p.len };
    return (struct seen_span){ r->kept.bytes + p.at, p.len };
}

/* Keep a copy. */
struct web_place web_reader_keep(struct web_reader *r, const char *text,
                                 size_t len);

/* Collect a reference; NULL if there are too many, or no memory. It is valid
   until the next one. */
struct web_found *web_reader_add(struct web_reader *r, enum web_link_kind kind,
                                 struct web_place url);

/* Collect the URLs of CSS. */
void web_reader_css(struct web_reader *r, const char *text, size_t len,
                    bool plain);

/* How a `rel` is understood. */
struct web_rel {
    bool link;      /* a link to follow */
    bool requisite; /* something that the page needs */
    bool nofollow;
    enum web_link_kind kind;
};
struct web_rel web_rel_read(struct seen_span rel);

/* links_html.c: collect the references of HTML or XML. */
void web_reader_html(struct web_reader *r, const char *text, size_t len,
                     bool xml);

#endif
