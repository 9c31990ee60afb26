/*
 * visits.c - the temporal strategy over more than two visits.
 *
 * The thesis stops at two. If each visit loses a URL with chance P on its
 * own, V visits lose P^V, a URL is first fetched on visit v with chance
 * P^(v-1) (1 - P), and waits P / (1 - P) visits on average. That holds for a
 * full filter. In a crawl the chance depends on how many came before, so a
 * URL that is late in each visit is at risk each time: the mean of P_i^V is
 * more than the mean of P_i, to the V. To crawl in another order at each
 * visit makes the two equal, and costs nothing.
 */
#include "thesis.h"

#include <stdlib.h>

#include "grid.h"

enum { VISITS = 5, WAYS = 3 };

static const struct {
    const char *name;
    bool crawl, shuffled;
} way[WAYS] = { { "full filter", false, false },
                { "crawl, same order", true, false },
                { "crawl, new order", true, true } };

static const struct thesis_shape cells[] = { { 1, 2.0 },
                                             { 2, 2.0 },
                                             { 3, 2.0 } };
enum { CELLS = sizeof cells / sizeof *cells };

/* The share that is lost on visits 1 to v, of none: all. */
static double lost(const struct trial *t, size_t cell, unsigned v)
{
    return v ? trial_share(t, cell, v) : 1;
}

static double lost_theory(const struct trial *t, size_t cell, unsigned v)
{
    return v ? trial_theory(t, cell, v) : 1;
}

static void table_of_lost(struct section *s, const struct trial *t,
                          struct tally *all)
{
    struct table *table = section_table(
        s, "temporal-visits",
        "URLs lost on every one of these visits, in percent");

    table_columns(table, "how", "k", "visits", COMPARED, NULL);
    for (size_t w = 0; w < WAYS; w++)
        for (size_t c = 0; c < CELLS; c++)
            for (unsigned v = 1; v <= VISITS; v++) {
                struct finding f;

                trial_finding(&t[w], c, v, NAN, NAN, &f);
                table_text(table, "%s", way[w].name);
                table_number(table, cells[c].k, 0);
                table_number(table, v, 0);
                table_finding(table, &f);
                tally_add(all, &f, "%s", way[w].name);
            }
}

/* On which visit a page is first fetched, and how long it waits. */
static void table_of_delay(struct section *s, const struct trial *t)
{
    struct table *table = section_table(
        s, "temporal-delay",
        "The visit on which a URL is first fetched, in percent "
        "of URLs, and the visits it waits (%u at most)",
        VISITS);

    table_columns(table, "how", "k", NULL);
    for (unsigned v = 1; v <= VISITS; v++)
        table_column(table, "visit %u", v);
    table_column(table, "still lost");
    table_column(table, "waits");
    table_column(table, "in theory");
    for (size_t w = 0; w < WAYS; w++)
        for (size_t c = 0; c < CELLS; c++) {
            double waits = 0, theory = 0;

            table_text(table, "%s", way[w].name);
            table_number(table, cells[c].k, 0);
            for (unsigned v = 1; v <= VISITS; v++) {
                double first = lost(&t[w], c, v - 1) - lost(&t[w], c, v);

                table_number(table, 100 * first, 4);
                waits += lost(&t[w], c, v);
                theory += lost_theory(&t[w], c, v);
            }
            table_number(table, 100 * lost(&t[w], c, VISITS), 5);
            table_number(table, waits, 5);
            table_number(table, theory, 5);
        }
}

static void draw(struct section *s, const struct trial *t)
{
    struct plot *p = section_plot(
        s, "plot-visits", "visits", "still lost, percent", LOG_Y,
        "URLs that no visit has found, k = %u, M = %.1f", cells[CELLS - 1].k,
        cells[CELLS - 1].M);

    for (size_t w = 0; w < WAYS; w++) {
        plot_series(p, POINTS, "%s", way[w].name);
        for (unsigned v = 1; v <= VISITS; v++)
            plot_point(p, v, 100 * lost(&t[w], CELLS - 1, v));
        plot_series(p, LINES, "%s", "");
        for (unsigned v = 1; v <= VISITS; v++)
            plot_point(p, v, 100 * lost_theory(&t[w], CELLS - 1, v));
    }
}

/* --- the same seed twice --- */

/* Two full filters of the library, with the same seed or with two. */
struct seeds {
    struct lab *lab;
    uint64_t n;
    unsigned runs;
    uint64_t *both; /* lost on both visits, by run: same seed, other seeds */
};

static void visit_twice(void *of, unsigned run)
{
    struct seeds *x = of;
    const struct urls *urls = x->lab->urls;
    uint64_t from = run * 2 * x->n;
    bool *mark = lab_memory(3 * x->n, sizeof *mark);

    for (unsigned i = 0; i < 3; i++) { /* a seed, again, another */
        struct seen_plan plan = {
            .kind = "bloom:jenkins",
            .profile = "raw",
            .capacity = x->n,
            .probes = cells[CELLS - 1].k,
            .multiplier = cells[CELLS - 1].M,
            .seed = seen_mix(x->lab->seed + 2 * run + (i == 2)),
            .over = true,
        };
        struct seen_filter *f = lab_filter(&plan);

        lab_add(f, urls, from, from + x->n, NULL);
        lab_ask(f, urls, from + x->n, from + 2 * x->n, mark + i * x->n);
        seen_filter_free(f);
    }
    for (unsigned i = 1; i < 3; i++)
        for (uint64_t j = 0; j < x->n; j++)
            x->both[2 * run + i - 1] += mark[j] && mark[i * x->n + j];
    free(mark);
}

