/*
 * journal.h - URLs in the order in which they were added, with numbers that
 * never come again, as rows of many URLs each.
 *
 *     journal    the number of the last URL, a block of URLs
 *
 * A block is their number in four bytes, and each URL as what it shares with the
 * one before and what it has of its own (pack.h). A row of an earlier version
 * has one URL, as a text. What was added is written when it has some kB, and by
 * frontier_journal_write(), which belongs before each commit; all other
 * functions see it, too.
 *
 * Threads: as the database.
 */
#ifndef SEEN_FRONTIER_JOURNAL_H
#define SEEN_FRONTIER_JOURNAL_H

#include "frontier.h"

struct frontier_journal;

enum seen_code frontier_journal_open(struct frontier_journal **out,
                                     struct sql *db, struct seen_error *why);
void frontier_journal_close(struct frontier_journal *j);

enum seen_code frontier_journal_add(struct frontier_journal *j,
                                    struct seen_span url, int64_t *id,
                                    struct seen_error *why);
enum seen_code frontier_journal_write(struct frontier_journal *j,
                                      struct seen_error *why);

/* Those with numbers above `after`. */
enum seen_code frontier_journal_read(struct frontier_journal *j, int64_t after,
                                     frontier_take_url *take, void *owner,
                                     struct seen_error *why);
/* Drop those up to this number; some may stay whose row has later ones. */
enum seen_code frontier_journal_drop(struct frontier_journal *j, int64_t upto,
                                     struct seen_error *why);
/* Drop all. */
enum seen_code frontier_journal_empty(struct frontier_journal *j,
                                      struct seen_error *why);

#endif
