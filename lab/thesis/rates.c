/*
 * rates.c - rates of full filters: one, several at once, visit after visit.
 *
 * Tables 5.9, 5.16 and 5.18 to 5.21. All are powers of one number,
 *
 *     P = (1 - e^(-kn/m))^k,      m = n k M,
 *
 * with the number of filters times the number of visits as the exponent.
 */
#include "thesis.h"

#include <stdio.h>
#include <stdlib.h>

#include "../paper_table.h"
#include "grid.h"
#include "../urls.h"

/* Measure the cells of a grid with this many filters. */
static struct trial measure(struct lab *lab, const struct grid *g,
                            const char *what, unsigned filters)
{
    struct trial t = { .what = what,
                       .cell = g->cell,
                       .cells = g->cells,
                       .filters = filters,
                       .n = thesis_n(lab, 100000, 1000000, 1000000),
                       .runs = lab_runs(lab, 40, 10, 100) };

    trial_run(lab, &t);
    return t;
}

/* How much 32-bit hashes change the rates of a grid, at most. */
static void describe_bias(struct section *s, const struct trial *t)
{
    double worst = 0;

    for (size_t i = 0; i < t->cells; i++)
        worst = fmax(worst, narrow_bias(t->n, shape_bits(&t->cell[i], t->n),
                                        t->cell[i].k));
    section_text(
        s,
        "32-bit hashes do not fall quite evenly on the bits of a filter: some "
        "bits get one value more than others. Computed for these sizes, that "
        "raises a rate by at most %.1e of itself.",
        worst);
}

static void draw(struct section *s, const struct grid *g,
                 const struct trial *t)
{
    struct plot *p = section_plot(
        s, "plot-5.9", "hash functions k", "false positives, percent", LOG_Y,
        "False positives of one filter, measured (points) and by theory");

    for (size_t c = 0; c < g->columns; c++) {
        plot_series(p, POINTS, "M = %.1f", g->cell[c].M);
        for (size_t i = c; i < g->cells; i += g->columns)
            plot_point(p, g->cell[i].k, 100 * trial_share(t, i, 1));
        plot_series(p, LINES, "%s", "");
        for (size_t i = c; i < g->cells; i += g->columns)
            plot_point(p, g->cell[i].k, 100 * trial_theory(t, i, 1));
    }
}

/*
 * By how much, as a share of itself, the rate is more than (1 - e^-c)^k, to
 * first order in 1/m: a bit stays clear with chance (1 - 1/m)^(kn), which is
 * e^-c (1 - c / 2m); and of the share of set bits q, the mean of q^k is more
 * than the power of the mean by k (k-1) / 2 variances over q^2.
 */
static double excess_of(const struct thesis_shape *c, double n)
{
    double k = c->k, m = n * k * c->M, load = 1 / c->M;
    double s = theory_spread(n, m, k) / theory_rate(n, m, k);

    return k * load * exp(-load) / (2 * m * -expm1(-load)) +
           (k - 1) / (2 * k) * s * s;
}

/* Do rates lie above the formula, as the thesis expects of real functions? */
static void describe_sides(struct section *s, const struct trial *t)
{
    size_t counted = 0, above = 0;
    double excess = 0;

    for (size_t i = 0; i < t->cells; i++) {
        double rate = trial_theory(t, i, 1);

        excess = fmax(excess, excess_of(&t->cell[i], (double)t->n));
        if (rate * (double)t->n * t->runs < 100)
            continue; /* chance alone */
        counted++;
        above += trial_share(t, i, 1) > rate;
    }
    section_text(
        s,
        "Of %zu cells in which a hundred URLs or more should be lost, the "
        "rate is above the formula in %zu and not in %zu. The formula is "
        "indeed a lower bound, but because of its own approximation: "
        "e^(-kn/m) is a little more than the share of bits that stay clear, "
        "and the mean of a power is more than the power of the mean. Computed "
        "for these sizes, that adds at most %.0e of a rate.",
        counted, above, counted - above, excess);
}

