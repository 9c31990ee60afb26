/*
 * memory.c - Tables 5.10 to 5.13: how many kilobytes a cache of URLs takes.
 *
 * A filter of m bits takes m / 8 bytes. The thesis measured what a Java
 * object holds, with all that it refers to, in kilobytes of 1,024 bytes.
 */
#include "thesis.h"

#include <stdio.h>
#include <stdlib.h>

#include "../exact.h"
#include "../paper_table.h"
#include "../corpus.h"
#include "grid.h"

static const double kilobyte = 1024;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* What the objects of the thesis use beyond their bits: the median, which a
   single misprint does not change. */
static double overhead(const struct grid *g, unsigned filters)
{
    double *more = lab_memory(g->cells, sizeof *more), middle;

    for (size_t i = 0; i < g->cells; i++)
        more[i] = grid_published(g, i, NULL) - filters * thesis_says("urls") *
                                                   g->cell[i].k *
                                                   g->cell[i].M / 8 / kilobyte;
    qsort(more, g->cells, sizeof *more, by_value);
    middle = more[g->cells / 2];
    free(more);
    return middle;
}

static double our_bytes(const struct thesis_shape *c, unsigned filters)
{
    struct seen_plan plan = { .kind = "bloom:jenkins",
                              .capacity = (uint64_t)thesis_says("urls"),
                              .probes = c->k,
                              .multiplier = c->M };
    struct seen_filter *f;
    double bytes;

    if (filters > 1)
        snprintf(plan.kind, sizeof plan.kind, "spatial:%u/bloom:jenkins",
                 filters);
    f = lab_filter(&plan);
    bytes = (double)seen_filter_bytes(f);
    seen_filter_free(f);
    return bytes;
}

struct misprint {
    size_t count, cell;
    double rule; /* what that cell should be */
};

/* One table. Our bytes are whole lines of 64; their rule is known to a
   kilobyte, since they rounded and so does the median. */
static void one_table(struct section *s, const struct grid *g,
                      unsigned filters, struct misprint *odd)
{
    double more = overhead(g, filters);
    char name[32];
    struct table *t;

    snprintf(name, sizeof name, "table-5.%u", 9 + filters);
    t = section_table(s, name, "Table 5.%u: %u filter%s, in kilobytes",
                      9 + filters, filters, filters > 1 ? "s" : "");
    table_columns(t, "k", "M", COMPARED, NULL);
    for (size_t i = 0; i < g->cells; i++) {
        double bytes = filters * thesis_says("urls") * g->cell[i].k *
                       g->cell[i].M / 8;
        struct finding f = { .theory = bytes / kilobyte,
                             .measured = our_bytes(&g->cell[i], filters) /
                                         kilobyte,
                             .low = (bytes - 1) / kilobyte,
                             .high = (bytes + 64 * filters) / kilobyte,
                             .their_low = bytes / kilobyte + more - 1,
                             .their_high = bytes / kilobyte + more + 1,
                             .digits = 1 };

        f.published = grid_published(g, i, &f.step);
        table_number(t, g->cell[i].k, 0);
        table_number(t, g->cell[i].M, 1);
        table_finding(t, &f);
        if (finding_published(&f) == DIFFERS) {
            odd->count++;
            odd->cell = i;
            odd->rule = bytes / kilobyte + more;
        }
    }
    section_text(s,
                 "The objects of the thesis use %.0f kB beyond the bits of %u "
                 "filter%s, for every k and M.",
                 more, filters, filters > 1 ? "s" : "");
}

