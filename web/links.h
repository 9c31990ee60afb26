/*
 * links.h - what a document links to.
 *
 * The links of HTML, XHTML and CSS documents and of their headers, as a browser
 * with scripts switched off would resolve them: WHATWG URLs, against the first
 * <base>, with the query in the charset of the page. Only http and https links
 * are reported.
 *
 *     static void take(void *owner, const struct web_link *link)
 *     {
 *         printf("%.*s\n", (int)link->url.len, link->url.text);
 *     }
 *
 *     struct web_document doc = { .bytes = bytes, .len = len,
 *                                 .url = "http://a.example/", .url_len = 17,
 *                                 .type = "text/html" };
 *     struct web_page page = { .noindex = false };
 *
 *     code = web_links_read(&doc, &page, take, NULL, &why);
 *
 * No document is too broken: only memory and a wrong `url` make it fail. The
 * time for n bytes is O(n), plus that of resolving links; the memory is about 80
 * bytes per link, and that of a copy if the document is not in UTF-8. A budget
 * pays for all of it. When it is empty the links that were found so far have
 * been given, in their order, and the rest of the document is left out.
 *
 * Threads: no state; any number of threads may read documents at once.
 */
#ifndef SEEN_WEB_LINKS_H
#define SEEN_WEB_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../lib/text/budget.h"
#include "../lib/text/buffer.h"

enum web_link_kind {
    WEB_LINK_A,
    WEB_LINK_AREA,
    WEB_LINK_FRAME,   /* iframe, frame */
    WEB_LINK_FORM,    /* with method GET */
    WEB_LINK_REFRESH, /* <meta>, or a header */
    WEB_LINK_LINK,    /* <link rel=canonical, alternate, next ...> */
    WEB_LINK_HEADER,  /* Link: */
    /* What the page needs, reported if asked for: */
    WEB_LINK_IMAGE, /* img, input, picture, poster, background, svg image */
    WEB_LINK_SCRIPT,
    WEB_LINK_STYLE,   /* <link rel=stylesheet>, <?xml-stylesheet?> */
    WEB_LINK_ICON,    /* <link rel=icon> and its like */
    WEB_LINK_PRELOAD, /* <link rel=preload, prefetch, manifest ...> */
    WEB_LINK_MEDIA,   /* video, audio, track */
    WEB_LINK_OBJECT,  /* object, embed */
    WEB_LINK_CSS,     /* url() and @import */
    WEB_LINK_KINDS
};

/* "a", "area", "frame" ... */
const char *web_link_kind_name(enum web_link_kind kind);

enum { WEB_LINK_TEXT = 512, WEB_TITLE = 4096, WEB_LINKS = 1000000 };

struct web_document {
    const char *bytes;
    size_t len;
    const char *url; /* absolute */
    size_t url_len;
    const char *type;         /* "text/html", may have a charset; NULL: that of
                                 a Content-Type in `headers`, else HTML */
    const char *charset;      /* of the header; or NULL, likewise */
    struct seen_span headers; /* lines, or the whole head of an answer */
    bool requisites;          /* report what the page needs, too */
    size_t most;              /* links; 0: WEB_LINKS */
    struct budget *budget;    /* steps that it may take; NULL: any number */
};

/* Views live during the call. */
struct web_link {
    struct seen_span url; /* absolute, canonical, without a fragment */
    enum web_link_kind kind;
    bool nofollow;         /* by its rel, or by a wish of the page */
    bool requisite;        /* the page needs it */
    struct seen_span text; /* of an anchor, with the alt texts in it: UTF-8 of
                              at most WEB_LINK_TEXT bytes, white space folded */
    struct seen_span rel;  /* as written, if it is not long */
};

/*
 * What else is known after reading. The wishes are those of <meta name=robots>,
 * <meta name=seen> and X-Robots-Tag.
 */
struct web_page {
    bool noindex, nofollow;
    const char *charset;  /* "utf-8"; NULL if the type has none */
    struct buffer *title; /* if not NULL: appended to, at most WEB_TITLE */
    struct buffer *text;  /* if not NULL: the visible text, with white space
                               folded, until it has most_text bytes */
    size_t most_text;
    size_t links; /* given to take() */
    bool cut;     /* links above `most` were left out */
    bool costly;  /* the budget was not enough for all of it */
};

/*
 * Give the links of a document to take(): those of headers first, then in the
 * order of the document. The same URL may come more than once. Types that have
 * no links that we know have only those of the headers. `page` may be NULL.
 *
 * SEEN_BAD_URL: doc->url is not an absolute URL. SEEN_NOMEM: some
 * links may have been given.
 */
enum seen_code web_links_read(const struct web_document *doc,
                              struct web_page *page,
                              void (*take)(void *owner,
                                           const struct web_link *link),
                              void *owner, struct seen_error *why);

#endif