void table_5_9(struct lab *lab, struct section *s)
{
    struct grid g;
    struct tally all = { 0 };
    struct trial t;

    section_text(
        s,
        "A filter with k salted hash functions and m = n k M bits is filled "
        "with n URLs and asked for n others. The thesis considers the formula "
        "of Bloom filters a lower bound, since no hash function is perfectly "
        "random (section 3.5.3), and finds these rates, in percent.");
    grid_read(&g, "thesis-5.09-non-incremental-1-filter");
    t = measure(lab, &g, "one filter", 1);
    thesis_sizes(lab, s, t.n, t.runs);
    grid_rates(s, &g, &t, 1, &all, "table-5.9",
               "Table 5.9: false positives of one filter, in percent");
    draw(s, &g, &t);
    describe_sides(s, &t);
    describe_bias(s, &t);
    tally_report(s, &all);
    trial_clear(&t);
    grid_clear(&g);
}

/* Two sentences of section 5.7.2 that its own table contradicts. */
static void describe_text_5_16(struct section *s, const struct grid *g,
                               const struct trial *t)
{
    size_t eight = grid_find(g, 8, 2.0), seven = grid_find(g, 7, 4.0);
    double urls = thesis_says("urls"), runs = thesis_says("runs");
    double table = grid_published(g, eight, NULL);

    section_text(
        s,
        "The text contradicts this table in two places. Section 5.7.2 gives "
        "%g %% for k = %u, M = %.1f, where Table 5.16 has %g %% and theory "
        "%.2g %%: the text gives the table's number as URLs per run, since %g "
        "%% of %s is %g. And it gives %g %% for k = %u, M = %.1f, where the "
        "table has %g %%: one URL in %.0f runs of %s is %g %%, so the only "
        "smaller rate is zero.",
        thesis_says("temporal-k8-M2.0"), g->cell[eight].k, g->cell[eight].M,
        table, 100 * trial_theory(t, eight, 2), table, lab_count(urls),
        table / 100 * urls, thesis_says("temporal-k7-M4.0"), g->cell[seven].k,
        g->cell[seven].M, grid_published(g, seven, NULL), runs,
        lab_count(urls), 100 / (runs * urls));
}

void table_5_16(struct lab *lab, struct section *s)
{
    struct grid g;
    struct tally all = { 0 };
    struct trial t;

    section_text(
        s,
        "The temporal strategy: on the second visit the crawler uses a filter "
        "with other seeds, so that a page lost on the first visit is probably "
        "found on the second. A URL counts as lost if both filters call it "
        "seen; the thesis finds a significant improvement. Theory says P "
        "times P, in percent.");
    grid_read(&g, "thesis-5.16-temporal-non-incremental");
    t = measure(lab, &g, "two visits", 2);
    thesis_sizes(lab, s, t.n, t.runs);
    grid_rates(s, &g, &t, 2, &all, "table-5.16",
               "Table 5.16: false positives on both of two visits, in "
               "percent");
    describe_text_5_16(s, &g, &t);
    tally_report(s, &all);
    trial_clear(&t);
    grid_clear(&g);
}

/* --- several filters at once --- */

/* The library's own spatial filters, of one or two cells of the grid. */
struct ours {
    struct lab *lab;
    uint64_t n;
    unsigned runs;
    struct thesis_shape cell;
    unsigned parts;
    uint64_t *lost;
};

static void ask_library(void *of, unsigned run)
{
    const struct ours *o = of;
    struct seen_plan plan = { .capacity = o->n,
                              .probes = o->cell.k,
                              .multiplier = o->cell.M,
                              .seed = o->lab->seed + run,
                              .over = true };
    uint64_t from = run * 2 * o->n;
    struct seen_filter *f;

    snprintf(plan.kind, sizeof plan.kind, "spatial:%u/bloom:jenkins",
             o->parts);
    f = lab_filter(&plan);
    lab_add(f, o->lab->urls, from, from + o->n, NULL);
    o->lost[run] = lab_ask(f, o->lab->urls, from + o->n, from + 2 * o->n,
                           NULL);
    seen_filter_free(f);
}

