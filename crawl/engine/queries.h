/*
 * queries.h - paths that have pages without end.
 *
 * A calendar or a search form makes a new URL for each question: many pages of
 * one path that differ only in their query. They are counted per path, for
 * 100,000 paths at most.
 *
 *     struct crawl_queries q = { .changed = NULL };
 *
 *     if (crawl_queries_endless(&q, 10000, url)) ...     one page more
 *     crawl_queries_changed(&q, keep, owner, &why);      to keep the counts
 *     crawl_queries_clear(&q);
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CRAWL_QUERIES_H
#define SEEN_CRAWL_QUERIES_H

#include <seen/error.h>
#include <seen/span.h>

#include "../../lib/text/map.h"

struct crawl_queries {
    struct map paths;
    struct crawl_path *changed; /* a list of those whose counts did */
};

/* Does the path have `most` pages that differ in their query? If not, this one
   is counted. */
bool crawl_queries_endless(struct crawl_queries *q, uint64_t most,
                           struct seen_span url);

/* A count that was kept: a path, by its hash, and its pages. False if there is
   no memory, or no room. */
bool crawl_queries_recall(struct crawl_queries *q, uint64_t path,
                          uint64_t pages);

/* The counts that changed since the last call. */
typedef enum seen_code crawl_take_count(void *owner, uint64_t path,
                                        uint64_t pages,
                                        struct seen_error *why);
enum seen_code crawl_queries_changed(struct crawl_queries *q,
                                     crawl_take_count *take, void *owner,
                                     struct seen_error *why);

void crawl_queries_clear(struct crawl_queries *q);

#endif
