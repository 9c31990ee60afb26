/*
 * parts.h - what combinators share: asking, planning, taking apart.
 *
 * A combinator calls its parts directly, not through the door: their keys
 * are checked, hashed under the secret and in the journal already.
 */
#ifndef SEEN_FILTER_PARTS_H
#define SEEN_FILTER_PARTS_H

#include <seen/kind_writer.h>

/*
 * How many more keys a filter takes for certain: each sets at most
 * plan.probes more cells. 0 where that is not known. What works in batches
 * goes key by key when they are fewer, so that it stops where it is full.
 */
uint64_t part_room(const struct seen_filter *f);

/* Is anything under the prefix in all parts, or in any? */
enum seen_code part_under(const struct seen_filter *f, bool all,
                          const struct seen_key *key, bool *seen,
                          struct seen_error *why);

#endif
