/*
 * texts.h - texts and their keys in memory, for what is timed or used twice.
 *
 * Making up a URL takes about as long as asking a filter for it, so URLs that
 * are timed are made before.
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
    struct seen_key *key; /* of each text, which lies in `memory` */
    size_t n;
    char *memory;
    size_t bytes; /* of all texts */
};

/* Write text number i, of at most URL_MOST bytes, and return its length. */
typedef size_t texts_writer(const void *of, uint64_t i, char *to);

/* URLs [from, from + n), or what `write` writes for these numbers. Running
   out of memory ends the experiment. */
void texts_init(struct texts *t, const struct urls *urls, uint64_t from,
                size_t n);
void texts_write(struct texts *t, texts_writer *write, const void *of,
                 uint64_t from, size_t n);
void texts_clear(struct texts *t);

/*
 * Seconds per text, from the text to the answer or into the filter, in
 * batches of up to 256: a batch of 1 waits for each answer. The fastest of
 * three rounds of lookups; adding can be done only once.
 */
double texts_ask(const struct texts *t, const struct seen_filter *f,
                 size_t batch);
double texts_add(const struct texts *t, struct seen_filter *f, size_t batch);

/*
 * How many URLs an experiment gets that needs `times` as many in all: n, or
 * what the user's list has room for, which section `s` then says. Fewer than
 * `least` end the experiment.
 */
uint64_t texts_enough(const struct lab *lab, struct sheet *s, uint64_t n,
                      double times, uint64_t least);

/* The same for URLs that the experiment writes itself. */
void texts_must(uint64_t n, uint64_t least);

#endif
