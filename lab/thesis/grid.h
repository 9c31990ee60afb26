/*
 * grid.h - tables of the thesis, and what to say of them.
 *
 * Its tables are grids: a row for each number of hash functions k, a column
 * for each bit-size multiplier M. Read one, measure its cells, write them
 * beside each other, and say in a sentence what came of it:
 *
 *     struct grid g;
 *     struct tally all = { 0 };
 *
 *     grid_read(&g, "thesis-5.09-non-incremental-1-filter");
 *     struct trial t = { .cell = g.cell, .cells = g.cells, ... };
 *     trial_run(lab, &t);
 *     grid_rates(s, &g, &t, 1, &all, "table-5.9", "Table 5.9");
 *     tally_tell(s, &all);
 *
 * Threads: one.
 */
#ifndef SEEN_LAB_THESIS_GRID_H
#define SEEN_LAB_THESIS_GRID_H

#include "trial.h"

struct paper_table;

struct grid {
    const struct paper_table *published;
    struct thesis_shape *cell; /* row by row; belongs to the grid */
    size_t cells, columns;
};

void grid_read(struct grid *g, const char *name);
void grid_clear(struct grid *g);
double grid_published(const struct grid *g, size_t cell, double *step);
/* The cell of k and M, or the lab ends. */
size_t grid_find(const struct grid *g, unsigned k, double M);

/* How findings were judged, the published ones that lie outside, and how far
   the published ones lie from theory. */
struct tally {
    size_t judged, agree, differ, theirs;
    size_t weighed;  /* published ones of which enough URLs were lost */
    double distance; /* the sum of their distances, in standard deviations of
                        the runs of the thesis, squared */
    char outside[800];
};

/* Count a finding, of which the label says what it is. */
void tally_add(struct tally *all, const struct finding *f, const char *label,
               ...) __attribute__((format(printf, 3, 4)));
/* Weigh a published rate: how far is it from theory, in percent, for the size
   that the thesis had? */
void tally_weigh(struct tally *all, const struct finding *f, double theory);
/* A paragraph of it. */
void tally_tell(struct section *s, const struct tally *all);

/* A table of all cells, for so many filters or visits of the trial. */
void grid_rates(struct section *s, const struct grid *g, const struct trial *t,
                unsigned filters, struct tally *all, const char *name,
                const char *title);

#endif
