/*
 * section.c - paragraphs, tables and plots, kept until they are shown.
 *
 * A section is a list of parts in the order in which they were written. What
 * is printed, written as JSON or put on a page is the same list, so the three
 * cannot differ. Cells keep the number beside its text: people get the digits
 * that mean something, programs all of them.
 *
 * Here is also the judgement of a finding: every "agrees" of the laboratory
 * comes from finding_judge() and a band of the experiment.
 */
#include "content.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"

/* Room for one more element. */
static void *more(void *array, size_t *room, size_t count, size_t size)
{
    array = array_grow(array, room, count + 1, size);
    if (!array)
        lab_fail("no memory for what was found");
    return array;
}

static char *format_text(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));

static char *format_text(const char *format, va_list args)
{
    char *text;

    if (vasprintf(&text, format, args) < 0)
        lab_fail("no memory for what was found");
    return text;
}

static char *copy(const char *text)
{
    char *new = strdup(text);

    if (!new)
        lab_fail("no memory for what was found");
    return new;
}

/* --- the section --- */

struct section *section_new(const struct paper *paper,
                            const struct experiment *experiment)
{
    struct section *s = lab_memory(1, sizeof *s);

    s->paper = paper;
    s->experiment = experiment;
    return s;
}

static struct part *new_part(struct section *s)
{
    s->part = more(s->part, &s->part_room, s->parts, sizeof *s->part);
    s->part[s->parts] = (struct part){ 0 };
    return &s->part[s->parts++];
}

void section_text(struct section *s, const char *format, ...)
{
    struct part *p = new_part(s);
    va_list args;

    va_start(args, format);
    p->text = format_text(format, args);
    va_end(args);
}

void section_headline(struct section *s, const char *format, ...)
{
    va_list args;

    free(s->headline);
    va_start(args, format);
    s->headline = format_text(format, args);
    va_end(args);
}

size_t section_count(const struct section *s, enum question q,
                     enum judgement v)
{
    return s->judged[q][v];
}

/* --- findings --- */

static bool within(double x, double low, double high)
{
    return x >= low && x <= high; /* false for NAN */
}

/* Is there a band of ours? */
static bool ours_is_judged(const struct finding *f)
{
    return !isnan(f->high) && (f->bound || !isnan(f->low));
}

static bool ours_is_within(const struct finding *f)
{
    return within(f->measured, f->bound ? -INFINITY : f->low, f->high);
}

static bool within_theirs(const struct finding *f, double x)
{
    return within(x, f->their_low - f->step, f->their_high + f->step);
}

static enum judgement judgement_of(bool good)
{
    return good ? AGREES : DIFFERS;
}

enum judgement finding_published(const struct finding *f)
{
    if (isnan(f->published) || isnan(f->their_low) || isnan(f->their_high))
        return NOT_JUDGED;
    return judgement_of(within_theirs(f, f->published));
}

/* Both are off: do they lie within the chances of both of them? */
static bool lie_together(const struct finding *f)
{
    double ours = (f->high - f->low) / 2;
    double theirs = (f->their_high - f->their_low) / 2;

    return fabs(f->measured - f->published) <= f->step + hypot(ours, theirs);
}

static enum judgement judge_published(const struct finding *f)
{
    enum judgement theirs = finding_published(f);
    bool ours = ours_is_judged(f) ? ours_is_within(f)
                                  : within_theirs(f, f->measured);

    if (theirs == NOT_JUDGED || isnan(f->measured))
        return NOT_JUDGED;
    if (!ours && theirs == DIFFERS && !f->bound)
        return judgement_of(lie_together(f));
    return judgement_of(ours && theirs == AGREES);
}

enum judgement finding_judge(const struct finding *f, enum question q)
{
    if (q == PUBLISHED)
        return judge_published(f);
    if (!ours_is_judged(f) || f->bound != (q == BOUND))
        return NOT_JUDGED;
    return judgement_of(ours_is_within(f));
}

const char *judgement_word(enum question q, enum judgement v)
{
    static const char *const word[QUESTIONS_ASKED][JUDGEMENTS] = {
        [THEORY] = { "-", "agrees", "DIFFERS" },
        [BOUND] = { "-", "within bound", "OVER BOUND" },
        [PUBLISHED] = { "-", "agrees", "differs" },
    };

    return word[q][v];
}

/* --- tables --- */

struct table *section_table(struct section *s, const char *name,
                            const char *format, ...)
{
    struct part *p = new_part(s);
    va_list args;

    p->table = lab_memory(1, sizeof *p->table);
    p->table->section = s;
    p->table->name = copy(name);
    va_start(args, format);
    p->table->title = format_text(format, args);
    va_end(args);
    return p->table;
}

void table_columns(struct table *t, const char *head, ...)
{
    va_list args;

    va_start(args, head);
    for (; head; head = va_arg(args, const char *))
        table_column(t, "%s", head);
    va_end(args);
}

void table_column(struct table *t, const char *format, ...)
{
    va_list args;

    t->head = more(t->head, &t->head_room, t->columns, sizeof *t->head);
    va_start(args, format);
    t->head[t->columns++] = format_text(format, args);
    va_end(args);
}

static struct cell *new_cell(struct table *t)
{
    t->cell = more(t->cell, &t->cell_room, t->cells, sizeof *t->cell);
    t->cell[t->cells] = (struct cell){ 0 };
    return &t->cell[t->cells++];
}

