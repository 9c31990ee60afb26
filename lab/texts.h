/*
 * texts.h - URLs in memory, for what is timed or cut into pieces.
 *
 * To make a URL up takes about as long as to ask a filter for it, so those
 * that are timed are made before.
 *
 *     struct texts t;
 *
 *     texts_init(&t, lab->urls, n, 100000);
 *     seconds = texts_ask(&t, f, 1);
 *     texts_clear(&t);
 *
 * Threads: any number may read.
 */
#ifndef SEEN_LAB_TEXTS_H
#define SEEN_LAB_TEXTS_H

#include "lab.h"
#include "urls.h"

struct texts {
    char *text;
    uint64_t *end; /* of URL i; it begins where the one before ends */
    size_t n;
};

/* URLs [from, from + n). What cannot be had for lack of memory ends the
   lab. */
void texts_init(struct texts *t, const struct urls *urls, uint64_t from,
                size_t n);
void texts_clear(struct texts *t);

const char *texts_get(const struct texts *t, size_t i, size_t *len);

/*
 * The seconds that a URL takes, from its text to the answer or into the
 * filter, when they are handed over in batches of so many, 256 at most: 1
 * waits for each answer. The fastest of three rounds of questions; adding
 * can be done once only.
 */
double texts_ask(const struct texts *t, const struct seen_filter *f,
                 size_t batch);
double texts_add(const struct texts *t, struct seen_filter *f, size_t batch);

/*
 * How many URLs an experiment takes that asks for `times` as many in all: n,
 * or what the user's list has room for, which the sheet is told. Too few for
 * it, less than `least`, end the lab.
 */
uint64_t texts_enough(const struct lab *lab, struct sheet *s, uint64_t n,
                      double times, uint64_t least);

/* The same for URLs that the experiment makes itself. */
void texts_must(uint64_t n, uint64_t least);

#endif
