/*
 * links.c - read a document, resolve what it refers to.
 *
 *     headers ──┐
 *     HTML ─────┼──> references ──> base, charset of the query ──> take()
 *     CSS ──────┘
 */
#include "links.h"

#include <stdlib.h>
#include <string.h>

#include <seen/url.h>

#include "../lib/text/array.h"
#include "../lib/text/space.h"
#include "../lib/text/span.h"
#include "css.h"
#include "links_reader.h"
#include "resolve.h"

static const char agent[] = "seen";

const char *web_link_kind_name(enum web_link_kind kind)
{
    static const char *const names[WEB_LINK_KINDS] = {
        [WEB_LINK_A] = "a",
        [WEB_LINK_AREA] = "area",
        [WEB_LINK_FRAME] = "frame",
        [WEB_LINK_FORM] = "form",
        [WEB_LINK_REFRESH] = "refresh",
        [WEB_LINK_LINK] = "link",
        [WEB_LINK_HEADER] = "header",
        [WEB_LINK_IMAGE] = "image",
        [WEB_LINK_SCRIPT] = "script",
        [WEB_LINK_STYLE] = "style",
        [WEB_LINK_ICON] = "icon",
        [WEB_LINK_PRELOAD] = "preload",
        [WEB_LINK_MEDIA] = "media",
        [WEB_LINK_OBJECT] = "object",
        [WEB_LINK_CSS] = "css",
    };

    return names[kind];
}

/* --- references --- */

struct web_place web_reader_keep(struct web_reader *r, const char *text,
                                 size_t len)
{
    struct web_place p = { NULL, r->kept.len, len };

    buffer_bytes(&r->kept, text, len);
    if (r->kept.failed) {
        r->code = SEEN_NOMEM;
        p.len = 0;
    }
    return p;
}

struct web_found *web_reader_add(struct web_reader *r, enum web_link_kind kind,
                                 struct web_place url)
{
    struct web_found *more;

    if (r->count == r->most) {
        r->cut = true;
        return NULL;
    }
    more = array_grow(r->found, &r->room, r->count + 1, sizeof *more);
    if (!more) {
        r->code = SEEN_NOMEM;
        return NULL;
    }
    r->found = more;
    r->found[r->count] = (struct web_found){ .url = url, .kind = kind };
    return &r->found[r->count++];
}

struct css_owner {
    struct web_reader *r;
    bool plain;
};

static void take_css(void *owner, struct seen_span url, bool import)
{
    struct css_owner *o = owner;
    struct web_found *f;

    (void)import;
    if (url.text[0] == '#') /* of SVG in the same page */
        return;
    f = web_reader_add(o->r, WEB_LINK_CSS,
                       web_reader_keep(o->r, url.text, url.len));
    if (f) {
        f->requisite = true;
        f->plain = o->plain;
    }
}

void web_reader_css(struct web_reader *r, const char *text, size_t len,
                    bool plain)
{
    struct css_owner owner = { r, plain };

    web_css_read(text, len, take_css, &owner);
}

/* --- rel --- */

/* Relations that are not links to follow. The others are, known or not. */
static const struct {
    const char *name;
    bool requisite;
    enum web_link_kind kind;
} relations[] = {
    { "stylesheet", true, WEB_LINK_STYLE },
    { "icon", true, WEB_LINK_ICON },
    { "apple-touch-icon", true, WEB_LINK_ICON },
    { "apple-touch-icon-precomposed", true, WEB_LINK_ICON },
    { "apple-touch-startup-image", true, WEB_LINK_ICON },
    { "mask-icon", true, WEB_LINK_ICON },
    { "fluid-icon", true, WEB_LINK_ICON },
    { "image_src", true, WEB_LINK_IMAGE },
    { "preload", true, WEB_LINK_PRELOAD },
    { "modulepreload", true, WEB_LINK_PRELOAD },
    { "prefetch", true, WEB_LINK_PRELOAD },
    { "manifest", true, WEB_LINK_PRELOAD },
    { "dns-prefetch", false, WEB_LINK_LINK },
    { "preconnect", false, WEB_LINK_LINK },
    { "pingback", false, WEB_LINK_LINK },
    { "webmention", false, WEB_LINK_LINK },
    { "edituri", false, WEB_LINK_LINK },
    { "wlwmanifest", false, WEB_LINK_LINK },
    { "profile", false, WEB_LINK_LINK },
};

