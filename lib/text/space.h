/*
 * space.h - white space, which each standard defines for itself.
 *
 *     space_html()  space, tab, LF, CR and form feed: HTML, CSS, names of
 *                   charsets ("ASCII whitespace" of the Infra standard)
 *     space_xml()   the same without form feed: XML, XPath, JSON, WARC
 *     span_trim()   space and tab: fields of HTTP (span.h)
 *
 * A zero byte is not white space for any of them.
 */
#ifndef SEEN_TEXT_SPACE_H
#define SEEN_TEXT_SPACE_H

#include <stdbool.h>

#include <seen/span.h>

static inline bool space_xml(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline bool space_html(char c)
{
    return space_xml(c) || c == '\f';
}

/* A text without the white space at both ends. */
static inline struct seen_span space_trim_xml(struct seen_span s)
{
    while (s.len && space_xml(s.text[0]))
        s.text++, s.len--;
    while (s.len && space_xml(s.text[s.len - 1]))
        s.len--;
    return s;
}

static inline struct seen_span space_trim_html(struct seen_span s)
{
    while (s.len && space_html(s.text[0]))
        s.text++, s.len--;
    while (s.len && space_html(s.text[s.len - 1]))
        s.len--;
    return s;
}

#endif
