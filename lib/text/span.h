/*
 * span.h - look at bytes without copying them.
 *
 * struct seen_span is public; this is what the sources do with it. Nothing
 * here allocates, and every function accepts an empty span.
 */
#ifndef SEEN_TEXT_SPAN_H
#define SEEN_TEXT_SPAN_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include <seen/span.h>

static inline struct seen_span span_of(const char *text)
{
    return (struct seen_span){ text, strlen(text) };
}

static inline bool span_equal(struct seen_span a, struct seen_span b)
{
    return a.len == b.len && (!a.len || !memcmp(a.text, b.text, a.len));
}

static inline bool span_is(struct seen_span s, const char *text)
{
    return span_equal(s, span_of(text));
}

/* Equal if the case of ASCII letters is ignored. */
static inline bool span_like(struct seen_span s, const char *text)
{
    return s.len == strlen(text) &&
           (!s.len || !strncasecmp(s.text, text, s.len));
}

static inline bool span_begins(struct seen_span s, const char *text)
{
    size_t n = strlen(text);

    return s.len >= n && (!n || !memcmp(s.text, text, n));
}

static inline bool span_ends(struct seen_span s, const char *text)
{
    size_t n = strlen(text);

    return s.len >= n && (!n || !memcmp(s.text + s.len - n, text, n));
}

/* Without spaces and tabs at both ends. */
static inline struct seen_span span_trim(struct seen_span s)
{
    while (s.len && (s.text[0] == ' ' || s.text[0] == '\t'))
        s.text++, s.len--;
    while (s.len && (s.text[s.len - 1] == ' ' || s.text[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* As strcmp(): by bytes, and of two that begin alike the shorter is first. */
static inline int span_order(struct seen_span a, struct seen_span b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.text, b.text, n) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* Take this byte from the front of *rest; false if another one is there. */
static inline bool span_take(struct seen_span *rest, char byte)
{
    if (!rest->len || rest->text[0] != byte)
        return false;
    rest->text++;
    rest->len--;
    return true;
}

/* Take digits from the front, at most `most`, which is up to 9. False if there
   are fewer than `least`. */
static inline bool span_digits(struct seen_span *rest, size_t least,
                               size_t most, unsigned *number)
{
    size_t n = 0;

    *number = 0;
    while (n < most && n < rest->len && rest->text[n] >= '0' &&
           rest->text[n] <= '9')
        *number = 10 * *number + (unsigned)(rest->text[n++] - '0');
    rest->text += n;
    rest->len -= n;
    return n >= least;
}

/*
 * Take the text before the next `byte`, or all that is left, from the front
 * of *rest. False if nothing is left. "a,,b" has three fields, "a," has one.
 */
static inline bool span_cut(struct seen_span *rest, char byte,
                            struct seen_span *field)
{
    const char *at;

    if (!rest->len)
        return false;
    at = memchr(rest->text, byte, rest->len);
    field->text = rest->text;
    field->len = at ? (size_t)(at - rest->text) : rest->len;
    rest->text += field->len + (at != NULL);
    rest->len -= field->len + (at != NULL);
    return true;
}

/* Take a line, without the LF or CRLF that ends it. */
static inline bool span_line(struct seen_span *rest, struct seen_span *line)
{
    if (!span_cut(rest, '\n', line))
        return false;
    if (line->len && line->text[line->len - 1] == '\r')
        line->len--;
    return true;
}

#endif
