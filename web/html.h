/*
 * html.h - the tags and the text of a page, in the order of the page.
 *
 * Links need no tree, so this reader builds none. It has the tokenizer of the
 * HTML standard (section 13.2.5) and, of its tree builder, the list of open
 * elements: as much as decides which tags count and what their text is.
 *
 *     struct web_html h;
 *     struct web_html_event e;
 *
 *     web_html_init(&h, bytes, len, false);
 *     while (web_html_next(&h, &e))
 *         if (e.kind == WEB_HTML_START && e.tag == WEB_TAG_A &&
 *             web_html_has(&e, WEB_HREF))
 *             puts("a link");
 *
 * The input is UTF-8, or any charset in which ASCII bytes are ASCII. Nothing is
 * allocated; views of an event point into the input. Scripts are off: what is
 * in <noscript> counts.
 *
 * Any input has events, and the time for n bytes is O(n): an end tag looks at
 * no more than WEB_HTML_DEPTH open elements. A caller who gives a budget pays
 * for both, and there are no more events when it is empty.
 *
 * Threads: a reader belongs to one thread at a time.
 */
#ifndef SEEN_WEB_HTML_H
#define SEEN_WEB_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/span.h>

#include "../lib/text/budget.h"

/* The elements that rules name, from WEB_TAG_A on in the order of the
   table of html_names.c. */
enum web_tag {
    WEB_TAG_OTHER,
    WEB_TAG_A,
    WEB_TAG_ADDRESS,
    WEB_TAG_ANNOTATION_XML,
    WEB_TAG_APPLET,
    WEB_TAG_AREA,
    WEB_TAG_ARTICLE,
    WEB_TAG_ASIDE,
    WEB_TAG_AUDIO,
    WEB_TAG_B,
    WEB_TAG_BASE,
    WEB_TAG_BASEFONT,
    WEB_TAG_BGSOUND,
    WEB_TAG_BIG,
    WEB_TAG_BLOCKQUOTE,
    WEB_TAG_BODY,
    WEB_TAG_BR,
    WEB_TAG_BUTTON,
    WEB_TAG_CAPTION,
    WEB_TAG_CENTER,
    WEB_TAG_CODE,
    WEB_TAG_COL,
    WEB_TAG_COLGROUP,
    WEB_TAG_DD,
    WEB_TAG_DESC,
    WEB_TAG_DETAILS,
    WEB_TAG_DIALOG,
    WEB_TAG_DIR,
    WEB_TAG_DIV,
    WEB_TAG_DL,
    WEB_TAG_DT,
    WEB_TAG_EM,
    WEB_TAG_EMBED,
    WEB_TAG_FIELDSET,
    WEB_TAG_FIGCAPTION,
    WEB_TAG_FIGURE,
    WEB_TAG_FONT,
    WEB_TAG_FOOTER,
    WEB_TAG_FOREIGNOBJECT,
    WEB_TAG_FORM,
    WEB_TAG_FRAME,
    WEB_TAG_FRAMESET,
    WEB_TAG_H1,
    WEB_TAG_H2,
    WEB_TAG_H3,
    WEB_TAG_H4,
    WEB_TAG_H5,
    WEB_TAG_H6,
    WEB_TAG_HEAD,
    WEB_TAG_HEADER,
    WEB_TAG_HGROUP,
    WEB_TAG_HR,
    WEB_TAG_HTML,
    WEB_TAG_I,
    WEB_TAG_IFRAME,
    WEB_TAG_IMAGE,
    WEB_TAG_IMG,
    WEB_TAG_INPUT,
    WEB_TAG_KEYGEN,
    WEB_TAG_LI,
    WEB_TAG_LINK,
    WEB_TAG_LISTING,
    WEB_TAG_MAIN,
    WEB_TAG_MALIGNMARK,
    WEB_TAG_MARQUEE,
    WEB_TAG_MATH,
    WEB_TAG_MENU,
    WEB_TAG_META,
    WEB_TAG_MGLYPH,
    WEB_TAG_MI,
    WEB_TAG_MN,
    WEB_TAG_MO,
    WEB_TAG_MS,
    WEB_TAG_MTEXT,
    WEB_TAG_NAV,
    WEB_TAG_NOBR,
    WEB_TAG_NOEMBED,
    WEB_TAG_NOFRAMES,
    WEB_TAG_NOSCRIPT,
    WEB_TAG_OBJECT,
    WEB_TAG_OL,
    WEB_TAG_OPTGROUP,
    WEB_TAG_OPTION,
    WEB_TAG_P,
    WEB_TAG_PARAM,
    WEB_TAG_PICTURE,
    WEB_TAG_PLAINTEXT,
    WEB_TAG_PRE,
    WEB_TAG_RB,
    WEB_TAG_RP,
    WEB_TAG_RT,
    WEB_TAG_RTC,
    WEB_TAG_RUBY,
    WEB_TAG_S,
    WEB_TAG_SCRIPT,
    WEB_TAG_SEARCH,
    WEB_TAG_SECTION,
    WEB_TAG_SELECT,
    WEB_TAG_SMALL,
    WEB_TAG_SOURCE,
    WEB_TAG_SPAN,
    WEB_TAG_STRIKE,
    WEB_TAG_STRONG,
    WEB_TAG_STYLE,
    WEB_TAG_SUB,
    WEB_TAG_SUMMARY,
    WEB_TAG_SUP,
    WEB_TAG_SVG,
    WEB_TAG_TABLE,
    WEB_TAG_TBODY,
    WEB_TAG_TD,
    WEB_TAG_TEMPLATE,
    WEB_TAG_TEXTAREA,
    WEB_TAG_TFOOT,
    WEB_TAG_TH,
    WEB_TAG_THEAD,
    WEB_TAG_TITLE,
    WEB_TAG_TR,
    WEB_TAG_TRACK,
    WEB_TAG_TT,
    WEB_TAG_U,
    WEB_TAG_UL,
    WEB_TAG_USE,
    WEB_TAG_VAR,
    WEB_TAG_VIDEO,
    WEB_TAG_WBR,
    WEB_TAG_XMP,
    WEB_TAGS
};

