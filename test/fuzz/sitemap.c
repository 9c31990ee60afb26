/*
 * sitemap.c - fuzz sitemaps, feeds and lists of lines that come in pieces.
 *
 * Whether a document is taken must not depend on where its pieces end, nor
 * must what was read from one that is; and texts are short, without white
 * space around them. Each is read strictly and with tolerance: URLs that a
 * lenient reader hands over are canonical.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <seen/url.h>

#include "web/sitemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct found {
    size_t entries;
    uint64_t sum;
};

static void add(struct found *f, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < n; i++)
        f->sum = (f->sum ^ at[i]) * UINT64_C(0x100000001b3);
}

static void check(struct found *f, struct seen_span s, size_t most)
{
    if (s.len > most || (s.len && (strchr(" \t\r\n", s.text[0]) ||
                                   strchr(" \t\r\n", s.text[s.len - 1]))))
        abort();
    add(f, s.text, s.len);
}

static void check_url(struct seen_span url)
{
    char room[SEEN_KEY_TEXT];
    struct seen_span again = url;

    if (!url.len)
        return;
    if (seen_url_whatwg(&again.text, &again.len, room, url.text, url.len, NULL,
                        0, NULL) != SEEN_OK ||
        again.len != url.len || memcmp(again.text, url.text, url.len) ||
        strncmp(url.text, "http", 4))
        abort();
}

static enum seen_code take(void *owner, const struct web_sitemap_entry *e,
                           struct seen_error *why)
{
    struct found *f = owner;

    (void)why;
    f->entries++;
    if (e->fault)
        return SEEN_OK;
    check_url(e->url);
    add(f, e->url.text, e->url.len);
    check(f, e->loc, WEB_SITEMAP_URL);
    check(f, e->lastmod, 64);
    check(f, e->patch.loc, WEB_SITEMAP_URL + 64);
    add(f, e->type.text, e->type.len);
    add(f, e->hash.text, e->hash.len);
    add(f, &e->length, sizeof e->length);
    return SEEN_OK;
}

static enum seen_code read_map(struct found *f, const char *base,
                               const uint8_t *data, size_t size, size_t step)
{
    struct web_sitemap *s;
    enum seen_code code = web_sitemap_new(&s, base, take, f, NULL);

    if (code != SEEN_OK)
        abort();
    for (size_t at = 0; at < size && code == SEEN_OK; at += step) {
        size_t n = size - at < step ? size - at : step;
        uint8_t *piece = malloc(n); /* so that reading past it is seen */

        if (!piece)
            abort();
        memcpy(piece, data + at, n);
        code = web_sitemap_push(s, piece, n, NULL);
        free(piece);
    }
    if (code == SEEN_OK)
        code = web_sitemap_end(s, NULL);
    add(f, web_sitemap_up(s), strlen(web_sitemap_up(s)));
    web_sitemap_free(s);
    return code;
}

static void read_as(const char *base, const uint8_t *data, size_t size)
{
    static const size_t steps[] = { 1, 7, 100 };
    struct found whole = { .entries = 0 };
    enum seen_code code = read_map(&whole, base, data, size, size ? size : 1);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct found other = { .entries = 0 };

        if ((read_map(&other, base, data, size, steps[i]) == SEEN_OK) !=
                (code == SEEN_OK) ||
            (code == SEEN_OK &&
             (other.entries != whole.entries || other.sum != whole.sum)))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as(NULL, data, size);
    read_as("http://a.example/feeds/1.xml", data, size);
    return 0;
}
