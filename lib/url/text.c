/* text.c - what only URLs need of bytes. */
#include "text.h"

#include <string.h>

#include "../text/eight.h"
#include "../text/little.h"

/* --- sinks --- */

void sink_put(struct sink *to, const char *text, size_t len)
{
    if (len > to->room - to->len) {
        to->full = true;
        return;
    }
    memcpy(to->text + to->len, text, len);
    to->len += len;
}

void sink_number(struct sink *to, unsigned number)
{
    char digits[12];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    sink_put(to, digits + at, sizeof digits - at);
}

void sink_insert(struct sink *to, size_t at, const char *text, size_t n)
{
    if (n > to->room - to->len) {
        to->full = true;
        return;
    }
    memmove(to->text + at + n, to->text + at, to->len - at);
    memcpy(to->text + at, text, n);
    to->len += n;
}

/* --- escapes --- */

void sink_escape(struct sink *to, char c)
{
    char escape[3];

    percent_write(escape, c);
    sink_put(to, escape, 3);
}

void sink_encode(struct sink *to, const char *text, size_t len,
                 enum percent_set set)
{
    const char *end = text + len;

    while (text < end) {
        const char *plain = text;
        size_t n, part;

        while (text < end && !percent_has(set, *text))
            text++;
        sink_put(to, plain, (size_t)(text - plain));
        if (text == end)
            break;
        n = utf8_read(text, (size_t)(end - text), NULL, &part);
        if (!n) {
            sink_put(to, "%EF%BF%BD", 9);
            text += part;
        }
        while (n--)
            sink_escape(to, *text++);
    }
}

/* The byte that the three at p stand for, or -1. */
static int escaped(const char *p)
{
    int high = hex_digit(p[1]), low = hex_digit(p[2]);

    return *p == '%' && high >= 0 && low >= 0 ? high << 4 | low : -1;
}

/*
 * Escapes cannot overlap, since "%" is not a digit, so the order in which they
 * are replaced does not matter, and one pass will do: whenever the last three
 * bytes written are an escape they become one.
 */
size_t url_unescape_all(char *text, size_t len)
{
    size_t to = 0;
    int byte;

    for (size_t i = 0; i < len; i++) {
        text[to++] = text[i];
        while (to >= 3 && (byte = escaped(text + to - 3)) >= 0) {
            to -= 2;
            text[to - 1] = (char)byte;
        }
    }
    return to;
}

bool url_word_is(const char *text, size_t len, const char *word)
{
    for (size_t i = 0; i < len; i++)
        if (!word[i] || ascii_lower(text[i]) != word[i])
            return false;
    return !word[len];
}

/* --- what every URL has --- */

size_t url_drop_strays(char *to, const char *text, size_t len)
{
    size_t n = 0, i = 0;

    for (; i < len; i++) {
        if (len - i >= 8) {
            uint64_t x = little_64(text + i);

            if (!(eight_high(x) | eight_below(x, ' '))) {
                little_put_64(to + n, x);
                n += 8;
                i += 7;
                continue;
            }
        }
        if (!is_stray(text[i]))
            to[n++] = text[i];
    }
    return n;
}

const char *url_find_kept(const char *p, const char *end, size_t n)
{
    for (; p < end && (n || is_stray(*p)); p++)
        n -= !is_stray(*p);
    return p;
}

const char *url_find_scheme(const char *p, const char *end)
{
    if (p == end || !ascii_letter(*p))
        return NULL;
    while (p < end && (ascii_letter(*p) || ascii_digit(*p) || *p == '+' ||
                       *p == '-' || *p == '.'))
        p++;
    return p < end && *p == ':' ? p : NULL;
}
