/*
 * links_html.c - which attributes of which elements are links.
 *
 * The text of an anchor runs from its start tag to its end tag, to the next
 * anchor, or to the end of the table cell that it stands in: a browser opens an
 * anchor again after a block that it was closed in, so badly nested tags do not
 * end it earlier.
 */
#include "links_reader.h"

#include <string.h>

#include "../lib/text/span.h"
#include "../lib/text/utf8.h"
#include "html.h"
#include "reference.h"
#include "srcset.h"

enum { REL = 256 }; /* a longer one is read, but not reported */

struct reading {
    struct web_reader *r;
    struct web_html html;
    struct web_fold title, text, anchor;
    struct buffer anchor_text;
    bool has_title;
    bool in_anchor, in_form;
    bool form_gets;          /* the form that is open has the method GET */
    size_t anchor_at;        /* the reference of the anchor that is open */
    unsigned anchor_markers; /* html.markers when the anchor began */
};

/* --- values of attributes --- */

static bool plain_value(struct seen_span raw)
{
    return !raw.len || (!memchr(raw.text, '&', raw.len) &&
                        !memchr(raw.text, '\0', raw.len));
}

/* Decode into r->scratch. */
static struct seen_span decode(struct web_reader *r, struct seen_span raw,
                               bool attribute)
{
    const char *zero;

    r->scratch.len = 0;
    while (raw.len && (zero = memchr(raw.text, '\0', raw.len))) {
        size_t n = (size_t)(zero - raw.text);

        web_reference_decode(&r->scratch, raw.text, n, attribute, r->budget);
        if (attribute)
            buffer_text(&r->scratch, UTF8_UNKNOWN);
        raw.text += n + 1;
        raw.len -= n + 1;
    }
    web_reference_decode(&r->scratch, raw.text, raw.len, attribute, r->budget);
    if (r->scratch.failed)
        r->code = SEEN_NOMEM;
    return (struct seen_span){ r->scratch.bytes ? r->scratch.bytes : "",
                               r->scratch.len };
}

/* The value of an attribute, valid until the next is asked for; empty if the
   element does not have it. */
static struct seen_span value(struct web_reader *r,
                              const struct web_html_event *e,
                              enum web_attribute a)
{
    if (!web_html_has(e, a))
        return (struct seen_span){ "", 0 };
    return plain_value(e->value[a]) ? e->value[a]
                                    : decode(r, e->value[a], true);
}

/* The same, valid until the end. */
static struct web_place place(struct web_reader *r,
                              const struct web_html_event *e,
                              enum web_attribute a)
{
    struct seen_span v = value(r, e, a);

    if (v.text == r->scratch.bytes && v.len)
        return web_reader_keep(r, v.text, v.len);
    return (struct web_place){ .text = v.text, .len = v.len };
}

/* --- references --- */

static struct web_found *add(struct reading *d, const struct web_html_event *e,
                             enum web_attribute a, enum web_link_kind kind)
{
    return web_html_has(e, a) ? web_reader_add(d->r, kind, place(d->r, e, a))
                              : NULL;
}

/* Browsers load nothing from an attribute that is empty. */
static void add_requisite(struct reading *d, const struct web_html_event *e,
                          enum web_attribute a, enum web_link_kind kind)
{
    struct web_found *f;

    if (!d->r->doc->requisites || !web_html_has(e, a) || !e->value[a].len)
        return;
    f = add(d, e, a, kind);
    if (f)
        f->requisite = true;
}

static void add_srcset(struct reading *d, const struct web_html_event *e,
                       enum web_attribute a, enum web_link_kind kind)
{
    struct seen_span rest, url;
    struct web_place whole;

    if (!d->r->doc->requisites || !web_html_has(e, a))
        return;
    whole = place(d->r, e, a);
    rest = web_place_span(d->r, whole);
    while (web_srcset_next(&rest, &url)) {
        struct web_place one = whole;
        struct web_found *f;

        if (one.text)
            one.text = url.text;
        else
            one.at = (size_t)(url.text - d->r->kept.bytes);
        one.len = url.len;
        f = web_reader_add(d->r, kind, one);
        if (f)
            f->requisite = true;
    }
}

/* href, or xlink:href of SVG before version 2. */
static enum web_attribute href(const struct web_html_event *e)
{
    return web_html_has(e, WEB_HREF) ? WEB_HREF : WEB_XLINK_HREF;
}