static bool take_word(struct seen_span *rest, struct seen_span *word)
{
    size_t n = 0;

    while (rest->len && space_html(rest->text[0]))
        rest->text++, rest->len--;
    while (n < rest->len && !space_html(rest->text[n]))
        n++;
    *word = (struct seen_span){ rest->text, n };
    rest->text += n;
    rest->len -= n;
    return n;
}

struct web_rel web_rel_read(struct seen_span rel)
{
    enum { RELATIONS = sizeof relations / sizeof relations[0] };
    struct web_rel out = { .kind = WEB_LINK_LINK };
    struct seen_span word;

    while (take_word(&rel, &word)) {
        size_t i = 0;

        if (span_like(word, "nofollow") || span_like(word, "ugc") ||
            span_like(word, "sponsored")) {
            out.nofollow = true;
            continue;
        }
        /* "shortcut icon" is one relation, "noopener" none. */
        if (span_like(word, "shortcut") || span_like(word, "noopener") ||
            span_like(word, "noreferrer"))
            continue;
        while (i < RELATIONS && !span_like(word, relations[i].name))
            i++;
        if (i == RELATIONS) {
            out.link = true;
        } else if (relations[i].requisite && !out.requisite) {
            out.requisite = true;
            out.kind = relations[i].kind;
        }
    }
    if (out.requisite)
        out.link = false; /* rel="alternate stylesheet" */
    return out;
}

/* --- headers --- */

static void add_header_link(struct web_reader *r,
                            const struct web_header_link *link)
{
    struct web_rel rel = web_rel_read(link->rel);
    struct web_found *f;

    /* A link of something else; "" and "#x" are the page itself. */
    if (link->anchored && link->anchor.len && link->anchor.text[0] != '#')
        return;
    if (!rel.link && !(rel.requisite && r->doc->requisites))
        return;
    f = web_reader_add(
        r, WEB_LINK_HEADER,
        (struct web_place){ .text = link->url.text, .len = link->url.len });
    if (!f)
        return;
    f->plain = true;
    f->nofollow = rel.nofollow;
    f->requisite = rel.requisite;
    f->rel = (struct web_place){ .text = link->rel.text,
                                 .len = link->rel.len };
}

static void read_headers(struct web_reader *r)
{
    struct seen_span rest = r->doc->headers, name, value, url;
    struct web_header_link link;

    while (web_header_next(&rest, &name, &value)) {
        if (span_like(name, "x-robots-tag")) {
            web_header_wishes(&r->wishes, value, agent);
        } else if (span_like(name, "link")) {
            while (web_header_link(&value, &link))
                add_header_link(r, &link);
        } else if (span_like(name, "refresh") &&
                   web_header_refresh(value, &url)) {
            struct web_found *f = web_reader_add(
                r, WEB_LINK_REFRESH,
                (struct web_place){ .text = url.text, .len = url.len });

            if (f)
                f->plain = true;
        }
    }
}

/* --- type and charset --- */

enum format { HTML, XML, CSS, NO_LINKS };

static enum format format_of(struct seen_span type)
{
    static const char *const xml[] = { "text/xml", "application/xml" };

    if (!type.len || span_like(type, "text/html"))
        return HTML;
    if (span_like(type, "text/css"))
        return CSS;
    for (size_t i = 0; i < sizeof xml / sizeof xml[0]; i++)
        if (span_like(type, xml[i]))
            return XML;
    if (type.len > 4 &&
        span_like((struct seen_span){ type.text + type.len - 4, 4 }, "+xml"))
        return XML;
    return NO_LINKS;
}