void tables_5_10_5_12(struct lab *lab, struct section *s)
{
    static const char *const name[] = { "thesis-5.10-memory-1-filters",
                                        "thesis-5.11-memory-2-filters",
                                        "thesis-5.12-memory-3-filters" };
    struct misprint odd = { 0 };
    struct grid g[3];
    size_t i;

    (void)lab;
    section_text(
        s,
        "The memory of filters for %s URLs. The thesis finds that it grows "
        "with k, with M and with the number of filters, as its rule m = n k M "
        "says. Theory is m / 8 bytes; ours is what the library allocates for "
        "cells.",
        lab_count(thesis_says("urls")));
    for (unsigned f = 0; f < 3; f++) {
        grid_read(&g[f], name[f]);
        one_table(s, &g[f], f + 1, &odd);
    }
    i = odd.cell;
    if (odd.count == 1)
        section_text(
            s,
            "One published number contradicts the rule and its "
            "neighbours: Table 5.10 has %.0f kB for k = %u, M = %.1f, "
            "between %.0f for k = %u and %.0f for k = %u; the rule "
            "gives %.0f.",
            grid_published(&g[0], i, NULL), g[0].cell[i].k, g[0].cell[i].M,
            grid_published(&g[0], i - g[0].columns, NULL), g[0].cell[i].k - 1,
            grid_published(&g[0], i + g[0].columns, NULL), g[0].cell[i].k + 1,
            odd.rule);
    section_text(
        s,
        "Ours are m / 8 bytes, rounded up to lines of 64: of %zu sizes %zu "
        "differ from that. Nothing else in a filter grows, so k times M is "
        "all that memory depends on.",
        g[0].cells + g[1].cells + g[2].cells,
        section_count(s, THEORY, DIFFERS));
    for (unsigned f = 0; f < 3; f++)
        grid_clear(&g[f]);
}

/* --- Table 5.13 --- */

/* An array and a hash set of strings in C: the strings, and a pointer and a
   length for each place. Places double when they are full, those of the set
   when three quarters are taken. */
enum { STRING = sizeof(char *) + sizeof(size_t) };

uint64_t thesis_set_bytes(const struct corpus *t)
{
    return t->bytes + STRING * exact_places(t->n, 3, 4);
}

static void one_row(struct table *t, const char *theirs, const char *ours,
                    double published, double kilobytes, double n, double least)
{
    table_text(t, "%s", theirs);
    table_text(t, "%s", ours);
    table_number(t, published, 0);
    table_number(t, kilobytes, 0);
    table_number(t, kilobytes * kilobyte / n, 1);
    table_number(t, kilobytes / least, 1);
}

void table_5_13(struct lab *lab, struct section *s)
{
    const struct paper_table *p = paper_table(
        "thesis-5.13-to-5.15-collections");
    const struct thesis_shape good = { 10, 2.0 };
    double n, filter, their_filter, theirs, factor;
    uint64_t array, set;
    struct corpus texts;
    struct grid g;
    struct table *t;

    section_text(
        s,
        "The same URLs in a list and in a set, including the strings. The "
        "thesis measures Java's ArrayList and HashSet with %s URLs, "
        "and finds that a Bloom filter takes significantly less.",
        lab_count(thesis_says("urls")));
    n = (double)thesis_n(lab, 200000, 1000000, 1000000);
    corpus_init(&texts, lab->urls, 0, (size_t)n);
    array = texts.bytes + STRING * exact_places(texts.n, 1, 1);
    set = thesis_set_bytes(&texts);
    grid_read(&g, "thesis-5.10-memory-1-filters");
    filter = our_bytes(&good, 1) / thesis_says("urls") * n / kilobyte;
    their_filter = grid_published(&g, grid_find(&g, good.k, good.M), NULL);
    t = section_table(s, "table-5.13",
                      "Table 5.13: kilobytes of %s URLs (published: of %s)",
                      lab_count(n), lab_count(thesis_says("urls")));
    table_columns(t, "published for", "measured of", "published", "measured",
                  "bytes per URL", "times a filter", NULL);
    one_row(t, "ArrayList", "array of strings",
            paper_number(p, paper_row(p, "ArrayList"), 1, NULL),
            (double)array / kilobyte, n, filter);
    one_row(t, "HashSet", "hash set of strings",
            paper_number(p, paper_row(p, "HashSet"), 1, NULL),
            (double)set / kilobyte, n, filter);
    one_row(t, "Bloom filter", "bloom:jenkins, k = 10, M = 2.0", their_filter,
            filter, n, filter);
    theirs = paper_number(p, paper_row(p, "HashSet"), 1, NULL);
    factor = (double)set / kilobyte / filter;
    section_text(
        s,
        "Our URLs have %.0f bytes on average; places in the array and the "
        "set, which double when they are full, are added. Allocating many "
        "small strings costs some bytes more each, which depend on the "
        "allocator and are not counted. A hash set takes %.0f times as much "
        "as a filter that errs on %.4f %% of URLs, where the thesis measured "
        "%.0f times: Java keeps two bytes per character and several objects "
        "per string. The claim holds in any language, but the factor depends "
        "on the language.",
        (double)texts.bytes / n, factor,
        100 * theory_rate(1, good.k * good.M, good.k), theirs / their_filter);
    grid_clear(&g);
    corpus_clear(&texts);
}
