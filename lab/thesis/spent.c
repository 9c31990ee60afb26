/*
 * spent.c - what a strategy costs: k against M, and several filters against
 * one, at the same memory.
 *
 * With b = k M bits per URL, P = (1 - e^(-1/M))^k is least at k = b ln 2,
 * which is M = 1 / ln 2 = 1.44 whatever b. All M of the thesis lie above.
 */
#include "thesis.h"

#include <stdlib.h>

#include "../paper_table.h"
#include "grid.h"

/* --- k against M --- */

enum { MOST_K = 14 };
static const double memory[] = { 8, 12, 16 }; /* bits per URL */
enum { MEMORIES = sizeof memory / sizeof *memory };

/* Cells of the thesis that take the same memory, three or more together. */
static void table_of_published(struct section *s)
{
    struct table *t;
    struct grid g;

    grid_read(&g, "thesis-5.09-non-incremental-1-filter");
    t = section_table(
        s, "equal-memory-published",
        "Cells of Table 5.9 that take the same memory, with their "
        "rates as published, in percent");
    table_columns(t, "bits per URL", "k", "M", "published", NULL);
    for (size_t i = 0; i < g.cells; i++) {
        double bits = g.cell[i].k * g.cell[i].M;
        size_t same = 0, before = 0;

        for (size_t j = 0; j < g.cells; j++) {
            bool equal = fabs(g.cell[j].k * g.cell[j].M - bits) < 1e-9;

            same += equal;
            before += equal && j < i;
        }
        if (same < 3 || before)
            continue;
        for (size_t j = i; j < g.cells; j++)
            if (fabs(g.cell[j].k * g.cell[j].M - bits) < 1e-9) {
                table_number(t, bits, 0);
                table_number(t, g.cell[j].k, 0);
                table_number(t, g.cell[j].M, 1);
                table_number(t, grid_published(&g, j, NULL), 4);
            }
    }
    grid_clear(&g);
}

static void table_of_rates(struct section *s, const struct trial *t,
                           struct tally *all)
{
    struct table *table = section_table(
        s, "k-against-M", "Rates at the same memory, in percent");

    table_columns(table, "bits per URL", "k", "M", COMPARED, NULL);
    for (size_t i = 0; i < t->cells; i++) {
        struct finding f;

        trial_finding(t, i, 1, NAN, NAN, &f);
        table_number(table, memory[i / MOST_K], 0);
        table_number(table, t->cell[i].k, 0);
        table_number(table, t->cell[i].M, 3);
        table_finding(table, &f);
        tally_add(all, &f, "k = %u", t->cell[i].k);
    }
}

static void draw(struct section *s, const struct trial *t)
{
    struct plot *plot = section_plot(
        s, "plot-k-against-M", "hash functions k", "false positives, percent",
        LOG_Y, "At the same memory, measured (points) and by theory");

    for (size_t b = 0; b < MEMORIES; b++) {
        plot_series(plot, POINTS, "%.0f bits per URL", memory[b]);
        for (size_t i = b * MOST_K; i < (b + 1) * MOST_K; i++)
            plot_point(plot, t->cell[i].k, 100 * trial_share(t, i, 1));
        plot_series(plot, LINES, "%s", "");
        for (size_t i = b * MOST_K; i < (b + 1) * MOST_K; i++)
            plot_point(plot, t->cell[i].k, 100 * trial_theory(t, i, 1));
    }
}

/* Which k loses the fewest URLs of b bits each, and how many does k = 3? */
static void describe_best(struct section *s, const struct trial *t, size_t b)
{
    size_t found = b * MOST_K, best = found, three = found + 2;

    for (size_t i = b * MOST_K; i < (b + 1) * MOST_K; i++) {
        if (trial_share(t, i, 1) < trial_share(t, found, 1))
            found = i;
        if (trial_theory(t, i, 1) < trial_theory(t, best, 1))
            best = i;
    }
    section_text(
        s,
        "With %.0f bits per URL the lowest rate, %.4f %%, was that of "
        "k = %u; in theory it is %.4f %% of k = %u, M = %.2f, where "
        "b ln 2 is %.1f, and three hash functions lose %.1f times as "
        "many URLs for the same memory.",
        memory[b], 100 * trial_share(t, found, 1), t->cell[found].k,
        100 * trial_theory(t, best, 1), t->cell[best].k, t->cell[best].M,
        memory[b] * log(2),
        trial_theory(t, three, 1) / trial_theory(t, best, 1));
}

void k_against_M(struct lab *lab, struct section *s)
{
    struct thesis_shape cell[MEMORIES * MOST_K];
    struct trial t = { .what = "k against M",
                       .cell = cell,
                       .cells = MEMORIES * MOST_K,
                       .filters = 1,
                       .runs = lab_runs(lab, 10, 10, 100) };
    struct tally all = { 0 };

    section_text(
        s,
        "The thesis asks whether fewer hash functions with a larger M do as "
        "well as more with a smaller one (section 5.3), and recommends the "
        "larger M, since hashing takes time (6.1). But its M raises the "
        "memory together with k. Here the memory is fixed, and k divides it.");
    for (size_t i = 0; i < t.cells; i++) {
        cell[i].k = (unsigned)(i % MOST_K) + 1;
        cell[i].M = memory[i / MOST_K] / cell[i].k;
    }
    t.n = thesis_n(lab, 100000, 1000000, 1000000);
    trial_run(lab, &t);
    thesis_sizes(lab, s, t.n, t.runs);
    table_of_published(s);
    table_of_rates(s, &t, &all);
    draw(s, &t);
    for (size_t b = 0; b < MEMORIES; b++)
        describe_best(s, &t, b);
    section_text(
        s,
        "Of %zu rates %zu agree with theory. By that, memory is better spent "
        "on k than on M, down to M = 1 / ln 2 = %.2f, where half of the bits "
        "are set; every M of the thesis is above that. Its larger M saves "
        "time, not memory: hashing, or, in a filter that hashes a URL once as "
        "ours do, waiting for memory (tables-A.1-A.6).",
        all.judged, all.agree, 1 / log(2));
    trial_clear(&t);
}