/* The attributes that an event keeps. */
enum web_attribute {
    WEB_ACTION,
    WEB_ALT,
    WEB_AS,
    WEB_BACKGROUND,
    WEB_CHARSET,
    WEB_COLOR,
    WEB_CONTENT,
    WEB_DATA,
    WEB_ENCODING,
    WEB_FACE,
    WEB_FORM,
    WEB_FORMACTION,
    WEB_FORMMETHOD,
    WEB_HREF,
    WEB_HTTP_EQUIV,
    WEB_IMAGESRCSET,
    WEB_METHOD,
    WEB_NAME,
    WEB_POSTER,
    WEB_REL,
    WEB_SIZE,
    WEB_SRC,
    WEB_SRCSET,
    WEB_STYLE,
    WEB_TYPE,
    WEB_XLINK_HREF,
    WEB_ATTRIBUTES,
    WEB_NO_ATTRIBUTE = WEB_ATTRIBUTES
};

enum web_space { WEB_SPACE_HTML, WEB_SPACE_SVG, WEB_SPACE_MATH };

enum web_html_kind {
    WEB_HTML_START,
    WEB_HTML_END,
    WEB_HTML_TEXT,
    WEB_HTML_INSTRUCTION /* <?...?>, of XML only: `text` is inside */
};

struct web_html_event {
    enum web_html_kind kind;
    enum web_tag tag; /* of text: the element that it stands in, if that
                               is not ordinary text: script, style, title,
                               textarea, xmp, iframe, noembed, noframes */
    enum web_space space;
    bool hidden;     /* it is in a <template> */
    bool references; /* the text has character references */
    struct seen_span text;
    uint32_t has; /* a bit per attribute; of two the first counts */
    struct seen_span value[WEB_ATTRIBUTES]; /* as written; only those in has */
};

static inline bool web_html_has(const struct web_html_event *e,
                                enum web_attribute a)
{
    return e->has >> a & 1;
}

enum { WEB_HTML_DEPTH = 512 }; /* as the browsers that bound it */

/* An element that is open. */
struct web_html_open {
    uint32_t name; /* a hash, for elements without a number */
    uint8_t tag, space;
    bool html; /* an <annotation-xml> that contains HTML */
};

struct web_html {
    const char *begin, *at, *end;
    bool xml;
    enum web_tag raw; /* the element whose text runs to its end tag */
    bool plain;       /* after <plaintext> */
    bool shut;        /* XML: <a/> was begun and still has to end */
    enum web_tag shut_tag;
    bool form;              /* a form is open */
    bool frames_ok, frames; /* a <frameset> may still come; one came */
    unsigned templates;     /* open ones */
    unsigned markers; /* open table cells, objects: what ends all anchors */
    unsigned fewest;  /* markers since the caller set it to their number */
    unsigned depth;
    struct web_html_open open[WEB_HTML_DEPTH];
    uint16_t opened[WEB_TAGS]; /* how many elements of HTML are open, by tag */
    char name[24];             /* the name of the tag at hand, in lower case */
    size_t name_len;
    uint32_t name_hash;
    struct budget *budget; /* steps that may be taken; NULL: any number */
    const char *paid;      /* the bytes before this have been paid for */
};

/* Begin; `xml` is for application/xhtml+xml and its like. */
void web_html_init(struct web_html *h, const char *bytes, size_t len,
                   bool xml);

/* The next event; false at the end. */
bool web_html_next(struct web_html *h, struct web_html_event *e);

/* The attributes of an XML instruction, as if it were a tag. */
void web_html_attributes(struct web_html_event *e, const char *text,
                         size_t len);

/* --- between the files of this reader --- */

enum web_tag web_html_tag(const char *name, size_t len);
enum web_attribute web_html_attribute(const char *name, size_t len, bool xml);

/* Apply a tag to the open elements, as the tree builder would. False if it is
   ignored. May change e->tag and set e->space. */
bool web_html_start(struct web_html *h, struct web_html_event *e,
                    bool self_closing);
bool web_html_end(struct web_html *h, struct web_html_event *e);

/* Is the innermost open element one of SVG or MathML? */
bool web_html_foreign(const struct web_html *h);

#endif
