/*
 * crawls.c - rates of a crawl, in which each URL is asked for, then added.
 *
 * Table 5.17, Figure 5.1 and Figures A.1 to A.6. The i-th URL of a crawl is
 * asked of a filter of i URLs, so the rate begins at zero and ends at that of
 * a full filter; a crawl as a whole loses the mean,
 *
 *     1/n sum over i < n of (1 - e^(-ki/m))^(k f)
 *
 * with f filters, or f visits in the same order.
 */
#include "thesis.h"

#include <stdlib.h>
#include <string.h>

#include "../paper_table.h"
#include "grid.h"

enum { BUCKETS = 20 };

/* k of the rows of a table, by some M. */
static struct thesis_shape *cells_of(const struct paper_table *p,
                                     const double *M, size_t Ms, size_t *cells)
{
    struct thesis_shape *cell = lab_memory(paper_rows(p) * Ms, sizeof *cell);

    *cells = paper_rows(p) * Ms;
    for (size_t i = 0; i < *cells; i++) {
        cell[i].k = (unsigned)paper_number(p, i / Ms, 0, NULL);
        cell[i].M = M[i % Ms];
    }
    return cell;
}

static struct trial crawl(struct lab *lab, const char *what,
                          const struct thesis_shape *cell, size_t cells,
                          unsigned filters)
{
    struct trial t = { .what = what,
                       .cell = cell,
                       .cells = cells,
                       .filters = filters,
                       .crawl = true,
                       .buckets = BUCKETS,
                       .n = thesis_n(lab, 100000, 1000000, 1000000),
                       .runs = lab_runs(lab, 20, 20, 100) };

    trial_run(lab, &t);
    return t;
}

/* The mean rate of URLs [begin, end) of a crawl. */
static double stretch(const struct trial *t, size_t cell, unsigned filters,
                      double begin, double end)
{
    double k = t->cell[cell].k, m = (double)t->n * k * t->cell[cell].M;
    double to = end * theory_incremental(end, m, k, filters, 1);
    double from = begin > 0
                      ? begin * theory_incremental(begin, m, k, filters, 1)
                      : 0;

    return (to - from) / (end - begin);
}

/* The share lost of all URLs up to the end of stretch b: what the thesis
   quotes. */
static double so_far(const struct trial *t, size_t cell, unsigned filters,
                     unsigned b)
{
    double sum = 0;

    for (unsigned i = 0; i <= b; i++)
        sum += trial_curve(t, cell, filters, i);
    return sum / (b + 1);
}

/* The same as a curve, by circles and dashes. */
static void draw_so_far(struct plot *p, const struct trial *t, size_t cell,
                        unsigned filters, double least)
{
    double n = (double)t->n, k = t->cell[cell].k, m = n * k * t->cell[cell].M;

    plot_series(p, CIRCLES, "%s", "");
    for (unsigned b = 0; b < BUCKETS; b++)
        plot_point(p, n * (b + 1) / BUCKETS,
                   100 * so_far(t, cell, filters, b));
    plot_series(p, DASHES, "%s", "");
    for (unsigned b = 1; b <= BUCKETS; b++) {
        double rate = theory_incremental(n * b / BUCKETS, m, k, filters, 1);

        if (rate > least || b == BUCKETS)
            plot_point(p, n * b / BUCKETS, 100 * rate);
    }
}

static const char curves[] = "points and lines are the rate of each stretch "
                             "of the crawl, circles and dashes that of all "
                             "URLs so far, which the thesis quotes; lines and "
                             "dashes are theory";

/* Curves of one cell: measured and by theory, down to where one URL in ten
   stretches is expected; the last point is always drawn. */
static void draw(struct plot *p, const struct trial *t, size_t cell,
                 unsigned filters)
{
    double n = (double)t->n, k = t->cell[cell].k, m = n * k * t->cell[cell].M;
    double least = fmin(0.1 / (n / BUCKETS * t->runs),
                        0.99 * pow(theory_rate(n, m, k), filters));

    plot_series(p, POINTS, "k = %.0f", k);
    for (unsigned b = 0; b < BUCKETS; b++)
        plot_point(p, n * (b + 0.5) / BUCKETS,
                   100 * trial_curve(t, cell, filters, b));
    plot_series(p, LINES, "%s", "");
    for (unsigned b = 1; b <= BUCKETS; b++) {
        double rate = pow(theory_rate(n * b / BUCKETS, m, k), filters);

        if (rate > least)
            plot_point(p, n * b / BUCKETS, 100 * rate);
    }
    draw_so_far(p, t, cell, filters, least);
}

/* A published rate of the whole crawl. */
struct whole {
    double rate[8];
    unsigned count;
};

static void draw_published(struct plot *p, const struct trial *t,
                           const struct whole *w)
{
    plot_series(p, POINTS, "published");
    for (unsigned i = 0; i < w->count; i++)
        plot_point(p, (double)t->n, w->rate[i]);
}

