/*
 * listing.h - the URLs of sitemaps and feeds.
 *
 * With --sitemaps a crawl reads the sitemaps that robots.txt names, and those
 * that an index names in turn. RSS and Atom are read wherever a link leads to
 * them and their type says so. Every entry passes scope, cache and robots.txt
 * as a link of a page does.
 *
 *     crawl_listing_read(body, "http://a.example/sitemap.xml.gz", &budget,
 *                        take, w, fault);
 *
 * Threads: a plain function of its arguments.
 */
#ifndef SEEN_CRAWL_LISTING_H
#define SEEN_CRAWL_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/span.h>

#include "../../lib/text/budget.h"

enum {
    CRAWL_LISTING_MOST = 64
                         << 20, /* bytes, unpacked; the protocol says 50 M */
    CRAWL_LISTING_HOPS = 5,        /* indexes of indexes */
    CRAWL_LISTING_FAULT = 160
};

/* Does this type of content say RSS or Atom? */
bool crawl_listing_is_feed(const char *mime);
/* Does it say XML or gzip, which may be a list? */
bool crawl_listing_may_be(const char *mime);

/*
 * Call take() for each entry that has a usable URL; `list` says that it is
 * another list. gzip is undone. A document that is damaged gives the entries
 * before the damage, and `fault` says where that is; it is "" otherwise. The
 * same with one that costs more than the budget has.
 */
typedef void crawl_listing_take(void *owner, struct seen_span url, bool list);
void crawl_listing_read(struct seen_span body, const char *url,
                        struct budget *budget, crawl_listing_take *take,
                        void *owner, char fault[CRAWL_LISTING_FAULT]);

#endif
