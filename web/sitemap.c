/*
 * sitemap.c - from bytes to entries.
 *
 * The first byte that is not white space decides: "<" begins XML. Anything else
 * is a list with one URL per line, or not a list. XML may not have white space
 * before its declaration; many feeds do, so a lenient reader drops it.
 */
#include "sitemap.h"

#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>

#include <seen/url.h>

#include "../lib/text/span.h"
#include "resolve.h"
#include "sitemap_reader.h"

/* --- failures --- */

void web_sitemap_refuse(struct web_sitemap *s, const char *text)
{
    if (s->code == SEEN_OK)
        s->code = seen_fail(&s->why, SEEN_CORRUPT,
                            s->parser ? web_sitemap_xml_line(s) : s->line,
                            "%s", text);
    if (s->parser)
        xmlStopParser(s->parser);
}

bool web_sitemap_pay(struct web_sitemap *s, uint64_t steps)
{
    if (!s->budget || budget_spend(s->budget, steps))
        return true;
    web_sitemap_refuse(s, "costs too much to read");
    return false;
}

/* --- entries --- */

enum { BYTE = 5 }; /* steps, of 2 ns each */

void web_sitemap_entry_begin(struct web_sitemap *s)
{
    memset(&s->entry, 0, sizeof s->entry);
    s->entry.index = s->form && s->form->index;
    s->entry.length = s->entry.patch.length = UINT64_MAX;
    s->entry_depth = s->depth;
    s->fault.code = SEEN_OK;
    s->html = false;
    s->guid_len = 0;
}

void web_sitemap_loc(struct web_sitemap *s, struct seen_span text, bool fits)
{
    s->entry.loc = web_sitemap_keep(s->loc, sizeof s->loc, text);
    s->loc_base = s->bases;
    if (!fits || text.len > WEB_SITEMAP_URL)
        seen_fail(&s->fault, SEEN_RANGE, 0, "a URL has more than %d bytes",
                  WEB_SITEMAP_URL);
}

/* The URL as a crawler needs it. */
static void resolve(struct web_sitemap *s, char room[SEEN_KEY_TEXT])
{
    struct web_sitemap_entry *e = &s->entry;
    const char *base = s->lines ? NULL : s->base[s->loc_base].text;
    size_t len = s->lines ? 0 : s->base[s->loc_base].len;

    if (!web_sitemap_pay(
            s, web_resolve_steps(e->loc, (struct seen_span){ base, len })))
        return;
    if (seen_url_whatwg(&e->url.text, &e->url.len, room, e->loc.text,
                        e->loc.len, base, len, &s->fault) == SEEN_OK &&
        !span_begins(e->url, "http:") && !span_begins(e->url, "https:"))
        seen_fail(&s->fault, SEEN_BAD_URL, 0, "is not an http or https URL");
}

void web_sitemap_entry_end(struct web_sitemap *s)
{
    struct web_sitemap_entry *e = &s->entry;
    char room[SEEN_KEY_TEXT];
    enum seen_code code;

    s->entry_depth = 0;
    if (++s->entries > WEB_SITEMAP_ENTRIES) {
        web_sitemap_refuse(s, "has more than 500,000 entries");
        return;
    }
    if (!e->loc.text && s->guid_len) {
        web_sitemap_loc(s, (struct seen_span){ s->guid, s->guid_len }, true);
        s->loc_base = s->guid_base;
    }
    if (!e->loc.text && s->form && s->form->feed)
        return; /* a note without a page */
    if (!e->loc.len && !(s->form && s->form->feed) && s->fault.code == SEEN_OK)
        seen_fail(&s->fault, SEEN_CORRUPT, 0, "an entry has no loc");
    if (s->lenient && s->fault.code == SEEN_OK)
        resolve(s, room);
    if (s->code != SEEN_OK)
        return;
    s->faults += s->fault.code != SEEN_OK;
    e->document = s->capability;
    e->fault = s->fault.code == SEEN_OK ? NULL : &s->fault;
    e->line = s->parser ? web_sitemap_xml_line(s) : s->line;
    code = s->handle(s->owner, e, &s->why);
    if (code == SEEN_OK)
        return;
    s->code = code;
    if (s->parser)
        xmlStopParser(s->parser);
}

/* --- lists of lines --- */

static void line_end(struct web_sitemap *s)
{
    bool fits = s->len <= sizeof s->text;
    struct seen_span line = span_trim(
        (struct seen_span){ s->text, fits ? s->len : 0 });

    s->line++;
    s->len = 0;
    if (fits && (!line.len || line.text[0] == '#'))
        return;
    web_sitemap_entry_begin(s);
    web_sitemap_loc(s, line, fits);
    web_sitemap_entry_end(s);
    if (s->faults >= WEB_SITEMAP_FAULTS && s->faults > s->entries / 2)
        web_sitemap_refuse(s, "is neither XML nor a list of URLs");
}

/* Lines end in LF, CR LF or CR; the empty one within CR LF does not count. */
static void lines_push(struct web_sitemap *s, const char *at, size_t n)
{
    for (; n && s->code == SEEN_OK; at++, n--) {
        bool returned = s->returned;

        s->returned = *at == '\r';
        if (*at == '\r' || *at == '\n') {
            if (*at == '\r' || !returned)
                line_end(s);
        } else if ((unsigned char)*at < ' ' && *at != '\t') {
            web_sitemap_refuse(s, "is neither XML nor a list of URLs");
        } else if (s->len < sizeof s->text) {
            s->text[s->len++] = *at;
        } else {
            s->len = sizeof s->text + 1; /* too long */
        }
    }
}

