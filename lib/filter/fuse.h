/* fuse.h - what the builder and ribbon.c need from fuse.c. */
#ifndef SEEN_FILTER_FUSE_H
#define SEEN_FILTER_FUSE_H

#include <seen/kind_writer.h>

/* The number of hashes in a block; blocks never move. */
enum { FUSE_BLOCK = 1 << 20 };

/*
 * Fill a fuse that was made without a size, from the `lo` of n keys, which may
 * have duplicates. The blocks are used as scratch space, and have room for one
 * more key. SEEN_RANGE if n is more than a fuse can hold.
 */
enum seen_code fuse_fill(struct seen_filter *f, uint64_t *const *block,
                         size_t n, struct seen_error *why);

/* Sort n hashes of `from` into `to`; false if there is no memory. */
bool fuse_sort(uint64_t *const *from, uint64_t *to, size_t n);

/* Keep one of each; return how many. */
size_t fuse_drop_equal(uint64_t *sorted, size_t n);

extern const struct seen_kind filter_fuse;

#endif
