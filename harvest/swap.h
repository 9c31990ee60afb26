/*
 * swap.h - put a verified file in its place, and take withdrawn ones away.
 */
#ifndef SEEN_HARVEST_SWAP_H
#define SEEN_HARVEST_SWAP_H

#include "record.h"
#include "work.h"

/*
 * Make the file at `part`, of SHA-256 `found`, the one of this name, under
 * the claim that keeps writers away, provided that what is there is still
 * ours. *same: it is what we have already, and nothing is swapped. SEEN_BUSY
 * if a writer has the file open.
 */
enum seen_code swap_file(struct work *w, const struct item *i,
                         const char *name, struct record *r, const char *part,
                         const struct hash *found, bool *same,
                         struct seen_error *why);

/*
 * Drop parts of files that are no longer announced, and those that nobody
 * went on with for a month. Tell of harvested files that are no longer
 * announced, and remove them if that is asked for. Only what a source does
 * not name that was read without a fault counts; of a source that is no
 * longer there itself, or names other sources by now, all sources of the
 * round must have been; so must they if a list was read for two of them.
 */
void swap_withdrawn(struct work *w);

#endif
