/*
 * charset_scan.c - find what a document says about its charset.
 *
 * The "prescan" of the HTML standard, section 13.2.3.2: before a page can be
 * parsed its charset must be known, so its first 1024 bytes are searched for a
 * <meta> by a parser that is simpler than that of HTML. It skips comments and
 * other tags, so that a <meta> inside of an attribute does not count.
 */
#include "charset.h"

#include <string.h>
#include <strings.h>

#include "../lib/text/ascii.h"
#include "../lib/text/space.h"
#include "../lib/text/span.h"

enum { PRESCAN = 1024, WORD = 64 };

struct scan {
    const char *at, *end;
};

static bool begins(const struct scan *s, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(s->end - s->at) >= n && !strncasecmp(s->at, word, n);
}

/* One attribute of a tag; false at its end. */
static bool attribute(struct scan *s, struct seen_span *name,
                      struct seen_span *value)
{
    char quote;

    while (s->at < s->end && (space_html(*s->at) || *s->at == '/'))
        s->at++;
    if (s->at >= s->end || *s->at == '>')
        return false;
    name->text = s->at++; /* "=" may be the first byte of a name */
    while (s->at < s->end && !space_html(*s->at) && *s->at != '/' &&
           *s->at != '>' && *s->at != '=')
        s->at++;
    name->len = (size_t)(s->at - name->text);
    *value = (struct seen_span){ s->at, 0 };
    while (s->at < s->end && space_html(*s->at))
        s->at++;
    if (s->at >= s->end || *s->at != '=')
        return true;
    s->at++;
    while (s->at < s->end && space_html(*s->at))
        s->at++;
    if (s->at >= s->end || *s->at == '>')
        return true;
    quote = *s->at;
    if (quote == '"' || quote == '\'') {
        value->text = ++s->at;
        while (s->at < s->end && *s->at != quote)
            s->at++;
        value->len = (size_t)(s->at - value->text);
        if (s->at < s->end)
            s->at++;
        return true;
    }
    value->text = s->at;
    while (s->at < s->end && !space_html(*s->at) && *s->at != '>')
        s->at++;
    value->len = (size_t)(s->at - value->text);
    return true;
}

const struct web_charset *web_charset_meta(const char *content, size_t len)
{
    const char *at = content, *end = content + len, *stop;

    for (;; at++) {
        if (end - at < 8)
            return NULL;
        if (strncasecmp(at, "charset", 7) != 0)
            continue;
        at += 7;
        while (at < end && space_html(*at))
            at++;
        if (at < end && *at == '=')
            break;
        at--; /* it may begin the next word */
    }
    for (at++; at < end && space_html(*at);)
        at++;
    if (at < end && (*at == '"' || *at == '\'')) {
        stop = memchr(at + 1, *at, (size_t)(end - at - 1));
        return stop ? web_charset_find(at + 1, (size_t)(stop - at - 1)) : NULL;
    }
    for (stop = at; stop < end && !space_html(*stop) && *stop != ';';)
        stop++;
    return web_charset_find(at, (size_t)(stop - at));
}

/* The charset that a <meta> names; NULL if it does not. */
static const struct web_charset *read_meta(struct scan *s)
{
    enum { CONTENT = 1, CHARSET = 2, HTTP_EQUIV = 4 };
    const struct web_charset *found = NULL;
    bool pragma = false, needs_pragma = false;
    struct seen_span name, value;
    unsigned met = 0;

    while (attribute(s, &name, &value)) {
        if (span_like(name, "http-equiv") && !(met & HTTP_EQUIV)) {
            met |= HTTP_EQUIV;
            pragma = span_like(value, "content-type");
        } else if (span_like(name, "content") && !(met & CONTENT)) {
            met |= CONTENT;
            if (!found && (found = web_charset_meta(value.text, value.len)))
                needs_pragma = true;
        } else if (span_like(name, "charset") && !(met & CHARSET)) {
            met |= CHARSET;
            found = web_charset_find(value.text, value.len);
            needs_pragma = false;
        }
    }
    if (!found || (needs_pragma && !pragma) || s->at >= s->end)
        return NULL;
    return web_charset_late(found);
}

