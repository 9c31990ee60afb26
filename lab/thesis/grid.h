/*
 * grid.h - tables of the thesis, compared with ours.
 *
 * Its tables are grids: a row for each number of hash functions k, a column
 * for each bit-size multiplier M. Read one, measure its cells, write both
 * beside each other, and sum up the comparison in a sentence:
 *
 *     struct grid g;
 *     struct tally all = { 0 };
 *
 *     grid_read(&g, "thesis-5.09-non-incremental-1-filter");
 *     struct trial t = { .cell = g.cell, .cells = g.cells, ... };
 *     trial_run(lab, &t);
 *     grid_rates(s, &g, &t, 1, &all, "table-5.9", "Table 5.9");
 *     tally_report(s, &all);
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
/* The cell of k and M; a pair that is not there ends the experiment. */
size_t grid_find(const struct grid *g, unsigned k, double M);

/* How findings were judged, which published ones lie outside their bands, and
   how far published ones lie from theory. */
struct tally {
    size_t judged, agree, differ; /* by theory */
    size_t bounds, kept;
    size_t published, theirs; /* judged by theory; outside */
    size_t weighed;  /* published ones with enough URLs lost */
    double distance; /* the sum of their distances, in standard deviations of
                        the runs of the thesis, squared */
    char outside[800];
};

/* Count a finding; the label names it. */
void tally_add(struct tally *all, const struct finding *f, const char *label,
               ...) __attribute__((format(printf, 3, 4)));
/* Add the distance of a published rate from theory, which is in percent and
   for the size of the thesis. */
void tally_weigh(struct tally *all, const struct finding *f, double theory);
/* Write a paragraph about all of them. */
void tally_report(struct section *s, const struct tally *all);

/* A table of all cells, for this many filters or visits of the trial. */
void grid_rates(struct section *s, const struct grid *g, const struct trial *t,
                unsigned filters, struct tally *all, const char *name,
                const char *title);

#endif
