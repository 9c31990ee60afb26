/*
 * digest.h - MD5 and SHA-1 of a short text.
 *
 * Written here, since for a URL OpenSSL takes as long to begin and to end as
 * to hash, and its library takes as long to load as `seen check` to answer.
 * Neither function protects against an attacker who chooses texts.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_KEY_DIGEST_H
#define SEEN_KEY_DIGEST_H

#include <stddef.h>

enum { DIGEST_MD5 = 16, DIGEST_SHA1 = 20, DIGEST_BEFORE = 64 };

/* The digest of `bytes` bytes, fewer than DIGEST_BEFORE, and of the text that
   follows them. */
void digest_md5(const void *before, size_t bytes, const char *text, size_t len,
                unsigned char out[DIGEST_MD5]);
void digest_sha1(const void *before, size_t bytes, const char *text,
                 size_t len, unsigned char out[DIGEST_SHA1]);

#endif
