/*
 * sip.h - SipHash-2-4 with 128 bits of output.
 *
 * Anyone who can choose the input of a hash that he can compute can choose
 * inputs that collide. A seeded XXH3 does not stop that, since differences
 * are known that collide under every seed. SipHash is a pseudo-random
 * function: without the secret, its values look random.
 *
 * J.-P. Aumasson, D. Bernstein: SipHash: a fast short-input PRF. INDOCRYPT
 * 2012; the 128-bit variant is in the authors' reference code.
 */
#ifndef SEEN_TEXT_SIP_H
#define SEEN_TEXT_SIP_H

#include <stddef.h>
#include <stdint.h>

enum { SIP_SECRET = 16 }; /* bytes */

void sip_hash(const unsigned char secret[SIP_SECRET], const void *bytes,
              size_t len, uint64_t *lo, uint64_t *hi);

#endif
