/*
 * times.c - Tables 5.14 and 5.15: milliseconds a million URLs of collections.
 *
 * Texts are in memory before the clock starts, which is that of the
 * processor: others may use the machine, too. There is no theory to judge by:
 * machines, languages and fifteen years lie between.
 */
#include "thesis.h"

#include <math.h>

#include "collections.h"
#include "../published.h"
#include "corpus.h"

/* Milliseconds a million, of so many done since `begin`. */
static double per_million(double begin, double n)
{
    return (thesis_clock() - begin) * 1e9 / n;
}

struct collection {
    struct corpus in, out;
    size_t queries;        /* of the array */
    double add[2], ask[2]; /* the best so far, of array and set */
    size_t found;          /* so that nothing is optimised away */
};

static void measure_collections(void *of, unsigned run)
{
    struct collection *c = of;
    double n = (double)c->in.n, begin, t;

    for (int is_set = 0; is_set < 2; is_set++) {
        struct strings strings = { 0 };
        size_t queries = is_set ? c->out.n : c->queries;

        begin = thesis_clock();
        for (size_t i = 0; i < c->in.n; i++) {
            if (is_set)
                set_add(&strings, c->in.key[i].text, c->in.key[i].len);
            else
                array_add(&strings, c->in.key[i].text, c->in.key[i].len);
        }
        t = per_million(begin, n);
        c->add[is_set] = run ? fmin(t, c->add[is_set]) : t;
        begin = thesis_clock();
        for (size_t i = 0; i < queries; i++)
            c->found += is_set ? set_has(&strings, c->out.key[i].text,
                                         c->out.key[i].len)
                               : array_has(&strings, c->out.key[i].text,
                                           c->out.key[i].len);
        t = per_million(begin, (double)queries);
        c->ask[is_set] = run ? fmin(t, c->ask[is_set]) : t;
        strings_clear(&strings);
    }
}

void tables_5_14_5_15(struct lab *lab, struct sheet *s)
{
    const struct published *p = published("thesis-5.13-to-5.15-collections");
    static const char *const ours[] = { "array of strings",
                                        "hash set of strings" };
    struct collection c = { .queries = 100 };
    unsigned runs = lab_runs(lab, 3, 3, 10);
    uint64_t n;
    struct table *t;

    sheet_text(s, "How long it takes to add URLs to a list and to a hash set, "
                  "and to ask for as many that are not there. The thesis "
                  "finds the list fast to add to and useless to ask, with a "
                  "hundred questions timed and the rest calculated, and the "
                  "hash set faster than a Bloom filter.");
    n = thesis_n(lab, 100000, 1000000, 1000000);
    corpus_make(&c.in, URLS, lab->urls, 0, (size_t)n);
    corpus_make(&c.out, URLS, lab->urls, n, (size_t)n);
    lab_alone(lab, "an array and a hash set", runs, measure_collections, &c);
    if (c.found)
        lab_fail("a URL that was never added is in an array or a hash set");
    t = sheet_table(s, "tables-5.14-5.15",
                    "Tables 5.14 and 5.15: milliseconds a million URLs, best "
                    "of %u runs with %llu",
                    runs, (unsigned long long)n);
    table_columns(t, "published for", "measured of", "add, published",
                  "add, measured", "ask, published", "ask, measured", NULL);
    for (size_t i = 0; i < 2; i++) {
        table_text(t, "%s", published_text(p, i, 0));
        table_text(t, "%s", ours[i]);
        table_number(t, published_number(p, i, 2, NULL), 0);
        table_number(t, c.add[i], 0);
        table_number(t, published_number(p, i, 3, NULL), 0);
        table_number(t, c.ask[i], 0);
    }
    sheet_text(s,
               "A question to the array takes as long as %.0f to the set "
               "(published: %.0f), and the more the longer the array is; "
               "those of %llu questions that were not asked of it are "
               "calculated here, too. Our array copies each string, which "
               "Java's need not. What the set costs is memory: see "
               "table-5.13.",
               c.ask[0] / c.ask[1],
               published_number(p, 0, 3, NULL) /
                   published_number(p, 1, 3, NULL),
               (unsigned long long)n);
    corpus_clear(&c.in);
    corpus_clear(&c.out);
}
