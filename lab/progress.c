/* progress.c - how far the lab has come, on a terminal. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "../lib/text/number.h"

static struct {
    const char *name;
    unsigned i, n;
    bool shown;
    double last; /* when it was shown */
} now;

void lab_progress_experiment(const char *name, unsigned i, unsigned n)
{
    now.name = name;
    now.i = i;
    now.n = n;
}

void lab_progress_show(const char *what, unsigned done, unsigned count,
                       double begin)
{
    double clock = clock_seconds(), passed = clock - begin;

    if (!now.name || !isatty(STDERR_FILENO) || passed < 0.5 ||
        clock - now.last < 0.2)
        return;
    now.last = clock;
    now.shown = true;
    fprintf(stderr, "\r%s (%u of %u): %s, %u %%", now.name, now.i, now.n, what,
            (unsigned)(100.0 * done / count));
    if (done)
        fprintf(stderr, ", %s left",
                show_time(passed / done * (count - done)));
    fputs("\033[K", stderr);
}

void lab_progress_clear(void)
{
    if (now.shown)
        fputs("\r\033[K", stderr);
    now.shown = false;
}
