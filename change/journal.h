/*
 * journal.h - what a state added to its filters since their files were
 * renewed: a file of rows, one per batch.
 *
 *     row     bytes that follow (8) | hash of them (8) | entries
 *     entry   a key      filter (1) | key (8; 16 of a URL)
 *             a run      filter + RUN (1) | base (8) | n (4) | n words (4 each)
 *
 * A run is the words of one value, from which its shingles are made again:
 * half the bytes of their keys. Rows are written and flushed before the
 * transaction that stores the answers, and the transaction says how long the
 * journal is. What a process that died has written past that length is cut
 * off when the state is opened.
 *
 * Positions count the bytes that were ever written, so that they only grow:
 * a file of a filter notes the position up to which it has all keys. When all
 * files have everything, the journal begins anew in an empty file.
 *
 * The journal is a file and not a table of state.db, since SQLite would write
 * each byte twice, to its log and to its pages. That was 25 of 70 µs per
 * record of 400 words.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CHANGE_JOURNAL_H
#define SEEN_CHANGE_JOURNAL_H

#include <stdbool.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../lib/text/buffer.h"

struct change_journal {
    int fd;
    uint64_t begin, end; /* positions of the first byte, and after the last */
    struct buffer row;   /* entries of the batch at hand */
};

/* Open or make the file. It must have the bytes from `begin` to `end`, or is
   SEEN_CORRUPT; what follows them is cut off, unless it shows that state.db
   has lost commits: SEEN_CORRUPT, too. `fresh`: the state is new, and
   there can be no rows. */
enum seen_code change_journal_open(struct change_journal *j,
                                   const char *folder, uint64_t begin,
                                   uint64_t end, bool fresh,
                                   struct seen_error *why);
void change_journal_close(struct change_journal *j);

/* Write and flush a row, and move j->end past it. */
enum seen_code change_journal_write(struct change_journal *j,
                                    struct seen_span entries,
                                    struct seen_error *why);

/* All rows in order; `end` is the position after each. SEEN_CORRUPT where a
   row is damaged. */
typedef enum seen_code change_take_row(void *owner, struct seen_span entries,
                                       uint64_t end, struct seen_error *why);
enum seen_code change_journal_read(struct change_journal *j,
                                   change_take_row *take, void *owner,
                                   struct seen_error *why);

/* The state knows that the journal begins at its end now: empty the file. */
enum seen_code change_journal_cut(struct change_journal *j,
                                  struct seen_error *why);

#endif
