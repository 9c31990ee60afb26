/*
 * packs.h - most of the pages that wait, as rows of many pages each.
 *
 *     packed     host, priority, how many pages, which flags, a pack (pack.h)
 *
 * All pages of a row have its host and its priority. A page that is added goes
 * to the end of the last row of these two, while that has room; so the rows of
 * a host, by priority and number, are its pages in order. The number of a page
 * is 64 times that of its row and its index in the pack.
 *
 * The last rows of hosts that get pages are in memory, up to some MB, and are
 * written when they are full and by frontier_packs_write(), which belongs
 * before each commit. All other functions see what is in memory, too. After a
 * rollback that is wrong: close the packs.
 *
 * A state of an earlier version has no such table, and may be opened to be
 * read: then no page is packed.
 *
 * Threads: as the database.
 */
#ifndef SEEN_FRONTIER_PACKS_H
#define SEEN_FRONTIER_PACKS_H

#include "frontier.h"

struct frontier_packs;

/* Make the table: rows get numbers above those of pages up to `above`. */
enum seen_code frontier_packs_create(struct sql *db, int64_t above,
                                     struct seen_error *why);

enum seen_code frontier_packs_open(struct frontier_packs **out, struct sql *db,
                                   struct seen_error *why);
void frontier_packs_close(struct frontier_packs *p);

/* Add a page to those of its host, which has this name. */
enum seen_code frontier_packs_add(struct frontier_packs *p,
                                  const struct frontier_page *page,
                                  struct seen_span host,
                                  struct seen_error *why);
enum seen_code frontier_packs_write(struct frontier_packs *p,
                                    struct seen_error *why);

/* Take a page out. *found is false if it is not packed. `page` becomes the page
   that was; its spans live until the next call. */
enum seen_code frontier_packs_take(struct frontier_packs *p, int64_t id,
                                   bool *found, struct frontier_page *page,
                                   struct seen_error *why);

/* All that have any of these flags. */
enum seen_code frontier_packs_drop(struct frontier_packs *p, unsigned flags,
                                   struct seen_error *why);
/* All. */
enum seen_code frontier_packs_empty(struct frontier_packs *p,
                                    struct seen_error *why);

/*
 * The pages of a host, one after the other. A page lives until the next call.
 * Stop before the end by frontier_packs_stop(). `unpacked` counts the pages that
 * were read, for tests.
 */
enum seen_code frontier_packs_host(struct frontier_packs *p, int64_t host,
                                   struct seen_span name,
                                   struct seen_error *why);
enum seen_code frontier_packs_next(struct frontier_packs *p, bool *more,
                                   struct frontier_page *page,
                                   struct seen_error *why);
void frontier_packs_stop(struct frontier_packs *p);
uint64_t frontier_packs_unpacked(const struct frontier_packs *p);

/* Of all hosts, by their numbers. take() may take pages out. */
enum seen_code frontier_packs_each(struct frontier_packs *p,
                                   frontier_take_url *take, void *owner,
                                   struct seen_error *why);

/* How many pages of each host are packed: the SQL of an expression, for a
   statement on the table `hosts`. */
#define FRONTIER_PACKED_PAGES \
    "(SELECT coalesce(sum(n), 0) FROM packed WHERE host = hosts.id)"

#endif
