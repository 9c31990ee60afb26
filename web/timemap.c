/*
 * timemap.c - links one after the other, with a memory of one link.
 *
 *               '<'            '>'             '"'
 *     BETWEEN ───────> URL ───────> PARAMETERS <───> QUOTED <──> ESCAPED
 *        ^  │           │ LF            │ ','  '<'     │ LF
 *        │  │ other     v               v              v
 *        │  └────────> JUNK         a link is whole   JUNK
 *        └───────────────┘
 *         LF, or ',' and '<'
 *
 * A link is gathered up to the comma that ends it, and then parsed as a link
 * of a Link header is (header.h).
 */
#include "timemap.h"

#include <string.h>

#include "../lib/text/calendar.h"
#include "../lib/text/space.h"
#include "../lib/text/span.h"
#include "../lib/text/utf8.h"
#include "header.h"

enum { BETWEEN, URL, PARAMETERS, QUOTED, ESCAPED, JUNK };

/* --- dates --- */

bool web_timemap_when(unsigned year, unsigned month, unsigned day,
                      unsigned hour, unsigned minute, unsigned second,
                      int64_t *when)
{
    if (year < 1000 || year > 9999 || month < 1 || month > 12 || day < 1 ||
        day > calendar_days(year, month) || hour > 23 || minute > 59 ||
        second > 60)
        return false;
    *when = calendar_since_1970(year, month, day) * 86400 + hour * 3600 +
            minute * 60 + second;
    return true;
}

/* Take one of these bytes. */
static bool byte(struct seen_span *s, const char *any)
{
    if (!s->len || !s->text[0] || !strchr(any, s->text[0]))
        return false;
    s->text++;
    s->len--;
    return true;
}

static bool month_name(struct seen_span *s, unsigned *month)
{
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";

    for (*month = 1; s->len >= 3 && *month <= 12; ++*month)
        if (!strncasecmp(s->text, names + 3 * (*month - 1), 3)) {
            s->text += 3;
            s->len -= 3;
            return true;
        }
    return false;
}

bool web_timemap_date(struct seen_span text, int64_t *when)
{
    struct seen_span s = span_trim(text);
    const char *comma = s.len ? memchr(s.text, ',', s.len) : NULL;
    unsigned day, month, year, hour, minute, second;

    if (comma) {
        s.len -= (size_t)(comma + 1 - s.text);
        s.text = comma + 1;
        s = span_trim(s);
    }
    return span_digits(&s, 1, 2, &day) && byte(&s, " -") &&
           month_name(&s, &month) && byte(&s, " -") &&
           span_digits(&s, 4, 4, &year) && byte(&s, " ") &&
           span_digits(&s, 2, 2, &hour) && byte(&s, ":") &&
           span_digits(&s, 2, 2, &minute) && byte(&s, ":") &&
           span_digits(&s, 2, 2, &second) &&
           (span_like(s, " GMT") || span_like(s, " UTC") ||
            span_is(s, " +0000")) &&
           web_timemap_when(year, month, day, hour, minute, second, when);
}

/* --- a link --- */

static bool is_url(struct seen_span url)
{
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.text[i] < 0x20 || url.text[i] == 0x7f)
            return false;
    return url.len && url.len <= WEB_TIMEMAP_URL;
}

/* A link that matters; false if it is broken. *matters is whether it does. */
static bool understand(struct web_timemap *t,
                       const struct web_header_link *link,
                       struct web_timemap_link *found, bool *matters)
{
    const bool memento = web_header_has_rel(link, "memento");

    *matters = false;
    *found = (struct web_timemap_link){ .url = span_trim(link->url),
                                        .page = !memento };
    if (!link->rel.len)
        return false;
    t->links++;
    if (!memento && (!web_header_has_rel(link, "timemap") ||
                     web_header_has_rel(link, "self") ||
                     (link->type.len &&
                      !span_like(link->type, "application/link-format"))))
        return true;
    if (!is_url(found->url) ||
        (memento && !web_timemap_date(link->datetime, &found->when)))
        return false;
    *matters = !memento || !t->latest || found->when <= t->latest;
    t->future += !*matters;
    return true;
}

/* The link is whole. */
static void finish(struct web_timemap *t, web_timemap_each *each, void *owner)
{
    struct seen_span text = { t->link.bytes, t->link.len };
    struct web_timemap_link found;
    struct web_header_link link;
    bool matters;

    if (!web_header_link(&text, &link) ||
        !understand(t, &link, &found, &matters))
        t->skipped++;
    else if (matters && !each(owner, &found))
        t->stopped = true;
    else if (matters)
        t->mementos += !found.page;
    t->link.len = 0;
}

/* --- bytes --- */

static void begin(struct web_timemap *t)
{
    t->state = URL;
    t->link.len = 0;
    buffer_byte(&t->link, '<');
}

