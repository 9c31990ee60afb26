/*
 * text.h - the text form of a filter, beside it: haw.csv of haw.seen.
 *
 * For who has no program to read filters with. It is written anew when the
 * filter changes; a file of that name that is no text form is left alone.
 */
#ifndef SEEN_PUBLISH_TEXT_H
#define SEEN_PUBLISH_TEXT_H

#include "state.h"

/* The path of the text form, in the folder; free() it. */
char *publish_text_path(const char *path);

/* Is it there, as it was written? */
bool publish_text_there(const char *folder, const struct publish_item *item);

/* Write it, from that file, and fill item->text. SEEN_MISMATCH for a file that is not ours. */
enum seen_code publish_text_write(const char *folder, const char *filter,
                                  struct publish_item *item,
                                  struct seen_error *why);

/* Remove those that `was` has and `now` has not. */
void publish_text_sweep(const char *folder, const struct publish_state *was,
                        const struct publish_state *now);

#endif
