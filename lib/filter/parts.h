/*
 * parts.h - what combinators share.
 *
 * A combinator calls its parts directly, not through filter.c: keys are
 * already checked, hashed under the secret and in the journal.
 */
#ifndef SEEN_FILTER_PARTS_H
#define SEEN_FILTER_PARTS_H

#include <seen/kind_writer.h>

/*
 * How many more keys a filter can certainly hold: each sets at most
 * plan.probes cells. 0 if that is not known. If a batch has more keys, it is
 * added key by key, so that it stops at the key that does not fit.
 */
uint64_t part_room(const struct seen_filter *f);

/* Is there a URL under the prefix in all parts, or in any? */
enum seen_code part_under(const struct seen_filter *f, bool all,
                          const struct seen_key *key, bool *seen,
                          struct seen_error *why);

#endif
