/*
 * rates.h - how fast numbers grow, from the differences between looks.
 *
 *     rate = watch_rate(rates, "visit", crawl, name, pages, now);
 *     ...
 *     watch_rates_turn(rates);                    after each look
 *
 * A number is remembered for a minute, every four seconds. One that became
 * smaller begins anew, one that was not named in a look is forgotten.
 *
 * Threads: belongs to one thread.
 */
#ifndef SEEN_SERVE_WATCH_RATES_H
#define SEEN_SERVE_WATCH_RATES_H

#include <stdint.h>

struct watch_rates;

struct watch_rates *watch_rates_new(void);
void watch_rates_free(struct watch_rates *r);

/* How much the number grew per second lately; -1: not known yet. `now` is in
   ms. */
double watch_rate(struct watch_rates *r, const char *kind, const char *crawl,
                  const char *name, int64_t number, uint64_t now);

/* A look ends. */
void watch_rates_turn(struct watch_rates *r);

#endif
