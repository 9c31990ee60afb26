/* meta.h - metadata for the text of a file. */
#ifndef SEEN_STORE_META_H
#define SEEN_STORE_META_H

#include <seen/store.h>

#include "../text/buffer.h"

/* Print all pairs as name=value lines, in order. */
void store_meta_print(const struct seen_filter *f, struct buffer *to);

#endif
