/* sip.c - SipHash-2-4-128, as in the authors' reference code. */
#include "sip.h"

#include <string.h>

#include "little.h"

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* Always with a constant `n`, so that it becomes code without a loop. */
static inline __attribute__((always_inline)) void rounds(uint64_t v[4], int n)
{
    while (n--) {
        v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
        v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
    }
}

void sip_hash(const unsigned char secret[SIP_SECRET], const void *bytes,
              size_t len, uint64_t *lo, uint64_t *hi)
{
    uint64_t k0 = little_64(secret), k1 = little_64(secret + 8);
    uint64_t v[4] = { k0 ^ UINT64_C(0x736f6d6570736575),
                      k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                      k0 ^ UINT64_C(0x6c7967656e657261),
                      k1 ^ UINT64_C(0x7465646279746573) };
    const unsigned char *p = bytes;
    unsigned char tail[8] = { 0 };
    uint64_t m;

    for (size_t i = 0; i < len / 8; i++, p += 8) {
        m = little_64(p);
        v[3] ^= m;
        rounds(v, 2);
        v[0] ^= m;
    }
    if (len % 8)
        memcpy(tail, p, len % 8);
    tail[7] = (unsigned char)len;
    m = little_64(tail);
    v[3] ^= m;
    rounds(v, 2);
    v[0] ^= m;

    v[2] ^= 0xee;
    rounds(v, 4);
    *lo = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    rounds(v, 4);
    *hi = v[0] ^ v[1] ^ v[2] ^ v[3];
}
