/*
 * resp.c - the Redis protocol, read and written.
 *
 * Every length comes before its bytes, so strings are skipped, not scanned:
 *
 *     *2\r\n$9\r\nBF.EXISTS\r\n$3\r\nhaw\r\n
 *      |     |    \_______/     |   \_/
 *   strings  |     skipped    bytes  skipped
 *          bytes
 *
 * If the bytes run out, the next call goes on at the same string. A command
 * that took several calls is walked again when it is complete, to note its
 * strings. That costs about 10 ns per string, and saves each connection the
 * memory for positions in a buffer that may move meanwhile.
 */
#include "resp.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../lib/text/hex.h"

#define PROTOCOL "ERR Protocol error: "

static const char bad_words[] = PROTOCOL "invalid multibulk length";
static const char bad_bulk[] = PROTOCOL "invalid bulk length";
static const char bad_quotes[] = PROTOCOL "unbalanced quotes in request";
static const char long_line[] = PROTOCOL "too big inline request";

/*
 * Read a number of at most `most` and the CR LF behind it: RESP_WHOLE with
 * *at behind them, RESP_PARTIAL, or RESP_FAULT as soon as no further byte
 * could make it good. No sign, and no zero before another digit.
 */
static inline enum resp_state number(const char **at, const char *end,
                                     uint32_t most, uint32_t *n)
{
    const char *p = *at;
    uint64_t sum = 0;

    for (; p < end; p++) {
        unsigned digit = (unsigned char)*p - (unsigned)'0';

        if (digit > 9)
            break;
        if (!sum && p > *at)
            return RESP_FAULT;
        sum = sum * 10 + digit;
        if (sum > most)
            return RESP_FAULT;
    }
    if (p == end)
        return RESP_PARTIAL;
    if (p == *at || *p != '\r')
        return RESP_FAULT;
    if (p + 1 == end)
        return RESP_PARTIAL;
    if (p[1] != '\n')
        return RESP_FAULT;
    *at = p + 2;
    *n = (uint32_t)sum;
    return RESP_WHOLE;
}

/* Walk over the strings from r->at on. */
static enum resp_state walk(struct resp_reader *r, const char *text,
                            size_t len, const struct resp_limit *limit,
                            struct seen_span *word, const char **fault)
{
    const char *at = text + r->at, *end = text + len;
    enum resp_state state;
    uint32_t n;

    while (r->have < r->expect) {
        r->at = (size_t)(at - text);
        if (at == end)
            return RESP_PARTIAL;
        if (*at != '$') {
            snprintf(r->fault, sizeof r->fault,
                     PROTOCOL "expected '$', got '%c'",
                     *at > 0x1f && *at < 0x7f ? *at : ' ');
            *fault = r->fault;
            return RESP_FAULT;
        }
        at++;
        state = number(&at, end, limit->bulk, &n);
        if (state == RESP_PARTIAL)
            return state;
        *fault = bad_bulk;
        if (state == RESP_FAULT ||
            (uint64_t)(at - text) + n + 2 > limit->whole)
            return RESP_FAULT;
        if ((size_t)(end - at) < (size_t)n + 2) {
            if ((size_t)(end - at) == (size_t)n + 1 && at[n] != '\r')
                return RESP_FAULT;
            return RESP_PARTIAL;
        }
        if (at[n] != '\r' || at[n + 1] != '\n')
            return RESP_FAULT;
        word[r->have].text = at;
        word[r->have].len = n;
        r->have++;
        at += n + 2;
    }
    r->at = (size_t)(at - text);
    return RESP_WHOLE;
}

static enum resp_state parse_array(struct resp_reader *r, const char *text,
                                   size_t len, const struct resp_limit *limit,
                                   struct seen_span *word, const char **fault)
{
    const bool resumed = r->have;
    const char *at = text + 1;
    enum resp_state state;

    if (!r->expect) {
        state = number(&at, text + len, limit->words, &r->expect);
        if (state == RESP_FAULT ||
            (state == RESP_WHOLE && (size_t)(at - text) > limit->whole)) {
            *fault = bad_words;
            return RESP_FAULT;
        }
        if (state == RESP_PARTIAL)
            return state;
        r->at = (size_t)(at - text);
        if (!r->expect)
            return RESP_EMPTY;
    }
    state = walk(r, text, len, limit, word, fault);
    if (state == RESP_WHOLE && resumed) {
        const char *second = text + 1;
        uint32_t same;

        number(&second, text + len, limit->words, &same);
        r->at = (size_t)(second - text);
        r->have = 0;
        state = walk(r, text, len, limit, word, fault);
    }
    return state;
}

/* --- inline commands --- */

static bool blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || !c;
}

/* The byte that `at`, after a backslash in double quotes, stands for. */
static char escaped(const char **at, const char *end)
{
    const char *p = *at;

    if (end - p >= 3 && *p == 'x' && hex_digit(p[1]) >= 0 &&
        hex_digit(p[2]) >= 0) {
        *at = p + 3;
        return (char)(hex_digit(p[1]) * 16 + hex_digit(p[2]));
    }
    *at = p + 1;
    switch (*p) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    default: return *p;
    }
}

/*
 * Unquote the word that begins at *at into the same place, where it cannot
 * be longer. A quote may begin within a word, but must end it. False: a
 * quote is not closed, or is followed by more of the word.
 */
