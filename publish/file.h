/* file.h - names and files, for all of publish. */
#ifndef SEEN_PUBLISH_FILE_H
#define SEEN_PUBLISH_FILE_H

#include <seen/share.h>

/* Room for a digest in hexadecimal, and how many of its bytes names have. */
enum { PUBLISH_DIGEST_TEXT = 2 * SEEN_DIGEST + 1, PUBLISH_DIGEST_SHORT = 8 };

/* Printed text, for the caller to free(); NULL without memory. */
char *publish_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The last segment of a path. */
const char *publish_base(const char *path);

/*
 * Open a file to read it, without waiting: it may be a FIFO. SEEN_OK and -1
 * if there is no such file; SEEN_RANGE if it is not a regular file, or a link
 * that leads nowhere.
 */
enum seen_code publish_open(int *fd, const char *path, struct seen_error *why);

/* Put the name of the file that is meant before the reason; what does not
   fit is cut. Returns `code`. */
enum seen_code publish_blame(const char *name, enum seen_code code,
                             struct seen_error *why);

/* A copy of a text that XML and terminals can show: U+FFFD stands for control
   bytes and what is not UTF-8. For the caller to free(); NULL without
   memory. */
char *publish_shown(const char *text);

#endif
