/*
 * section.h - what an experiment reports: paragraphs, tables and plots.
 *
 *     section_text(s, "The thesis says that %s.", ...);
 *     t = section_table(s, "table-5.9", "Table 5.9: one filter, in percent");
 *     table_columns(t, "k", "M", COMPARED, NULL);
 *     table_number(t, 3, 0);
 *     table_number(t, 1.7, 1);
 *     table_finding(t, &finding);
 *
 * A finding stands beside theory and what was published, and is judged by a
 * band computed from the distribution (band.h), never by eye. There are three
 * questions, and a finding answers those that it can:
 *
 *     theory       does what we measured lie in the band around theory?
 *     bound        where theory gives only a limit: is it kept?
 *     published    do our number and the published one agree?
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

/* The six columns of a finding. */
#define COMPARED \
    "published", "theory", "measured", "difference", "vs theory", \
        "vs published"

struct finding {
    double published; /* NAN: nothing was published */
    double step;      /* half of its last digit: its rounding */
    double theory;    /* or the bound; NAN: no theory */
    double measured;
    double low, high; /* where `measured` should lie; NAN: not judged */
    double their_low, their_high; /* the same for `published` */
    bool bound; /* theory is only a limit; `low` says nothing */
    int digits; /* after the point, to print */
};

enum question { THEORY, BOUND, PUBLISHED, QUESTIONS_ASKED };
enum judgement { NOT_JUDGED, AGREES, DIFFERS, JUDGEMENTS };

/*
 * A published number agrees with ours if both lie where theory says, each in
 * the band of its own runs, or if neither does and they lie together. That is
 * sharper than to compare two measurements with each other, whose chances add
 * up. Without a band of ours, ours is held against theirs.
 */
enum judgement finding_judge(const struct finding *f, enum question q);

/* Does the published number alone lie where theory says, within its
   rounding? */
enum judgement finding_published(const struct finding *f);

/* Paragraphs. The first says what the paper claims, the last what we find,
   and why we differ where we do. */
void section_text(struct section *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What to remember of an experiment, in a sentence or two: for the top of the
   report. At most one. */
void section_headline(struct section *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct table *section_table(struct section *s, const char *name,
                            const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Heads of columns, ended by NULL. Cells follow, row by row. */
void table_columns(struct table *t, const char *head, ...)
    __attribute__((sentinel));
/* One more head, if their number comes from data. */
void table_column(struct table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_text(struct table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_number(struct table *t, double x, int digits);     /* NAN: a gap */
void table_finding(struct table *t, const struct finding *f); /* 6 cells */

/* A plot, drawn by gnuplot into NAME.svg; its points are in the report's
   folder as NAME.tsv (NAME-2.tsv if a table has that name). */
enum { LOG_X = 1, LOG_Y = 2 };
enum style { LINES, POINTS, LINES_POINTS, BARS, DASHES, CIRCLES };
struct plot *section_plot(struct section *s, const char *name, const char *x,
                          const char *y, int flags, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Following points belong to this series. A series with an empty title is not
   in the legend and has the colour of the one before: theory beside what was
   measured. */
void plot_series(struct plot *p, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void plot_point(struct plot *p, double x, double y);
/* A name on the x axis at x; without names it shows numbers. */
void plot_tick(struct plot *p, double x, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* How many findings were judged so. */
size_t section_count(const struct section *s, enum question q,
                     enum judgement v);

#endif
