/*
 * freshness.c - how many stored copies are expected to be current.
 *
 * A page that changes at the rate r and was looked at t seconds ago is still the
 * same with the probability e^(-rt). The sum over all pages is the number that
 * the report gives (Cho and Garcia-Molina, 2000).
 */
#include "freshness.h"

#include <math.h>

#include "../page/revisit.h"

void crawl_freshness_add(struct crawl_freshness *f,
                         const struct crawl_known *page, int64_t now)
{
    double rate = crawl_revisit_rate(page);
    double age = (double)(now - page->last) / 1000, rest = 0;

    if (rate < 0) {
        f->unknown++;
        return;
    }
    /* The clock went backwards, or it is that of a simulation. */
    if (age < 0)
        age = 0;
    age += crawl_revisit_unanswered(page);
    if (page->due > now && page->due != INT64_MAX)
        rest = (double)(page->due - now) / 1000;
    f->pages++;
    f->now += exp(-rate * age);
    f->later += exp(-rate * age) * crawl_revisit_freshness(rate, rest);
    f->age += age;
}

static double mean(const struct crawl_freshness *f, double sum)
{
    return f->pages ? sum / (double)f->pages : -1;
}

double crawl_freshness_now(const struct crawl_freshness *f)
{
    return mean(f, f->now);
}

double crawl_freshness_later(const struct crawl_freshness *f)
{
    return mean(f, f->later);
}

double crawl_freshness_stale(const struct crawl_freshness *f)
{
    return (double)f->pages - f->now;
}

double crawl_freshness_age(const struct crawl_freshness *f)
{
    return mean(f, f->age);
}
