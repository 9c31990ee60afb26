/*
 * freshest.c - rates on a grid, gains on a grid, and one price.
 *
 *     probability of rate g for a page   ~ prior[g] x its checks, given g
 *     gain of one more visit             = sum over g of that x gain[g][k]
 *                                          if it is visited every interval[k]
 *
 * The gain rises with the interval, so the interval for a price is found by
 * halving. Both grids are geometric. A check after t seconds counts 1 - e^(-λt)
 * if it found a change and e^(-λt) if not; logarithms of the first are looked
 * up by the logarithm of λt, in steps of 1/16 of that of the rates, so that a
 * page costs additions and no exponentials but RATES.
 */
#include "freshest.h"

#include <math.h>
#include <stdlib.h>

#include "../page/revisit.h"

enum {
    RATES = 48,
    INTERVALS = 64,
    STEPS = 16,  /* of the table, per step of the rates */
    LOGS = 2048, /* entries of the table */
    ROUNDS = 30, /* of learning */
    HALVINGS = 60
};

/* Rates from once in 30 years to once per minute. */
static const double slowest = 1e-9, fastest = 1.0 / 60;

struct crawl_freshest {
    double rate[RATES], prior[RATES];
    double interval[INTERVALS];
    double gain[RATES][INTERVALS];
    double log_ratio;        /* of one rate to the next */
    double logs[LOGS];       /* log(1 - e^(-x)), from the slowest rate and a
                                second on */
    double price;            /* 0: not known yet */
    float (*page)[RATES];    /* how likely the checks are, given a rate */
    size_t pages, room;
};

static void make_grids(struct crawl_freshest *f, double least, double most)
{
    f->log_ratio = log(fastest / slowest) / (RATES - 1);
    for (int g = 0; g < RATES; g++) {
        f->rate[g] = slowest * exp(g * f->log_ratio);
        f->prior[g] = 1.0 / RATES;
    }
    for (int k = 0; k < INTERVALS; k++)
        f->interval[k] = least * pow(most / least, k / (INTERVALS - 1.0));
    for (int g = 0; g < RATES; g++)
        for (int k = 0; k < INTERVALS; k++) {
            double x = f->rate[g] * f->interval[k];

            /* 1 - (1 + x) e^(-x), without losing digits where x is small */
            f->gain[g][k] = (x < 1e-3 ? x * x / 2 - x * x * x / 3
                                      : -expm1(-x) - x * exp(-x)) /
                            f->rate[g];
        }
    for (int i = 0; i < LOGS; i++)
        f->logs[i] = log(-expm1(-slowest * exp(i * f->log_ratio / STEPS)));
}

enum seen_code crawl_freshest_new(struct crawl_freshest **out, double least,
                                  double most, struct seen_error *why)
{
    struct crawl_freshest *f = calloc(1, sizeof *f);

    *out = f;
    if (!f)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a policy");
    make_grids(f, least, most > least ? most : least * 1.001);
    return SEEN_OK;
}

void crawl_freshest_free(struct crawl_freshest *f)
{
    if (f)
        free(f->page);
    free(f);
}

/* How likely its checks are, given each rate, as a share of the likeliest. */
static void find_likelihoods(const struct crawl_freshest *f,
                             const struct crawl_known *page,
                             float likely[RATES])
{
    double sum[RATES] = { 0 }, unchanged = 0, best = -HUGE_VAL;

    for (unsigned i = 0; i < page->histories; i++) {
        double seconds;
        bool changed;
        size_t at;

        if (!crawl_revisit_check(page, i, &seconds, &changed))
            continue;
        if (!changed) {
            unchanged += seconds;
            continue;
        }
        at = (size_t)(log(seconds) / f->log_ratio * STEPS + 0.5);
        for (int g = 0; g < RATES && at < LOGS; g++, at += STEPS)
            sum[g] += f->logs[at]; /* past its end a change is certain */
    }
    for (int g = 0; g < RATES; g++) {
        sum[g] -= f->rate[g] * unchanged;
        if (sum[g] > best)
            best = sum[g];
    }
    for (int g = 0; g < RATES; g++)
        likely[g] = (float)exp(sum[g] - best);
}

/* What is probable, given what was before and the page's checks. */
static void find_posterior(const struct crawl_freshest *f,
                           const float likely[RATES], double posterior[RATES])
{
    double sum = 0;

    for (int g = 0; g < RATES; g++)
        sum += posterior[g] = f->prior[g] * likely[g];
    for (int g = 0; g < RATES; g++)
        posterior[g] = sum > 0 ? posterior[g] / sum : f->prior[g];
}

