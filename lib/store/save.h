/* save.h - writing a whole new file. */
#ifndef SEEN_STORE_SAVE_H
#define SEEN_STORE_SAVE_H

#include "format.h"
#include "paths.h"

/* For the holder of the lock: replace p->path by f, as store_replace() does.
   head->applied is read, the rest of *head becomes what was written. */
enum seen_code store_save_whole(const struct store_paths *p,
                                const struct seen_filter *f,
                                struct store_head *head, int *fd,
                                struct seen_error *why);

/* Take the lock and replace `path` by what `write` writes, as
   seen_store_save() does with a filter. */
enum seen_code store_save_as(const char *path, store_write *write, void *whose,
                             struct seen_error *why);

#endif
