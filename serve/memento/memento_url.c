/* memento_url.c - compare and change URLs of archives. */
#include "memento_url.h"

#include <string.h>
#include <strings.h>

#include <seen/key.h>
#include <seen/url.h>

#include "../../lib/text/span.h"
#include "../../web/timemap.h"

enum { STAMP = 14 }; /* digits */

static bool is_absolute(struct seen_span url)
{
    return (url.len > 7 && !strncasecmp(url.text, "http://", 7)) ||
           (url.len > 8 && !strncasecmp(url.text, "https://", 8));
}

bool memento_url_resolve(struct seen_span *url, const char *base, char *room)
{
    const char *out;
    size_t len;

    if (url->len > WEB_TIMEMAP_URL)
        return false;
    if (is_absolute(*url))
        return true;
    if (seen_url_whatwg(&out, &len, room, url->text, url->len, base,
                        strlen(base), NULL) != SEEN_OK)
        return false;
    *url = (struct seen_span){ out, len };
    return is_absolute(*url);
}

/* "a.example:80" of "http://a.example:80/b" */
static struct seen_span authority(struct seen_span url)
{
    const char *slashes = memchr(url.text, '/', url.len);
    struct seen_span s = { slashes + 2, 0 };

    while (s.text + s.len < url.text + url.len &&
           !strchr("/?#", s.text[s.len]))
        s.len++;
    return s;
}

bool memento_url_same_host(struct seen_span a, struct seen_span b)
{
    a = authority(a);
    b = authority(b);
    return a.len == b.len && !strncasecmp(a.text, b.text, a.len);
}

bool memento_url_same_page(struct seen_span a, struct seen_span b)
{
    char room_a[SEEN_KEY_TEXT], room_b[SEEN_KEY_TEXT];
    struct seen_key x, y;

    return seen_key_make(&x, room_a, a.text, a.len, "surt", NULL) == SEEN_OK &&
           seen_key_make(&y, room_b, b.text, b.len, "surt", NULL) == SEEN_OK &&
           x.lo == y.lo && x.hi == y.hi;
}

/* Where the path of the archive ends: at the original, or at a query. */
static size_t own_path(struct seen_span url, size_t begin)
{
    size_t i = begin;

    while (i < url.len && url.text[i] != '?' && url.text[i] != '#' &&
           !(url.text[i] == '/' && url.len - i > 6 &&
             (!strncasecmp(url.text + i + 1, "http:", 5) ||
              !strncasecmp(url.text + i + 1, "https:", 6))))
        i++;
    return i < url.len && url.text[i] == '/' ? i + 1 : i;
}

void memento_url_raw(struct buffer *o, struct seen_span url)
{
    const struct seen_span host = authority(url);
    const size_t begin = (size_t)(host.text + host.len - url.text);
    const size_t end = own_path(url, begin);

    for (size_t i = begin; i + STAMP + 1 < end; i++) {
        size_t n = 0;

        while (n < STAMP && url.text[i + 1 + n] >= '0' &&
               url.text[i + 1 + n] <= '9')
            n++;
        if (url.text[i] != '/' || n < STAMP)
            continue;
        i += STAMP + 1;
        if (url.text[i] != '/')
            break;
        buffer_bytes(o, url.text, i);
        buffer_text(o, "id_");
        buffer_bytes(o, url.text + i, url.len - i);
        return;
    }
    buffer_span(o, url);
}
