/*
 * section.h - what an experiment has to say: paragraphs, tables and plots.
 *
 *     section_text(s, "The thesis says that %s.", ...);
 *     t = section_table(s, "table-5.9", "Table 5.9: one filter, in percent");
 *     table_columns(t, "k", "M", COMPARED, NULL);
 *     table_number(t, 3, 0);
 *     table_number(t, 1.7, 1);
 *     table_finding(t, &finding);
 *
 * A finding is put beside theory and what was published, and judged by a
 * band that is computed from the distribution (band.h), never by eye.
 *
 * Threads: one.
 */
#ifndef SEEN_LAB_SECTION_H
#define SEEN_LAB_SECTION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct section;
struct table;
struct plot;

/* The five columns of a finding. */
#define COMPARED "published", "theory", "measured", "difference", "agrees"

struct finding {
    double published; /* NAN: nothing was */
    double step;      /* half of its last digit: how far it was rounded */
    double theory;    /* NAN: there is none */
    double measured;
    double low, high; /* where `measured` should lie; NAN: not judged */
    double their_low, their_high; /* where `published` should; NAN as well */
    int digits;                   /* after the point, to print */
};

enum judgement {
    NOT_JUDGED,
    AGREES,            /* we and they are where theory says */
    DIFFERS,           /* we are not */
    PUBLISHED_DIFFERS, /* we are, they are not */
};
enum judgement finding_judge(const struct finding *f);

/* Paragraphs. The first of a section says what the paper claims, the last what
   we find and why, where we differ. */
void section_text(struct section *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct table *section_table(struct section *s, const char *name,
                            const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Heads of columns, ended by NULL. Then cells, row by row. */
void table_columns(struct table *t, const char *head, ...)
    __attribute__((sentinel));
/* One more head, where their number comes from data. */
void table_column(struct table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_text(struct table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_number(struct table *t, double x, int digits);     /* NAN: a gap */
void table_finding(struct table *t, const struct finding *f); /* 5 cells */

/* A plot, drawn by gnuplot into NAME.svg; its points are in the report's
   folder as NAME.tsv, too (NAME-2.tsv if a table has that name). */
enum { LOG_X = 1, LOG_Y = 2 };
enum style { LINES, POINTS, LINES_POINTS, BARS };
struct plot *section_plot(struct section *s, const char *name, const char *x,
                          const char *y, int flags, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Points that follow belong to this series. One with an empty title is not in
   the legend and has the colour of the one before: theory under measurement. */
void plot_series(struct plot *p, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void plot_point(struct plot *p, double x, double y);
/* What to write on the x axis at x, where it is a name; else numbers are. */
void plot_tick(struct plot *p, double x, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* How often findings were judged so. */
size_t section_count(const struct section *s, enum judgement v);

#endif
