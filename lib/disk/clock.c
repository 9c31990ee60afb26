/* clock.c - the monotonic clocks. */
#include "clock.h"

#include <time.h>

static struct timespec now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t;
}

double clock_seconds(void)
{
    struct timespec t = now(CLOCK_MONOTONIC);

    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t clock_ms(void)
{
    struct timespec t = now(CLOCK_MONOTONIC);

    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static _Atomic int64_t skipped;

int64_t clock_boot_ms(void)
{
    struct timespec t = now(CLOCK_BOOTTIME);

    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 + skipped;
}

void clock_boot_skip(int64_t ms)
{
    skipped += ms;
}
