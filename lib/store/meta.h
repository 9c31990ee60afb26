/* meta.h - metadata for the text of a file. */
#ifndef SEEN_STORE_META_H
#define SEEN_STORE_META_H

#include <seen/store.h>

#include "../text/buffer.h"

struct seen_meta;

/*
 * For the thread that has excluded all changes: the metadata `as-of` follows
 * them. If it is a date, to the year, month or day, before that of `when`, it
 * becomes that date, to the same unit; later dates, other texts and filters
 * without it stay as they are. Other threads may be reading the metadata, so
 * what it was is not freed: *was, and NULL if nothing changed.
 */
enum seen_code store_meta_follow(struct seen_filter *f, int64_t when,
                                 struct seen_meta **was,
                                 struct seen_error *why);

/* Put that back, and return what was there instead. */
struct seen_meta *store_meta_undo(struct seen_filter *f,
                                  struct seen_meta *was);

/* Keep it for readers until all of a list are freed. */
void store_meta_keep(struct seen_meta **list, struct seen_meta *was);
void store_meta_free(struct seen_meta *list);

/* Print all pairs as name=value lines, in order. */
void store_meta_print(const struct seen_filter *f, struct buffer *to);

#endif
