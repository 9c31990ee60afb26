/*
 * times.c - Tables 5.14 and 5.15: milliseconds per million URLs of
 * collections.
 *
 * Texts are in memory before the clock starts, and room for all of them is
 * made, as a filter's is. The clock is that of the processor: others may use
 * the machine, too. Times are not judged: machine and language differ from
 * those of the thesis.
 */
#include "thesis.h"

#include <math.h>
#include <stdlib.h>

#include "../exact.h"
#include "../noise.h"
#include "../paper_table.h"
#include "../corpus.h"
#include "grid.h"

enum { ARRAY, SET, FILTER, COLLECTIONS };

/* Questions that an array is asked, as in the thesis. */
enum { FEW = 100 };

static const struct thesis_shape filter = { 3,
                                            2.0 }; /* its first with M = 2.0 */

struct collections {
    struct corpus in, out;
    double add[COLLECTIONS], ask[COLLECTIONS]; /* the best so far */
    double *adds[COLLECTIONS], *asks[COLLECTIONS]; /* of every run */
    unsigned run;
    size_t found; /* of what was never added */
};

/* Milliseconds per million, of n done since `begin`. */
static void note(double *best, double *run, double begin, size_t n)
{
    *run = (lab_cpu_clock() - begin) * 1e9 / (double)n;
    *best = *best > 0 ? fmin(*best, *run) : *run;
}

static void time_strings(struct collections *c, int which)
{
    const struct seen_key *in = c->in.key, *out = c->out.key;
    size_t queries = which == ARRAY ? FEW : c->out.n;
    struct exact e = { .way = which == SET ? HASHED : LINEAR };
    double begin;

    exact_reserve(&e, c->in.n, c->in.bytes);
    begin = lab_cpu_clock();
    for (size_t i = 0; i < c->in.n; i++)
        exact_add(&e, in[i].text, in[i].len);
    note(&c->add[which], &c->adds[which][c->run], begin, c->in.n);
    begin = lab_cpu_clock();
    for (size_t i = 0; i < queries; i++)
        c->found += exact_has(&e, out[i].text, out[i].len);
    note(&c->ask[which], &c->asks[which][c->run], begin, queries);
    exact_clear(&e);
}

/* The library's own, from texts to answers. */
static void time_filter(struct collections *c)
{
    struct seen_plan plan = { .kind = "bloom",
                              .capacity = c->in.n,
                              .probes = filter.k,
                              .multiplier = filter.M,
                              .over = true };
    struct seen_filter *f = lab_filter(&plan);
    bool *answer = lab_memory(c->in.n, sizeof *answer);
    struct seen_error why;
    double begin = lab_cpu_clock();

    for (size_t i = 0; i < c->in.n; i++)
        seen_key_hash(&c->in.key[i], c->in.key[i].text, c->in.key[i].len);
    lab_must(seen_filter_add(f, c->in.key, c->in.n, NULL, &why), &why);
    note(&c->add[FILTER], &c->adds[FILTER][c->run], begin, c->in.n);
    begin = lab_cpu_clock();
    for (size_t i = 0; i < c->out.n; i++)
        seen_key_hash(&c->out.key[i], c->out.key[i].text, c->out.key[i].len);
    lab_must(seen_filter_has(f, c->out.key, c->out.n, answer, &why), &why);
    note(&c->ask[FILTER], &c->asks[FILTER][c->run], begin, c->out.n);
    free(answer);
    seen_filter_free(f);
}

static void time_all(void *of, unsigned run)
{
    ((struct collections *)of)->run = run;
    time_strings(of, ARRAY);
    time_strings(of, SET);
    time_filter(of);
}

static double their_filter(const char *table)
{
    struct grid g;
    double t;

    grid_read(&g, table);
    t = grid_published(&g, grid_find(&g, filter.k, filter.M), NULL);
    grid_clear(&g);
    return t;
}

/* What the comparison of filter and set says, if it says anything. */
static const char *verdict(const struct collections *c, unsigned runs)
{
    int less[2];

    for (int asking = 0; asking < 2; asking++) {
        double *const *t = asking ? c->asks : c->adds;
        struct noisy filter_is = noise_times(t[FILTER], runs);
        struct noisy set_is = noise_times(t[SET], runs);

        less[asking] = noise_compare(&filter_is, &set_is);
    }
    if (less[0] < 0 && less[1] < 0)
        return "Our filter hashes a URL once, as a hash set does, and takes "
               "less memory to read: that filters are slower is not a law.";
    if (!less[0] || !less[1])
        return "In at least one of the two there is " NO_DIFFERENCE ".";
    return "Our filter hashes a URL once, as a hash set does: what is left of "
           "the difference is not hashing.";
}

