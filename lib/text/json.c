/* json.c - escapes of JSON strings (RFC 8259, section 7). */
#include "json.h"

#include "eight.h"
#include "hex.h"
#include "little.h"
#include "utf8.h"

/* Are the next eight bytes written as they are, and ASCII? */
static bool is_plain(const char *text)
{
    uint64_t x = little_64(text);

    return !(eight_high(x) | eight_below(x, 0x20) | eight_equal(x, '"') |
             eight_equal(x, '\\') | eight_equal(x, 0x7f));
}

bool buffer_json(struct buffer *b, const char *text, size_t len)
{
    size_t i = 0, plain = 0, n;
    bool whole = true;

    buffer_byte(b, '"');
    while (i < len) {
        unsigned char c = (unsigned char)text[i];

        if (len - i >= 8 && is_plain(text + i)) {
            i += 8;
            continue;
        }
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            i++;
            continue;
        }
        n = c < 0x80 ? 0 : utf8_read(text + i, len - i, NULL, NULL);
        if (n) {
            i += n;
            continue;
        }
        buffer_bytes(b, text + plain, i - plain);
        if (c == '"' || c == '\\') {
            const char escape[2] = { '\\', (char)c };

            buffer_bytes(b, escape, 2);
        } else if (c < 0x80) {
            buffer_format(b, "\\u%04x", c);
        } else {
            buffer_text(b, UTF8_UNKNOWN);
            whole = false;
        }
        plain = ++i;
    }
    buffer_bytes(b, text + plain, i - plain);
    buffer_byte(b, '"');
    return whole;
}

/* The number that four digits at `at` stand for, or -1. */
static int hex4(const char *at, const char *end)
{
    int x = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);

        if (digit < 0)
            return -1;
        x = x << 4 | digit;
    }
    return x;
}

/* A character takes at most 3 bytes for the 6 of \uXXXX, and 4 for the 12 of
   a pair, so that the result fits where the text was. */
size_t json_unescape(char *to, const char *text, size_t len)
{
    static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
    const char *at = text, *end = text + len;
    char *out = to;

    while (at < end) {
        const char *which;
        char utf8[4];
        size_t n;
        int x, y;

        if (*at != '\\' || at + 1 == end) {
            *out++ = *at++;
            continue;
        }
        x = at[1] == 'u' ? hex4(at + 2, end) : -1;
        if (x >= 0) {
            at += 6;
            if (x >= 0xd800 && x < 0xdc00 && end - at >= 6 && at[0] == '\\' &&
                at[1] == 'u' && (y = hex4(at + 2, end)) >= 0xdc00 &&
                y < 0xe000) {
                x = 0x10000 + ((x - 0xd800) << 10) + (y - 0xdc00);
                at += 6;
            } else if (x >= 0xd800 && x < 0xe000) {
                x = 0xfffd; /* half of a pair */
            }
            n = utf8_write(utf8, (uint32_t)x);
            memcpy(out, utf8, n);
            out += n;
            continue;
        }
        which = at[1] ? strchr(from, at[1]) : NULL;
        *out++ = which ? into[which - from] : at[1];
        at += 2;
    }
    return (size_t)(out - to);
}
