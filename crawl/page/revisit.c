/*
 * revisit.c - how often a page changes, and when it is due by that.
 *
 * A history has a number per check: the seconds since the one before, and bits
 * for "it had changed" and "it could not be asked". A check that failed says
 * nothing about changes, so its seconds are added to those of the next one.
 */
#include "revisit.h"

#include <math.h>
#include <string.h>

#define CHANGED UINT32_C(0x80000000)
#define MISSED UINT32_C(0x40000000)
#define SECONDS UINT32_C(0x3fffffff)

enum { CHECKS = sizeof((struct crawl_known *)0)->history / 4 };

static void append(struct crawl_known *page, int64_t now, uint32_t flag)
{
    int64_t seconds = (now - page->last) / 1000;

    if (seconds < 1)
        seconds = 1;
    if (page->histories && page->history[page->histories - 1] & MISSED)
        seconds += page->history[--page->histories] & SECONDS;
    if (seconds > SECONDS)
        seconds = SECONDS;
    if (page->histories == CHECKS) {
        memmove(page->history, page->history + 1,
                sizeof page->history - sizeof *page->history);
        page->histories--;
    }
    page->history[page->histories++] = (uint32_t)seconds | flag;
}

void crawl_revisit_note(struct crawl_known *page, int64_t now, bool changed)
{
    if (!page->id) { /* the first time */
        page->checks = page->changes = 0;
        page->histories = 0;
        return;
    }
    page->checks++;
    page->changes += changed;
    append(page, now, changed ? CHANGED : 0);
}

void crawl_revisit_miss(struct crawl_known *page, int64_t now)
{
    if (page->id)
        append(page, now, MISSED);
}

bool crawl_revisit_check(const struct crawl_known *page, unsigned i,
                         double *seconds, bool *changed)
{
    *seconds = page->history[i] & SECONDS;
    *changed = page->history[i] & CHANGED;
    return !(page->history[i] & MISSED);
}

/* The left side of the equation at λ, and its derivative. */
static double left_side(const struct crawl_known *page, double rate,
                        double *derivative)
{
    double sum = 0, slope = 0;

    for (unsigned i = 0; i < page->histories; i++)
        if (page->history[i] & CHANGED) {
            double t = page->history[i] & SECONDS;
            double e = expm1(rate * t);

            sum += t / e;
            slope -= t / e * (t + t / e); /* t² e^(λt) / (e^(λt) - 1)² */
        }
    *derivative = slope;
    return sum;
}

double crawl_revisit_rate(const struct crawl_known *page)
{
    enum { STEPS = 100 }; /* about 6 are needed */
    double time[2] = { 0, 0 }, unchanged, rate, slope;
    unsigned n[2] = { 0, 0 };

    for (unsigned i = 0; i < page->histories; i++) {
        bool changed = page->history[i] & CHANGED;

        if (page->history[i] & MISSED)
            continue;
        n[changed]++;
        time[changed] += page->history[i] & SECONDS;
    }
    if (!n[0] && !n[1])
        return -1;
    if (!n[1])
        /* -log((n + 0.5) / (n + 0.5)) would be 0: never look again. Half a
           change in all that time is the usual way out. */
        return 0.5 / time[0];
    unchanged = time[0] + 0.5 * (time[0] + time[1]) / (n[0] + n[1]);
    rate = n[1] / (unchanged + time[1] / 2);
    for (int i = 0; i < STEPS; i++) {
        double over = left_side(page, rate, &slope) - unchanged;
        double step = -over / slope;

        rate += step;
        if (!(step > 1e-9 * rate))
            break;
    }
    return rate;
}

double crawl_revisit_unanswered(const struct crawl_known *page)
{
    uint32_t last = page->histories ? page->history[page->histories - 1] : 0;

    return last & MISSED ? last & SECONDS : 0;
}

int64_t crawl_revisit_due(const struct crawl_settings *settings,
                          const struct crawl_known *page)
{
    double interval = (double)settings->revisit_every;
    double rate = settings->proportional ? crawl_revisit_rate(page) : -1;

    if (page->every)
        return page->last + page->every * 1000;
    if (rate > 0)
        interval = 1 / rate;
    if (interval < (double)settings->revisit_min)
        interval = (double)settings->revisit_min;
    if (interval > (double)settings->revisit_max)
        interval = (double)settings->revisit_max;
    return page->last + (int64_t)(interval * 1000);
}

double crawl_revisit_freshness(double rate, double interval)
{
    double x = rate * interval;

    return x > 0 ? -expm1(-x) / x : 1;
}
