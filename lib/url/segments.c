/*
 * segments.c - a URL by the slashes of its path.
 *
 * What was filed by segments is only found by the same segments: where a text
 * is cut is part of what a stored `layered` filter means, and never changes.
 */
#include <seen/url.h>

#include <string.h>

unsigned seen_url_segments(const char *text, size_t len, size_t *end,
                           unsigned most)
{
    const char *query = memchr(text, '?', len);
    size_t last = query ? (size_t)(query - text) : len; /* of what is cut */
    size_t at = 0;
    unsigned n = 0;

    while (at < last && text[at] != ':' && text[at] != '/')
        at++;
    at = last - at >= 3 && !memcmp(text + at, "://", 3) ? at + 3 : 0;
    while (n + 1 < most && at < last) {
        const char *slash = memchr(text + at, '/', last - at);

        if (!slash)
            break;
        end[n] = (size_t)(slash - text);
        at = end[n++] + 1;
    }
    end[n++] = len;
    return n;
}