/* --- the first bytes --- */

static void begin_xml(struct web_sitemap *s)
{
    s->begun = true;
    if (web_sitemap_xml_new(s, &s->why) != SEEN_OK)
        s->code = SEEN_NOMEM;
}

/* Skip white space and a byte order mark; how many bytes were skipped. */
static size_t skip(struct web_sitemap *s, const char *at, size_t n)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t i = 0;

    while (i < n && s->mark < 3 && at[i] == mark[s->mark])
        i++, s->mark++;
    if (i < n && !s->mark)
        s->mark = 3; /* there is none */
    while (i < n && s->mark == 3 && memchr(" \t\r\n", at[i], 4)) {
        s->line += at[i] == '\n';
        i++;
    }
    return i;
}

static size_t begin(struct web_sitemap *s, const char *at, size_t n)
{
    size_t skipped = skip(s, at, n);

    if (skipped == n)
        return skipped;
    if (at[skipped] == '<' && s->mark == 3) {
        begin_xml(s);
        return skipped;
    }
    s->begun = s->lines = true;
    if (s->mark != 3)
        web_sitemap_refuse(s, "is neither XML nor a list of URLs");
    return skipped;
}

/* --- the header's functions --- */

enum seen_code web_sitemap_new(struct web_sitemap **out, const char *base,
                               web_sitemap_handler *handle, void *owner,
                               struct seen_error *why)
{
    struct web_sitemap *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a sitemap");
    s->handle = handle;
    s->owner = owner;
    if (base) {
        char room[SEEN_KEY_TEXT];
        struct seen_span url = span_of(base);
        enum seen_code code = seen_url_whatwg(&url.text, &url.len, room, base,
                                              url.len, NULL, 0, why);

        if (code == SEEN_OK && url.len > sizeof s->base[0].text)
            code = seen_fail(why, SEEN_BAD_URL, WEB_SITEMAP_URL,
                             "has more than %d bytes", WEB_SITEMAP_URL);
        if (code != SEEN_OK) {
            free(s);
            return code;
        }
        s->lenient = true;
        s->base[0].len = url.len;
        memcpy(s->base[0].text, url.text, url.len);
    }
    *out = s;
    return SEEN_OK;
}

void web_sitemap_limit(struct web_sitemap *s, struct budget *budget)
{
    s->budget = budget;
}

void web_sitemap_free(struct web_sitemap *s)
{
    if (!s)
        return;
    web_sitemap_xml_free(s);
    free(s);
}

static enum seen_code result(struct web_sitemap *s, struct seen_error *why)
{
    if (s->code != SEEN_OK && why)
        *why = s->why;
    return s->code;
}

void web_sitemap_text(struct web_sitemap *s, const char *at, size_t n)
{
    if (!s->begun && s->code == SEEN_OK) {
        size_t skipped = begin(s, at, n);

        at += skipped;
        n -= skipped;
    }
    if (s->lines)
        lines_push(s, at, n);
    else if (s->begun && s->code == SEEN_OK)
        web_sitemap_xml_push(s, at, n);
}

/* Encodings that libxml2 recognises by their first bytes are not counted
   correctly; all that a strict reader accepts begins like this. */
static void push_strict(struct web_sitemap *s, const char *at, size_t n)
{
    if (n && !s->begun) {
        begin_xml(s);
        if (!strchr("< \t\r\n\xef", *at ? *at : 'x'))
            web_sitemap_refuse(s, "is not XML in UTF-8");
    }
    if (s->begun && s->code == SEEN_OK)
        web_sitemap_xml_push(s, at, n);
}

enum seen_code web_sitemap_push(struct web_sitemap *s, const void *bytes,
                                size_t n, struct seen_error *why)
{
    if (!web_sitemap_pay(s, BYTE * (uint64_t)n))
        return result(s, why);
    if (s->lenient)
        web_sitemap_wide(s, bytes, n);
    else
        push_strict(s, bytes, n);
    return result(s, why);
}

enum seen_code web_sitemap_end(struct web_sitemap *s, struct seen_error *why)
{
    if (s->lenient)
        web_sitemap_wide_end(s);
    if (s->code == SEEN_OK && !s->begun)
        web_sitemap_refuse(s, "is empty");
    if (s->code == SEEN_OK && s->lines && s->len)
        line_end(s);
    if (s->code == SEEN_OK && s->parser)
        web_sitemap_xml_end(s);
    if (s->code == SEEN_OK && s->lines && s->faults && s->faults == s->entries)
        web_sitemap_refuse(s, "is neither XML nor a list of URLs");
    return result(s, why);
}

bool web_sitemap_is_page(const struct web_sitemap *s)
{
    return s->page;
}

const char *web_sitemap_up(const struct web_sitemap *s)
{
    return s->up;
}

enum web_sitemap_capability web_sitemap_capability(const struct web_sitemap *s)
{
    return s->capability;
}

bool web_sitemap_is_index(const struct web_sitemap *s)
{
    return s->form && s->form->index;
}
