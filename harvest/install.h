/*
 * install.h - verify a file that was downloaded, and put it in place.
 */
#ifndef SEEN_HARVEST_INSTALL_H
#define SEEN_HARVEST_INSTALL_H

#include "record.h"
#include "round.h"

/* Bytes of plan and metadata of a filter. A file with more is refused before
   it is read, since reading it takes memory. */
enum { HARVEST_PLAN_TEXT = 1 << 20 };

/*
 * Compare the length and SHA-256 of a file with the announced ones; then
 * check its own checksums, and that it is sealed. *found is its SHA-256, also
 * if it is refused; unknown if the file cannot be read.
 */
enum seen_code harvest_verify(const char *path, const struct harvest_item *i,
                              struct harvest_hash *found,
                              struct seen_error *why);

/*
 * Make the verified file at `part` the one of this name, under the claim that
 * keeps writers away, provided that the file in its place is still ours.
 * *same: it is the one that we have, and nothing is replaced. SEEN_BUSY if a
 * writer has the file open.
 */
enum seen_code harvest_install(struct harvest_round *r,
                               const struct harvest_item *i, const char *name,
                               struct harvest_record *record, const char *part,
                               const struct harvest_hash *found, bool *same,
                               struct seen_error *why);

#endif