/* The gain of one more visit, for each interval. */
static void find_gains(const struct crawl_freshest *f,
                       const double posterior[RATES], double gains[INTERVALS])
{
    for (int k = 0; k < INTERVALS; k++)
        gains[k] = 0;
    for (int g = 0; g < RATES; g++)
        for (int k = 0; k < INTERVALS; k++)
            gains[k] += posterior[g] * f->gain[g][k];
}

/* The interval at which one more visit gains as much as it costs. */
static double interval_at(const struct crawl_freshest *f, double price,
                          const double gains[INTERVALS])
{
    int low = 0, high = INTERVALS - 1;
    double share;

    if (gains[low] >= price)
        return f->interval[low];
    if (gains[high] <= price)
        return f->interval[high];
    while (high - low > 1) {
        int middle = (low + high) / 2;

        if (gains[middle] < price)
            low = middle;
        else
            high = middle;
    }
    share = (price - gains[low]) / (gains[high] - gains[low]);
    return f->interval[low] * pow(f->interval[high] / f->interval[low], share);
}

enum seen_code crawl_freshest_note(struct crawl_freshest *f,
                                   const struct crawl_known *page,
                                   struct seen_error *why)
{
    float(*more)[RATES];

    if (f->pages == FRESHEST_SAMPLE)
        return SEEN_OK;
    if (f->pages == f->room) {
        size_t room = f->room ? 2 * f->room : 64;

        more = realloc(f->page, room * sizeof *more);
        if (!more)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for a policy");
        f->page = more;
        f->room = room;
    }
    find_likelihoods(f, page, f->page[f->pages++]);
    return SEEN_OK;
}

/* The prior under which the checks of all pages are likeliest. One page's
   worth is spread evenly, so that no rate becomes impossible. */
static void learn(struct crawl_freshest *f)
{
    for (int round = 0; round < ROUNDS; round++) {
        double sum[RATES], posterior[RATES];

        for (int g = 0; g < RATES; g++)
            sum[g] = 1.0 / RATES;
        for (size_t i = 0; i < f->pages; i++) {
            find_posterior(f, f->page[i], posterior);
            for (int g = 0; g < RATES; g++)
                sum[g] += posterior[g];
        }
        for (int g = 0; g < RATES; g++)
            f->prior[g] = sum[g] / ((double)f->pages + 1);
    }
}

/* The lowest price at which the visits are within the budget. */
static void find_price(struct crawl_freshest *f,
                       const double (*gains)[INTERVALS], double weight,
                       double budget)
{
    double low = 0, high = 0;

    for (size_t i = 0; i < f->pages; i++)
        if (gains[i][INTERVALS - 1] > high)
            high = gains[i][INTERVALS - 1];
    for (int round = 0; round < HALVINGS; round++) {
        double price = (low + high) / 2, visits = 0;

        for (size_t i = 0; i < f->pages; i++)
            visits += weight / interval_at(f, price, gains[i]);
        if (visits > budget)
            low = price;
        else
            high = price;
    }
    f->price = high;
}

void crawl_freshest_settle(struct crawl_freshest *f, double pages,
                           double budget)
{
    const struct crawl_known unknown = { .id = 0 };
    double(*gains)[INTERVALS];

    if (!f->pages)
        crawl_freshest_note(f, &unknown, NULL);
    gains = malloc((f->pages + 1) * sizeof *gains);
    if (gains && f->pages) {
        learn(f);
        for (size_t i = 0; i < f->pages; i++) {
            double posterior[RATES];

            find_posterior(f, f->page[i], posterior);
            find_gains(f, posterior, gains[i]);
        }
        find_price(f, (const double(*)[INTERVALS])gains,
                   pages / (double)f->pages, budget);
    }
    free(gains); /* without memory the price stays as it is */
    free(f->page);
    f->page = NULL;
    f->pages = f->room = 0;
}

double crawl_freshest_interval(const struct crawl_freshest *f,
                               const struct crawl_known *page)
{
    double posterior[RATES], gains[INTERVALS];
    float likely[RATES];

    find_likelihoods(f, page, likely);
    find_posterior(f, likely, posterior);
    find_gains(f, posterior, gains);
    return interval_at(f, f->price, gains);
}
