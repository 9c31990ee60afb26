/* replay.h - the changes of a journal, applied to a filter. */
#ifndef SEEN_STORE_REPLAY_H
#define SEEN_STORE_REPLAY_H

#include "format.h"
#include "journal.h"

/*
 * Open the journal that belongs to the file with head h, before its first
 * record. j->fd is -1 if there is none, or one that belongs to another file:
 * what was replaced, or checkpointed and not yet begun anew. SEEN_CORRUPT if
 * there must be one.
 */
enum seen_code replay_open(struct journal *j, const struct place *p,
                           const struct head *h, int flags,
                           struct seen_error *why);

/*
 * Apply what follows j->end and is numbered above `done`. Afterwards j->end
 * and j->last are those of the last whole record.
 */
enum seen_code replay(struct journal *j, struct seen_filter *f, uint64_t done,
                      struct seen_error *why);

#endif
