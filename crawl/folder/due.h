/*
 * due.h - when known pages are due, and whether a visit has anything to do.
 *
 * A page gets its due time when it is fetched: as a template says, or by the
 * policy (revisit.h, freshest.h). If the policy is another one when a visit is
 * to begin, all known pages get new times, from their histories: an option that
 * is given with --revisit counts for this visit already.
 *
 *     --revisit-max 1d         a page that was due in 30 days is due in one
 *
 * Threads: the committing one, or the one that opens the crawl.
 */
#ifndef SEEN_CRAWL_DUE_H
#define SEEN_CRAWL_DUE_H

#include "../engine/engine.h"

/* --policy freshest: find the price of a visit, if it is time for that. */
enum seen_code crawl_due_plan(struct crawl *c, struct seen_error *why);

/* A visit is to begin: due times are those of the policy of today. Not within
   a transaction. */
enum seen_code crawl_due_settle(struct crawl *c, struct seen_error *why);

/*
 * Is there anything to do for a visit now? A known page that is due, a page
 * that waits, a start URL that was never fetched, or stored copies that are to
 * be read. If not, *next is when the first page is due; INT64_MAX: none ever is.
 */
enum seen_code crawl_due_any(struct crawl *c, bool *any, int64_t *next,
                             struct seen_error *why);

#endif
