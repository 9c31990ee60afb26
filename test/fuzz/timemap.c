/*
 * timemap.c - fuzz TimeMaps.
 *
 * The first byte is the length of the pieces. Whatever the pieces are, the
 * same links are found; URLs have no control bytes, dates are written back as
 * they were read, and the reader holds no more than one link.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/span.h"
#include "web/timemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
    uint64_t links, hash;
    bool stops;
};

static bool take(void *owner, const struct web_timemap_link *link)
{
    struct sum *s = owner;

    if (!link->url.len || link->url.len > WEB_TIMEMAP_URL)
        abort();
    if (!link->page && (link->when < INT64_C(-30610224000) ||
                        link->when > INT64_C(253402300800)))
        abort(); /* years 1000 to 9999 */
    for (size_t i = 0; i < link->url.len; i++) {
        if ((unsigned char)link->url.text[i] < 0x20)
            abort();
        s->hash = (s->hash ^ (unsigned char)link->url.text[i]) *
                  UINT64_C(0x100000001b3);
    }
    s->hash += (uint64_t)link->when + link->page;
    return ++s->links < 3 || !s->stops;
}

static struct sum read_once(const uint8_t *data, size_t size, size_t piece,
                            bool stops)
{
    struct web_timemap t = { .latest = 1800000000 };
    struct sum s = { .stops = stops };
    uint64_t mementos;

    for (size_t at = 0; at < size; at += piece) {
        const size_t n = size - at < piece ? size - at : piece;
        char *copy = malloc(n); /* so that reading past it is seen */

        memcpy(copy, data + at, n);
        web_timemap_read(&t, copy, n, take, &s);
        free(copy);
        if (t.link.room > 4 * WEB_TIMEMAP_LINK)
            abort();
    }
    web_timemap_end(&t, take, &s);
    mementos = t.mementos;
    if (mementos > s.links || (stops && s.links > 3))
        abort();
    web_timemap_clear(&t);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sum one, two;
    int64_t when;

    if (!size)
        return 0;
    one = read_once(data + 1, size - 1, 1 + data[0], false);
    two = read_once(data + 1, size - 1, size, false);
    if (one.links != two.links || one.hash != two.hash)
        abort();
    read_once(data + 1, size - 1, 1 + data[0], true);
    web_timemap_date((struct seen_span){ (const char *)data, size }, &when);
    return 0;
}
