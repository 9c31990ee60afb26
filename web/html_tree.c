/*
 * html_tree.c - the open elements of a page, without its tree.
 *
 * The tree builder of the HTML standard (section 13.2.6) decides four things
 * about links, and needs its stack of open elements for them:
 *
 *     <svg><title><a href=1>...    is this text, or markup? In SVG and MathML
 *                                  no element has text that hides tags
 *     <template><a href=2>         is this a part of the page?
 *     <form><form action=3>        is this tag ignored?
 *     <td><a href=4>x<td>y         where does the text of an anchor end?
 *
 * So the stack is kept as the standard says, but for two simplifications that
 * cannot change a link: formatting elements (<b>) that are closed too early
 * are not opened again, and elements that the standard would insert
 * (<tbody>) are not.
 *
 * Two more differences from older parsers: the contents of <select> are
 * ordinary, as in the standard since 2025; and a <frame> outside of a
 * <frameset> is an event, although browsers do not show it.
 *
 * The stack holds WEB_HTML_DEPTH elements. Deeper ones replace the last, as in
 * browsers, which bound the depth of a page in the same way.
 */
#include "html.h"

#include <string.h>

#include "../lib/text/span.h"

/* What the standard says about an element. */
enum {
    VOID = 1,        /* has no content */
    CLOSES_P = 2,    /* begins after the end of an open <p> */
    SPECIAL = 4,     /* an end tag of an unknown element does not cross it */
    SCOPE = 8,       /* end tags inside of it do not reach out */
    BREAKS = 16,     /* ends SVG and MathML */
    RAW = 32,        /* its text runs to its end tag */
    FORMAT = 64,     /* formatting: an end tag may cross others */
    NO_FRAMES = 128, /* a <frameset> after it is ignored */
    MARKER = 256,    /* formatting elements do not cross it */
    BLOCK = 512,     /* its end tag needs it in scope, and closes all in it */
    CELL = 1024,     /* of a table */
};

