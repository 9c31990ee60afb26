/*
 * spectral.h - the experiments on the notes on spectral Bloom filters.
 *
 * The notes have claims but no numbers, so their words stand beside our
 * measurements (data/spectral-notes.tsv), and theory is what follows from
 * their formula.
 *
 * Threads: a stream belongs to one.
 */
#ifndef SEEN_LAB_SPECTRAL_H
#define SEEN_LAB_SPECTRAL_H

#include "../lab.h"
#include "../corpus.h"

void spectral_equal(struct lab *lab, struct section *s);
void spectral_remove(struct lab *lab, struct section *s);
void spectral_overflow(struct lab *lab, struct section *s);
void spectral_counts(struct lab *lab, struct section *s);
void spectral_pays(struct lab *lab, struct section *s);

/* What the notes say, word for word. */
const char *notes_say(const char *name);

/* How many are seen, and which, unless `marks` is NULL. */
uint64_t keys_ask(const struct seen_filter *f, const struct seen_key *key,
                  uint64_t n, bool *marks);
void keys_add(struct seen_filter *f, const struct seen_key *key, uint64_t n);
void keys_remove(struct seen_filter *f, const struct seen_key *key,
                 uint64_t n);

/* A filter of `cells` bits or counters that is never full. */
struct seen_filter *keys_filter(const char *kind, uint64_t n, uint64_t cells,
                                unsigned width, unsigned probes,
                                uint64_t seed);

/* A row of a table of "of" and COMPARED: something that must not occur. */
void notes_none(struct table *t, const char *of, double measured);

/* The best number of probes for these cells per URL: the notes' formula. */
unsigned notes_probes(double cells_a_url);

/* --- streams: URLs that come again --- */

/* URL number i of n comes with a chance proportional to 1/(i+1)^exponent; 0:
   all alike. */
struct zipf {
    uint64_t n;
    struct corpus urls;
    uint64_t *count; /* how often each came so far */
    double *upto;    /* sum of the chances up to each; NULL: all alike */
    uint64_t state;
};
void zipf_init(struct zipf *s, const struct lab *lab, uint64_t from,
               uint64_t n, double exponent, uint64_t seed);
void zipf_clear(struct zipf *s);
/* The next `draws` URLs into each of the filters. */
void zipf_into(struct zipf *s, struct seen_filter *const *f, unsigned filters,
               uint64_t draws);

/*
 * Theory of one counter, if every key is added to k of m counters as often as
 * it came: at_least[t] is the chance that it has t or more, for t up to `top`.
 */
void zipf_tail(const uint64_t *count, uint64_t n, double m, double k,
               uint64_t top, double *at_least);

/*
 * The variance, given the counts of the URLs, of the number of counters that
 * have `top` or more; and of the number of URLs all of whose counters are
 * stuck at `top`, among all of the stream. `tail` is from zipf_tail().
 */
double vary_stuck(const struct zipf *s, double m, double k, uint64_t top,
                  const double *tail);
double vary_found(const struct zipf *s, double m, double k, uint64_t top,
                  const double *tail);

#endif