void table_text(struct table *t, const char *format, ...)
{
    struct cell *c = new_cell(t);
    va_list args;

    va_start(args, format);
    c->text = format_text(format, args);
    va_end(args);
}

static void number_cell(struct table *t, double x, int digits, bool sign)
{
    struct cell *c;

    if (isnan(x))
        table_text(t, "%s", "");
    else if (sign)
        table_text(t, "%+.*f", digits, x);
    else
        table_text(t, "%.*f", digits, x);
    c = &t->cell[t->cells - 1];
    c->number = true;
    c->x = x;
}

void table_number(struct table *t, double x, int digits)
{
    number_cell(t, x, digits, false);
}

/* How many digits were printed after the point, given half of the last. */
static int step_digits(double step)
{
    return step > 0 ? (int)fmax(0, round(-log10(2 * step))) : 0;
}

static void count_judgements(struct section *s, const struct finding *f)
{
    bool any = false;

    for (enum question q = 0; q < QUESTIONS_ASKED; q++) {
        enum judgement v = finding_judge(f, q);

        s->judged[q][v]++;
        any |= v != NOT_JUDGED;
    }
    s->unjudged += !any;
}

static void judgement_cell(struct table *t, const struct finding *f,
                           enum question q)
{
    struct cell *c = new_cell(t);

    c->judged = true;
    c->question = q;
    c->judgement = finding_judge(f, q);
    c->text = copy(judgement_word(q, c->judgement));
}

void table_finding(struct table *t, const struct finding *f)
{
    int theirs = step_digits(f->step);
    int digits = theirs > f->digits ? theirs : f->digits;
    struct row_finding *r;

    t->finding = more(t->finding, &t->finding_room, t->findings,
                      sizeof *t->finding);
    r = &t->finding[t->findings++];
    r->f = *f;
    r->row = t->columns ? t->cells / t->columns : 0;
    count_judgements(t->section, f);

    table_number(t, f->published, f->step > 0 ? theirs : f->digits);
    table_number(t, f->theory, digits);
    table_number(t, f->measured, digits);
    number_cell(t, f->measured - (isnan(f->theory) ? f->published : f->theory),
                digits, true);
    judgement_cell(t, f, f->bound ? BOUND : THEORY);
    judgement_cell(t, f, PUBLISHED);
}

size_t table_rows(const struct table *t)
{
    return t->columns ? (t->cells + t->columns - 1) / t->columns : 0;
}

const struct cell *table_cell(const struct table *t, size_t row, size_t column)
{
    size_t at = row * t->columns + column;

    return at < t->cells ? &t->cell[at] : NULL;
}

/* --- plots --- */

struct plot *section_plot(struct section *s, const char *name, const char *x,
                          const char *y, int flags, const char *format, ...)
{
    struct part *p = new_part(s);
    va_list args;

    p->plot = lab_memory(1, sizeof *p->plot);
    p->plot->name = copy(name);
    p->plot->x = copy(x);
    p->plot->y = copy(y);
    p->plot->flags = flags;
    va_start(args, format);
    p->plot->title = format_text(format, args);
    va_end(args);
    return p->plot;
}

void plot_series(struct plot *p, enum style style, const char *format, ...)
{
    struct series *s;
    va_list args;

    p->series = more(p->series, &p->series_room, p->count, sizeof *p->series);
    s = &p->series[p->count++];
    *s = (struct series){ .style = style };
    va_start(args, format);
    s->title = format_text(format, args);
    va_end(args);
}

void plot_point(struct plot *p, double x, double y)
{
    struct series *s = &p->series[p->count - 1];

    s->point = more(s->point, &s->point_room, s->points, sizeof *s->point);
    s->point[s->points++] = (struct point){ x, y };
}

void plot_tick(struct plot *p, double x, const char *format, ...)
{
    va_list args;

    p->tick = more(p->tick, &p->tick_room, p->ticks, sizeof *p->tick);
    p->tick[p->ticks].x = x;
    va_start(args, format);
    p->tick[p->ticks++].title = format_text(format, args);
    va_end(args);
}

const char *series_title(const struct plot *p, size_t i)
{
    while (i && !*p->series[i].title)
        i--;
    return p->series[i].title;
}

const char *style_word(enum style style)
{
    static const char *const word[] = {
        [LINES] = "line", [POINTS] = "points", [LINES_POINTS] = "line",
        [BARS] = "bars",  [DASHES] = "dashes", [CIRCLES] = "circles",
    };

    return word[style];
}

/* --- the end of them --- */

static void free_table(struct table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->columns; i++)
        free(t->head[i]);
    for (size_t i = 0; i < t->cells; i++)
        free(t->cell[i].text);
    free(t->name);
    free(t->title);
    free(t->head);
    free(t->cell);
    free(t->finding);
    free(t);
}

static void free_plot(struct plot *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++) {
        free(p->series[i].title);
        free(p->series[i].point);
    }
    for (size_t i = 0; i < p->ticks; i++)
        free(p->tick[i].title);
    free(p->tick);
    free(p->series);
    free(p->name);
    free(p->title);
    free(p->x);
    free(p->y);
    free(p->points);
    free(p->failed);
    free(p);
}

void section_free(struct section *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->parts; i++) {
        free(s->part[i].text);
        free_table(s->part[i].table);
        free_plot(s->part[i].plot);
    }
    free(s->part);
    free(s->headline);
    free(s);
}
