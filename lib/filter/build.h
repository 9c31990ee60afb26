/* build.h - what key_log.c needs from build.c. */
#ifndef SEEN_FILTER_BUILD_H
#define SEEN_FILTER_BUILD_H

#include <seen/build.h>

/* seen_build_add() with keys that are hashed under the secret of a keyed filter
   already, and without counting them as offered. */
enum seen_code filter_build_hashed(struct seen_build *b, unsigned lane,
                                   const struct seen_key *key, size_t n,
                                   struct seen_error *why);

/* How many keys are there, adjacent equal ones counted once? */
uint64_t filter_build_offered(const struct seen_key *key, size_t n);

#endif
