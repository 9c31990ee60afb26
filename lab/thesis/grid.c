/*
 * grid.c - published rates beside ours, and how they compare.
 *
 * A table of the thesis is read as it was printed, so that its grid of k and M
 * is the experiment's, too: no number is typed twice. A cell is judged by its
 * band; all cells together by a sum of squares, in units of what the thesis'
 * own runs vary by, which is chi-square distributed if those runs were
 * independent. That finds what no single cell shows: too much or too little
 * variation over a whole table.
 */
#include "grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../paper_table.h"
#include "thesis.h"

void grid_read(struct grid *g, const char *name)
{
    const struct paper_table *p = paper_table(name);
    size_t rows = paper_rows(p);

    g->published = p;
    g->columns = paper_columns(p) - 1;
    g->cells = rows * g->columns;
    g->cell = lab_memory(g->cells, sizeof *g->cell);
    for (size_t i = 0; i < g->cells; i++) {
        double k = paper_number(p, i / g->columns, 0, NULL);

        g->cell[i].k = (unsigned)k;
        g->cell[i].M = strtod(paper_head(p, 1 + i % g->columns), NULL);
    }
}

void grid_clear(struct grid *g)
{
    free(g->cell);
    g->cell = NULL;
}

double grid_published(const struct grid *g, size_t cell, double *step)
{
    return paper_number(g->published, cell / g->columns, 1 + cell % g->columns,
                        step);
}

size_t grid_find(const struct grid *g, unsigned k, double M)
{
    for (size_t i = 0; i < g->cells; i++)
        if (g->cell[i].k == k && fabs(g->cell[i].M - M) < 1e-9)
            return i;
    lab_fail("the table has no k = %u, M = %g", k, M);
}

/* --- judgements --- */

void tally_add(struct tally *all, const struct finding *f, const char *label,
               ...)
{
    enum judgement theory = finding_judge(f, THEORY);
    enum judgement bound = finding_judge(f, BOUND);
    size_t used = strlen(all->outside);
    char text[64];
    va_list args;

    all->judged += theory != NOT_JUDGED;
    all->agree += theory == AGREES;
    all->differ += theory == DIFFERS;
    all->bounds += bound != NOT_JUDGED;
    all->kept += bound == AGREES;
    all->published += finding_published(f) != NOT_JUDGED;
    if (finding_published(f) != DIFFERS)
        return;
    all->theirs++;
    va_start(args, label);
    vsnprintf(text, sizeof text, label, args);
    va_end(args);
    snprintf(all->outside + used, sizeof all->outside - used,
             "%s%s (%g, where theory has %.*f)", used ? ", " : "", text,
             f->published, f->digits + 2, f->theory);
}

/* All bands are the same number of standard deviations wide. Numbers rounded
   by more than one deviation, and those whose band begins at 0, say little. */
void tally_weigh(struct tally *all, const struct finding *f, double theory)
{
    double wide = 2 * band_mean(0, 1, 1).high;
    double sd = (f->their_high - f->their_low) / wide;

    if (!(f->their_low > 0) || !(f->step < sd))
        return;
    all->weighed++;
    all->distance += pow(f->published - theory, 2) /
                     (sd * sd + f->step * f->step / 3);
}

/* Do published numbers vary as independent runs do? */
static void describe_distance(struct section *s, const struct tally *all)
{
    double n = (double)all->weighed, runs = thesis_says("runs");
    struct band b = band_chi_square(n);
    char so[64] = "That may be chance";

    if (all->distance > b.high)
        snprintf(so, sizeof so,
                 "That is more: it is the variation of %.0f such runs",
                 runs * n / all->distance);
    else if (all->distance < b.low)
        strcpy(so, "That is less");
    section_text(
        s,
        "The %.0f published rates for which enough URLs were lost are %.2f "
        "standard deviations from theory (root of the mean square), where "
        "%.0f independent runs would be at 1, and by chance between %.2f and "
        "%.2f if the rates are independent. %s.",
        n, sqrt(all->distance / n), runs, sqrt(b.low / n), sqrt(b.high / n),
        so);
}

void tally_report(struct section *s, const struct tally *all)
{
    char theirs[1000] = "";

    if (all->theirs)
        snprintf(theirs, sizeof theirs,
                 " Published, but outside, %s %s: farther than chance goes "
                 "in %.0f independent runs.",
                 all->theirs == 1 ? "is" : "are", all->outside,
                 thesis_says("runs"));
    if (all->weighed > 1)
        describe_distance(s, all);
    section_text(s,
                 "Of our %zu rates %zu agree with theory, and %zu %s outside "
                 "the band. Of %zu published ones %zu agree with theory.%s",
                 all->judged, all->agree, all->differ,
                 all->differ == 1 ? "lies" : "lie", all->published,
                 all->published - all->theirs, theirs);
}

void grid_rates(struct section *s, const struct grid *g, const struct trial *t,
                unsigned filters, struct tally *all, const char *name,
                const char *title)
{
    struct table *table = section_table(s, name, "%s", title);

    table_columns(table, "k", "M", COMPARED, NULL);
    for (size_t i = 0; i < g->cells; i++) {
        struct finding f;
        double step, published = grid_published(g, i, &step);

        trial_finding(t, i, filters, published, step, &f);
        table_number(table, g->cell[i].k, 0);
        table_number(table, g->cell[i].M, 1);
        table_finding(table, &f);
        tally_add(all, &f, "k = %u, M = %.1f", g->cell[i].k, g->cell[i].M);
        tally_weigh(all, &f, 100 * trial_their_theory(t, i, filters));
    }
}
