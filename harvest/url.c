/*
 * url.c - canonical http and https URLs, and their pieces.
 *
 * A URL is checked once, here, and is a plain text afterwards: the pieces are
 * found again by "://", "/" and "?", which is right for canonical texts only.
 * So every URL that is compared, joined or written into a record comes from
 * harvest_url_read().
 */
#include "url.h"

#include <stdio.h>
#include <string.h>

#include <seen/url.h>

#include "../lib/text/space.h"
#include "../lib/text/span.h"

/* "http" and "//" must be there: a relative text is not made absolute, and
   "http:path" is not guessed at. */
static bool absolute(struct seen_span s)
{
    return (s.len >= 8 &&
            span_like((struct seen_span){ s.text, 8 }, "https://")) ||
           (s.len >= 7 &&
            span_like((struct seen_span){ s.text, 7 }, "http://"));
}

static enum seen_code too_long(struct seen_error *why)
{
    return seen_fail(why, SEEN_BAD_URL, HARVEST_URL,
                     "a URL has more than %d bytes", HARVEST_URL);
}

enum seen_code harvest_url_read(char out[HARVEST_URL + 1],
                                struct seen_span text, struct seen_error *why)
{
    char room[SEEN_KEY_TEXT];
    struct seen_span url;
    const char *host;
    enum seen_code code;

    text = space_trim_xml(text);
    if (!text.len)
        return seen_fail(why, SEEN_BAD_URL, 0, "a URL is missing");
    if (text.len > HARVEST_URL)
        return too_long(why);
    if (!absolute(text))
        return seen_fail(why, SEEN_BAD_URL, 0, "is not an http or https URL");
    code = seen_url_whatwg(&url.text, &url.len, room, text.text, text.len,
                           NULL, 0, why);
    if (code != SEEN_OK)
        return code;
    if (url.len > HARVEST_URL)
        return too_long(why);
    if (!absolute(url) || memchr(url.text, '\0', url.len))
        return seen_fail(why, SEEN_BAD_URL, 0, "is not an http or https URL");
    memcpy(out, url.text, url.len);
    out[url.len] = '\0';
    host = harvest_url_host(out);
    if (memchr(host, '@', (size_t)(harvest_url_path(out) - host)))
        return seen_fail(why, SEEN_BAD_URL, 0, "a URL has a user or password");
    return SEEN_OK;
}

const char *harvest_url_host(const char *url)
{
    return strstr(url, "://") + 3;
}

const char *harvest_url_path(const char *url)
{
    const char *host = harvest_url_host(url);

    return host + strcspn(host, "/?");
}

bool harvest_url_same_host(const char *a, const char *b)
{
    const char *x = harvest_url_host(a), *y = harvest_url_host(b);
    size_t n = (size_t)(harvest_url_path(a) - x);

    return n == (size_t)(harvest_url_path(b) - y) && !memcmp(x, y, n);
}

size_t harvest_url_path_len(const char *url)
{
    return strcspn(harvest_url_path(url), "?");
}

bool harvest_url_ends(const char *url, const char *ending)
{
    return span_ends(
        (struct seen_span){ harvest_url_path(url), harvest_url_path_len(url) },
        ending);
}

static enum seen_code join(char out[HARVEST_URL + 1], const char *url,
                           size_t len, const char *name,
                           struct seen_error *why)
{
    const char *slash = len && url[len - 1] == '/' ? "" : "/";
    int n = snprintf(out, HARVEST_URL + 1, "%.*s%s%s", (int)len, url, slash,
                     name);

    return n > 0 && n <= HARVEST_URL ? SEEN_OK : too_long(why);
}

enum seen_code harvest_url_under(char out[HARVEST_URL + 1], const char *url,
                                 const char *name, struct seen_error *why)
{
    size_t len = (size_t)(harvest_url_path(url) - url) +
                 harvest_url_path_len(url);

    return join(out, url, len, name, why);
}

enum seen_code harvest_url_rooted(char out[HARVEST_URL + 1], const char *url,
                                  const char *name, struct seen_error *why)
{
    return join(out, url, (size_t)(harvest_url_path(url) - url), name, why);
}