/* The type of the document, and the label of its charset, from what the
   caller says, else from a header. */
static enum format read_type(const struct web_document *doc, char label[64])
{
    struct seen_span rest = doc->headers, name, value;
    struct seen_span type = { "", 0 }, charset = { "", 0 };

    if (doc->type) {
        web_header_type(span_of(doc->type), &type, &charset);
    } else {
        while (web_header_next(&rest, &name, &value))
            if (span_like(name, "content-type"))
                web_header_type(value, &type, &charset);
    }
    if (doc->charset)
        charset = span_of(doc->charset);
    if (charset.len > 63)
        charset.len = 0;
    memcpy(label, charset.text, charset.len);
    label[charset.len] = '\0';
    return format_of(type);
}

/* @charset "x"; as the first bytes. */
static const struct web_charset *css_charset(const char *bytes, size_t len)
{
    const char *end;

    if (len < 10 || memcmp(bytes, "@charset \"", 10) != 0)
        return NULL;
    end = memchr(bytes + 10, '"', len - 10);
    if (!end)
        return NULL;
    const struct web_charset *c = web_charset_find(bytes + 10,
                                                   (size_t)(end - bytes - 10));
    return c ? web_charset_late(c) : NULL;
}

/* Find the charset; returns how many bytes to skip. */
static size_t find_charset(struct web_reader *r, enum format format,
                           const char *label)
{
    const struct web_document *doc = r->doc;
    struct web_encoding e;

    web_charset_of(&e, doc->bytes, doc->len, *label ? label : NULL);
    if (format == CSS && !e.certain) {
        e.charset = css_charset(doc->bytes, doc->len);
        if (!e.charset)
            e.charset = web_charset_utf8();
    }
    r->charset = e.charset;
    if (!e.charset) {
        r->charset = format == XML ? web_charset_utf8()
                                   : web_charset_guess(doc->bytes, doc->len);
        r->guessed = format == HTML;
    }
    return e.skip;
}

enum { DECODE_BYTE = 8 }; /* steps: invalid bytes take longest */

static bool has_beyond_ascii(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)bytes[i] >= 0x80)
            return true;
    return false;
}

/* The text in UTF-8, in `room` if it is not that already. UTF-8 with faults
   needs no copy: what is cut out of it later is repaired then. */
static struct seen_span to_utf8(struct web_reader *r, struct buffer *room,
                                struct seen_span text)
{
    if (r->charset == web_charset_utf8() ||
        (!web_charset_wide(r->charset) &&
         !has_beyond_ascii(text.text, text.len)))
        return text;
    room->len = 0;
    if (!budget_spend(r->budget, DECODE_BYTE * text.len))
        return (struct seen_span){ "", 0 };
    web_charset_decode(room, r->charset, text.text, text.len);
    if (room->failed)
        r->code = SEEN_NOMEM;
    return (struct seen_span){ room->bytes ? room->bytes : "", room->len };
}

static void read_body(struct web_reader *r, enum format format,
                      struct buffer *room, struct seen_span body)
{
    size_t count = r->count;
    struct web_wishes wishes = r->wishes;
    struct seen_span text = to_utf8(r, room, body);

    if (r->code != SEEN_OK)
        return;
    if (format == CSS) {
        if (r->doc->requisites)
            web_reader_css(r, text.text, text.len, true);
        return;
    }
    web_reader_html(r, text.text, text.len, format == XML);
    if (!r->late || r->code != SEEN_OK)
        return;
    /* A <meta> after the first 1024 bytes has another charset. */
    r->charset = r->late;
    r->guessed = false;
    r->late = NULL;
    r->count = count;
    r->wishes = wishes;
    r->has_base = false;
    text = to_utf8(r, room, body);
    if (r->code == SEEN_OK)
        web_reader_html(r, text.text, text.len, false);
}

