/* random.c - random bytes from the system. */
#include "random.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "sip.h"

/* Counter, time and address, hashed: different in each call and process. */
static void guess(unsigned char *at, size_t len)
{
    static const unsigned char fixed[SIP_SECRET] = "no random bytes";
    static unsigned count;
    struct timespec now;
    uint64_t from[4], to[2];

    clock_gettime(CLOCK_REALTIME, &now);
    from[0] = (uint64_t)now.tv_sec;
    from[1] = (uint64_t)now.tv_nsec;
    from[2] = (uintptr_t)&now ^ (uintptr_t)at;
    while (len) {
        size_t n = len < sizeof to ? len : sizeof to;

        from[3] = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
        sip_hash(fixed, from, sizeof from, &to[0], &to[1]);
        memcpy(at, to, n);
        at += n;
        len -= n;
    }
}

void random_fill(void *bytes, size_t len)
{
    unsigned char *at = bytes;

    while (len) {
        size_t n = len < 256 ? len : 256; /* which getrandom() never cuts */

        if (getrandom(at, n, GRND_NONBLOCK) != (ssize_t)n)
            guess(at, n);
        at += n;
        len -= n;
    }
}

uint64_t random_seed(void)
{
    uint64_t seed;

    do {
        random_fill(&seed, sizeof seed);
        seed >>= 11;
    } while (!seed);
    return seed;
}