/* "2x1.7": two filters, M = 1.7. */
static void read_head(const char *head, unsigned *filters, double *M)
{
    char *end;

    *filters = (unsigned)strtoul(head, &end, 10);
    *M = *end == 'x' ? strtod(end + 1, NULL) : 0;
    if (!*filters || !(*M > 0))
        lab_fail("'%s' is not a head of Table 5.17", head);
}

static size_t find(const struct trial *t, double k, double M)
{
    size_t i = 0;

    while (t->cell[i].k != (unsigned)k || fabs(t->cell[i].M - M) > 1e-9)
        if (++i == t->cells)
            lab_fail("nothing was measured for k = %g, M = %g", k, M);
    return i;
}

static const double two_sizes[] = { 1.7, 2.0 };

void table_5_17(struct lab *lab, struct section *s)
{
    const struct paper_table *p = paper_table(
        "thesis-5.17-spatial-incremental");
    struct tally all = { 0 };
    struct table *table;
    struct trial t;
    struct thesis_shape *cell;
    size_t cells;

    section_text(s,
                 "A crawl: each URL is asked for and then added, to one, two "
                 "or three filters that must all say yes. The thesis finds "
                 "that several filters lose fewer URLs, and that one filter "
                 "with as many hash functions in all loses as few.");
    cell = cells_of(p, two_sizes, 2, &cells);
    t = crawl(lab, "crawls", cell, cells, 3);
    thesis_sizes(lab, s, t.n, t.runs);
    table = section_table(s, "table-5.17",
                          "Table 5.17: URLs that a crawl loses, in percent");
    table_columns(table, "filters", "k", "M", COMPARED, NULL);
    for (size_t c = 1; c < paper_columns(p); c++)
        for (size_t r = 0; r < paper_rows(p); r++) {
            double M, step, k = paper_number(p, r, 0, NULL);
            double rate = paper_number(p, r, c, &step);
            struct finding f;
            unsigned filters;
            size_t i;

            read_head(paper_head(p, c), &filters, &M);
            i = find(&t, k, M);
            trial_finding(&t, i, filters, rate, step, &f);
            table_number(table, filters, 0);
            table_number(table, k, 0);
            table_number(table, M, 1);
            table_finding(table, &f);
            tally_add(&all, &f, "%u x %.1f with k = %.0f", filters, M, k);
            tally_weigh(&all, &f, 100 * trial_their_theory(&t, i, filters));
        }
    section_text(
        s,
        "A crawl with several filters is not a product: the mean of a power "
        "is more than the power of the mean. With k = %u, M = %.1f one filter "
        "loses %.4f %% and two lose %.4f %%; in theory two lose %.1f times "
        "the square of what one does, because URLs at the end of a crawl are "
        "at risk in both.",
        t.cell[1].k, t.cell[1].M, 100 * trial_share(&t, 1, 1),
        100 * trial_share(&t, 1, 2),
        trial_theory(&t, 1, 2) / pow(trial_theory(&t, 1, 1), 2));
    tally_report(s, &all);
    trial_clear(&t);
    free(cell);
}

void figure_5_1(struct lab *lab, struct section *s)
{
    const struct paper_table *p = paper_table(
        "thesis-fig-5.1-temporal-incremental");
    const double M = thesis_says("figure-5.1-M");
    struct tally all = { 0 };
    struct whole whole = { .count = 0 };
    struct plot *plot;
    struct table *table;
    struct trial t;
    struct thesis_shape *cell;
    size_t cells;

    section_text(s,
                 "Two crawls of the same URLs in the same order, the second "
                 "with other seeds; a URL is lost if both miss it. The "
                 "thesis shows how the share that is lost grows with the "
                 "crawl, and gives it for the whole.");
    cell = cells_of(p, &M, 1, &cells);
    t = crawl(lab, "two crawls", cell, cells, 2);
    thesis_sizes(lab, s, t.n, t.runs);
    plot = section_plot(s, "figure-5.1", "URLs crawled",
                        "lost on both visits, percent", LOG_Y,
                        "Figure 5.1: two visits, M = %.1f; %s", M, curves);
    table = section_table(s, "figure-5.1-whole",
                          "Figure 5.1: URLs that two visits lose, in percent");
    table_columns(table, "k", "one visit", COMPARED, NULL);
    for (size_t i = 0; i < cells; i++) {
        double step, rate = paper_number(p, i, 1, &step);
        struct finding f;

        draw(plot, &t, i, 2);
        if (whole.count < 8)
            whole.rate[whole.count++] = rate;
        trial_finding(&t, i, 2, rate, step, &f);
        table_number(table, cell[i].k, 0);
        table_number(table, 100 * trial_share(&t, i, 1), f.digits);
        table_finding(table, &f);
        tally_add(&all, &f, "k = %u", cell[i].k);
        tally_weigh(&all, &f, 100 * trial_their_theory(&t, i, 2));
    }
    draw_published(plot, &t, &whole);
    section_text(s,
                 "In theory the second visit finds all but one in %.0f of the "
                 "URLs that the first loses with k = %u, all but one in %.0f "
                 "with k = %u. In another order it would find more: see "
                 "temporal-visits.",
                 trial_theory(&t, 0, 1) / trial_theory(&t, 0, 2), cell[0].k,
                 trial_theory(&t, 1, 1) / trial_theory(&t, 1, 2), cell[1].k);
    tally_report(s, &all);
    trial_clear(&t);
    free(cell);
}