#define T(name) [WEB_TAG_##name]
static const uint16_t rules[WEB_TAGS] = {
    T(A) = FORMAT,
    T(ADDRESS) = CLOSES_P | SPECIAL | BLOCK,
    T(APPLET) = SPECIAL | SCOPE | MARKER | BLOCK | NO_FRAMES,
    T(AREA) = VOID | NO_FRAMES,
    T(ARTICLE) = CLOSES_P | SPECIAL | BLOCK,
    T(ASIDE) = CLOSES_P | SPECIAL | BLOCK,
    T(B) = FORMAT | BREAKS,
    T(BASE) = VOID,
    T(BASEFONT) = VOID,
    T(BGSOUND) = VOID,
    T(BIG) = FORMAT | BREAKS,
    T(BLOCKQUOTE) = CLOSES_P | SPECIAL | BREAKS | BLOCK,
    T(BODY) = BREAKS | NO_FRAMES,
    T(BR) = VOID | BREAKS | NO_FRAMES,
    T(BUTTON) = SPECIAL | BLOCK | NO_FRAMES,
    T(CAPTION) = SPECIAL | SCOPE | MARKER | CELL,
    T(CENTER) = CLOSES_P | SPECIAL | BREAKS | BLOCK,
    T(CODE) = FORMAT | BREAKS,
    T(COL) = VOID | CELL,
    T(COLGROUP) = SPECIAL | CELL,
    T(DD) = CLOSES_P | SPECIAL | BREAKS | BLOCK | NO_FRAMES,
    T(DETAILS) = CLOSES_P | SPECIAL | BLOCK,
    T(DIALOG) = CLOSES_P | BLOCK,
    T(DIR) = CLOSES_P | SPECIAL | BLOCK,
    T(DIV) = CLOSES_P | SPECIAL | BREAKS | BLOCK,
    T(DL) = CLOSES_P | SPECIAL | BREAKS | BLOCK,
    T(DT) = CLOSES_P | SPECIAL | BREAKS | BLOCK | NO_FRAMES,
    T(EM) = FORMAT | BREAKS,
    T(EMBED) = VOID | BREAKS | NO_FRAMES,
    T(FIELDSET) = CLOSES_P | SPECIAL | BLOCK,
    T(FIGCAPTION) = CLOSES_P | SPECIAL | BLOCK,
    T(FIGURE) = CLOSES_P | SPECIAL | BLOCK,
    T(FONT) = FORMAT,
    T(FOOTER) = CLOSES_P | SPECIAL | BLOCK,
    T(FORM) = CLOSES_P | SPECIAL,
    T(FRAME) = VOID,
    T(H1) = CLOSES_P | SPECIAL | BREAKS,
    T(H2) = CLOSES_P | SPECIAL | BREAKS,
    T(H3) = CLOSES_P | SPECIAL | BREAKS,
    T(H4) = CLOSES_P | SPECIAL | BREAKS,
    T(H5) = CLOSES_P | SPECIAL | BREAKS,
    T(H6) = CLOSES_P | SPECIAL | BREAKS,
    T(HEAD) = BREAKS,
    T(HEADER) = CLOSES_P | SPECIAL | BLOCK,
    T(HGROUP) = CLOSES_P | SPECIAL | BLOCK,
    T(HR) = VOID | CLOSES_P | BREAKS | NO_FRAMES,
    T(I) = FORMAT | BREAKS,
    T(IFRAME) = RAW | NO_FRAMES,
    T(IMG) = VOID | BREAKS | NO_FRAMES,
    T(INPUT) = VOID,
    T(KEYGEN) = VOID | NO_FRAMES,
    T(LI) = CLOSES_P | SPECIAL | BREAKS | NO_FRAMES,
    T(LINK) = VOID,
    T(LISTING) = CLOSES_P | SPECIAL | BREAKS | BLOCK | NO_FRAMES,
    T(MAIN) = CLOSES_P | SPECIAL | BLOCK,
    T(MARQUEE) = SPECIAL | SCOPE | MARKER | BLOCK | NO_FRAMES,
    T(MENU) = CLOSES_P | SPECIAL | BREAKS | BLOCK,
    T(META) = VOID | BREAKS,
    T(NAV) = CLOSES_P | SPECIAL | BLOCK,
    T(NOBR) = FORMAT | BREAKS,
    T(NOEMBED) = RAW,
    T(NOFRAMES) = RAW,
    T(NOSCRIPT) = SPECIAL,
    T(OBJECT) = SPECIAL | SCOPE | MARKER | BLOCK | NO_FRAMES,
    T(OL) = CLOSES_P | SPECIAL | BREAKS | BLOCK,
    T(P) = CLOSES_P | SPECIAL | BREAKS,
    T(PARAM) = VOID,
    T(PLAINTEXT) = CLOSES_P,
    T(PRE) = CLOSES_P | SPECIAL | BREAKS | BLOCK | NO_FRAMES,
    T(RUBY) = BREAKS,
    T(S) = FORMAT | BREAKS,
    T(SCRIPT) = RAW,
    T(SEARCH) = CLOSES_P | SPECIAL | BLOCK,
    T(SECTION) = CLOSES_P | SPECIAL | BLOCK,
    T(SELECT) = SPECIAL | SCOPE | BLOCK | NO_FRAMES,
    T(SMALL) = FORMAT | BREAKS,
    T(SOURCE) = VOID,
    T(SPAN) = BREAKS,
    T(STRIKE) = FORMAT | BREAKS,
    T(STRONG) = FORMAT | BREAKS,
    T(STYLE) = RAW,
    T(SUB) = BREAKS,
    T(SUMMARY) = CLOSES_P | SPECIAL | BLOCK,
    T(SUP) = BREAKS,
    T(TABLE) = SPECIAL | SCOPE | BREAKS | NO_FRAMES,
    T(TBODY) = SPECIAL | CELL,
    T(TD) = SPECIAL | SCOPE | MARKER | CELL,
    T(TEMPLATE) = SPECIAL | SCOPE | MARKER,
    T(TEXTAREA) = RAW | NO_FRAMES,
    T(TFOOT) = SPECIAL | CELL,
    T(TH) = SPECIAL | SCOPE | MARKER | CELL,
    T(THEAD) = SPECIAL | CELL,
    T(TITLE) = RAW,
    T(TR) = SPECIAL | CELL,
    T(TRACK) = VOID,
    T(TT) = FORMAT | BREAKS,
    T(U) = FORMAT | BREAKS,
    T(UL) = CLOSES_P | SPECIAL | BREAKS | BLOCK,
    T(VAR) = BREAKS,
    T(WBR) = VOID | NO_FRAMES,
    T(XMP) = RAW | CLOSES_P | NO_FRAMES,
};
#undef T

