/* save.h - writing a whole new file. */
#ifndef SEEN_STORE_SAVE_H
#define SEEN_STORE_SAVE_H

#include "paths.h"

/* Take the lock and replace `path` by what `write` writes, as
   seen_store_save() does with a filter. */
enum seen_code store_save_as(const char *path, store_write *write, void *whose,
                             struct seen_error *why);

#endif
