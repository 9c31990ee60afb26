/*
 * percent.c - percent-encode sets, encoding and decoding.
 *
 * A row of the table says of one character in which sets it is; the standard's
 * sets grow from each other, so most rows name the smallest that has it. A
 * character is looked up once, whatever the set.
 */
#include "percent.h"

#include <stdlib.h>
#include <string.h>

#include "hex.h"

/* Each set of the URL standard is a few characters more than another. */
enum {
    IN_NAME = PERCENT_NAME | PERCENT_SEGMENTS,
    IN_COMPONENT = PERCENT_COMPONENT | IN_NAME,
    IN_USERINFO = PERCENT_USERINFO | IN_COMPONENT,
    IN_PATH = PERCENT_PATH | IN_USERINFO,
    IN_QUERY = PERCENT_QUERY | PERCENT_SPECIAL_QUERY | IN_PATH
};

const uint16_t percent_sets[128] = {
    [' '] = IN_QUERY | PERCENT_FRAGMENT | PERCENT_SPACE | PERCENT_LINK,
    ['"'] = IN_QUERY | PERCENT_FRAGMENT | PERCENT_LINK,
    ['<'] = IN_QUERY | PERCENT_FRAGMENT | PERCENT_LINK,
    ['>'] = IN_QUERY | PERCENT_FRAGMENT | PERCENT_LINK,
    ['#'] = IN_QUERY,
    ['`'] = IN_PATH | PERCENT_FRAGMENT,
    ['?'] = IN_PATH,
    ['^'] = IN_PATH,
    ['{'] = IN_PATH,
    ['}'] = IN_PATH,
    ['/'] = IN_USERINFO & ~PERCENT_SEGMENTS,
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
    ['\''] = PERCENT_SPECIAL_QUERY | IN_NAME,
    ['!'] = IN_NAME,
    ['('] = IN_NAME,
    [')'] = IN_NAME,
    ['*'] = IN_NAME,
};

void percent_write(char to[3], char c)
{
    static const char digits[] = "0123456789ABCDEF";
    unsigned char b = (unsigned char)c;

    to[0] = '%';
    to[1] = digits[b >> 4];
    to[2] = digits[b & 15];
}

void percent_encode(struct buffer *to, const char *text, size_t len,
                    enum percent_set set)
{
    size_t plain = 0;

    for (size_t i = 0; i < len; i++) {
        char escape[3];

        if (!percent_has(set, text[i]))
            continue;
        buffer_bytes(to, text + plain, i - plain);
        percent_write(escape, text[i]);
        buffer_bytes(to, escape, 3);
        plain = i + 1;
    }
    buffer_bytes(to, text + plain, len - plain);
}

/* The byte that the text stands for if it begins with an escape, or -1. */
static int escaped(const char *text, size_t len)
{
    int high = len > 2 && *text == '%' ? hex_digit(text[1]) : -1;
    int low = high < 0 ? -1 : hex_digit(text[2]);

    return low < 0 ? -1 : high << 4 | low;
}

bool percent_decode(char *to, size_t *n, const char *text, size_t len)
{
    *n = 0;
    for (size_t i = 0; i < len; i++) {
        int byte = escaped(text + i, len - i);

        if (byte < 0 && text[i] == '%')
            return false;
        to[(*n)++] = byte < 0 ? text[i] : (char)byte;
        i += byte < 0 ? 0 : 2;
    }
    return true;
}

size_t percent_decode_lenient(char *to, const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        int byte = escaped(text + i, len - i);

        to[n++] = byte < 0 ? text[i] : (char)byte;
        i += byte < 0 ? 0 : 2;
    }
    return n;
}

enum seen_code percent_part(char **out, struct seen_span s, const char *what,
                            struct seen_error *why)
{
    char *text = malloc(s.len + 1);
    size_t n = 0;

    if (!text)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for an address");
    if (!percent_decode(text, &n, s.text, s.len) || memchr(text, 0, n)) {
        free(text);
        return seen_fail(why, SEEN_RANGE, 0,
                         "the %s of an address has a %% that is not followed "
                         "by two digits, or a zero byte",
                         what);
    }
    text[n] = '\0';
    free(*out);
    *out = text;
    return SEEN_OK;
}