static void set_rel(struct reading *d, struct web_found *f, size_t at,
                    const struct web_html_event *e, struct web_rel *rel)
{
    struct web_place p = place(d->r, e, WEB_REL);

    *rel = web_rel_read(web_place_span(d->r, p));
    if (f) {
        f = &d->r->found[at];
        f->nofollow = rel->nofollow;
        if (p.len <= REL)
            f->rel = p;
    }
}

static void end_anchor(struct reading *d)
{
    if (!d->in_anchor)
        return;
    d->in_anchor = false;
    if (d->anchor_text.len)
        d->r->found[d->anchor_at].text = web_reader_keep(
            d->r, d->anchor_text.bytes, d->anchor_text.len);
}

static void start_anchor(struct reading *d, const struct web_html_event *e)
{
    struct web_found *f;
    struct web_rel rel;

    end_anchor(d);
    f = add(d, e, href(e), WEB_LINK_A);
    if (!f)
        return;
    set_rel(d, f, d->r->count - 1, e, &rel);
    d->in_anchor = true;
    d->anchor_at = d->r->count - 1;
    d->anchor_markers = d->html.fewest = d->html.markers;
    d->anchor_text.len = 0;
    d->anchor = (struct web_fold){ .to = &d->anchor_text,
                                   .most = WEB_LINK_TEXT };
}

static void add_area(struct reading *d, const struct web_html_event *e)
{
    struct web_found *f = add(d, e, WEB_HREF, WEB_LINK_AREA);
    struct buffer text = { .bytes = NULL };
    struct web_fold fold = { .to = &text, .most = WEB_LINK_TEXT };
    struct seen_span alt;
    struct web_rel rel;
    size_t at = d->r->count - 1;

    if (!f)
        return;
    set_rel(d, f, at, e, &rel);
    alt = value(d->r, e, WEB_ALT);
    web_fold_add(&fold, alt.text, alt.len);
    d->r->found[at].text = web_reader_keep(d->r, text.bytes, text.len);
    if (text.failed)
        d->r->code = SEEN_NOMEM;
    buffer_clear(&text);
}

/* Is the method GET? It is for every word that is not a method. */
static bool gets(struct reading *d, const struct web_html_event *e,
                 enum web_attribute a)
{
    struct seen_span method = value(d->r, e, a);

    return !span_like(method, "post") && !span_like(method, "dialog");
}

static void add_form(struct reading *d, const struct web_html_event *e)
{
    bool get = gets(d, e, WEB_METHOD);

    if (!d->in_form)
        d->form_gets = get;
    d->in_form = true;
    if (get && web_html_has(e, WEB_ACTION) && e->value[WEB_ACTION].len)
        add(d, e, WEB_ACTION, WEB_LINK_FORM);
}

/* A button that submits its form, maybe to another place by another method.
   The form that a `form` attribute names is not looked for. */
static void add_submit(struct reading *d, const struct web_html_event *e)
{
    if (!d->in_form || web_html_has(e, WEB_FORM) ||
        !web_html_has(e, WEB_FORMACTION) || !e->value[WEB_FORMACTION].len)
        return;
    if (web_html_has(e, WEB_FORMMETHOD) ? gets(d, e, WEB_FORMMETHOD)
                                        : d->form_gets)
        add(d, e, WEB_FORMACTION, WEB_LINK_FORM);
}

static void read_button(struct reading *d, const struct web_html_event *e)
{
    struct seen_span type = value(d->r, e, WEB_TYPE);

    if (!span_like(type, "button") && !span_like(type, "reset"))
        add_submit(d, e);
}

static void read_input(struct reading *d, const struct web_html_event *e)
{
    struct seen_span type = value(d->r, e, WEB_TYPE);
    bool image = span_like(type, "image");

    if (image || span_like(type, "submit"))
        add_submit(d, e);
    if (image)
        add_requisite(d, e, WEB_SRC, WEB_LINK_IMAGE);
}

