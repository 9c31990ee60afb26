/*
 * sip.h - SipHash-2-4 with 128 bits of output, for keyed filters.
 *
 * Who can choose URLs can choose ones that collide under any hash that he
 * can compute; a seeded XXH3 does not stop him, since differences that do
 * not depend on its seed are known. SipHash is a pseudo-random function:
 * without the secret, its values cannot be told from random ones.
 *
 * J.-P. Aumasson, D. Bernstein: SipHash: a fast short-input PRF. INDOCRYPT
 * 2012; the 128-bit variant is in the authors' reference code.
 */
#ifndef SEEN_KEY_SIP_H
#define SEEN_KEY_SIP_H

#include <stdbool.h>

#include <seen/key.h>

/* Hash `len` bytes of text under a secret of SEEN_SECRET bytes. */
void sip_hash(const unsigned char *secret, const char *text, size_t len,
              uint64_t *lo, uint64_t *hi);

/* What a file keeps of a secret: enough to tell it from others, never 0. */
uint64_t sip_check(const unsigned char *secret);

/* A secret of zeros stands for one that is not known. */
bool sip_known(const unsigned char *secret);

#endif
