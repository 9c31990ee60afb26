/*
 * content.h - what is in a section, for print.c, json.c and report.c, which
 * show it. Experiments need only section.h.
 *
 * Threads: one.
 */
#ifndef SEEN_LAB_CONTENT_H
#define SEEN_LAB_CONTENT_H

#include "lab.h"
#include "section.h"

struct cell {
    char *text;  /* as shown; "": a gap */
    bool number; /* x, or a gap for NAN */
    double x;
    bool judged; /* one of the last two cells of a finding */
    enum question question;
    enum judgement judgement;
};

/* A finding and its row. */
struct row_finding {
    size_t row;
    struct finding f;
};

struct table {
    struct section *section; /* it belongs to */
    char *name, *title;
    char **head;
    size_t columns, head_room;
    struct cell *cell; /* row by row */
    size_t cells, cell_room;
    struct row_finding *finding;
    size_t findings, finding_room;
};

struct point {
    double x, y;
};

struct series {
    char *title;
    enum style style;
    struct point *point;
    size_t points, point_room;
};

struct tick {
    double x;
    char *title;
};

struct plot {
    char *name, *title, *x, *y;
    int flags;
    struct series *series;
    size_t count, series_room;
    struct tick *tick;
    size_t ticks, tick_room;
    char *points; /* name of the file of its points; NULL: like `name` */
    char *failed; /* why it could not be drawn, or NULL */
};

/* One of these. */
struct part {
    char *text;
    struct table *table;
    struct plot *plot;
};

struct section {
    const struct paper *paper;
    const struct experiment *experiment;
    struct part *part;
    size_t parts, part_room;
    size_t judged[QUESTIONS_ASKED][JUDGEMENTS]; /* findings */
    size_t unjudged; /* findings that answer none of the questions */
    double seconds;  /* it took */
    char *headline;  /* or NULL */
};

struct section *section_new(const struct paper *paper,
                            const struct experiment *experiment);
void section_free(struct section *s);

/* The number of rows; the last may be incomplete. */
size_t table_rows(const struct table *t);
/* NULL past the last cell. */
const struct cell *table_cell(const struct table *t, size_t row,
                              size_t column);

/* The title of a series; if empty, that of the one before it. */
const char *series_title(const struct plot *p, size_t i);
const char *style_word(enum style style);

/* "agrees", "DIFFERS"; "within bound", "OVER BOUND"; "agrees", "differs"; of
   any question "-" if it was not judged. */
const char *judgement_word(enum question q, enum judgement v);

#endif
