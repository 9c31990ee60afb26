/*
 * recover.h - the links of pages that are not due, from their stored copies.
 *
 * A page that a visit lost to a false positive has a link on some page that was
 * fetched. Most of those are not due when the next visit begins, and a visit
 * that asks for what is due does not see their links. But their copies are in
 * the WARC files: reading one costs no request. It costs a millisecond, which
 * is too much for a million pages if nothing is lost, so it is done
 *
 *     - if the visit before expects to have lost at least one page,
 *     - with --recover, or
 *     - to go on, if the visit before was ended by a budget meanwhile.
 *
 * Copies are read by the committing thread between two groups, in the order of
 * the numbers of pages, while others are fetched. Their links become rows as
 * those of a page that was fetched, and in the same transaction the state notes
 * how far this came. So after a kill no copy is left out, and none counts twice.
 *
 * A copy that is not there, because its file was sent away, or that is damaged,
 * is counted. The page is not asked for: it will be due.
 *
 * Threads: the committing one, or the one that opens the crawl.
 */
#ifndef SEEN_CRAWL_RECOVER_H
#define SEEN_CRAWL_RECOVER_H

#include "../engine/group.h"

/* Counters of the visit: copies that were read, and that could not be. */
#define CRAWL_COPIES "copies"
#define CRAWL_COPIES_LOST "copies-lost"

/* How far a run came with it. */
struct crawl_recover {
    enum {
        CRAWL_RECOVER_UNKNOWN, /* the state says how far it came */
        CRAWL_RECOVER_GOES_ON,
        CRAWL_RECOVER_DONE
    } state;
    struct crawl_reader *reader;
    int64_t last; /* page whose copy is done */
};

/* Is it to be done in the visit that begins next? */
enum seen_code crawl_recover_wanted(struct crawl *c, bool *wanted,
                                    struct seen_error *why);

/* Within the transaction that begins the visit: do it, or not. */
enum seen_code crawl_recover_begin(struct crawl *c, bool wanted,
                                   struct seen_error *why);

/* Is it known that there are copies to be read? And by the state? */
bool crawl_recover_goes_on(const struct crawl *c);
enum seen_code crawl_recover_rests(struct crawl *c, bool *rests,
                                   struct seen_error *why);

/* Read some. Not within a transaction. */
enum seen_code crawl_recover_some(struct crawl *c, struct seen_error *why);

/* Within the transaction that has its links: the copy of this page is done. */
enum seen_code crawl_recover_note(struct crawl *c,
                                  const struct crawl_page *page,
                                  struct seen_error *why);

void crawl_recover_end(struct crawl *c);

#endif
