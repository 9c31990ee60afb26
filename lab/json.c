/*
 * json.c - sections as JSON.
 *
 *     {"version": ..., "seed": ..., "experiments": [
 *      {"name": "table-5.9", ..., "text": [...],
 *       "tables": [{"name": ..., "columns": [...], "rows": [[...], ...],
 *                   "findings": [{"row": 0, "theory": ..., ...}, ...]}],
 *       "plots": [{"name": ..., "series": [{"title": ..., "points": ...}]}],
 *       "verdicts": {"vs_theory": {"agrees": 48, "differs": 0},
 *                    "vs_bound": ..., "vs_published": ..., "not_judged": 0}}]}
 *
 * Numbers have 17 digits, or as many as they need. Cells of a table are
 * strings where they hold text, and null where they are gaps.
 */
#include "print.h"

#include <string.h>

#include <seen/version.h>

#include "../lib/text/json.h"

static void put_text(struct buffer *to, const char *text)
{
    buffer_json(to, text, strlen(text));
}

static void put_number(struct buffer *to, double x)
{
    if (isfinite(x))
        buffer_format(to, "%.17g", x);
    else
        buffer_text(to, "null");
}

/* "name": "text", */
static void name_text(struct buffer *to, const char *name, const char *text)
{
    buffer_format(to, "\"%s\": ", name);
    put_text(to, text);
    buffer_text(to, ", ");
}

static void name_number(struct buffer *to, const char *name, double x)
{
    buffer_format(to, "\"%s\": ", name);
    put_number(to, x);
    buffer_text(to, ", ");
}

/* --- parts of a section --- */

static const char *const question_key[QUESTIONS_ASKED] = {
    [THEORY] = "vs_theory", [BOUND] = "vs_bound", [PUBLISHED] = "vs_published"
};
static const char *const judgement_key[JUDGEMENTS] = { "-", "agrees",
                                                       "differs" };

static void put_finding(struct buffer *to, const struct row_finding *r)
{
    const struct finding *f = &r->f;

    buffer_format(to, "{\"row\": %zu, ", r->row);
    name_number(to, "published", f->published);
    name_number(to, "step", f->step);
    name_number(to, "theory", f->theory);
    name_number(to, "measured", f->measured);
    name_number(to, "low", f->low);
    name_number(to, "high", f->high);
    name_number(to, "their_low", f->their_low);
    name_number(to, "their_high", f->their_high);
    buffer_format(to, "\"bound\": %s", f->bound ? "true" : "false");
    for (enum question q = 0; q < QUESTIONS_ASKED; q++)
        buffer_format(to, ", \"%s\": \"%s\"", question_key[q],
                      judgement_key[finding_judge(f, q)]);
    buffer_text(to, "}");
}

static void put_table(struct buffer *to, const struct table *t)
{
    buffer_text(to, "{");
    name_text(to, "name", t->name);
    name_text(to, "title", t->title);
    for (size_t i = 0; i < t->columns; i++) {
        buffer_text(to, i ? ", " : "\"columns\": [");
        put_text(to, t->head[i]);
    }
    buffer_text(to, t->columns ? "], \"rows\": ["
                               : "\"columns\": [], \"rows\": [");
    for (size_t i = 0; i < t->cells; i++) {
        const struct cell *c = &t->cell[i];

        buffer_text(to, i % t->columns ? ", " : i ? "], [" : "[");
        if (c->number)
            put_number(to, c->x);
        else
            put_text(to, c->text);
    }
    buffer_text(to, t->cells ? "]], \"findings\": [" : "], \"findings\": [");
    for (size_t i = 0; i < t->findings; i++) {
        buffer_text(to, i ? ", " : "");
        put_finding(to, &t->finding[i]);
    }
    buffer_text(to, "]}");
}

