/*
 * sha256.h - SHA-256 of bytes that come in pieces.
 *
 *     struct sha256 d;
 *
 *     if (sha256_init(&d)) {
 *         sha256_add(&d, bytes, len);
 *         good = sha256_end(&d, sum);
 *     }
 *     sha256_clear(&d);
 *
 * If a piece fails, sha256_end() returns false.
 */
#ifndef SEEN_SHARE_SHA256_H
#define SEEN_SHARE_SHA256_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/share.h>

struct sha256 {
    void *state; /* OpenSSL's; NULL: nothing is computed any more */
};

bool sha256_init(struct sha256 *d);
void sha256_add(struct sha256 *d, const void *bytes, size_t len);
bool sha256_end(struct sha256 *d, unsigned char sum[SEEN_DIGEST]);
void sha256_clear(struct sha256 *d);

#endif