/* --- Figures A.1 to A.6 --- */

/* One figure: a curve for each k; its last stretch is judged. */
static void one_figure(struct section *s, const struct trial *t,
                       struct table *table, struct tally *all, unsigned number,
                       unsigned filters, double M)
{
    const struct paper_table *p = paper_table(
        "thesis-5.17-spatial-incremental");
    struct whole whole = { .count = 0 };
    char name[32];
    struct plot *plot;

    snprintf(name, sizeof name, "figure-A.%u", number);
    plot = section_plot(s, name, "URLs crawled", "false positives, percent",
                        LOG_Y, "Figure A.%u: %u filter%s, M = %.1f; %s",
                        number, filters, filters > 1 ? "s" : "", M, curves);
    for (size_t c = 1; c < paper_columns(p); c++)
        for (size_t r = 0; r < paper_rows(p) && whole.count < 8; r++) {
            unsigned their_filters;
            double their_M;

            read_head(paper_head(p, c), &their_filters, &their_M);
            if (their_filters == filters && fabs(their_M - M) < 1e-9)
                whole.rate[whole.count++] = paper_number(p, r, c, NULL);
        }
    for (size_t i = 0; i < t->cells; i++) {
        double n = (double)t->n;
        struct finding f;

        if (fabs(t->cell[i].M - M) > 1e-9)
            continue;
        draw(plot, t, i, filters);
        f = finding_of_share(stretch(t, i, filters, n - n / BUCKETS, n),
                             trial_curve(t, i, filters, BUCKETS - 1),
                             n / BUCKETS * t->runs, 0, 1);
        table_text(table, "A.%u", number);
        table_number(table, filters, 0);
        table_number(table, M, 1);
        table_number(table, t->cell[i].k, 0);
        table_finding(table, &f);
        table_number(table, 100 * so_far(t, i, filters, BUCKETS - 1),
                     f.digits);
        tally_add(all, &f, "k = %u", t->cell[i].k);
    }
    draw_published(plot, t, &whole);
}

void figures_A_1_A_6(struct lab *lab, struct section *s)
{
    const struct paper_table *p = paper_table(
        "thesis-5.17-spatial-incremental");
    struct tally all = { 0 };
    struct table *table;
    struct trial t;
    struct thesis_shape *cell;
    unsigned number = 1, at;
    size_t cells, i;

    section_text(
        s,
        "How the false positives of a crawl develop, for one, two and "
        "three filters. The thesis draws these without numbers and "
        "says that three hash functions give a relatively high rate "
        "after about %s of %s URLs.",
        lab_count(thesis_says("three-high-after")),
        lab_count(thesis_says("urls")));
    cell = cells_of(p, two_sizes, 2, &cells);
    t = crawl(lab, "crawls", cell, cells, 3);
    thesis_sizes(lab, s, t.n, t.runs);
    table = section_table(
        s, "figures-A",
        "Figures A.1 to A.6: the last of %u stretches of the crawl, and the "
        "whole crawl, in percent",
        BUCKETS);
    table_columns(table, "figure", "filters", "M", "k", COMPARED, "so far",
                  NULL);
    for (unsigned filters = 1; filters <= 3; filters++)
        for (size_t M = 0; M < 2; M++)
            one_figure(s, &t, table, &all, number++, filters, two_sizes[M]);
    at = (unsigned)(thesis_says("three-high-after") / thesis_says("urls") *
                    BUCKETS);
    i = find(&t, 3, two_sizes[1]);
    section_text(s,
                 "The curves have no knee: they rise as a power of the "
                 "number of URLs and flatten as the filter fills. With three "
                 "hash functions and M = %.1f the rate is %.2f %% where the "
                 "thesis calls it high, %.2f %% at the end; of all URLs so "
                 "far, as the thesis counts, it is %.2f and %.2f %%. %zu of "
                 "%zu last stretches lie within the band around theory.",
                 two_sizes[1], 100 * trial_curve(&t, i, 1, at),
                 100 * trial_curve(&t, i, 1, BUCKETS - 1),
                 100 * so_far(&t, i, 1, at ? at - 1 : 0),
                 100 * so_far(&t, i, 1, BUCKETS - 1), all.agree, all.judged);
    trial_clear(&t);
    free(cell);
}