static void put_plot(struct buffer *to, const struct plot *p)
{
    buffer_text(to, "{");
    name_text(to, "name", p->name);
    name_text(to, "title", p->title);
    name_text(to, "x", p->x);
    name_text(to, "y", p->y);
    buffer_text(to, "\"series\": [");
    for (size_t i = 0; i < p->count; i++) {
        const struct series *s = &p->series[i];

        buffer_text(to, i ? ", {" : "{");
        name_text(to, "title", s->title);
        buffer_text(to, "\"points\": [");
        for (size_t j = 0; j < s->points; j++) {
            buffer_text(to, j ? ", [" : "[");
            put_number(to, s->point[j].x);
            buffer_text(to, ", ");
            put_number(to, s->point[j].y);
            buffer_text(to, "]");
        }
        buffer_text(to, "]}");
    }
    buffer_text(to, "]}");
}

enum part_kind { TEXT_PART, TABLE_PART, PLOT_PART };

static enum part_kind kind_of(const struct part *p)
{
    return p->text ? TEXT_PART : p->table ? TABLE_PART : PLOT_PART;
}

/* The parts of one kind. */
static void put_parts(struct buffer *to, const struct section *s,
                      enum part_kind kind, const char *name)
{
    const char *before = "";

    buffer_format(to, "\"%s\": [", name);
    for (size_t i = 0; i < s->parts; i++) {
        const struct part *p = &s->part[i];

        if (kind_of(p) != kind)
            continue;
        buffer_text(to, before);
        before = ", ";
        if (p->text)
            put_text(to, p->text);
        else if (p->table)
            put_table(to, p->table);
        else
            put_plot(to, p->plot);
    }
    buffer_text(to, "], ");
}

/* --- printing --- */

static bool first; /* of the experiments */

/* Print what is in the buffer, and free it. */
static void flush(struct buffer *b, FILE *to)
{
    if (b->failed)
        lab_fail("no memory for what was found");
    fwrite(b->bytes, 1, b->len, to);
    buffer_clear(b);
}

/* Name, place and title of an experiment, and more to come. */
static void put_experiment(struct buffer *to, const struct paper *p,
                           const struct experiment *e)
{
    buffer_text(to, first ? "\n{" : ",\n{");
    first = false;
    name_text(to, "name", e->name);
    name_text(to, "paper", p->name);
    name_text(to, "place", e->place);
    name_text(to, "title", e->title);
}

void print_json_list(FILE *to)
{
    struct buffer b = { .bytes = NULL };

    buffer_text(&b, "{");
    name_text(&b, "version", SEEN_VERSION);
    buffer_text(&b, "\"experiments\": [");
    first = true;
    for (const struct paper *p = papers; p->name; p++)
        for (const struct experiment *e = p->experiment; e->name; e++) {
            put_experiment(&b, p, e);
            buffer_text(&b, "\"cited\": ");
            put_text(&b, p->title);
            buffer_text(&b, "}");
        }
    buffer_text(&b, "\n]}\n");
    flush(&b, to);
}

void print_json_begin(FILE *to, const struct lab *lab)
{
    static const char *const size[] = { "quick", "usual", "full" };

    fprintf(to,
            "{\"version\": \"%s\", \"size\": \"%s\", \"seed\": %llu, "
            "\"threads\": %u, \"experiments\": [",
            SEEN_VERSION, size[lab->size], (unsigned long long)lab->seed,
            lab->threads);
    first = true;
}

static void put_verdicts(struct buffer *to, const struct section *s)
{
    buffer_text(to, "\"verdicts\": {");
    for (enum question q = 0; q < QUESTIONS_ASKED; q++)
        buffer_format(to, "\"%s\": {\"agrees\": %zu, \"differs\": %zu}, ",
                      question_key[q], s->judged[q][AGREES],
                      s->judged[q][DIFFERS]);
    buffer_format(to, "\"not_judged\": %zu}}", s->unjudged);
}

void print_json_section(FILE *to, const struct section *s)
{
    struct buffer b = { .bytes = NULL };

    put_experiment(&b, s->paper, s->experiment);
    name_number(&b, "seconds", s->seconds);
    if (s->headline)
        name_text(&b, "headline", s->headline);
    put_parts(&b, s, TEXT_PART, "text");
    put_parts(&b, s, TABLE_PART, "tables");
    put_parts(&b, s, PLOT_PART, "plots");
    put_verdicts(&b, s);
    flush(&b, to);
}

void print_json_end(FILE *to)
{
    fputs("\n]}\n", to);
}