/* --- the stack --- */

static bool has_rule(const struct web_html_open *o, unsigned rule)
{
    if (o->space == WEB_SPACE_HTML)
        return (rules[o->tag] & rule) != 0;
    /* The points where HTML stands in SVG and MathML bound scopes, too. */
    if (!(rule & (SCOPE | SPECIAL)))
        return false;
    if (o->space == WEB_SPACE_SVG)
        return o->tag == WEB_TAG_FOREIGNOBJECT || o->tag == WEB_TAG_DESC ||
               o->tag == WEB_TAG_TITLE;
    return o->tag == WEB_TAG_ANNOTATION_XML ||
           (o->tag >= WEB_TAG_MI && o->tag <= WEB_TAG_MTEXT);
}

static bool is(const struct web_html_open *o, enum web_tag tag)
{
    return o->tag == tag && o->space == WEB_SPACE_HTML;
}

/* Close elements until `depth` are open. */
static void pop(struct web_html *h, unsigned depth)
{
    while (h->depth > depth) {
        const struct web_html_open *o = &h->open[--h->depth];

        if (o->space == WEB_SPACE_HTML)
            h->opened[o->tag]--;
        if (is(o, WEB_TAG_TEMPLATE))
            h->templates--;
        if (has_rule(o, MARKER) && --h->markers < h->fewest)
            h->fewest = h->markers;
    }
}

/* Take one out of the middle. */
static void take_out(struct web_html *h, unsigned at)
{
    h->opened[h->open[at].tag]--;
    memmove(h->open + at, h->open + at + 1,
            (h->depth - at - 1) * sizeof h->open[0]);
    h->depth--;
}

static void push(struct web_html *h, enum web_tag tag, enum web_space in)
{
    struct web_html_open *o;

    if (h->depth == WEB_HTML_DEPTH)
        pop(h, h->depth - 1);
    o = &h->open[h->depth++];
    *o = (struct web_html_open){ .name = h->name_hash,
                                 .tag = (uint8_t)tag,
                                 .space = (uint8_t)in };
    if (in == WEB_SPACE_HTML)
        h->opened[tag]++;
    if (is(o, WEB_TAG_TEMPLATE))
        h->templates++;
    if (has_rule(o, MARKER))
        h->markers++;
}

/* The index after the innermost `tag` in scope, 0 if there is none; elements
   of `other` bound the scope as well. */
static unsigned in_scope(const struct web_html *h, enum web_tag tag,
                         enum web_tag other, enum web_tag another)
{
    /* Mostly none is open, and the stack need not be searched. */
    for (unsigned i = h->opened[tag] ? h->depth : 0; i; i--) {
        const struct web_html_open *o = &h->open[i - 1];

        if (is(o, tag))
            return i;
        if (has_rule(o, SCOPE) || (other && is(o, other)) ||
            (another && is(o, another)))
            return 0;
    }
    return 0;
}

static bool end_at(struct web_html *h, unsigned after)
{
    if (after)
        pop(h, after - 1);
    return after;
}

static void close_p(struct web_html *h)
{
    end_at(h, in_scope(h, WEB_TAG_P, WEB_TAG_BUTTON, WEB_TAG_OTHER));
}

/* --- SVG and MathML --- */

static bool foreign(const struct web_html *h)
{
    return h->depth && h->open[h->depth - 1].space != WEB_SPACE_HTML;
}

bool web_html_foreign(const struct web_html *h)
{
    return foreign(h);
}

/* HTML in SVG: <foreignObject>, <desc>, <title>, some <annotation-xml>. */
static bool holds_html(const struct web_html_open *o)
{
    if (o->space == WEB_SPACE_SVG)
        return o->tag == WEB_TAG_FOREIGNOBJECT || o->tag == WEB_TAG_DESC ||
               o->tag == WEB_TAG_TITLE;
    return o->space == WEB_SPACE_MATH && o->html;
}

static bool holds_text(const struct web_html_open *o)
{
    return o->space == WEB_SPACE_MATH && o->tag >= WEB_TAG_MI &&
           o->tag <= WEB_TAG_MTEXT;
}

