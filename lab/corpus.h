/*
 * corpus.h - texts and their keys in memory, for what is timed or used twice.
 *
 * Making up a URL takes about as long as asking a filter for it, so URLs that
 * are timed are made before.
 *
 *     struct corpus t;
 *
 *     corpus_init(&t, lab->urls, n, 100000);
 *     seconds = corpus_ask(&t, f, 1);
 *     corpus_clear(&t);
 *
 * Threads: any number may read.
 */
#ifndef SEEN_LAB_CORPUS_H
#define SEEN_LAB_CORPUS_H

#include "lab.h"
#include "urls.h"

struct corpus {
    struct seen_key *key; /* of each text, which lies in `memory` */
    size_t n;
    char *memory;
    size_t bytes; /* of all texts */
};

/* Write text number i, of at most URL_MOST bytes, and return its length. */
typedef size_t corpus_writer(const void *of, uint64_t i, char *to);

/* URLs [from, from + n), or what `write` writes for these numbers. Running
   out of memory ends the experiment. */
void corpus_init(struct corpus *t, const struct urls *urls, uint64_t from,
                 size_t n);
void corpus_write(struct corpus *t, corpus_writer *write, const void *of,
                  uint64_t from, size_t n);
void corpus_clear(struct corpus *t);

/*
 * Seconds per text, from the text to the answer or into the filter, in
 * batches of up to 256: a batch of 1 waits for each answer. The fastest of
 * three rounds of lookups; adding can be done only once.
 */
double corpus_ask(const struct corpus *t, const struct seen_filter *f,
                  size_t batch);
double corpus_add(const struct corpus *t, struct seen_filter *f, size_t batch);

/*
 * How many URLs an experiment gets that needs `times` as many in all: n, or
 * what the user's list has room for, which section `s` then says. Fewer than
 * `least` end the experiment.
 */
uint64_t corpus_enough(const struct lab *lab, struct section *s, uint64_t n,
                       double times, uint64_t least);

/* The same for URLs that the experiment writes itself. */
void corpus_must(uint64_t n, uint64_t least);

#endif