static void compare_seeds(struct lab *lab, struct section *s, uint64_t n,
                          struct tally *all)
{
    struct seeds x = { .lab = lab, .n = n, .runs = lab_runs(lab, 3, 5, 20) };
    double N = (double)n, k = cells[CELLS - 1].k;
    double m = N * k * cells[CELLS - 1].M, one = theory_rate(N, m, k);
    double spread = theory_spread(N, m, k);
    struct finding f[2];
    struct table *t;

    x.both = lab_memory((size_t)2 * x.runs, sizeof *x.both);
    lab_each(lab, "the same seed and others", x.runs, visit_twice, &x);
    t = section_table(s, "temporal-seeds",
                      "URLs lost on both of two visits, in percent: full "
                      "filters with k = %.0f",
                      k);
    table_columns(t, "seeds", COMPARED, NULL);
    for (unsigned i = 0; i < 2; i++) {
        double lost_on_both = 0;

        for (unsigned run = 0; run < x.runs; run++)
            lost_on_both += (double)x.both[2 * run + i];
        f[i] = finding_of_share(i ? one * one : one,
                                lost_on_both / (N * x.runs), N * x.runs,
                                i ? sqrt(2) * one * spread : spread, x.runs);
        table_text(t, "%s", i ? "one for each visit" : "the same on both");
        table_finding(t, &f[i]);
        tally_add(all, &f[i], "seeds");
    }
    section_text(
        s,
        "What this means for a crawler: with a seed of its own for each visit "
        "two visits together lose the square of the rate, %.3f %% measured, "
        "where one loses %.2f %%. With the same seed the second visit loses "
        "the same pages as the first, and two lose as many as one, %.2f %%; "
        "at 1 %% that is one page in 100, in place of one in 10,000. New "
        "filters of `seen dedup` and of the server have a random seed for "
        "this reason; `--seed` sets it, and `seen info` shows it.",
        f[1].measured, 100 * one, f[0].measured);
    section_headline(
        s,
        "Two visits with a seed each lose the square of what one loses: %.2f "
        "%% where one loses %.2f %%. With the same seed they lose the same "
        "pages, and the second visit gains nothing.",
        f[1].measured, f[0].measured);
    free(x.both);
}

static void conclude(struct section *s, const struct trial *t,
                     const struct tally *all)
{
    const size_t last = CELLS - 1;

    section_text(
        s,
        "Of %zu shares %zu agree with theory. With full filters each visit "
        "loses the same part of what is left, so the visit of the first fetch "
        "is geometrically distributed and the mean wait is P / (1 - P) "
        "visits: %.4f with k = %u. The worst case that the thesis fears, a "
        "URL lost on every visit, has the chance P^V.",
        all->judged, all->agree,
        trial_theory(&t[0], last, 1) / (1 - trial_theory(&t[0], last, 1)),
        cells[last].k);
    section_text(
        s,
        "A crawl in the same order is not geometric. In theory, with k = %u, "
        "of the URLs that it loses on one visit it loses one in %.0f on the "
        "second as well, because URLs at its end are asked of a full filter "
        "each time; in a new order one in %.0f, which is %.1f times fewer, "
        "for the price of shuffling the queue. Measured are %.4f %% on one "
        "visit, and on both of two %.5f %% in the same order and %.5f %% in a "
        "new one.",
        cells[last].k,
        lost_theory(&t[1], last, 1) / lost_theory(&t[1], last, 2),
        lost_theory(&t[2], last, 1) / lost_theory(&t[2], last, 2),
        lost_theory(&t[1], last, 2) / lost_theory(&t[2], last, 2),
        100 * lost(&t[1], last, 1), 100 * lost(&t[1], last, 2),
        100 * lost(&t[2], last, 2));
}

void temporal_visits(struct lab *lab, struct section *s)
{
    struct trial t[WAYS];
    struct tally all = { 0 };
    uint64_t n;

    section_text(
        s,
        "The thesis tests the temporal strategy on two visits and says that "
        "it may delay some content (section 4.2), not by how much. Here are "
        "one to five visits, each with other seeds: of full filters, of "
        "crawls in the same order each time, and of crawls in a new order.");
    n = thesis_n(lab, 100000, 1000000, 1000000);
    for (size_t w = 0; w < WAYS; w++) {
        t[w] = (struct trial){ .what = way[w].name,
                               .cell = cells,
                               .cells = CELLS,
                               .filters = VISITS,
                               .crawl = way[w].crawl,
                               .shuffled = way[w].shuffled,
                               .n = n,
                               .runs = lab_runs(lab, 6, 10, 100) };
        trial_run(lab, &t[w]);
    }
    thesis_sizes(lab, s, n, t[0].runs);
    table_of_lost(s, t, &all);
    draw(s, t);
    table_of_delay(s, t);
    compare_seeds(lab, s, n, &all);
    conclude(s, t, &all);
    for (size_t w = 0; w < WAYS; w++)
        trial_clear(&t[w]);
}
