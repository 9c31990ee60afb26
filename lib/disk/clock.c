/* clock.c - the monotonic clock. */
#include "clock.h"

#include <time.h>

static struct timespec now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t;
}

double clock_seconds(void)
{
    struct timespec t = now();

    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t clock_ms(void)
{
    struct timespec t = now();

    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}
