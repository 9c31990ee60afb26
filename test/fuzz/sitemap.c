/*
 * sitemap.c - fuzz sitemaps that come in pieces.
 *
 * Whether a document is taken must not depend on where its pieces end, nor
 * must what was read from one that is; and texts are short, without white
 * space around them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harvest/sitemap.h"

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

static enum seen_code take(void *owner, const struct sitemap_entry *e,
                           struct seen_error *why)
{
    struct found *f = owner;

    (void)why;
    f->entries++;
    if (e->fault)
        return SEEN_OK;
    check(f, e->loc, SITEMAP_URL);
    check(f, e->lastmod, 64);
    check(f, e->patch.loc, SITEMAP_URL + 64);
    add(f, e->type.text, e->type.len);
    add(f, e->hash.text, e->hash.len);
    add(f, &e->length, sizeof e->length);
    return SEEN_OK;
}

static enum seen_code read_map(struct found *f, const uint8_t *data,
                               size_t size, size_t step)
{
    struct sitemap *s;
    enum seen_code code = sitemap_new(&s, take, f, NULL);

    if (code != SEEN_OK)
        abort();
    for (size_t at = 0; at < size && code == SEEN_OK; at += step) {
        size_t n = size - at < step ? size - at : step;
        uint8_t *piece = malloc(n); /* so that reading past it is seen */

        if (!piece)
            abort();
        memcpy(piece, data + at, n);
        code = sitemap_push(s, piece, n, NULL);
        free(piece);
    }
    if (code == SEEN_OK)
        code = sitemap_end(s, NULL);
    add(f, sitemap_up(s), strlen(sitemap_up(s)));
    sitemap_free(s);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t steps[] = { 1, 7, 100 };
    struct found whole = { .entries = 0 };
    enum seen_code code = read_map(&whole, data, size, size ? size : 1);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct found other = { .entries = 0 };

        if ((read_map(&other, data, size, steps[i]) == SEEN_OK) !=
                (code == SEEN_OK) ||
            (code == SEEN_OK &&
             (other.entries != whole.entries || other.sum != whole.sum)))
            abort();
    }
    return 0;
}
