/*
 * noise.h - is a difference more than the noise of its own runs?
 *
 * "Seven is best" and "A is faster than B" are conclusions from measurements
 * that would come out a little different next time. A noisy number knows how far
 * it may be off: from the spread of repeated runs, or, of a share that was
 * counted, from theory. Two of them differ if chance would make such a
 * difference in one case of a thousand, not more.
 *
 *     struct noisy a = noise_times(seconds[0], runs);
 *     struct noisy b = noise_times(seconds[1], runs);
 *
 *     if (noise_compare(&a, &b) < 0)
 *         section_text(s, "The first is faster.");
 *     else if (noise_equal(&a, &b, 0.1))
 *         section_text(s, "They differ by a tenth at most.");
 *     else
 *         section_text(s, "There is %s.", NO_DIFFERENCE);
 *
 * Runs that are compared should alternate, so that what disturbs the machine
 * for a while disturbs both.
 *
 * Threads: any number.
 */
#ifndef SEEN_LAB_NOISE_H
#define SEEN_LAB_NOISE_H

#include <stdbool.h>

#include "band.h"

#define NO_DIFFERENCE "no difference beyond the noise of these runs"

struct noisy {
    double value;
    double error;   /* the standard deviation of `value` */
    double degrees; /* of freedom: runs less one; INFINITY: known */
};

/* The mean of some runs. One run says nothing about its noise: then it
   differs from nothing. */
struct noisy noise_of(const double *run, unsigned runs);

/* The same of times, without the slowest of five, the two slowest of ten and
   so on: what disturbs a run makes it longer, never shorter. */
struct noisy noise_times(const double *run, unsigned runs);

/* A share counted in `trials` trials over `filters` filters, which deviate by
   `spread` each (theory_spread()). */
struct noisy noise_share(double share, double trials, double spread,
                         double filters);

/* -1 if a is less than b beyond the noise, 1 if it is more, else 0. A 0 does
   not say that they are equal: noise_equal() does. */
int noise_compare(const struct noisy *a, const struct noisy *b);

/* Where the true value lies, and how many times b's value a's is, of positive
   numbers: all values that chance alone cannot exclude. `high` is INFINITY if
   the runs set no limit. */
struct band noise_band(const struct noisy *a);
struct band noise_ratio(const struct noisy *a, const struct noisy *b);

/* The interval of a ratio as words: "1.20 to 1.35 times". */
enum { NOISE_WORDS = 64 };
const char *noise_words(char text[NOISE_WORDS], struct band ratio);

/* Is it shown that neither is more than 1 + margin times the other? Few or
   disturbed runs show neither a difference nor this. */
bool noise_equal(const struct noisy *a, const struct noisy *b, double margin);

/* The least of n numbers; *clear, unless NULL, says whether it is less than
   all others beyond the noise. */
unsigned noise_least(const struct noisy *e, unsigned n, bool *clear);

/* The same, and the first and the last of those that are not more than it
   beyond the noise: both are the least itself if it is clear. */
unsigned noise_near(const struct noisy *e, unsigned n, unsigned *first,
                    unsigned *last);

#endif
