/* save.h - writing a whole new file, for who holds the lock. */
#ifndef SEEN_STORE_SAVE_H
#define SEEN_STORE_SAVE_H

#include "format.h"
#include "paths.h"

/*
 * Write f beside, flush it and rename it over p->path. head->applied is read,
 * the rest of *head becomes what was written. *fd is the new file, open for
 * reading and writing, or -1 if the old one is still there; it may be open
 * on failure, too, when only the flush of the folder failed.
 */
enum seen_code store_save_whole(const struct store_paths *p,
                                const struct seen_filter *f,
                                struct store_head *head, int *fd,
                                struct seen_error *why);

#endif
