/*
 * freshest.h - a budget of requests, spent where it keeps most copies current.
 *
 *     code = crawl_freshest_new(&f, least, most, &why);
 *     crawl_freshest_note(f, page);            each known page, or a sample
 *     crawl_freshest_settle(f, pages, budget); how many pages there are
 *     page.due = page.last + 1000 * crawl_freshest_interval(f, page);
 *
 * A page that changes at the rate λ and is visited f times per second has the
 * freshness F(λ, f) = f/λ (1 - e^(-λ/f)). The sum of all is largest, for a
 * given sum of the f, where one more visit gains the same everywhere:
 *
 *     dF/df = (1 - (1 + λ/f) e^(-λ/f)) / λ  =  μ      or f = 0 if 1/λ <= μ
 *
 * (Cho and Garcia-Molina, TODS 28(4), 2003; Azar and others, Tractable near-
 * optimal policies for crawling, PNAS 115(32), 2018). μ is the price of a
 * visit: the lower it is, the more are made. Pages that change faster than a
 * visit is worth are hardly visited, which neither uniform nor proportional
 * visits do.
 *
 * The rates are not known. Instead of one estimate per page, which would be 0
 * for a page that was never seen to change, there is the probability of each
 * of RATES rates given the page's checks, and the gain is the mean over them.
 * What is probable before any check is learned from all pages (empirical
 * Bayes, by expectation maximisation). So a page with few checks is taken for
 * one like the others.
 *
 * No page is visited more often than every `least` seconds, nor less often
 * than every `most`: those visits are paid from the budget first.
 *
 * Cost: some microseconds per page; crawl_freshest_settle() some 3 per page
 * that was noted, of which FRESHEST_SAMPLE are enough.
 *
 * Threads: belongs to one thread.
 */
#ifndef SEEN_CRAWL_FRESHEST_H
#define SEEN_CRAWL_FRESHEST_H

#include "state.h"

struct crawl_freshest;

enum { FRESHEST_SAMPLE = 20000 };

/* Intervals from `least` to `most` seconds; SEEN_NOMEM. */
enum seen_code crawl_freshest_new(struct crawl_freshest **out, double least,
                                  double most, struct seen_error *why);
void crawl_freshest_free(struct crawl_freshest *f);

/* The page is one of those that the price is found for. Those beyond
   FRESHEST_SAMPLE are ignored; SEEN_NOMEM. */
enum seen_code crawl_freshest_note(struct crawl_freshest *f,
                                   const struct crawl_known *page,
                                   struct seen_error *why);

/* All have been noted, of `pages` that there are: learn what rates they have,
   find the price for a budget in requests per second, and forget the pages. To
   be called before the first interval is asked for, with whatever is known,
   and again when that has changed. */
void crawl_freshest_settle(struct crawl_freshest *f, double pages,
                           double budget);

/* Seconds until the next visit of a page that was just visited. */
double crawl_freshest_interval(const struct crawl_freshest *f,
                               const struct crawl_known *page);

#endif
