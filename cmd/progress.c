/* progress.c - a line on the terminal that is written over and over. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "../lib/text/number.h"

enum { WIDTH = 28 };                    /* of the bar */
static const double patience = 0.5, rest = 0.1;

static struct {
    const char *what;
    uint64_t total;
    double begun, next;
    bool watched, drawn;
} now;

void cmd_progress_begin(const char *what, uint64_t total)
{
    cmd_progress_clear();
    now.what = what;
    now.total = total;
    now.begun = clock_seconds();
    now.next = now.begun + patience;
    now.watched = isatty(STDERR_FILENO);
}

static void draw(uint64_t bytes, uint64_t lines, uint64_t urls, double took)
{
    char bar[WIDTH + 1];
    double share = now.total ? (double)bytes / (double)now.total : 0;
    size_t full;

    share = share > 1 ? 1 : share;
    full = (size_t)(share * WIDTH);
    fprintf(stderr, "\r\033[K%s ", now.what);
    if (now.total) {
        memset(bar, ' ', WIDTH);
        memset(bar, '=', full);
        if (full < WIDTH)
            bar[full] = '>';
        bar[WIDTH] = '\0';
        fprintf(stderr, "[%s] %3.0f %%  ", bar, 100 * share);
    } else {
        fprintf(stderr, "%s lines  ", show_count(lines));
    }
    fprintf(stderr, "%.1f M lines/s", (double)lines / took / 1e6);
    if (urls)
        fprintf(stderr, "  %.0f MB/s  %s URLs", (double)bytes / took / 1e6,
                show_count(urls));
    if (share > 0)
        fprintf(stderr, "  %s left", show_time(took / share - took));
    fflush(stderr);
}

void cmd_progress_at(uint64_t bytes, uint64_t lines, uint64_t urls)
{
    double clock;

    if (!now.watched)
        return;
    clock = clock_seconds();
    if (clock < now.next)
        return;
    draw(bytes, lines, urls, clock - now.begun);
    now.drawn = true;
    now.next = clock + rest;
}

void cmd_progress_files(uint64_t done, uint64_t all, uint64_t bytes)
{
    double clock = now.watched ? clock_seconds() : 0;

    if (!now.watched || clock < now.next)
        return;
    fprintf(stderr, "\r\033[K%s %s of %s files  %s  %.1f MB/s", now.what,
            show_count(done), show_count(all), show_bytes(bytes),
            (double)bytes / (clock - now.begun) / 1e6);
    fflush(stderr);
    now.drawn = true;
    now.next = clock + rest;
}

void cmd_progress_pages(uint64_t pages, uint64_t waiting, uint64_t active,
                        uint64_t bytes)
{
    double clock = now.watched ? clock_seconds() : 0;

    if (!now.watched || clock < now.next)
        return;
    fprintf(stderr, "\r\033[K%s %s pages  %.1f/s  %s  %s waiting  %s requests",
            now.what, show_count(pages), (double)pages / (clock - now.begun),
            show_bytes(bytes), show_count(waiting), show_count(active));
    fflush(stderr);
    now.drawn = true;
    now.next = clock + rest;
}

void cmd_progress_clear(void)
{
    if (now.drawn)
        fputs("\r\033[K", stderr);
    now.drawn = false;
}
