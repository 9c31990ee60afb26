/* ribbon.h - what the builder needs from ribbon.c. */
#ifndef SEEN_FILTER_RIBBON_H
#define SEEN_FILTER_RIBBON_H

#include <seen/kind_writer.h>

/*
 * Fill a ribbon that was made without a size, from the `lo` of n keys, which
 * may have duplicates. The blocks have HASH_BLOCK hashes each, and are used as
 * scratch space. Beside them it takes 20 bytes per key.
 */
enum seen_code ribbon_fill(struct seen_filter *f, uint64_t *const *block,
                           size_t n, unsigned threads, struct seen_error *why);

/* Buckets that a thread solves before its own: tests change it. */
extern unsigned ribbon_warm_up;

extern const struct seen_kind filter_ribbon;

#endif