/* Do the rules of foreign content apply to a start tag? */
static bool starts_foreign(const struct web_html *h, enum web_tag tag)
{
    const struct web_html_open *o;

    if (!foreign(h))
        return false;
    o = &h->open[h->depth - 1];
    if (holds_text(o))
        return tag == WEB_TAG_MGLYPH || tag == WEB_TAG_MALIGNMARK;
    if (o->space == WEB_SPACE_MATH && o->tag == WEB_TAG_ANNOTATION_XML &&
        tag == WEB_TAG_SVG)
        return false;
    return !holds_html(o);
}

static void leave_foreign(struct web_html *h)
{
    while (foreign(h) && !holds_html(&h->open[h->depth - 1]) &&
           !holds_text(&h->open[h->depth - 1]))
        pop(h, h->depth - 1);
}

static bool breaks_out(const struct web_html_event *e)
{
    if (e->tag == WEB_TAG_FONT)
        return web_html_has(e, WEB_COLOR) || web_html_has(e, WEB_FACE) ||
               web_html_has(e, WEB_SIZE);
    return rules[e->tag] & BREAKS;
}

static bool start_foreign(struct web_html *h, struct web_html_event *e,
                          bool self_closing)
{
    enum web_space in = (enum web_space)h->open[h->depth - 1].space;
    struct seen_span type = { "", 0 };

    e->space = in;
    if (self_closing)
        return true;
    push(h, e->tag, in);
    if (in == WEB_SPACE_MATH && e->tag == WEB_TAG_ANNOTATION_XML &&
        web_html_has(e, WEB_ENCODING))
        type = e->value[WEB_ENCODING];
    h->open[h->depth - 1].html = span_like(type, "text/html") ||
                                 span_like(type, "application/xhtml+xml");
    return true;
}

/* --- start tags --- */

/* <li> ends the last one of its list; <dd> and <dt> alike. */
static void close_item(struct web_html *h, enum web_tag a, enum web_tag b)
{
    for (unsigned i = h->depth; i; i--) {
        const struct web_html_open *o = &h->open[i - 1];

        if (is(o, a) || is(o, b)) {
            pop(h, i - 1);
            return;
        }
        if (has_rule(o, SPECIAL) && !is(o, WEB_TAG_ADDRESS) &&
            !is(o, WEB_TAG_DIV) && !is(o, WEB_TAG_P))
            return;
    }
}

/* How far a part of a table goes out: a cell to its row, a row to its
   section, a section to its table. */
static int rank(const struct web_html_open *o)
{
    switch (o->space == WEB_SPACE_HTML ? (enum web_tag)o->tag
                                       : WEB_TAG_OTHER) {
    case WEB_TAG_TABLE:
    case WEB_TAG_TEMPLATE: return 3;
    case WEB_TAG_TBODY:
    case WEB_TAG_THEAD:
    case WEB_TAG_TFOOT: return 2;
    case WEB_TAG_TR: return 1;
    default: return 0;
    }
}

/* False if there is no table: then the tag is ignored. */
static bool start_cell(struct web_html *h, enum web_tag tag)
{
    int least = 3;

    if (tag == WEB_TAG_TD || tag == WEB_TAG_TH)
        least = 1;
    else if (tag == WEB_TAG_TR)
        least = 2;
    for (unsigned i = h->depth; i; i--)
        if (rank(&h->open[i - 1]) >= least) {
            pop(h, i);
            return true;
        }
    return false;
}

/* A second <a> ends the first, wherever that is open. */
static void close_anchor(struct web_html *h)
{
    for (unsigned i = h->opened[WEB_TAG_A] ? h->depth : 0; i; i--) {
        if (has_rule(&h->open[i - 1], MARKER))
            return;
        if (is(&h->open[i - 1], WEB_TAG_A)) {
            take_out(h, i - 1);
            return;
        }
    }
}

static bool is_heading(const struct web_html_open *o)
{
    return o->space == WEB_SPACE_HTML && o->tag >= WEB_TAG_H1 &&
           o->tag <= WEB_TAG_H6;
}

