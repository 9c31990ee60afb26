/*
 * rates.c - Table 5.9: how often one filter errs, by k and M.
 *
 * Non-incremental: n URLs are added to a filter of m = n k M bits with k
 * salted Jenkins hashes, then n others are asked for. Every run has seeds and
 * URLs of its own: run r takes [2 n r, 2 n r + 2 n), the first half to add,
 * the second to ask for. A task is a run of a row, whose filters are given
 * the same URLs.
 */
#include "thesis.h"

#include <stdlib.h>

#include "../band.h"
#include "../published.h"

struct grid {
    struct lab *lab;
    const struct published *table;
    uint64_t n;
    unsigned runs;
    uint64_t *hits; /* row by row, run by run, cell by cell */
};

enum { MOST_ACROSS = 16 };

static unsigned across(const struct grid *g)
{
    return (unsigned)published_columns(g->table) - 1;
}

static unsigned cells(const struct grid *g)
{
    return (unsigned)published_rows(g->table) * across(g);
}

static double cell_k(const struct grid *g, unsigned cell)
{
    return published_number(g->table, cell / across(g), 0, NULL);
}

static double cell_M(const struct grid *g, unsigned cell)
{
    return atof(published_head(g->table, 1 + cell % across(g)));
}

static uint64_t cell_bits(const struct grid *g, unsigned cell)
{
    return (uint64_t)llround((double)g->n * cell_k(g, cell) * cell_M(g, cell));
}

/* The filter of a cell in a run; no two have the same seed. */
static struct seen_filter *make_filter(const struct grid *g, unsigned cell,
                                       unsigned run)
{
    const struct seen_plan plan = {
        .kind = "bloom:jenkins",
        .capacity = g->n,
        .bits = cell_bits(g, cell),
        .probes = (unsigned)cell_k(g, cell),
        .seed = g->lab->seed + cells(g) * run + cell,
        .over = true,
    };

    return lab_filter(&plan);
}

/* One run of one row. */
static void run_row(void *of, unsigned i)
{
    const struct grid *g = of;
    unsigned row = i / g->runs, run = i % g->runs;
    uint64_t from = 2 * g->n * run, to = from + g->n, *hits;
    struct seen_filter *f[MOST_ACROSS];

    hits = &g->hits[i * across(g)];
    for (unsigned j = 0; j < across(g); j++)
        f[j] = make_filter(g, row * across(g) + j, run);
    lab_add_all(f, across(g), g->lab->urls, from, to, hits);
    lab_ask_all(f, across(g), g->lab->urls, to, to + g->n, hits);
    for (unsigned j = 0; j < across(g); j++)
        seen_filter_free(f[j]);
}

static uint64_t cell_hits(const struct grid *g, unsigned cell)
{
    unsigned row = cell / across(g), column = cell % across(g);
    uint64_t sum = 0;

    for (unsigned run = 0; run < g->runs; run++)
        sum += g->hits[(row * g->runs + run) * across(g) + column];
    return sum;
}

/* What was found in one cell, in percent. */
static struct finding judge(const struct grid *g, unsigned cell)
{
    double n = (double)g->n, k = cell_k(g, cell);
    double m = (double)cell_bits(g, cell), p = theory_rate(n, m, k);
    double their_m = THEIR_N * k * cell_M(g, cell);
    struct band ours, theirs;
    struct finding f = { .digits = 4 };

    ours = band_share(p, n * g->runs, theory_spread(n, m, k), g->runs);
    theirs = band_share(p, (double)THEIR_N * THEIR_RUNS,
                        theory_spread(THEIR_N, their_m, k), THEIR_RUNS);
    f.published = published_number(g->table, cell / across(g),
                                   1 + cell % across(g), &f.step);
    f.theory = 100 * p;
    f.measured = 100 * (double)cell_hits(g, cell) / (n * g->runs);
    f.low = 100 * ours.low;
    f.high = 100 * ours.high;
    f.their_low = 100 * theirs.low;
    f.their_high = 100 * theirs.high;
    return f;
}

static void show_table(struct sheet *s, const struct grid *g)
{
    struct table *t = sheet_table(
        s, "table-5.9",
        "Table 5.9: false positives of one filter, in percent");

    table_columns(t, "k", "M", COMPARED, NULL);
    for (unsigned cell = 0; cell < cells(g); cell++) {
        struct finding f = judge(g, cell);

        table_number(t, cell_k(g, cell), 0);
        table_number(t, cell_M(g, cell), 1);
        table_finding(t, &f);
    }
}

static void show_plot(struct sheet *s, const struct grid *g)
{
    struct plot *p = sheet_plot(
        s, "plot-5.9", "hash functions k", "false positives, percent", LOG_Y,
        "False positives of one filter, measured (points) and by theory");

    for (unsigned column = 0; column < across(g); column++) {
        plot_series(p, POINTS, "M = %s", published_head(g->table, 1 + column));
        for (unsigned cell = column; cell < cells(g); cell += across(g))
            plot_point(p, cell_k(g, cell), judge(g, cell).measured);
        plot_series(p, LINES, "%s", "");
        for (unsigned cell = column; cell < cells(g); cell += across(g))
            plot_point(p, cell_k(g, cell), judge(g, cell).theory);
    }
}

void table_5_9(struct lab *lab, struct sheet *s)
{
    struct grid g = {
        .lab = lab,
        .table = published("thesis-5.09-non-incremental-1-filter"),
        .n = lab_fit(lab, lab_n(lab, 100000, THEIR_N, THEIR_N), 2),
        .runs = lab_runs(lab, 5, 3, THEIR_RUNS),
    };
    unsigned rows = (unsigned)published_rows(g.table);

    g.hits = calloc((size_t)cells(&g) * g.runs, sizeof *g.hits);
    if (!g.hits || across(&g) > MOST_ACROSS)
        lab_fail("no memory for %u runs", g.runs);
    lab_each(lab, "runs", rows * g.runs, run_row, &g);

    sheet_text(s,
               "The thesis adds n = %d URLs to one filter of m = n k M bits "
               "with k salted Jenkins hashes, asks for as many others, and "
               "averages over %d runs. Here it is n = %llu in %u runs, each "
               "with a seed and URLs of its own.",
               THEIR_N, THEIR_RUNS, (unsigned long long)g.n, g.runs);
    show_table(s, &g);
    show_plot(s, &g);
    sheet_text(s,
               "Theory is (1 - e^(-kn/m))^k, which depends on k and M only. "
               "%zu of the %u rates lie in the band around it on both sides, "
               "ours and theirs; in %zu the thesis' own number does not, and "
               "in %zu ours does not.",
               sheet_verdicts(s, AGREES), cells(&g),
               sheet_verdicts(s, PUBLISHED_DIFFERS),
               sheet_verdicts(s, DIFFERS));
    free(g.hits);
}
