/* fuse.h - what the builder needs from fuse.c. */
#ifndef SEEN_FILTER_FUSE_H
#define SEEN_FILTER_FUSE_H

#include <seen/kind_writer.h>

#include "hash_sort.h"

/*
 * Fill a fuse that was made without a size, from the `lo` of n keys, which may
 * have duplicates. Their blocks are freed, and become NULL, as soon as the
 * hashes are sorted. SEEN_RANGE if n is more than a fuse can hold. The bytes
 * are the same with any number of threads.
 */
enum seen_code fuse_fill(struct seen_filter *f, uint64_t **block, size_t n,
                         unsigned threads, struct seen_error *why);

extern const struct seen_kind filter_fuse;

#endif
