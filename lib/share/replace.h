/*
 * replace.h - write another form of a filter in the place of a file.
 */
#ifndef SEEN_SHARE_REPLACE_H
#define SEEN_SHARE_REPLACE_H

#include <seen/share.h>

typedef enum seen_code write_form(const struct seen_filter *f, int fd,
                                  struct seen_error *why);

/* What `form` writes takes the place of `path`, as seen_store_save() says. */
enum seen_code replace(const char *path, write_form *form,
                       const struct seen_filter *f, struct seen_error *why);

#endif