static void library(struct lab *lab, struct section *s, const struct grid *g,
                    const struct trial *like)
{
    struct table *table = section_table(
        s, "spatial-library", "The library's own spatial filters, in percent");

    table_columns(table, "kind", "k", "M", COMPARED, NULL);
    for (unsigned parts = 2; parts <= 3; parts++) {
        size_t cell = grid_find(g, 3, 1.7);
        struct trial t = *like; /* for its theory */
        struct ours o = { lab, t.n, t.runs, g->cell[cell], parts, NULL };
        struct finding f;

        o.lost = lab_memory(o.runs, sizeof *o.lost);
        t.lost = lab_memory(t.cells * t.filters, sizeof *t.lost);
        lab_each(lab, "spatial filters of the library", o.runs, ask_library,
                 &o);
        for (unsigned r = 0; r < o.runs; r++)
            t.lost[cell * t.filters + parts - 1] += o.lost[r];
        trial_finding(&t, cell, parts, NAN, NAN, &f);
        table_text(table, "spatial:%u/bloom:jenkins", parts);
        table_number(table, o.cell.k, 0);
        table_number(table, o.cell.M, 1);
        table_finding(table, &f);
        free(t.lost);
        free(o.lost);
    }
}

void tables_5_18_5_19(struct lab *lab, struct section *s)
{
    struct grid one, two, three;
    struct tally all = { 0 };
    struct trial t;
    size_t six, both;

    section_text(
        s,
        "The spatial strategy: a URL is seen only if two or three filters, "
        "with seeds of their own, all say so. The thesis finds lower rates "
        "than with one such filter, but no gain over one filter with the same "
        "total number of hash functions. Theory says P to the number of "
        "filters, in percent.");
    grid_read(&one, "thesis-5.09-non-incremental-1-filter");
    grid_read(&two, "thesis-5.18-spatial-2-filters");
    grid_read(&three, "thesis-5.19-spatial-3-filters");
    t = measure(lab, &two, "three filters", 3);
    thesis_sizes(lab, s, t.n, t.runs);
    grid_rates(s, &two, &t, 2, &all, "table-5.18",
               "Table 5.18: false positives of two filters, in percent");
    grid_rates(s, &three, &t, 3, &all, "table-5.19",
               "Table 5.19: false positives of three filters, in percent");
    library(lab, s, &two, &t);
    six = grid_find(&one, 6, 1.7);
    both = grid_find(&two, 3, 1.7);
    section_text(
        s,
        "Two filters of %u hash functions are one of %u, cut in two: the "
        "thesis measured %.4f %% and %.4f %%, we %.4f %% for the two, and "
        "theory is %.4f %% for either, because the share of set bits is the "
        "same, and so is the number of bits that must be set. The second "
        "filter adds memory, which one filter would use as well; see "
        "free-and-paid.",
        two.cell[both].k, one.cell[six].k, grid_published(&two, both, NULL),
        grid_published(&one, six, NULL), 100 * trial_share(&t, both, 2),
        100 * trial_theory(&t, both, 2));
    tally_report(s, &all);
    trial_clear(&t);
    grid_clear(&one);
    grid_clear(&two);
    grid_clear(&three);
}

void tables_5_20_5_21(struct lab *lab, struct section *s)
{
    struct grid two, three;
    struct tally all = { 0 };
    struct trial t;

    section_text(s, "The spatio-temporal strategy: two or three filters per "
                    "visit, and two visits with other seeds. The thesis finds "
                    "that only the temporal part gains anything over one "
                    "filter with as many hash functions. Theory says P to the "
                    "number of filters times visits, in percent.");
    grid_read(&two, "thesis-5.20-spatio-temporal-2-filters");
    grid_read(&three, "thesis-5.21-spatio-temporal-3-filters");
    t = measure(lab, &two, "six filters", 6);
    thesis_sizes(lab, s, t.n, t.runs);
    grid_rates(s, &two, &t, 4, &all, "table-5.20",
               "Table 5.20: false positives on two visits, two filters per "
               "visit, in percent");
    grid_rates(s, &three, &t, 6, &all, "table-5.21",
               "Table 5.21: false positives on two visits, three filters per "
               "visit, in percent");
    tally_report(s, &all);
    trial_clear(&t);
    grid_clear(&two);
    grid_clear(&three);
}
