/* grid.c - published rates beside ours, and what to say of them. */
#include "grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../published.h"
#include "thesis.h"

void grid_read(struct grid *g, const char *name)
{
    const struct published *p = published(name);
    size_t rows = published_rows(p);

    g->published = p;
    g->columns = published_columns(p) - 1;
    g->cells = rows * g->columns;
    g->cell = thesis_memory(g->cells, sizeof *g->cell);
    for (size_t i = 0; i < g->cells; i++) {
        double k = published_number(p, i / g->columns, 0, NULL);

        g->cell[i].k = (unsigned)k;
        g->cell[i].M = strtod(published_head(p, 1 + i % g->columns), NULL);
    }
}

void grid_clear(struct grid *g)
{
    free(g->cell);
    g->cell = NULL;
}

double grid_published(const struct grid *g, size_t cell, double *step)
{
    return published_number(g->published, cell / g->columns,
                            1 + cell % g->columns, step);
}

size_t grid_find(const struct grid *g, unsigned k, double M)
{
    for (size_t i = 0; i < g->cells; i++)
        if (g->cell[i].k == k && fabs(g->cell[i].M - M) < 1e-9)
            return i;
    lab_fail("the table has no k = %u, M = %g", k, M);
}

/* --- verdicts --- */

void tally_add(struct tally *all, const struct finding *f,
               const struct band *one, const char *label, ...)
{
    enum verdict v = finding_verdict(f);
    size_t used = strlen(all->outside);
    char text[64];
    va_list args;

    all->judged += v != NOT_JUDGED;
    all->agree += v == AGREES;
    all->differ += v == DIFFERS;
    if (v != PUBLISHED_DIFFERS)
        return;
    all->theirs++;
    if (one && f->published + f->step >= 100 * one->low &&
        f->published - f->step <= 100 * one->high)
        all->one_run++;
    va_start(args, label);
    vsnprintf(text, sizeof text, label, args);
    va_end(args);
    snprintf(all->outside + used, sizeof all->outside - used,
             "%s%s (%g, where theory has %.*f)", used ? ", " : "", text,
             f->published, f->digits + 2, f->theory);
}

void tally_tell(struct sheet *s, const struct tally *all)
{
    char theirs[1400] = "";

    if (all->theirs)
        snprintf(theirs, sizeof theirs,
                 " Published, but outside, %s %s. That is farther than "
                 "chance goes in %.0f independent runs; in the band of a "
                 "single run, which is ten times as wide, %s: as if the "
                 "runs had shared URLs and salts.",
                 all->theirs == 1 ? "is" : "are", all->outside,
                 thesis_says("runs"),
                 all->one_run < all->theirs ? "not all of them would be"
                 : all->theirs == 1         ? "it would be"
                                            : "all of them would be");
    sheet_text(s,
               "Of %zu rates, %zu agree with theory, both ours and those "
               "published; %zu of ours %s outside the band.%s",
               all->judged, all->agree, all->differ,
               all->differ == 1 ? "lies" : "lie", theirs);
}

void grid_rates(struct sheet *s, const struct grid *g, const struct trial *t,
                unsigned filters, struct tally *all, const char *name,
                const char *title)
{
    struct table *table = sheet_table(s, name, "%s", title);

    table_columns(table, "k", "M", COMPARED, NULL);
    for (size_t i = 0; i < g->cells; i++) {
        struct finding f;
        struct band one = trial_band(t, thesis_says("urls"), 1, i, filters);
        double step, published = grid_published(g, i, &step);

        trial_finding(t, i, filters, published, step, &f);
        table_number(table, g->cell[i].k, 0);
        table_number(table, g->cell[i].M, 1);
        table_finding(table, &f);
        tally_add(all, &f, &one, "k = %u, M = %.1f", g->cell[i].k,
                  g->cell[i].M);
    }
}
