/* fuse.h - what the builder asks of fuse.c. */
#ifndef SEEN_FILTER_FUSE_H
#define SEEN_FILTER_FUSE_H

#include <seen/kind_writer.h>

/* Hashes come in blocks of so many, which never move. */
enum { FUSE_BLOCK = 1 << 20 };

/*
 * Fill a fuse that was made without a size from the `lo` of n keys, which
 * may come twice. The blocks are used as scratch space, and there is room
 * in them for one key more. SEEN_RANGE if n is above what a fuse can hold.
 */
enum seen_code fuse_fill(struct seen_filter *f, uint64_t *const *block,
                         size_t n, struct seen_error *why);

extern const struct seen_kind filter_fuse;

#endif
