/*
 * revisit.h - how often a page changes, and when to look again.
 *
 * Changes are taken for a Poisson process of rate λ per page. A visit after
 * the time t finds a change with probability 1 - e^(-λt), and not how many
 * there were. From checks after t1 .. tn, of which some found a change, the
 * likelihood is largest where
 *
 *     sum over changed of t / (e^(λt) - 1)  =  sum over unchanged of t
 *
 * J. Cho, H. Garcia-Molina: Estimating frequency of change. ACM Transactions on
 * Internet Technology 3(3), 2003: the estimator for irregular accesses where
 * only the existence of a change is known. For equal intervals it is
 * -log((n - X) / n) / t, which is biased and infinite if all checks found a
 * change; their better estimator -log((n - X + 0.5) / (n + 0.5)) / t counts
 * half a check more without a change. We do the same with the mean interval.
 *
 * The left side is convex in λ and falls, and x / (e^x - 1) >= 1 - x/2. So
 *
 *     λ0 = changes / (sum over unchanged of t + half the sum over changed)
 *
 * is not above the solution, and Newton's method climbs from there to it
 * without ever passing it.
 *
 * A request without an answer is not a check: its time becomes part of the
 * interval of the next one.
 *
 * A page that is visited every I has the freshness (1 - e^(-λI)) / (λI): the
 * share of time in which our copy is the current one.
 *
 * Uniform visits ask for all pages at the same interval, proportional ones at
 * 1/λ: pages that change twice as often are asked for twice as often. At the
 * same number of requests uniform visits keep more pages fresh (Cho and
 * Garcia-Molina: Effective page refresh policies for web crawlers. ACM
 * Transactions on Database Systems 28(4), 2003), since proportional ones spend
 * most on pages that change too fast to be kept up with; proportional ones see
 * more of the changes.
 *
 * The last 32 checks of a page are kept, in 4 bytes each:
 *
 *     31        30          29                        0
 *     changed   no answer   seconds since the one before
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_CRAWL_REVISIT_H
#define SEEN_CRAWL_REVISIT_H

#include "known.h"
#include "settings.h"

/* The page was looked at: it had changed, or not. */
void crawl_revisit_note(struct crawl_known *page, int64_t now, bool changed);

/* It was asked for, and there was no answer. */
void crawl_revisit_miss(struct crawl_known *page, int64_t now);

/* Check i of the history: after how many seconds, and whether the page had
   changed. False: there was no answer, and the time is part of the next
   check's. */
bool crawl_revisit_check(const struct crawl_known *page, unsigned i,
                         double *seconds, bool *changed);

/* Changes per second, estimated; -1 if nothing is known. */
double crawl_revisit_rate(const struct crawl_known *page);

/* Seconds from the last check to the last request, if that got no answer;
   else 0. */
double crawl_revisit_unanswered(const struct crawl_known *page);

/* When the page is due again, in Unix ms: as a template says, or by the
   policy. */
int64_t crawl_revisit_due(const struct crawl_settings *settings,
                          const struct crawl_known *page);

/* The freshness of a page with this rate that is visited every `interval`
   seconds: the share of that time in which our copy is the current one. */
double crawl_revisit_freshness(double rate, double interval);

#endif
