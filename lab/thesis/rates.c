/*
 * rates.c - Table 5.9: how often one filter errs, by k and M.
 *
 * Non-incremental: n URLs are added to a filter of m = n k M bits with k
 * salted Jenkins hashes, then n others are asked for. Every run has a seed
 * and URLs of its own: run r takes [2 n r, 2 n r + 2 n), the first half to
 * add, the second to ask for.
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
    uint64_t *hits; /* run by run of a cell, cell by cell */
};

static size_t cells(const struct grid *g)
{
    return published_rows(g->table) * (published_columns(g->table) - 1);
}

static double cell_k(const struct grid *g, size_t cell)
{
    size_t across = published_columns(g->table) - 1;

    return published_number(g->table, cell / across, 0, NULL);
}

static double cell_M(const struct grid *g, size_t cell)
{
    size_t across = published_columns(g->table) - 1;

    return atof(published_head(g->table, 1 + cell % across));
}

static uint64_t cell_bits(const struct grid *g, size_t cell)
{
    return (uint64_t)llround((double)g->n * cell_k(g, cell) * cell_M(g, cell));
}

/* One run of one cell. */
static void run_cell(void *of, unsigned i)
{
    struct grid *g = of;
    size_t cell = i / g->runs;
    uint64_t run = i % g->runs, from = 2 * g->n * run;
    struct seen_plan plan = {
        .kind = "bloom:jenkins",
        .capacity = g->n,
        .bits = cell_bits(g, cell),
        .probes = (unsigned)cell_k(g, cell),
        .seed = g->lab->seed + i,
        .over = true,
    };
    struct seen_filter *f = lab_filter(&plan);

    lab_add(f, g->lab->urls, from, from + g->n, NULL);
    g->hits[i] = lab_ask(f, g->lab->urls, from + g->n, from + 2 * g->n, NULL);
    seen_filter_free(f);
}

/* What was found in one cell, in percent. */
static struct finding judge(const struct grid *g, size_t cell)
{
    size_t across = published_columns(g->table) - 1;
    double n = (double)g->n, k = cell_k(g, cell);
    double m = (double)cell_bits(g, cell), p = theory_rate(n, m, k);
    double their_m = THEIR_N * k * cell_M(g, cell);
    struct band ours, theirs;
    struct finding f = { .digits = 4 };
    uint64_t hits = 0;

    for (unsigned run = 0; run < g->runs; run++)
        hits += g->hits[cell * g->runs + run];
    ours = band_share(p, n * g->runs, theory_spread(n, m, k), g->runs);
    theirs = band_share(p, (double)THEIR_N * THEIR_RUNS,
                        theory_spread(THEIR_N, their_m, k), THEIR_RUNS);
    f.published = published_number(g->table, cell / across, 1 + cell % across,
                                   &f.step);
    f.theory = 100 * p;
    f.measured = 100 * (double)hits / (n * g->runs);
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
    for (size_t cell = 0; cell < cells(g); cell++) {
        struct finding f = judge(g, cell);

        table_number(t, cell_k(g, cell), 0);
        table_number(t, cell_M(g, cell), 1);
        table_finding(t, &f);
    }
}

static void show_plot(struct sheet *s, const struct grid *g)
{
    size_t across = published_columns(g->table) - 1;
    struct plot *p = sheet_plot(
        s, "plot-5.9", "hash functions k", "false positives, percent", LOG_Y,
        "False positives of one filter, measured (points) and by theory");

    for (size_t column = 0; column < across; column++) {
        plot_series(p, POINTS, "M = %s", published_head(g->table, 1 + column));
        for (size_t cell = column; cell < cells(g); cell += across)
            plot_point(p, cell_k(g, cell), judge(g, cell).measured);
        plot_series(p, LINES, "%s", "");
        for (size_t cell = column; cell < cells(g); cell += across)
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
    unsigned tasks = (unsigned)cells(&g) * g.runs;

    g.hits = calloc(tasks, sizeof *g.hits);
    if (!g.hits)
        lab_fail("no memory for %u runs", tasks);
    lab_each(lab, "runs", tasks, run_cell, &g);

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
               "%zu of the %zu rates lie in the band around it on both sides, "
               "ours and theirs; in %zu the thesis' own number does not, and "
               "in %zu ours does not.",
               sheet_verdicts(s, AGREES), cells(&g),
               sheet_verdicts(s, PUBLISHED_DIFFERS),
               sheet_verdicts(s, DIFFERS));
    free(g.hits);
}
