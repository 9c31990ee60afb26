/*
 * listing.c - unpack a list of URLs, and read its entries.
 *
 * A list may be a bomb: some kilobytes that unpack to gigabytes. Unpacking stops
 * at CRAWL_LISTING_MOST, and reading when the budget is spent; the entries that
 * were read by then count.
 */
#include "listing.h"

#include <stdio.h>
#include <strings.h>

#include "../../fetch/unpack.h"
#include "../../web/sitemap.h"

struct listing {
    struct web_sitemap *reader;
    crawl_listing_take *take;
    void *owner;
    size_t bytes;
};

bool crawl_listing_is_feed(const char *mime)
{
    return !strcasecmp(mime, "application/rss+xml") ||
           !strcasecmp(mime, "application/atom+xml") ||
           !strcasecmp(mime, "application/rdf+xml");
}

bool crawl_listing_may_be(const char *mime)
{
    return !strcasecmp(mime, "application/xml") ||
           !strcasecmp(mime, "text/xml") ||
           !strcasecmp(mime, "application/gzip") ||
           !strcasecmp(mime, "application/x-gzip");
}

static enum seen_code on_entry(void *owner, const struct web_sitemap_entry *e,
                               struct seen_error *why)
{
    struct listing *l = owner;

    (void)why;
    if (!e->fault && e->url.len)
        l->take(l->owner, e->url, e->index);
    return SEEN_OK;
}

static enum seen_code on_bytes(void *owner, const void *bytes, size_t n,
                               struct seen_error *why)
{
    struct listing *l = owner;

    l->bytes += n;
    if (l->bytes > CRAWL_LISTING_MOST)
        return seen_fail(why, SEEN_RANGE, 0, "a list of more than %d MiB",
                         CRAWL_LISTING_MOST >> 20);
    return web_sitemap_push(l->reader, bytes, n, why);
}

void crawl_listing_read(struct seen_span body, const char *url,
                        struct budget *budget, crawl_listing_take *take,
                        void *owner, char fault[CRAWL_LISTING_FAULT])
{
    struct listing l = { .take = take, .owner = owner };
    char room[1 << 14];
    struct fetch_unpack u;
    struct seen_error why;
    enum seen_code code;

    *fault = '\0';
    code = web_sitemap_new(&l.reader, url, on_entry, &l, &why);
    if (code == SEEN_OK) {
        web_sitemap_limit(l.reader, budget);
        fetch_unpack_init(&u, FETCH_GUESS);
        for (size_t at = 0, n; code == SEEN_OK && at < body.len; at += n) {
            n = body.len - at < sizeof room ? body.len - at : sizeof room;
            code = fetch_unpack_feed(&u, body.text + at, n, room, sizeof room,
                                     on_bytes, &l, &why);
        }
        if (code == SEEN_OK)
            code = fetch_unpack_end(&u, on_bytes, &l, &why);
        fetch_unpack_clear(&u);
    }
    if (code == SEEN_OK)
        code = web_sitemap_end(l.reader, &why);
    web_sitemap_free(l.reader);
    if (code != SEEN_OK)
        snprintf(fault, CRAWL_LISTING_FAULT, "%.*s", CRAWL_LISTING_FAULT - 1,
                 why.text);
}
