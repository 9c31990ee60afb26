/*
 * reference.c - find a name among 2,231, and its characters.
 *
 * The names are lines of web/data/references.tsv, sorted by bytes, as in the
 * standard's table:
 *
 *     amp     26
 *     amp;    26
 *     fjlig;  66 6a
 *
 * They are searched by halving the file, which takes about 12 comparisons and
 * needs no table in memory. A name is letters and digits, so a name that ends
 * with a semicolon can only match all letters and digits before the next
 * semicolon. The names without one have at most 6 letters. So at most 7 searches
 * find the longest match.
 */
#include "reference.h"

#include <stdint.h>
#include <string.h>

#include "../lib/text/utf8.h"
#include "web_references.h"

enum { LONGEST = 32, LONGEST_BARE = 6, SHORTEST_BARE = 2 };

static bool word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Compare a name with that of a line, which ends before a tab; a tab is less
   than any byte of a name. */
static int compare(const char *name, size_t len, const char *line)
{
    size_t i = 0;

    while (i < len && name[i] == line[i])
        i++;
    return i < len ? name[i] - line[i] : -(line[i] != '\t');
}

/* The line of a name, or NULL. */
static const char *find(const char *name, size_t len)
{
    const char *file = (const char *)web_references_files[0].bytes;
    size_t low = 0, high = web_references_files[0].len; /* both begin lines */

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order;

        while (middle > low && file[middle - 1] != '\n')
            middle--;
        order = compare(name, len, file + middle);
        if (!order)
            return file + middle;
        if (order < 0)
            high = middle;
        else
            while (low <= middle || file[low - 1] != '\n')
                low++;
    }
    return NULL;
}

static void put(struct buffer *to, uint32_t code)
{
    char utf8[4];

    buffer_bytes(to, utf8, utf8_write(utf8, code));
}

/* The texts are not ended by a zero; each line has a tab. */
static void put_line(struct buffer *to, const char *line)
{
    uint32_t code = 0;

    while (*line++ != '\t')
        ;
    for (;; line++) {
        if (*line == ' ' || *line == '\n') {
            put(to, code);
            code = 0;
            if (*line == '\n')
                return;
        } else {
            code = code * 16 + (uint32_t)digit(*line);
        }
    }
}

/* &#128; was written for the windows-1252 character 128. */
static uint32_t as_meant(uint32_t code)
{
    static const uint16_t windows[32] = {
        0x20ac, 0,      0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
        0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0,      0x17d,  0,
        0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
        0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0,      0x17e,  0x178,
    };

    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0xfffd;
    if (code >= 0x80 && code < 0xa0 && windows[code - 0x80])
        return windows[code - 0x80];
    return code;
}

/* "&#...": how many bytes it takes; 0 if it has no digits. */
static size_t read_number(struct buffer *to, const char *text, size_t len)
{
    bool hex = len > 2 && (text[2] | 0x20) == 'x';
    size_t at = hex ? 3 : 2, from = at;
    uint32_t code = 0;

    for (; at < len && digit(text[at]) < (hex ? 16 : 10); at++)
        if (code <= 0x10ffff)
            code = code * (hex ? 16 : 10) + (uint32_t)digit(text[at]);
    if (at == from)
        return 0;
    put(to, as_meant(code));
    return at + (at < len && text[at] == ';');
}

static size_t read_name(struct buffer *to, const char *text, size_t len,
                        bool attribute)
{
    const char *name = text + 1, *line;
    size_t n = 0, most = len - 1;

    if (most >= 4 && !memcmp(name, "amp;", 4)) {
        buffer_byte(to, '&');
        return 5;
    }
    while (n < most && n < LONGEST && word(name[n]))
        n++;
    if (n < most && name[n] == ';' && (line = find(name, n + 1))) {
        put_line(to, line);
        return n + 2;
    }
    for (size_t m = n < LONGEST_BARE ? n : LONGEST_BARE; m >= SHORTEST_BARE;
         m--) {
        line = find(name, m);
        if (!line)
            continue;
        if (attribute && m < most && (name[m] == '=' || word(name[m])))
            return 0;
        put_line(to, line);
        return m + 1;
    }
    return 0;
}

void web_reference_decode(struct buffer *to, const char *text, size_t len,
                          bool attribute)
{
    while (len) {
        const char *amp = memchr(text, '&', len);
        size_t n = amp ? (size_t)(amp - text) : len;

        buffer_bytes(to, text, n);
        text += n;
        len -= n;
        if (!len)
            return;
        n = len > 1 && text[1] == '#' ? read_number(to, text, len)
                                      : read_name(to, text, len, attribute);
        if (!n) {
            buffer_byte(to, '&');
            n = 1;
        }
        text += n;
        len -= n;
    }
}
