/* list.c - lines, or strings of JSON, out of pieces of any size. */
#include "list.h"

#include <stdint.h>

enum { LONGEST = 65536 }; /* what is longer is cut, and no URL */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void add_part(struct list *l, const char *text, size_t len)
{
    if (l->part.len + len > LONGEST)
        len = LONGEST - l->part.len;
    out_bytes(&l->part, text, len);
}

/* --- lines --- */

static void give_line(const char *text, size_t len, list_url *take, void *to)
{
    len -= len && text[len - 1] == '\r';
    if (len)
        take(to, (struct span){ text, len });
}

static void take_lines(struct list *l, const char *text, size_t len,
                       list_url *take, void *to)
{
    const char *end = text + len, *stop;

    while ((stop = memchr(text, '\n', (size_t)(end - text)))) {
        if (l->part.len) {
            add_part(l, text, (size_t)(stop - text));
            give_line(l->part.bytes, l->part.len, take, to);
            l->part.len = 0;
        } else {
            give_line(text, (size_t)(stop - text), take, to);
        }
        text = stop + 1;
    }
    add_part(l, text, (size_t)(end - text));
}

/* --- JSON --- */

static int hex4(const char *at)
{
    int x = 0;

    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9' ? c - '0'
                    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f'
                        ? (c | 0x20) - 'a' + 10
                        : -1;

        if (digit < 0)
            return -1;
        x = x << 4 | digit;
    }
    return x;
}

static size_t put_utf8(char *to, unsigned x)
{
    if (x < 0x80) {
        to[0] = (char)x;
        return 1;
    }
    if (x < 0x800) {
        to[0] = (char)(0xc0 | x >> 6);
        to[1] = (char)(0x80 | (x & 0x3f));
        return 2;
    }
    if (x < 0x10000) {
        to[0] = (char)(0xe0 | x >> 12);
        to[1] = (char)(0x80 | (x >> 6 & 0x3f));
        to[2] = (char)(0x80 | (x & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | x >> 18);
    to[1] = (char)(0x80 | (x >> 12 & 0x3f));
    to[2] = (char)(0x80 | (x >> 6 & 0x3f));
    to[3] = (char)(0x80 | (x & 0x3f));
    return 4;
}

/* Undo the escapes of a string where it is: it only gets shorter. */
static size_t unescape(char *text, size_t len)
{
    static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        const char *which;
        int x, y;

        if (text[i] != '\\' || i + 1 == len) {
            text[n++] = text[i];
            continue;
        }
        i++;
        x = text[i] == 'u' && i + 4 < len ? hex4(text + i + 1) : -1;
        if (x >= 0) {
            i += 4;
            if (x >= 0xd800 && x < 0xdc00 && i + 6 < len &&
                text[i + 1] == '\\' && text[i + 2] == 'u' &&
                (y = hex4(text + i + 3)) >= 0xdc00 && y < 0xe000) {
                x = 0x10000 + ((x - 0xd800) << 10) + (y - 0xdc00);
                i += 6;
            } else if (x >= 0xd800 && x < 0xe000) {
                x = 0xfffd;
            }
            n += put_utf8(text + n, (unsigned)x);
            continue;
        }
        which = text[i] ? strchr(from, text[i]) : NULL;
        text[n++] = which ? into[which - from] : text[i];
    }
    return n;
}

/* A string is whole, and what follows says that it is no name. */
static void give_string(struct list *l, list_url *take, void *to)
{
    size_t len;

    l->pending = false;
    if (!l->part.len)
        return;
    len = memchr(l->part.bytes, '\\', l->part.len)
              ? unescape(l->part.bytes, l->part.len)
              : l->part.len;
    take(to, (struct span){ l->part.bytes, len });
    l->part.len = 0;
}

static void between(struct list *l, char c, list_url *take, void *to)
{
    if (is_space(c))
        return;
    if (l->pending && c == ':') {
        l->pending = false;
        l->part.len = 0;
        return;
    }
    if (l->pending)
        give_string(l, take, to);
    if (c == '"')
        l->inside = true;
    else if (c == '[' || c == '{')
        l->depth++;
    else if ((c == ']' || c == '}') && l->depth)
        l->depth--;
    else if (c != ',')
        l->fault = "the JSON is no list of URLs";
}

static void take_json(struct list *l, const char *text, size_t len,
                      list_url *take, void *to)
{
    for (size_t i = 0; i < len && !l->fault; i++) {
        size_t from = i;

        if (!l->inside) {
            between(l, text[i], take, to);
            continue;
        }
        while (i < len && (l->escaped || text[i] != '"')) {
            l->escaped = !l->escaped && text[i] == '\\';
            i++;
        }
        add_part(l, text + from, i - from);
        if (i < len) {
            l->inside = false;
            l->pending = true;
        }
    }
}

void list_take(struct list *l, const char *text, size_t len, list_url *take,
               void *to)
{
    while (!l->begun && len && is_space(*text)) {
        text++;
        len--;
    }
    if (!len || l->fault)
        return;
    if (!l->begun) {
        l->begun = true;
        l->json = *text == '[' || *text == '{';
    }
    if (l->json)
        take_json(l, text, len, take, to);
    else
        take_lines(l, text, len, take, to);
}

void list_end(struct list *l, list_url *take, void *to)
{
    if (!l->begun || l->fault)
        return;
    if (l->json) {
        if (l->inside || l->depth)
            l->fault = "the JSON is cut short";
        else if (l->pending)
            l->fault = "the JSON is no list of URLs";
    } else if (l->part.len) {
        give_line(l->part.bytes, l->part.len, take, to);
        l->part.len = 0;
    }
}

void list_clear(struct list *l)
{
    out_clear(&l->part);
}
