/* grow.h - a larger filter in place of a full one. */
#ifndef SEEN_STORE_GROW_H
#define SEEN_STORE_GROW_H

#include "writer.h"

/* Does it keep all its keys, and is it full? Not soon after a failure. */
bool store_grow_wanted(struct store_writer *w);

/* Replace file and filter by larger ones, while no other thread uses the
   filter. If this fails, both are as they were, or the writer has failed for
   good. */
enum seen_code store_grow(struct store_writer *w, struct seen_error *why);

#endif