/* --- resolving --- */

struct resolver {
    const struct web_reader *r;
    struct seen_span url, base; /* of the document; of its links */
    struct web_charset_writer query;
    struct buffer scratch;
    char whole[SEEN_KEY_TEXT]; /* an origin and a path */
};

/* A reference with its query in the charset of the page. */
static struct seen_span encode_query(struct resolver *s, struct seen_span ref)
{
    const char *mark = memchr(ref.text, '?', ref.len);
    const char *hash = memchr(ref.text, '#', ref.len);
    size_t end = hash ? (size_t)(hash - ref.text) : ref.len, n;

    if (!mark || mark > ref.text + end || ref.len > SEEN_KEY_TEXT)
        return ref;
    n = (size_t)(mark - ref.text);
    /* Not part of the URL; an escape sequence after them would be. */
    while (!hash && end > n && (unsigned char)ref.text[end - 1] <= ' ')
        end--;
    if (!has_beyond_ascii(mark, end - n))
        return ref;
    s->scratch.len = 0;
    buffer_bytes(&s->scratch, ref.text, n);
    web_charset_query(&s->query, &s->scratch, mark, end - n);
    if (s->scratch.failed)
        return ref;
    return (struct seen_span){ s->scratch.bytes, s->scratch.len };
}

static bool is_http(struct seen_span url)
{
    return span_begins(url, "http://") || span_begins(url, "https://");
}

/* The length of "http://host:8080" of a canonical URL. */
static size_t origin(struct seen_span url)
{
    size_t at = url.text[4] == 's' ? 8 : 7;

    while (at < url.len && url.text[at] != '/')
        at++;
    return at;
}

/*
 * Two kinds of references are most of all: those of another site, which need
 * no base, and those that begin with a slash, which need its origin only. Both
 * are then mostly canonical, which seen_url_whatwg() sees at one look: 0.3 us
 * instead of 0.7.
 */
static struct seen_span make_absolute(struct resolver *s, struct seen_span ref,
                                      struct seen_span *base)
{
    size_t n;

    if (is_http(ref)) {
        *base = (struct seen_span){ NULL, 0 };
    } else if (ref.len > 1 && ref.len < SEEN_KEY_TEXT / 2 &&
               ref.text[0] == '/' && !strchr("/\\\t\n\r", ref.text[1]) &&
               is_http(*base) && base->len < SEEN_KEY_TEXT / 2) {
        n = origin(*base);
        memcpy(s->whole, base->text, n);
        memcpy(s->whole + n, ref.text, ref.len);
        ref = (struct seen_span){ s->whole, n + ref.len };
        *base = (struct seen_span){ NULL, 0 };
    }
    return ref;
}

static bool resolve(struct resolver *s, struct seen_span ref, bool plain,
                    struct seen_span *out, char *room)
{
    struct seen_span base = plain ? s->url : s->base;

    if (!plain && ref.len && s->query.charset)
        ref = encode_query(s, ref);
    ref = make_absolute(s, ref, &base);
    /* A page may have a base of 8 kB and a million links that are relative to
       it. */
    if (!budget_spend(s->r->budget, web_resolve_steps(ref, base)))
        return false;
    return seen_url_whatwg(&out->text, &out->len, room, ref.text, ref.len,
                           base.text, base.len, NULL) == SEEN_OK;
}

/* The base of links: the first <base href>, unless it is data: or
   javascript:, or not a URL at all. */
static void find_base(struct resolver *s, char *room)
{
    struct seen_span found;

    s->base = s->url;
    if (!s->r->has_base ||
        !resolve(s, web_place_span(s->r, s->r->base), false, &found, room) ||
        span_begins(found, "data:") || span_begins(found, "javascript:"))
        return;
    /* It may lie in s->whole, which the next reference overwrites. */
    if (found.text != room)
        memmove(room, found.text, found.len);
    s->base = (struct seen_span){ room, found.len };
}

