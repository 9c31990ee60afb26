/*
 * text.h - the text form of a filter, beside it: haw.csv of haw.seen.
 *
 * For people who have no program to read filters. It is written again when
 * the filter changes. A file of that name that is not a text form is left
 * alone.
 */
#ifndef SEEN_PUBLISH_TEXT_H
#define SEEN_PUBLISH_TEXT_H

#include "state.h"

/* The path of the text form, in the folder; for the caller to free(). */
char *publish_text_path(const char *path);

/* Does it exist with the length that was written? */
bool publish_text_there(const char *folder, const struct publish_item *item);

/* Write the text form of the file `filter` and fill item->text. SEEN_MISMATCH
   if it would replace a file that is not ours. */
enum seen_code publish_text_write(const char *folder, const char *filter,
                                  struct publish_item *item,
                                  struct seen_error *why);

/* Remove text forms that `was` has and `now` has not. */
void publish_text_sweep(const char *folder, const struct publish_state *was,
                        const struct publish_state *now);

#endif