static void add_link(struct reading *d, const struct web_html_event *e)
{
    struct seen_span words = value(d->r, e, WEB_REL);
    struct web_rel rel = web_rel_read(words);
    struct web_found *f;

    if (rel.requisite && d->r->doc->requisites)
        add_srcset(d, e, WEB_IMAGESRCSET, rel.kind);
    if (!web_html_has(e, WEB_HREF) || !e->value[WEB_HREF].len ||
        !(rel.link || (rel.requisite && d->r->doc->requisites)))
        return;
    f = add(d, e, WEB_HREF, rel.kind);
    if (f) {
        f->requisite = rel.requisite;
        set_rel(d, f, d->r->count - 1, e, &rel);
    }
}

/* --- <meta> --- */

static void add_refresh(struct reading *d, const struct web_html_event *e)
{
    struct web_place whole = place(d->r, e, WEB_CONTENT);
    struct seen_span url;

    if (!web_header_refresh(web_place_span(d->r, whole), &url))
        return;
    if (whole.text)
        whole.text = url.text;
    else
        whole.at = (size_t)(url.text - d->r->kept.bytes);
    whole.len = url.len;
    web_reader_add(d->r, WEB_LINK_REFRESH, whole);
}

/* A charset that the first 1024 bytes did not have. */
static void change_charset(struct reading *d, const struct web_charset *c)
{
    if (!c || !d->r->guessed)
        return;
    c = web_charset_late(c);
    if (c == d->r->charset)
        d->r->guessed = false;
    else
        d->r->late = c;
}

static void read_meta(struct reading *d, const struct web_html_event *e)
{
    struct seen_span v;

    if (web_html_has(e, WEB_CHARSET)) {
        v = value(d->r, e, WEB_CHARSET);
        change_charset(d, web_charset_find(v.text, v.len));
    }
    if (!web_html_has(e, WEB_CONTENT))
        return;
    if (web_html_has(e, WEB_HTTP_EQUIV)) {
        v = value(d->r, e, WEB_HTTP_EQUIV);
        if (span_like(v, "refresh")) {
            add_refresh(d, e);
        } else if (span_like(v, "content-type")) {
            v = value(d->r, e, WEB_CONTENT);
            change_charset(d, web_charset_meta(v.text, v.len));
        }
    }
    v = value(d->r, e, WEB_NAME);
    if (span_like(v, "robots") || span_like(v, "seen")) {
        v = value(d->r, e, WEB_CONTENT);
        web_header_wishes(&d->r->wishes, v, "seen");
    }
}

/* --- elements --- */

static void read_svg(struct reading *d, const struct web_html_event *e)
{
    switch (e->tag) {
    case WEB_TAG_A: start_anchor(d, e); break;
    case WEB_TAG_IMAGE: add_requisite(d, e, href(e), WEB_LINK_IMAGE); break;
    case WEB_TAG_SCRIPT: add_requisite(d, e, href(e), WEB_LINK_SCRIPT); break;
    case WEB_TAG_USE:
        if (web_html_has(e, href(e)) && e->value[href(e)].len &&
            e->value[href(e)].text[0] != '#')
            add_requisite(d, e, href(e), WEB_LINK_IMAGE);
        break;
    default: break;
    }
}

/* The alternative text of an image is text of the anchor. */
static void read_image(struct reading *d, const struct web_html_event *e)
{
    struct seen_span alt;

    add_requisite(d, e, WEB_SRC, WEB_LINK_IMAGE);
    add_srcset(d, e, WEB_SRCSET, WEB_LINK_IMAGE);
    if (!d->in_anchor || !web_html_has(e, WEB_ALT))
        return;
    alt = value(d->r, e, WEB_ALT);
    web_fold_space(&d->anchor);
    web_fold_add(&d->anchor, alt.text, alt.len);
    web_fold_space(&d->anchor);
}