static void give(struct resolver *s, struct web_page *page,
                 void (*take)(void *owner, const struct web_link *link),
                 void *owner)
{
    char room[SEEN_KEY_TEXT];

    for (size_t i = 0; i < s->r->count && !budget_empty(s->r->budget); i++) {
        const struct web_found *f = &s->r->found[i];
        struct web_link link = {
            .kind = f->kind,
            .nofollow = f->nofollow || s->r->wishes.nofollow,
            .requisite = f->requisite,
            .text = web_place_span(s->r, f->text),
            .rel = web_place_span(s->r, f->rel),
        };

        if (!resolve(s, web_place_span(s->r, f->url), f->plain, &link.url,
                     room) ||
            !is_http(link.url))
            continue;
        page->links++;
        take(owner, &link);
    }
}

/* False if there was no memory. */
static bool resolve_all(const struct web_reader *r, struct seen_span url,
                        struct web_page *page,
                        void (*take)(void *owner, const struct web_link *link),
                        void *owner)
{
    char room[SEEN_KEY_TEXT];
    struct resolver s;
    bool failed;

    s.r = r;
    s.url = url;
    s.query = (struct web_charset_writer){ .charset = NULL };
    s.scratch = (struct buffer){ .bytes = NULL };
    if (r->charset && !web_charset_unicode(r->charset))
        s.query.charset = r->charset;
    find_base(&s, room);
    give(&s, page, take, owner);
    web_charset_writer_clear(&s.query);
    failed = s.scratch.failed;
    buffer_clear(&s.scratch);
    return !failed;
}

enum seen_code web_links_read(const struct web_document *doc,
                              struct web_page *page,
                              void (*take)(void *owner,
                                           const struct web_link *link),
                              void *owner, struct seen_error *why)
{
    struct web_page unread = { .noindex = false };
    struct buffer room = { .bytes = NULL };
    char text[SEEN_KEY_TEXT], label[64];
    struct budget any = { .left = UINT64_MAX }, reading;
    struct budget *budget = doc->budget ? doc->budget : &any;
    const uint64_t half = budget->left / 2;
    struct web_reader r = {
        .doc = doc,
        .page = page ? page : &unread,
        .budget = &reading,
        .most = doc->most ? doc->most : WEB_LINKS,
    };
    struct seen_span url;
    enum format format;
    enum seen_code code;

    code = seen_url_whatwg(&url.text, &url.len, text, doc->url, doc->url_len,
                           NULL, 0, why);
    if (code != SEEN_OK)
        return code;
    /* A document that is read for too long leaves enough to resolve what was
       found in it. */
    reading = budget_lend(budget, half);
    r.page->charset = NULL;
    r.page->links = 0;
    format = read_type(doc, label);
    read_headers(&r);
    if (format != NO_LINKS) {
        size_t skip = find_charset(&r, format, label);

        read_body(&r, format, &room,
                  (struct seen_span){ doc->bytes ? doc->bytes + skip : "",
                                      doc->len - skip });
        r.page->charset = web_charset_name(r.charset);
    }
    r.page->noindex = r.wishes.noindex;
    r.page->nofollow = r.wishes.nofollow;
    r.page->cut = r.cut;
    budget_settle(budget, &reading, half);
    r.budget = budget;
    if (r.code == SEEN_OK && !resolve_all(&r, url, r.page, take, owner))
        r.code = SEEN_NOMEM;
    r.page->costly = budget_empty(&reading) || budget_empty(budget);
    free(r.found);
    buffer_clear(&room);
    buffer_clear(&r.kept);
    buffer_clear(&r.scratch);
    if (r.code != SEEN_OK)
        return seen_fail(why, r.code, 0, "no memory for the links of a page");
    return SEEN_OK;
}
