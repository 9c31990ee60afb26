/*
 * sitemap_wide.c - lists in UTF-16, which become UTF-8 before they are read.
 *
 * A byte order mark says so, or a "<" of two bytes, with which XML begins that
 * has no mark (XML 1.0, appendix F). What the XML declaration says does not
 * count: it could be read. So "UTF-16" in a document of bytes is wrong, and the
 * document is in UTF-8, as in browsers.
 */
#include "sitemap_reader.h"

#include "../lib/text/utf8.h"

enum { UNKNOWN = 0xfffd, ROOM = 4096 };

static void put(struct web_sitemap *s, char room[], size_t *len, uint32_t code)
{
    *len += utf8_write(room + *len, code);
    if (*len > ROOM - 4) {
        web_sitemap_text(s, room, *len);
        *len = 0;
    }
}

static void put_unit(struct web_sitemap *s, char room[], size_t *len,
                     uint32_t unit)
{
    uint32_t high = s->wide.high;

    s->wide.high = 0;
    if (high && unit >= 0xdc00 && unit < 0xe000) {
        put(s, room, len, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
        return;
    }
    if (high)
        put(s, room, len, UNKNOWN);
    if (unit >= 0xd800 && unit < 0xdc00)
        s->wide.high = unit;
    else
        put(s, room, len, unit >= 0xdc00 && unit < 0xe000 ? UNKNOWN : unit);
}

static void push_units(struct web_sitemap *s, const char *bytes, size_t n)
{
    bool big = s->wide.units == WEB_UNITS_BIG;
    char room[ROOM];
    size_t len = 0;

    for (size_t i = 0; i < n && s->code == SEEN_OK; i++) {
        unsigned byte = (unsigned char)bytes[i];

        if (s->wide.held)
            put_unit(s, room, &len,
                     big ? (unsigned)s->wide.byte << 8 | byte
                         : byte << 8 | s->wide.byte);
        else
            s->wide.byte = (unsigned char)byte;
        s->wide.held = !s->wide.held;
    }
    if (len)
        web_sitemap_text(s, room, len);
}

static enum web_sitemap_units units_of(unsigned first, unsigned second)
{
    bool little = (first == 0xff && second == 0xfe) ||
                  (first == '<' && !second);
    bool big = (first == 0xfe && second == 0xff) || (!first && second == '<');

    return little ? WEB_UNITS_LITTLE : big ? WEB_UNITS_BIG : WEB_UNITS_BYTES;
}

/* Decide by the first two bytes, and push them. */
static void sniff(struct web_sitemap *s, unsigned char second)
{
    const char both[2] = { (char)s->wide.byte, (char)second };

    s->wide.held = false;
    s->wide.units = units_of(s->wide.byte, second);
    if (s->wide.units == WEB_UNITS_BYTES)
        web_sitemap_text(s, both, 2);
    else if (s->wide.byte && second) /* a mark */
        return;
    else
        push_units(s, both, 2);
}

void web_sitemap_wide(struct web_sitemap *s, const char *bytes, size_t n)
{
    if (n && s->wide.units == WEB_UNITS_UNKNOWN && !s->wide.held) {
        s->wide.byte = (unsigned char)*bytes;
        s->wide.held = true;
        bytes++, n--;
    }
    if (n && s->wide.units == WEB_UNITS_UNKNOWN) {
        sniff(s, (unsigned char)*bytes);
        bytes++, n--;
    }
    if (s->wide.units == WEB_UNITS_BYTES)
        web_sitemap_text(s, bytes, n);
    else
        push_units(s, bytes, n);
}

void web_sitemap_wide_end(struct web_sitemap *s)
{
    const char byte = (char)s->wide.byte;

    if (s->wide.units == WEB_UNITS_UNKNOWN && s->wide.held)
        web_sitemap_text(s, &byte, 1);
    else if (s->wide.held || s->wide.high)
        web_sitemap_text(s, UTF8_UNKNOWN, sizeof UTF8_UNKNOWN - 1);
    s->wide.held = false;
}
