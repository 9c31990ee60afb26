/*
 * left_out.h - why links were left out, kept for `seen crawl why`.
 *
 * Most reasons need no row: the scope, a trap or a rule of robots.txt is found
 * again by the URL alone. Not so what only the page with the link knew (its
 * nofollow, the words around the link), or what may change (a filter of
 * --skip). Of these there is a row per URL, at most a million:
 *
 *     left_out(key, reason, via)    key: half of the URL's key; via: the page
 *
 * A link that is on each page of a site takes one row; the last ones are also
 * remembered in memory, so that it is not one question per page. The record
 * decides nothing: a page that was fetched all the same is a fetched page.
 *
 *     code = crawl_left_keep(s, key.lo, CRAWL_LEFT_NOFOLLOW, via, &why);
 *     code = crawl_left_find(s, key.lo, &left, &why);    left.reason, left.via
 *
 * Threads: as the state.
 */
#ifndef SEEN_CRAWL_LEFT_OUT_H
#define SEEN_CRAWL_LEFT_OUT_H

#include "../page/left.h"
#include "state.h"

struct crawl_left {
    bool found;
    enum crawl_left_reason reason;
    int64_t via; /* the page, or 0 */
    bool full;   /* the record is: some reasons are not kept */
};

/* Keep the reason, within a transaction. The last one counts. */
enum seen_code crawl_left_keep(struct crawl_state *s, uint64_t key,
                               enum crawl_left_reason reason, int64_t via,
                               struct seen_error *why);
enum seen_code crawl_left_find(struct crawl_state *s, uint64_t key,
                               struct crawl_left *left,
                               struct seen_error *why);
/* What crawl_left_keep() remembers. */
void crawl_left_forget(struct crawl_state *s);

#endif