static void read_element(struct reading *d, const struct web_html_event *e)
{
    switch (e->tag) {
    case WEB_TAG_A: start_anchor(d, e); break;
    case WEB_TAG_AREA: add_area(d, e); break;
    case WEB_TAG_BASE:
        if (!d->r->has_base && web_html_has(e, WEB_HREF)) {
            d->r->has_base = true;
            d->r->base = place(d->r, e, WEB_HREF);
        }
        break;
    case WEB_TAG_FRAME:
    case WEB_TAG_IFRAME:
        if (web_html_has(e, WEB_SRC) && e->value[WEB_SRC].len)
            add(d, e, WEB_SRC, WEB_LINK_FRAME);
        break;
    case WEB_TAG_FORM: add_form(d, e); break;
    case WEB_TAG_META: read_meta(d, e); break;
    case WEB_TAG_LINK: add_link(d, e); break;
    case WEB_TAG_IMG: read_image(d, e); break;
    case WEB_TAG_BUTTON: read_button(d, e); break;
    case WEB_TAG_INPUT: read_input(d, e); break;
    case WEB_TAG_SCRIPT: add_requisite(d, e, WEB_SRC, WEB_LINK_SCRIPT); break;
    case WEB_TAG_VIDEO:
        add_requisite(d, e, WEB_POSTER, WEB_LINK_IMAGE);
        add_requisite(d, e, WEB_SRC, WEB_LINK_MEDIA);
        break;
    case WEB_TAG_SOURCE:
        add_srcset(d, e, WEB_SRCSET, WEB_LINK_IMAGE);
        add_requisite(d, e, WEB_SRC, WEB_LINK_MEDIA);
        break;
    case WEB_TAG_AUDIO:
    case WEB_TAG_TRACK: add_requisite(d, e, WEB_SRC, WEB_LINK_MEDIA); break;
    case WEB_TAG_OBJECT: add_requisite(d, e, WEB_DATA, WEB_LINK_OBJECT); break;
    case WEB_TAG_EMBED: add_requisite(d, e, WEB_SRC, WEB_LINK_OBJECT); break;
    case WEB_TAG_BODY:
    case WEB_TAG_TABLE:
    case WEB_TAG_TBODY:
    case WEB_TAG_THEAD:
    case WEB_TAG_TFOOT:
    case WEB_TAG_TR:
    case WEB_TAG_TD:
    case WEB_TAG_TH:
        add_requisite(d, e, WEB_BACKGROUND, WEB_LINK_IMAGE);
        break;
    default: /* XHTML with SVG in it */
        if (d->html.xml)
            read_svg(d, e);
        break;
    }
}

static void read_start(struct reading *d, const struct web_html_event *e)
{
    if (e->space == WEB_SPACE_HTML)
        read_element(d, e);
    else if (e->space == WEB_SPACE_SVG)
        read_svg(d, e);
    if (d->r->doc->requisites && web_html_has(e, WEB_STYLE)) {
        struct seen_span style = value(d->r, e, WEB_STYLE);

        web_reader_css(d->r, style.text, style.len, false);
    }
}

/* <?xml-stylesheet href="a.css"?>, in XML only. */
static void read_instruction(struct reading *d, struct seen_span text)
{
    static const char target[] = "xml-stylesheet";
    struct web_html_event e;

    if (!d->r->doc->requisites || !span_begins(text, target))
        return;
    web_html_attributes(&e, text.text + sizeof target - 1,
                        text.len - (sizeof target - 1));
    add_requisite(d, &e, WEB_HREF, WEB_LINK_STYLE);
}

/* --- text --- */

/* Is it a border between words? */
static bool borders(enum web_tag tag)
{
    switch (tag) {
    case WEB_TAG_OTHER:
    case WEB_TAG_A:
    case WEB_TAG_B:
    case WEB_TAG_BASE:
    case WEB_TAG_BIG:
    case WEB_TAG_CODE:
    case WEB_TAG_EM:
    case WEB_TAG_FONT:
    case WEB_TAG_I:
    case WEB_TAG_IMG:
    case WEB_TAG_LINK:
    case WEB_TAG_META:
    case WEB_TAG_NOBR:
    case WEB_TAG_NOSCRIPT:
    case WEB_TAG_RUBY:
    case WEB_TAG_S:
    case WEB_TAG_SCRIPT:
    case WEB_TAG_SMALL:
    case WEB_TAG_SPAN:
    case WEB_TAG_STRIKE:
    case WEB_TAG_STRONG:
    case WEB_TAG_STYLE:
    case WEB_TAG_SUB:
    case WEB_TAG_SUP:
    case WEB_TAG_TEMPLATE:
    case WEB_TAG_TT:
    case WEB_TAG_U:
    case WEB_TAG_VAR:
    case WEB_TAG_WBR: return false;
    default: return true;
    }
}

