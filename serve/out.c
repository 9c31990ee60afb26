/* out.c - a buffer that grows, and text made safe to put into it. */
#include "out.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

char *out_room(struct out *o, size_t n)
{
    size_t room = o->room ? o->room : 512;
    char *more;

    if (o->failed || n > SIZE_MAX / 4 - o->len) {
        o->failed = true;
        return NULL;
    }
    while (room - o->len < n)
        room *= 2;
    if (room > o->room) {
        more = realloc(o->bytes, room);
        if (!more) {
            o->failed = true;
            return NULL;
        }
        o->bytes = more;
        o->room = room;
    }
    return o->bytes + o->len;
}

void out_format(struct out *o, const char *format, ...)
{
    va_list args, again;
    char *to;
    int n;

    va_start(args, format);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    to = n >= 0 ? out_room(o, (size_t)n + 1) : NULL;
    if (to) {
        vsnprintf(to, (size_t)n + 1, format, again);
        o->len += (size_t)n;
    }
    va_end(again);
}

/* How many bytes of UTF-8 begin the text; 0: none do (RFC 3629). */
static size_t utf8(const unsigned char *at, size_t len)
{
    size_t n = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

    if (n > len || (*at >= 0x80 && *at < 0xc2) || *at > 0xf4)
        return 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
        (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* Write one character that needs care; return how many bytes it was. */
static size_t out_odd(struct out *o, const char *at, size_t len)
{
    size_t n = utf8((const unsigned char *)at, len);

    if (n)
        out_bytes(o, at, n);
    else
        out_text(o, "\xef\xbf\xbd");
    return n ? n : 1;
}

void out_json(struct out *o, const char *text, size_t len)
{
    size_t i = 0, plain = 0;

    out_bytes(o, "\"", 1);
    while (i < len) {
        unsigned char c = (unsigned char)text[i];

        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            i++;
            continue;
        }
        out_bytes(o, text + plain, i - plain);
        if (c == '"' || c == '\\') {
            out_bytes(o, "\\", 1);
            out_bytes(o, text + i++, 1);
        } else if (c < 0x20 || c == 0x7f) {
            out_format(o, "\\u%04x", c);
            i++;
        } else {
            i += out_odd(o, text + i, len - i);
        }
        plain = i;
    }
    out_bytes(o, text + plain, i - plain);
    out_bytes(o, "\"", 1);
}

void out_html(struct out *o, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)text[i];

        if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'') {
            out_format(o, "&#%d;", c);
            i++;
        } else if (c < 0x20 || c == 0x7f) {
            out_text(o, "\xef\xbf\xbd");
            i++;
        } else {
            i += out_odd(o, text + i, len - i);
        }
    }
}

void out_clear(struct out *o)
{
    free(o->bytes);
    memset(o, 0, sizeof *o);
}
