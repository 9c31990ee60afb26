/* text.c - bytes: what they are, how they are escaped, where they go. */
#include "text.h"

#include <string.h>

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

/* --- percent-encode sets --- */

/* Each set is a few characters more than another. */
enum {
    IN_COMPONENT = ENCODE_COMPONENT,
    IN_USERINFO = ENCODE_USERINFO | IN_COMPONENT,
    IN_PATH = ENCODE_PATH | IN_USERINFO,
    IN_QUERY = ENCODE_QUERY | ENCODE_SPECIAL_QUERY | IN_PATH
};

static const unsigned char encoded[128] = {
    [' '] = IN_QUERY | ENCODE_FRAGMENT,
    ['"'] = IN_QUERY | ENCODE_FRAGMENT,
    ['<'] = IN_QUERY | ENCODE_FRAGMENT,
    ['>'] = IN_QUERY | ENCODE_FRAGMENT,
    ['#'] = IN_QUERY,
    ['\''] = ENCODE_SPECIAL_QUERY,
    ['`'] = IN_PATH | ENCODE_FRAGMENT,
    ['?'] = IN_PATH,
    ['^'] = IN_PATH,
    ['{'] = IN_PATH,
    ['}'] = IN_PATH,
    ['/'] = IN_USERINFO,
    [':'] = IN_USERINFO,
    [';'] = IN_USERINFO,
    ['='] = IN_USERINFO,
    ['@'] = IN_USERINFO,
    ['['] = IN_USERINFO,
    ['\\'] = IN_USERINFO,
    [']'] = IN_USERINFO,
    ['|'] = IN_USERINFO,
    ['$'] = IN_COMPONENT,
    ['%'] = IN_COMPONENT,
    ['&'] = IN_COMPONENT,
    ['+'] = IN_COMPONENT,
    [','] = IN_COMPONENT,
};

bool encode_has(enum encode set, char c)
{
    unsigned char b = (unsigned char)c;

    return b < 0x20 || b > 0x7e || encoded[b] & set;
}

void sink_escape(struct sink *to, char c)
{
    static const char hex[] = "0123456789ABCDEF";
    unsigned char b = (unsigned char)c;
    const char escape[3] = { '%', hex[b >> 4], hex[b & 15] };

    sink_put(to, escape, 3);
}

/*
 * Table 3-7 of the Unicode standard: what the first byte of a character says
 * about its length, and where the second must lie.
 */
size_t utf8(const char *p, const char *end, size_t *part)
{
    const unsigned char *b = (const unsigned char *)p;
    size_t left = (size_t)(end - p), need, i;
    unsigned char least = 0x80, most = 0xbf;

    *part = 1;
    if (b[0] < 0x80)
        return 1;
    if (b[0] < 0xc2 || b[0] > 0xf4)
        return 0;
    need = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    if (b[0] == 0xe0)
        least = 0xa0;
    else if (b[0] == 0xed)
        most = 0x9f;
    else if (b[0] == 0xf0)
        least = 0x90;
    else if (b[0] == 0xf4)
        most = 0x8f;
    for (i = 1; i < need; i++, least = 0x80, most = 0xbf)
        if (i == left || b[i] < least || b[i] > most) {
            *part = i;
            return 0;
        }
    return need;
}

void sink_encode(struct sink *to, const char *text, size_t len,
                 enum encode set)
{
    const char *end = text + len;

    while (text < end) {
        const char *plain = text;
        size_t n, part;

        while (text < end && !encode_has(set, *text))
            text++;
        sink_put(to, plain, (size_t)(text - plain));
        if (text == end)
            break;
        n = utf8(text, end, &part);
        if (!n) {
            sink_put(to, "%EF%BF%BD", 9);
            text += part;
        }
        while (n--)
            sink_escape(to, *text++);
    }
}

/* --- escapes --- */

int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that the three at p stand for, or -1. */
static int escaped(const char *p)
{
    int high = hex_value(p[1]), low = hex_value(p[2]);

    return *p == '%' && high >= 0 && low >= 0 ? high << 4 | low : -1;
}

size_t unescape(char *text, size_t len)
{
    size_t to = 0;

    for (size_t i = 0; i < len; i++) {
        int byte = i + 2 < len ? escaped(text + i) : -1;

        text[to++] = byte < 0 ? text[i] : (char)byte;
        if (byte >= 0)
            i += 2;
    }
    return to;
}

/*
 * Escapes cannot overlap, since "%" is no digit, so the order in which they
 * are replaced does not matter, and one pass will do: whenever the last three
 * bytes written are an escape they become one.
 */
size_t unescape_all(char *text, size_t len)
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

bool same_word(const char *text, size_t len, const char *word)
{
    if (strlen(word) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (lower(text[i]) != word[i])
            return false;
    return true;
}

/* --- what every URL has --- */

size_t drop_strays(char *to, const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        if (!is_stray(text[i]))
            to[n++] = text[i];
    return n;
}

const char *find_kept(const char *p, const char *end, size_t n)
{
    for (; p < end && (n || is_stray(*p)); p++)
        n -= !is_stray(*p);
    return p;
}

const char *find_scheme(const char *p, const char *end)
{
    if (p == end || !is_letter(*p))
        return NULL;
    while (p < end && (is_letter(*p) || is_digit(*p) || *p == '+' ||
                       *p == '-' || *p == '.'))
        p++;
    return p < end && *p == ':' ? p : NULL;
}