static bool visible(enum web_tag tag)
{
    return tag != WEB_TAG_SCRIPT && tag != WEB_TAG_STYLE &&
           tag != WEB_TAG_IFRAME && tag != WEB_TAG_NOEMBED &&
           tag != WEB_TAG_NOFRAMES && tag != WEB_TAG_TITLE;
}

/* Does anything still take this text? */
static bool wanted(const struct reading *d, bool title, enum web_tag tag)
{
    if (title)
        return web_fold_takes(&d->title);
    return visible(tag) && ((d->in_anchor && web_fold_takes(&d->anchor)) ||
                            web_fold_takes(&d->text));
}

/*
 * A piece from the front of a long text, so that no more is decoded than there
 * is room for. It splits no character, and no reference of a usual length.
 */
static struct seen_span take_piece(struct seen_span *rest)
{
    enum { PIECE = 4096, REFERENCE = 40 };
    struct seen_span piece = *rest;

    if (piece.len > PIECE) {
        piece.len = PIECE;
        while (piece.len > PIECE - REFERENCE && piece.text[piece.len] != '&')
            piece.len--;
        if (piece.text[piece.len] != '&')
            piece.len = PIECE;
        while (piece.len > PIECE / 2 &&
               ((unsigned char)piece.text[piece.len] & 0xc0) == 0x80)
            piece.len--;
    }
    rest->text += piece.len;
    rest->len -= piece.len;
    return piece;
}

static void read_text(struct reading *d, const struct web_html_event *e)
{
    bool title = e->tag == WEB_TAG_TITLE && e->space == WEB_SPACE_HTML;
    struct seen_span rest = e->text, text;

    if (e->tag == WEB_TAG_STYLE) {
        if (d->r->doc->requisites)
            web_reader_css(d->r, rest.text, rest.len, false);
        return;
    }
    d->has_title |= title;
    while (rest.len && wanted(d, title, e->tag)) {
        text = take_piece(&rest);
        if (e->references && memchr(text.text, '&', text.len))
            text = decode(d->r, text, false);
        if (title) {
            web_fold_add(&d->title, text.text, text.len);
            continue;
        }
        if (d->in_anchor)
            web_fold_add(&d->anchor, text.text, text.len);
        web_fold_add(&d->text, text.text, text.len);
    }
}

static void read_event(struct reading *d, const struct web_html_event *e)
{
    if (d->in_anchor && d->html.fewest < d->anchor_markers)
        end_anchor(d);
    if (e->kind == WEB_HTML_TEXT) {
        read_text(d, e);
        return;
    }
    if (e->kind == WEB_HTML_INSTRUCTION) {
        read_instruction(d, e->text);
        return;
    }
    if (borders(e->tag)) {
        web_fold_space(&d->text);
        web_fold_space(&d->anchor);
    }
    if (e->kind == WEB_HTML_START)
        read_start(d, e);
    else if (e->tag == WEB_TAG_A)
        end_anchor(d);
    else if (e->tag == WEB_TAG_FORM)
        d->in_form = false;
    else if (e->tag == WEB_TAG_TITLE && d->has_title)
        d->title.full = true; /* the first title is the title */
}

void web_reader_html(struct web_reader *r, const char *text, size_t len,
                     bool xml)
{
    const struct web_page *page = r->page;
    size_t title = page->title ? page->title->len : 0;
    size_t words = page->text ? page->text->len : 0;
    struct web_html_event e;
    struct reading d;

    d.r = r;
    d.title = (struct web_fold){ .to = page->title,
                                 .most = title + WEB_TITLE };
    d.text = (struct web_fold){ .to = page->text, .most = page->most_text };
    d.anchor = (struct web_fold){ .to = NULL };
    d.anchor_text = (struct buffer){ .bytes = NULL };
    d.has_title = d.in_anchor = d.in_form = d.form_gets = false;
    web_html_init(&d.html, text, len, xml);
    d.html.budget = r->budget;
    while (r->code == SEEN_OK && !r->late && web_html_next(&d.html, &e))
        if (!e.hidden)
            read_event(&d, &e);
    end_anchor(&d);
    if (r->late) { /* it will be read again */
        if (page->title)
            page->title->len = title;
        if (page->text)
            page->text->len = words;
    }
    if (d.anchor_text.failed || (page->title && page->title->failed) ||
        (page->text && page->text->failed))
        r->code = SEEN_NOMEM;
    buffer_clear(&d.anchor_text);
}
