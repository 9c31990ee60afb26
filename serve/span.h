/* span.h - bytes of someone else's, not ended by a zero. */
#ifndef SEEN_SERVE_SPAN_H
#define SEEN_SERVE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct span {
    const char *text;
    size_t len;
};

static inline bool span_is(struct span s, const char *text)
{
    return s.len == strlen(text) && !memcmp(s.text, text, s.len);
}

/* The same, whatever the case of ASCII letters. */
static inline bool span_like(struct span s, const char *text)
{
    return s.len == strlen(text) && !strncasecmp(s.text, text, s.len);
}

static inline bool span_begins(struct span s, const char *text)
{
    size_t n = strlen(text);

    return s.len >= n && !memcmp(s.text, text, n);
}

#endif
