/* secret.c - the check value of a secret. */
#include "secret.h"

#include "../text/sip.h"

uint64_t key_secret_check(const unsigned char secret[SEEN_SECRET])
{
    static const char text[] = "seen: the check value of a secret";
    uint64_t lo, hi;

    sip_hash(secret, text, sizeof text - 1, &lo, &hi);
    return lo ? lo : 1;
}

bool key_secret_known(const unsigned char secret[SEEN_SECRET])
{
    unsigned char any = 0;

    for (int i = 0; i < SEEN_SECRET; i++)
        any |= secret[i];
    return any;
}
