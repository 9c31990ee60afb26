/*
 * span.h - bytes that belong to someone else, not ended by a zero.
 *
 * The one pointer-and-length type of libseen and of its programs: a column of
 * a CDX line, a word of a request, a URL in a page. Whoever hands out a span
 * says how long the bytes live.
 *
 *     struct seen_span host = { "a.example/news", 9 };
 *
 *     printf("%.*s\n", (int)host.len, host.text);
 *
 * Threads: a plain value.
 */
#ifndef SEEN_SPAN_H
#define SEEN_SPAN_H

#include <stddef.h>

struct seen_span {
    const char *text;
    size_t len;
};

#endif
