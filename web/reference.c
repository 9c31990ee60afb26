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
 * needs no table in memory. A name is letters and digits, and may end with a
 * semicolon, so what follows a "&" up to the next other character is all that it
 * can match. Mostly one search finds the longest match, or that there is none.
 */
#include "reference.h"

#include <stdint.h>
#include <string.h>

#include "../lib/text/utf8.h"
#include "web_references.h"

enum { LONGEST = 32, SHORTEST = 2 };

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

/* How many bytes of the text the name of a line has in common with it; the name
   ends before a tab, which no text here has. */
static size_t common(const char *line, const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && text[n] == line[n])
        n++;
    return n;
}

/* The last line whose name is not above a text, or NULL. `budget`: of the bytes
   that are looked at. */
static const char *last_line(const char *text, size_t len,
                             struct budget *budget)
{
    const char *file = (const char *)web_references_files[0].bytes;
    const char *found = NULL;
    size_t low = 0, high = web_references_files[0].len; /* both begin lines */

    while (low < high) {
        size_t middle = low + (high - low) / 2, from = middle, n;

        while (middle > low && file[middle - 1] != '\n')
            middle--;
        n = common(file + middle, text, len);
        budget_spend(budget, from - middle + n + 1);
        if (n < len ? text[n] < file[middle + n] : file[middle + n] != '\t') {
            high = middle;
            continue;
        }
        found = file + middle;
        from = middle + n;
        while (file[from] != '\n')
            from++;
        budget_spend(budget, from - middle - n + 1);
        low = from + 1;
    }
    return found;
}

/*
 * The line of the longest name that a text begins with, or NULL; *len becomes
 * the length of the name.
 *
 * All texts between a name and a longer text that begins with it begin with it,
 * too. So if the last line before the text is not the one that is looked for,
 * that one is no longer than what both have in common.
 */
static const char *find(const char *text, size_t *len, struct budget *budget)
{
    while (*len >= SHORTEST) {
        const char *line = last_line(text, *len, budget);

        if (!line)
            return NULL;
        *len = common(line, text, *len);
        if (line[*len] == '\t')
            return line;
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
                        bool attribute, struct budget *budget)
{
    const char *name = text + 1, *line;
    size_t n = 0, most = len - 1;

    if (most >= 4 && !memcmp(name, "amp;", 4)) {
        buffer_byte(to, '&');
        return 5;
    }
    while (n < most && n < LONGEST && word(name[n]))
        n++;
    if (n < most && name[n] == ';')
        n++;
    line = find(name, &n, budget);
    if (!line || (attribute && name[n - 1] != ';' && n < most &&
                  (name[n] == '=' || word(name[n]))))
        return 0;
    put_line(to, line);
    return n + 1;
}

void web_reference_decode(struct buffer *to, const char *text, size_t len,
                          bool attribute, struct budget *budget)
{
    while (len) {
        const char *amp = memchr(text, '&', len);
        size_t n = amp ? (size_t)(amp - text) : len;

        buffer_bytes(to, text, n);
        text += n;
        len -= n;
        if (!len)
            return;
        if (budget_empty(budget)) {
            buffer_bytes(to, text, len);
            return;
        }
        n = len > 1 && text[1] == '#'
                ? read_number(to, text, len)
                : read_name(to, text, len, attribute, budget);
        if (!n) {
            buffer_byte(to, '&');
            n = 1;
        }
        text += n;
        len -= n;
    }
}
