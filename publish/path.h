/*
 * path.h - names of files, of their copies, and of both on the web.
 */
#ifndef SEEN_PUBLISH_PATH_H
#define SEEN_PUBLISH_PATH_H

#include <stdint.h>
#include <stdio.h>

#include <seen/share.h>

/* Printed text, for the caller to free(); or NULL. */
char *path_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * Open a file to read it, without waiting for anything: what is there may be
 * a FIFO. SEEN_OK and NULL if there is none; SEEN_RANGE if it is not a
 * regular file, or a link that leads nowhere.
 */
enum seen_code path_read(FILE **out, const char *path, struct seen_error *why);

/* The same reason, of the file that is meant; what does not fit is cut. */
enum seen_code path_blame(const char *name, enum seen_code code,
                          struct seen_error *why);

/* Make the folders that lead to `path`. */
enum seen_code path_prepare(const char *path, struct seen_error *why);

/* Where `path`, which is relative, is on the web: `base` and it, with %20
   for what is no letter, digit, slash or -._~ ; free() it. */
char *path_url(const char *base, const char *path);

/* Room for a digest in hexadecimal (../lib/share/hex.h), and how many bytes
   of it names have. */
enum { DIGEST_TEXT = 2 * SEEN_DIGEST + 1, DIGEST_SHORT = 8 };

/* Copy a whole file to where nothing is. */
enum seen_code path_copy(const char *from, const char *to,
                         struct seen_error *why);

#endif
