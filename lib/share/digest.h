/*
 * digest.h - SHA-256 of bytes that come in pieces.
 *
 *     struct digest d;
 *
 *     if (digest_init(&d)) {
 *         digest_add(&d, bytes, len);
 *         good = digest_end(&d, sum);
 *     }
 *     digest_clear(&d);
 *
 * A piece that fails is remembered: digest_end() then says false.
 */
#ifndef SEEN_SHARE_DIGEST_H
#define SEEN_SHARE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/share.h>

struct digest {
    void *state; /* OpenSSL's; NULL: nothing is computed any more */
};

bool digest_init(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t len);
bool digest_end(struct digest *d, unsigned char sum[SEEN_DIGEST]);
void digest_clear(struct digest *d);

#endif