static void skip(struct web_timemap *t, bool line_ends)
{
    t->skipped++;
    t->comma = false;
    t->state = line_ends ? BETWEEN : JUNK;
}

/* The bytes of a byte order mark of UTF-8 are as good as space. */
static void between(struct web_timemap *t, char c)
{
    if (c == '<')
        begin(t);
    else if (!space_xml(c) && c != ',' && c != '\xef' && c != '\xbb' &&
             c != '\xbf')
        skip(t, false);
}

static void junk(struct web_timemap *t, char c)
{
    if (c == '\n')
        t->state = BETWEEN;
    else if (c == '<' && t->comma)
        begin(t);
    else if (!space_xml(c))
        t->comma = c == ',';
}

static void parameters(struct web_timemap *t, char c, web_timemap_each *each,
                       void *owner)
{
    if (c == ',' || c == '<') {
        t->state = BETWEEN;
        finish(t, each, owner);
        if (c == '<')
            begin(t);
        return;
    }
    if (c == '"')
        t->state = QUOTED;
    buffer_byte(&t->link, c);
}

static void read_byte(struct web_timemap *t, char c, web_timemap_each *each,
                      void *owner)
{
    const bool breaks = c == '\n' && t->state != PARAMETERS;

    switch (t->state) {
    case BETWEEN: between(t, c); return;
    case JUNK: junk(t, c); return;
    case PARAMETERS: parameters(t, c, each, owner); break;
    default:
        if (breaks) {
            skip(t, true);
            return;
        }
        buffer_byte(&t->link, c);
        if (t->state == URL)
            t->state = c == '>' ? PARAMETERS : URL;
        else if (t->state == ESCAPED)
            t->state = QUOTED;
        else if (c == '"')
            t->state = PARAMETERS;
        else if (c == '\\')
            t->state = ESCAPED;
    }
    if (t->link.len >= WEB_TIMEMAP_LINK)
        skip(t, false);
}

/* Two bytes of UTF-16. */
static void read_unit(struct web_timemap *t, unsigned unit,
                      web_timemap_each *each, void *owner)
{
    uint32_t code = unit;
    char text[4];
    size_t n;

    if (unit >= 0xd800 && unit < 0xdc00) {
        t->surrogate = unit;
        return;
    }
    if (unit >= 0xdc00 && unit < 0xe000)
        code = t->surrogate ? 0x10000 + ((t->surrogate - 0xd800) << 10) +
                                  (unit - 0xdc00)
                            : 0xfffd;
    t->surrogate = 0;
    n = utf8_write(text, code);
    for (size_t i = 0; i < n && !t->stopped; i++)
        read_byte(t, text[i], each, owner);
}

static void read_half(struct web_timemap *t, unsigned char c,
                      web_timemap_each *each, void *owner)
{
    const unsigned other = c;

    if (t->halved)
        read_unit(t,
                  t->wide == 1 ? other << 8 | t->half : t->half << 8 | other,
                  each, owner);
    t->halved = !t->halved;
    t->half = c;
}

/* The first two bytes may be the mark of UTF-16. */
static void read_mark(struct web_timemap *t, unsigned char c,
                      web_timemap_each *each, void *owner)
{
    t->mark[t->begun++] = c;
    if (t->begun < 2)
        return;
    t->wide = t->mark[0] == 0xff && t->mark[1] == 0xfe   ? 1
              : t->mark[0] == 0xfe && t->mark[1] == 0xff ? 2
                                                         : 0;
    for (int i = 0; i < 2 && !t->wide; i++)
        read_byte(t, (char)t->mark[i], each, owner);
}

void web_timemap_read(struct web_timemap *t, const char *bytes, size_t n,
                      web_timemap_each *each, void *owner)
{
    for (size_t i = 0; i < n && !t->stopped && !t->failed; i++) {
        if (t->begun < 2)
            read_mark(t, (unsigned char)bytes[i], each, owner);
        else if (t->wide)
            read_half(t, (unsigned char)bytes[i], each, owner);
        else
            read_byte(t, bytes[i], each, owner);
        t->failed = t->link.failed;
    }
}

void web_timemap_end(struct web_timemap *t, web_timemap_each *each,
                     void *owner)
{
    if (t->stopped || t->failed)
        return;
    if (t->begun == 1)
        read_byte(t, (char)t->mark[0], each, owner);
    t->begun = 2;
    t->cut = t->halved || t->state == URL || t->state == QUOTED ||
             t->state == ESCAPED;
    if (t->state == PARAMETERS)
        finish(t, each, owner);
    else if (t->cut)
        t->skipped++;
    t->state = BETWEEN;
}

void web_timemap_clear(struct web_timemap *t)
{
    buffer_clear(&t->link);
}