static bool unquote(const char **at, const char *end, char *to, size_t *len)
{
    const char *p = *at;
    char *const start = to;
    char quote = 0;

    while (p < end && (quote || !blank(*p))) {
        if (quote && *p == quote) {
            p++;
            if (p < end && !blank(*p))
                return false;
            quote = 0;
            break;
        }
        if (!quote && (*p == '"' || *p == '\'')) {
            quote = *p++;
        } else if (quote == '"' && *p == '\\' && p + 1 < end) {
            p++;
            *to++ = escaped(&p, end);
        } else if (quote == '\'' && *p == '\\' && p + 1 < end &&
                   p[1] == '\'') {
            p += 2;
            *to++ = '\'';
        } else {
            *to++ = *p++;
        }
    }
    *at = p;
    *len = (size_t)(to - start);
    return !quote;
}

static enum resp_state parse_line(struct resp_reader *r, char *text,
                                  size_t len, const struct resp_limit *limit,
                                  struct seen_span *word, const char **fault)
{
    const size_t most = limit->bulk < RESP_INLINE ? limit->bulk : RESP_INLINE;
    const size_t look = len < most ? len : most;
    const char *end = memchr(text + r->at, '\n', look - r->at);
    const char *at = text;

    *fault = long_line;
    if (!end) {
        r->at = look;
        return len < most ? RESP_PARTIAL : RESP_FAULT;
    }
    r->at = (size_t)(end + 1 - text);
    for (r->have = 0;; r->have++) {
        char *to;

        while (at < end && blank(*at))
            at++;
        if (at == end)
            return r->have ? RESP_WHOLE : RESP_EMPTY;
        if (r->have == limit->words)
            return RESP_FAULT;
        to = text + (at - text);
        word[r->have].text = to;
        if (!unquote(&at, end, to, &word[r->have].len)) {
            *fault = bad_quotes;
            return RESP_FAULT;
        }
        if (word[r->have].len > limit->bulk)
            return RESP_FAULT;
    }
}

enum resp_state resp_parse(struct resp_reader *r, char *text, size_t len,
                           const struct resp_limit *limit,
                           struct seen_span *word, size_t *words, size_t *used,
                           const char **fault)
{
    enum resp_state state;

    if (!len)
        return RESP_PARTIAL;
    if (*text == '*')
        state = parse_array(r, text, len, limit, word, fault);
    else
        state = parse_line(r, text, len, limit, word, fault);
    if (state == RESP_WHOLE || state == RESP_EMPTY) {
        *words = r->have;
        *used = r->at;
        r->at = 0;
        r->expect = r->have = 0;
    }
    return state;
}

/* --- replies --- */

/* Write the sign of a type, a number, CR LF: ":12\r\n". */
static void headline(struct buffer *o, char sign, int64_t n)
{
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    char text[24], *at = text + sizeof text;

    *--at = '\n';
    *--at = '\r';
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0)
        *--at = '-';
    *--at = sign;
    buffer_bytes(o, at, (size_t)(text + sizeof text - at));
}

void resp_status(struct buffer *o, const char *text)
{
    buffer_bytes(o, "+", 1);
    buffer_text(o, text);
    buffer_bytes(o, "\r\n", 2);
}

/* The text may quote what a client sent, which must not end the line. */
void resp_error(struct buffer *o, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = ' ';
    buffer_bytes(o, "-", 1);
    buffer_text(o, text);
    buffer_bytes(o, "\r\n", 2);
}

void resp_number(struct buffer *o, int64_t n)
{
    headline(o, ':', n);
}

void resp_double(struct buffer *o, double x, bool three)
{
    char text[40];

    if (isnan(x))
        strcpy(text, "nan");
    else if (isinf(x))
        strcpy(text, x < 0 ? "-inf" : "inf");
    else
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, x);
            if (strtod(text, NULL) == x)
                break;
        }
    if (three) {
        buffer_bytes(o, ",", 1);
        buffer_text(o, text);
        buffer_bytes(o, "\r\n", 2);
    } else {
        resp_text(o, text);
    }
}

void resp_bulk(struct buffer *o, const void *bytes, size_t len)
{
    headline(o, '$', (int64_t)len);
    buffer_bytes(o, bytes, len);
    buffer_bytes(o, "\r\n", 2);
}

void resp_text(struct buffer *o, const char *text)
{
    resp_bulk(o, text, strlen(text));
}

void resp_null(struct buffer *o, bool three)
{
    buffer_text(o, three ? "_\r\n" : "$-1\r\n");
}

void resp_array(struct buffer *o, size_t n)
{
    headline(o, '*', (int64_t)n);
}

void resp_map(struct buffer *o, size_t pairs, bool three)
{
    headline(o, three ? '%' : '*', (int64_t)(three ? pairs : pairs * 2));
}

void resp_set(struct buffer *o, size_t n, bool three)
{
    headline(o, three ? '~' : '*', (int64_t)n);
}

void resp_verbatim(struct buffer *o, const char *text, size_t len, bool three)
{
    headline(o, three ? '=' : '$', (int64_t)(three ? len + 4 : len));
    if (three)
        buffer_text(o, "txt:");
    buffer_bytes(o, text, len);
    buffer_bytes(o, "\r\n", 2);
}