/* What an element closes before it begins; false if it is ignored. */
static bool make_way(struct web_html *h, struct web_html_event *e)
{
    struct web_html_open *last = h->depth ? &h->open[h->depth - 1] : NULL;

    switch (e->tag) {
    case WEB_TAG_LI: close_item(h, WEB_TAG_LI, WEB_TAG_LI); break;
    case WEB_TAG_DD:
    case WEB_TAG_DT: close_item(h, WEB_TAG_DD, WEB_TAG_DT); break;
    case WEB_TAG_A: close_anchor(h); break;
    case WEB_TAG_BUTTON:
        end_at(h, in_scope(h, WEB_TAG_BUTTON, WEB_TAG_OTHER, WEB_TAG_OTHER));
        break;
    case WEB_TAG_SELECT:
        if (end_at(h,
                   in_scope(h, WEB_TAG_SELECT, WEB_TAG_OTHER, WEB_TAG_OTHER)))
            return false;
        break;
    case WEB_TAG_OPTION:
    case WEB_TAG_OPTGROUP:
        if (last && is(last, WEB_TAG_OPTION))
            pop(h, h->depth - 1);
        break;
    case WEB_TAG_FORM:
        if (h->form && !h->templates)
            return false;
        break;
    case WEB_TAG_TABLE:
        /* Directly in a table, a table ends it. */
        if (last && rank(last) && !is(last, WEB_TAG_TEMPLATE))
            end_at(h,
                   in_scope(h, WEB_TAG_TABLE, WEB_TAG_OTHER, WEB_TAG_OTHER));
        break;
    default: break;
    }
    if (rules[e->tag] & CLOSES_P)
        close_p(h);
    if (e->tag >= WEB_TAG_H1 && e->tag <= WEB_TAG_H6 && h->depth &&
        is_heading(&h->open[h->depth - 1]))
        pop(h, h->depth - 1);
    return !(rules[e->tag] & CELL) || start_cell(h, e->tag);
}

static bool start_frameset(struct web_html *h, enum web_tag tag)
{
    if (tag == WEB_TAG_FRAMESET && !h->frames) {
        if (!h->frames_ok || h->templates)
            return false;
        h->frames = true;
        pop(h, 0);
    }
    return tag == WEB_TAG_FRAMESET || tag == WEB_TAG_FRAME ||
           tag == WEB_TAG_NOFRAMES;
}

static bool hidden_input(const struct web_html_event *e)
{
    return e->tag == WEB_TAG_INPUT && web_html_has(e, WEB_TYPE) &&
           span_like(e->value[WEB_TYPE], "hidden");
}

static bool start_html(struct web_html *h, struct web_html_event *e,
                       bool self_closing)
{
    if (e->tag == WEB_TAG_IMAGE)
        e->tag = WEB_TAG_IMG;
    if (e->tag == WEB_TAG_FRAMESET || h->frames) {
        if (!start_frameset(h, e->tag))
            return false;
        if (e->tag == WEB_TAG_NOFRAMES)
            h->raw = e->tag;
        return true;
    }
    if ((rules[e->tag] & NO_FRAMES) ||
        (e->tag == WEB_TAG_INPUT && !hidden_input(e)))
        h->frames_ok = false;
    if (!make_way(h, e))
        return false;
    if (e->tag == WEB_TAG_FORM && !h->templates)
        h->form = true;
    if (rules[e->tag] & RAW)
        h->raw = e->tag;
    else if (e->tag == WEB_TAG_PLAINTEXT)
        h->plain = true;
    else if (e->tag == WEB_TAG_SVG || e->tag == WEB_TAG_MATH) {
        e->space = e->tag == WEB_TAG_SVG ? WEB_SPACE_SVG : WEB_SPACE_MATH;
        if (!self_closing)
            push(h, e->tag, e->space);
    } else if (!(rules[e->tag] & VOID) && e->tag != WEB_TAG_HTML &&
               e->tag != WEB_TAG_HEAD && e->tag != WEB_TAG_BODY)
        push(h, e->tag, WEB_SPACE_HTML);
    return true;
}

bool web_html_start(struct web_html *h, struct web_html_event *e,
                    bool self_closing)
{
    if (h->xml) {
        h->shut = self_closing;
        h->shut_tag = e->tag;
        if (!self_closing)
            push(h, e->tag, WEB_SPACE_HTML);
        return true;
    }
    if (starts_foreign(h, e->tag)) {
        if (!breaks_out(e))
            return start_foreign(h, e, self_closing);
        leave_foreign(h);
    }
    return start_html(h, e, self_closing);
}

/* --- end tags --- */

static bool same(const struct web_html *h, const struct web_html_open *o,
                 enum web_tag tag)
{
    return o->tag == tag && o->name == h->name_hash;
}

