/* fuse.h - what the builder asks of fuse.c. */
#ifndef SEEN_FILTER_FUSE_H
#define SEEN_FILTER_FUSE_H

#include <seen/kind.h>

/*
 * Fill a fuse that was made without a size from the `lo` of n keys, which
 * may come twice; the array is used as scratch space. SEEN_RANGE if n is
 * above what the plan allows.
 */
enum seen_code fuse_fill(struct seen_filter *f, uint64_t *lo, size_t n,
                         struct seen_error *why);

extern const struct seen_kind filter_fuse;

#endif
