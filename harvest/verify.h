/*
 * verify.h - is what was fetched the filter that was announced?
 *
 * Asked of the whole file as it lies on the disk, before it takes the place
 * of an older one. It need not be harmless to be refused: a file whose plan
 * is so long that reading it takes much memory is refused unread.
 */
#ifndef SEEN_HARVEST_VERIFY_H
#define SEEN_HARVEST_VERIFY_H

#include <stdint.h>

#include "hash.h"

enum { VERIFY_TEXT = 1 << 20 }; /* bytes of plan and metadata */

/*
 * Its length and SHA-256 against the announced ones (UINT64_MAX, not known:
 * none were), then its own checksums, and that it is sealed. *found is its
 * SHA-256, also if it is refused for another reason; unknown if it cannot be
 * read.
 */
enum seen_code verify_file(const char *path, uint64_t length,
                           const struct hash *hash, struct hash *found,
                           struct seen_error *why);

#endif