/* Any other end tag: the innermost of its name, up to a special one. */
static bool end_other(struct web_html *h, enum web_tag tag)
{
    for (unsigned i = h->depth; i; i--) {
        const struct web_html_open *o = &h->open[i - 1];

        if (same(h, o, tag) && (o->space == WEB_SPACE_HTML || h->xml)) {
            pop(h, i - 1);
            return true;
        }
        if (has_rule(o, SPECIAL) && !h->xml)
            return false;
    }
    return false;
}

/*
 * The "adoption agency" as far as the stack goes: the element is closed with
 * what is in it, but if a block is in it, it is taken out alone.
 */
static void end_format(struct web_html *h, enum web_tag tag)
{
    bool block = false;

    for (unsigned i = h->opened[tag] ? h->depth : 0; i; i--) {
        const struct web_html_open *o = &h->open[i - 1];

        if (is(o, tag)) {
            if (block)
                take_out(h, i - 1);
            else
                pop(h, i - 1);
            return;
        }
        if (has_rule(o, SCOPE))
            return;
        block = block || has_rule(o, SPECIAL);
    }
}

static bool end_heading(struct web_html *h)
{
    for (unsigned i = h->depth; i; i--) {
        if (is_heading(&h->open[i - 1])) {
            pop(h, i - 1);
            return true;
        }
        if (has_rule(&h->open[i - 1], SCOPE))
            return false;
    }
    return false;
}

/* Tables and their parts see no other scope than tables. */
static bool end_table(struct web_html *h, enum web_tag tag)
{
    for (unsigned i = h->opened[tag] ? h->depth : 0; i; i--) {
        const struct web_html_open *o = &h->open[i - 1];

        if (is(o, tag)) {
            pop(h, i - 1);
            return true;
        }
        if (is(o, WEB_TAG_TABLE) || is(o, WEB_TAG_TEMPLATE))
            return false;
    }
    return false;
}

static bool end_form(struct web_html *h)
{
    unsigned at = in_scope(h, WEB_TAG_FORM, WEB_TAG_OTHER, WEB_TAG_OTHER);

    if (h->templates)
        return end_at(h, at);
    h->form = false;
    if (at)
        take_out(h, at - 1);
    return at;
}

static bool end_template(struct web_html *h)
{
    if (!h->templates)
        return false;
    while (!is(&h->open[h->depth - 1], WEB_TAG_TEMPLATE))
        pop(h, h->depth - 1);
    pop(h, h->depth - 1);
    return true;
}

static bool end_html(struct web_html *h, enum web_tag tag)
{
    unsigned rule = rules[tag];

    switch (tag) {
    case WEB_TAG_TEMPLATE: return end_template(h);
    case WEB_TAG_FORM: return end_form(h);
    case WEB_TAG_P: close_p(h); return true;
    case WEB_TAG_LI:
        return end_at(h, in_scope(h, tag, WEB_TAG_OL, WEB_TAG_UL));
    case WEB_TAG_HTML:
    case WEB_TAG_HEAD:
    case WEB_TAG_BODY:
    case WEB_TAG_BR: return true;
    case WEB_TAG_TABLE: return end_table(h, tag);
    default: break;
    }
    if (tag >= WEB_TAG_H1 && tag <= WEB_TAG_H6)
        return end_heading(h);
    if (rule & BLOCK)
        return end_at(h, in_scope(h, tag, WEB_TAG_OTHER, WEB_TAG_OTHER));
    if (rule & CELL)
        return end_table(h, tag);
    if (rule & FORMAT) {
        /* An anchor that a block closed has been opened again; see above. */
        end_format(h, tag);
        return true;
    }
    if (rule & RAW) /* these are not on the stack */
        return true;
    return end_other(h, tag);
}

bool web_html_end(struct web_html *h, struct web_html_event *e)
{
    enum web_tag tag = e->tag;

    if (h->xml)
        return end_other(h, tag);
    if (foreign(h) && (tag == WEB_TAG_P || tag == WEB_TAG_BR))
        leave_foreign(h);
    for (unsigned i = h->depth;
         i && h->open[i - 1].space != WEB_SPACE_HTML && foreign(h); i--)
        if (same(h, &h->open[i - 1], tag)) {
            e->space = (enum web_space)h->open[i - 1].space;
            pop(h, i - 1);
            return true;
        }
    return end_html(h, tag);
}