/* --- what is free, and what is paid for --- */

static const struct strategy {
    const char *name;
    size_t cell;
    unsigned filters, visits;
} strategy[] = {
    { "one filter", 0, 1, 1 },
    { "temporal", 0, 1, 2 },
    { "temporal", 0, 1, 3 },
    { "spatial", 0, 2, 1 },
    { "one filter of that memory, all probes", 1, 1, 1 },
    { "one filter of that memory, best k", 3, 1, 1 },
    { "spatial", 0, 3, 1 },
    { "one filter of that memory, all probes", 2, 1, 1 },
    { "one filter of that memory, best k", 4, 1, 1 },
    { "spatio-temporal", 0, 2, 2 },
    { "temporal, of that memory, best k", 3, 1, 2 },
};
enum { STRATEGIES = sizeof strategy / sizeof *strategy };

static void table_of_strategies(struct section *s, const struct trial *t,
                                struct tally *all)
{
    struct table *table = section_table(
        s, "free-and-paid",
        "URLs lost in all visits, in percent, and what it takes");

    table_columns(table, "strategy", "filters", "visits", "k", "M",
                  "bits per URL", "probes per visit", COMPARED, NULL);
    for (size_t i = 0; i < STRATEGIES; i++) {
        const struct strategy *of = &strategy[i];
        const struct thesis_shape *c = &t->cell[of->cell];
        struct finding f;

        trial_finding(t, of->cell, of->filters * of->visits, NAN, NAN, &f);
        table_text(table, "%s", of->name);
        table_number(table, of->filters, 0);
        table_number(table, of->visits, 0);
        table_number(table, c->k, 0);
        table_number(table, c->M, 2);
        table_number(table, of->filters * c->k * c->M, 0);
        table_number(table, of->filters * c->k, 0);
        table_finding(table, &f);
        tally_add(all, &f, "%s", of->name);
    }
}

/* What is more and what is less is said of theory, and of what was measured
   whether it agrees: chance may turn two close numbers round. */
static void describe_strategies(struct section *s, const struct trial *t,
                                const struct tally *all)
{
    enum { ONE, TWICE, BEST = 3 };

    section_text(
        s,
        "Of %zu rates %zu agree with theory%s. (Two filters at once and two "
        "visits are counted together here: they are the same two filters.)",
        all->judged, all->agree,
        all->differ ? ", so what follows is not all confirmed" : "");
    section_text(
        s,
        "The temporal strategy is free: in theory two visits with the memory "
        "and the probes of one lose %.4f %%, where one visit loses %.3f %%; "
        "measured are %.4f %% and %.3f %%. The price is that a page may wait "
        "for a visit.",
        100 * trial_theory(t, ONE, 2), 100 * trial_theory(t, ONE, 1),
        100 * trial_share(t, ONE, 2), 100 * trial_share(t, ONE, 1));
    section_text(
        s,
        "The spatial strategy costs its full price: in theory two filters "
        "lose %.4f %%, and one filter of their memory and probes the same, "
        "%.4f %%; measured are %.4f %% and %.4f %%. With k = %u, the best for "
        "that memory, it is %.4f %% in theory, %.1f times fewer, and %.4f %% "
        "measured: several filters use memory worse, unless they must be on "
        "several machines.",
        100 * trial_theory(t, ONE, 2), 100 * trial_theory(t, TWICE, 1),
        100 * trial_share(t, ONE, 2), 100 * trial_share(t, TWICE, 1),
        t->cell[BEST].k, 100 * trial_theory(t, BEST, 1),
        trial_theory(t, ONE, 2) / trial_theory(t, BEST, 1),
        100 * trial_share(t, BEST, 1));
}

void free_and_paid(struct lab *lab, struct section *s)
{
    const double M = 2.0;
    const unsigned k = 3;
    struct thesis_shape cell[] = {
        { k, M }, { 2 * k, M }, { 3 * k, M }, { 0 }, { 0 }
    };
    struct trial t = { .what = "strategies",
                       .cell = cell,
                       .cells = 5,
                       .filters = 4,
                       .runs = lab_runs(lab, 10, 20, 100) };
    struct tally all = { 0 };

    section_text(
        s,
        "Which strategies are free, and which cost memory? The thesis "
        "compares filters with the same total number of hash functions and "
        "finds no gain in the spatial strategy. Here it is compared with one "
        "filter of the same memory with as many probes, and with one of the "
        "best k for that memory.");
    for (unsigned i = 0; i < 2; i++) {
        double bits = cell[1 + i].k * M;

        cell[3 + i].k = (unsigned)round(bits * log(2));
        cell[3 + i].M = bits / cell[3 + i].k;
    }
    t.n = thesis_n(lab, 100000, 1000000, 1000000);
    trial_run(lab, &t);
    thesis_sizes(lab, s, t.n, t.runs);
    table_of_strategies(s, &t, &all);
    describe_strategies(s, &t, &all);
    trial_clear(&t);
}
