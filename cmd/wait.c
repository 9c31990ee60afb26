/*
 * wait.c - look again every few milliseconds, until the time is over.
 *
 * The lock of a filter is a file that goes with its holder (lib/store/paths.c),
 * so there is nothing to sleep on; twenty looks a second cost nothing.
 */
#include "wait.h"

#include <time.h>

#include "../lib/disk/clock.h"

enum { PAUSE = 50000000 }; /* nanoseconds */

bool wait_again(struct wait *w, enum seen_code code)
{
    const struct timespec pause = { .tv_nsec = PAUSE };
    uint64_t seconds = w->given ? w->given - 1 : WAIT_SECONDS;
    double time;

    if (code != SEEN_BUSY || !seconds)
        return false;
    time = clock_seconds();
    if (!(w->until > 0))
        w->until = time + (double)seconds;
    if (time >= w->until)
        return false;
    nanosleep(&pause, NULL);
    return true;
}
