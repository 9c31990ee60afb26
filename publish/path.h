/*
 * path.h - names of files, of their copies, and of both on the web.
 */
#ifndef SEEN_PUBLISH_PATH_H
#define SEEN_PUBLISH_PATH_H

#include <stdint.h>

#include <seen/share.h>

/* Printed text, for the caller to free(); or NULL. */
char *path_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Make the folders that lead to `path`. */
enum seen_code path_prepare(const char *path, struct seen_error *why);

/* Where `path`, which is relative, is on the web: `base` and it, with %20
   for what is no letter, digit, slash or -._~ ; free() it. */
char *path_url(const char *base, const char *path);

/* A digest in hexadecimal, or so many bytes of it; and back. */
enum { DIGEST_TEXT = 2 * SEEN_DIGEST + 1, DIGEST_SHORT = 8 };
void digest_print(char *to, const unsigned char *digest, size_t bytes);
int digest_parse(unsigned char digest[SEEN_DIGEST], const char *text);

/* Copy a whole file to where nothing is, and flush it. */
enum seen_code path_copy(const char *from, const char *to,
                         struct seen_error *why);

#endif
