/*
 * trial.h - how many URLs do the Bloom filters of the thesis lose?
 *
 * The thesis measures filters with k probes and m = n k M bits, for many k and
 * M, in two ways (its section 5.2), alone and several at once:
 *
 *     full     n URLs are added, n others are asked for
 *     crawl    each of n URLs is asked for, then added
 *
 * A URL is lost to filters 0..f if all of them, each with its own seed, call
 * it seen though it was not added. Filters asked at the same time are the
 * spatial strategy, filters of successive visits the temporal one; the count
 * is the same.
 *
 *     struct trial t = { .what = "one filter", .cell = cell, .cells = 48,
 *                        .filters = 1, .n = n, .runs = 100 };
 *
 *     trial_run(lab, &t);
 *     ... trial_share(&t, 0, 1) ...
 *     trial_clear(&t);
 *
 * Threads: one; the runs are spread over those of the lab.
 */
#ifndef SEEN_LAB_THESIS_TRIAL_H
#define SEEN_LAB_THESIS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../band.h"
#include "../lab.h"

struct thesis_shape {
    unsigned k;
    double M; /* m = n k M */
};

struct trial {
    const char *what; /* for the progress line */
    const struct thesis_shape *cell;
    size_t cells;
    unsigned filters;
    bool crawl;
    bool shuffled;    /* a crawl in another order with each filter */
    unsigned buckets; /* of the curve of a crawl */
    uint64_t n;
    unsigned runs;

    uint64_t *lost;  /* of all runs, by cell and last filter */
    uint64_t *curve; /* the same, by when it was asked for */
};

void trial_run(struct lab *lab, struct trial *t);
void trial_clear(struct trial *t);

/* The share of URLs that all of the first `filters` called seen. */
double trial_share(const struct trial *t, size_t cell, unsigned filters);
/* The same of those that were asked for in bucket b of a crawl. */
double trial_curve(const struct trial *t, size_t cell, unsigned filters,
                   unsigned b);

/* A share measured in `trials` trials, in percent, with the band around what
   it should be (see band_share()); nothing was published. */
struct finding finding_of_share(double should_be, double measured,
                                double trials, double spread, double filters);

/* The same where theory is an upper limit: at most `planned`. */
struct finding finding_of_promise(double planned, double measured,
                                  double trials, double spread,
                                  double filters);

/* What it should be. */
double trial_theory(const struct trial *t, size_t cell, unsigned filters);
/* The same with as many URLs as the thesis had. */
double trial_their_theory(const struct trial *t, size_t cell,
                          unsigned filters);
/* The same as a finding in percent, with bands for us and for the hundred
   runs of the thesis. `published` is in percent, or NAN. */
void trial_finding(const struct trial *t, size_t cell, unsigned filters,
                   double published, double step, struct finding *f);

/* Where `runs` runs of n URLs each should lie. */
struct band trial_band(const struct trial *t, double n, double runs,
                       size_t cell, unsigned filters);

/* Bits of a filter, as the library rounds them. */
uint64_t shape_bits(const struct thesis_shape *c, uint64_t n);

/*
 * The relative increase of the rate due to 2^32 hash values not falling evenly
 * on m cells: some cells get one value more than others.
 */
double narrow_bias(uint64_t n, uint64_t m, unsigned k);

#endif