static void skip_past(struct scan *s, char byte)
{
    const char *at = memchr(s->at, byte, (size_t)(s->end - s->at));

    s->at = at ? at + 1 : s->end;
}

static void skip_comment(struct scan *s)
{
    for (s->at += 4; s->at < s->end; s->at++)
        if (*s->at == '>' && s->at[-1] == '-' && s->at[-2] == '-') {
            s->at++;
            return;
        }
}

static void skip_tag(struct scan *s)
{
    struct seen_span name, value;

    while (s->at < s->end && !space_html(*s->at) && *s->at != '>')
        s->at++;
    while (attribute(s, &name, &value))
        ;
    if (s->at < s->end)
        s->at++;
}

static const struct web_charset *search_meta(struct scan s)
{
    const struct web_charset *found;

    while (s.at < s.end) {
        if (*s.at != '<') {
            s.at++;
        } else if (begins(&s, "<!--")) {
            skip_comment(&s);
        } else if (begins(&s, "<meta") && s.end - s.at > 5 &&
                   (space_html(s.at[5]) || s.at[5] == '/')) {
            s.at += 5;
            found = read_meta(&s);
            if (found)
                return found;
        } else if (s.end - s.at > 2 &&
                   (ascii_letter(s.at[1]) ||
                    (s.at[1] == '/' && ascii_letter(s.at[2])))) {
            skip_tag(&s);
        } else if (s.end - s.at > 1 && strchr("!/?", s.at[1])) {
            skip_past(&s, '>');
        } else {
            s.at++;
        }
    }
    return NULL;
}

/* <?xml version="1.0" encoding="x"?> at the very beginning. */
static const struct web_charset *read_xml(struct scan s)
{
    const char *stop;
    char quote;

    if (s.end - s.at < 6 || memcmp(s.at, "<?xml", 5) != 0)
        return NULL;
    stop = memchr(s.at, '>', (size_t)(s.end - s.at));
    if (stop)
        s.end = stop;
    for (; !begins(&s, "encoding"); s.at++)
        if (s.end - s.at < 8)
            return NULL;
    for (s.at += 8; s.at < s.end && (unsigned char)*s.at <= ' ';)
        s.at++;
    if (s.at >= s.end || *s.at++ != '=')
        return NULL;
    while (s.at < s.end && (unsigned char)*s.at <= ' ')
        s.at++;
    if (s.at >= s.end || (*s.at != '"' && *s.at != '\''))
        return NULL;
    quote = *s.at++;
    stop = memchr(s.at, quote, (size_t)(s.end - s.at));
    if (!stop)
        return NULL;
    const struct web_charset *found = web_charset_find(s.at,
                                                       (size_t)(stop - s.at));
    return found ? web_charset_late(found) : NULL;
}

void web_charset_of(struct web_encoding *found, const char *bytes, size_t len,
                    const char *header)
{
    static const struct {
        const char *mark, *label;
    } marks[] = { { "\xef\xbb\xbf", "utf-8" },
                  { "\xfe\xff", "utf-16be" },
                  { "\xff\xfe", "utf-16le" } };
    struct scan s = { bytes, bytes + (len < PRESCAN ? len : PRESCAN) };

    *found = (struct web_encoding){ .certain = true };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t n = strlen(marks[i].mark);

        if (len >= n && !memcmp(bytes, marks[i].mark, n)) {
            found->charset = web_charset_find(marks[i].label,
                                              strlen(marks[i].label));
            found->skip = n;
            return;
        }
    }
    if (header)
        found->charset = web_charset_find(header, strlen(header));
    if (found->charset)
        return;
    found->certain = false;
    if (len)
        found->charset = search_meta(s);
    if (!found->charset && len)
        found->charset = read_xml(s);
}