static void conclude(struct section *s, const struct collections *c,
                     unsigned runs, const double add[COLLECTIONS],
                     const double ask[COLLECTIONS])
{
    section_text(
        s,
        "A lookup in the array takes as long as %.0f lookups in the set "
        "(published: %.0f), and longer for longer arrays; %d lookups were "
        "timed here as well, and the rest calculated. Our array copies each "
        "string, which Java's need not; array and set have room for all from "
        "the beginning, as a filter has, where Java's grow.",
        c->ask[ARRAY] / c->ask[SET], ask[ARRAY] / ask[SET], FEW);
    section_text(
        s,
        "In the thesis a filter took %.1f times as long as a hash set to ask, "
        "and %.1f times to add to; ours takes %.2f and %.2f times as long. %s",
        ask[FILTER] / ask[SET], add[FILTER] / add[SET],
        c->ask[FILTER] / c->ask[SET], c->add[FILTER] / c->add[SET],
        verdict(c, runs));
}

static void write_all(struct section *s, const struct collections *c,
                      unsigned runs)
{
    static const char *const theirs[] = { "ArrayList", "HashSet",
                                          "Bloom filter" };
    static const char *const ours[] = { "array of strings",
                                        "hash set of strings", "bloom" };
    const struct paper_table *p = paper_table(
        "thesis-5.13-to-5.15-collections");
    double add[COLLECTIONS], ask[COLLECTIONS];
    struct table *t;

    for (int i = ARRAY; i <= SET; i++) {
        size_t row = paper_row(p, theirs[i]);

        add[i] = paper_number(p, row, 2, NULL);
        ask[i] = paper_number(p, row, 3, NULL);
    }
    add[FILTER] = their_filter("thesis-A.4-add-time-1-filters");
    ask[FILTER] = their_filter("thesis-A.1-query-time-1-filters");
    t = section_table(
        s, "tables-5.14-5.15",
        "Tables 5.14 and 5.15: milliseconds per million URLs, best "
        "of %u tries with %s; filters have k = %u, M = %.1f",
        runs, lab_count((double)c->in.n), filter.k, filter.M);
    table_columns(t, "published for", "measured of", "add, published",
                  "add, measured", "ask, published", "ask, measured", NULL);
    for (int i = 0; i < COLLECTIONS; i++) {
        table_text(t, "%s", theirs[i]);
        table_text(t, "%s", ours[i]);
        table_number(t, add[i], 0);
        table_number(t, c->add[i], 0);
        table_number(t, ask[i], 0);
        table_number(t, c->ask[i], 0);
    }
    conclude(s, c, runs, add, ask);
}

void tables_5_14_5_15(struct lab *lab, struct section *s)
{
    struct collections c = { .found = 0 };
    unsigned runs = lab_runs(lab, 5, 5, 10);
    uint64_t n = thesis_n(lab, 100000, 1000000, 1000000);

    section_text(
        s, "How long it takes to add URLs to a list and to a hash set, "
           "and to ask for as many that are not there. The thesis "
           "finds the list fast to add to and useless for lookups, with a "
           "hundred questions timed and the rest calculated, and the "
           "hash set faster than a Bloom filter.");
    corpus_init(&c.in, lab->urls, 0, (size_t)n);
    corpus_init(&c.out, lab->urls, n, (size_t)n);
    for (int i = 0; i < COLLECTIONS; i++) {
        c.adds[i] = lab_memory(runs, sizeof *c.adds[i]);
        c.asks[i] = lab_memory(runs, sizeof *c.asks[i]);
    }
    lab_alone(lab, "an array and a hash set", runs, time_all, &c);
    if (c.found)
        lab_fail("a URL that was never added is in an array or a hash set");
    write_all(s, &c, runs);
    for (int i = 0; i < COLLECTIONS; i++) {
        free(c.adds[i]);
        free(c.asks[i]);
    }
    corpus_clear(&c.in);
    corpus_clear(&c.out);
}
