/*
 * json.c - sections as JSON.
 *
 *     {"version": ..., "seed": ..., "experiments": [
 *      {"name": "table-5.9", ..., "text": [...],
 *       "tables": [{"name": ..., "columns": [...], "rows": [[...], ...],
 *                   "findings": [{"row": 0, "theory": ..., ...}, ...]}],
 *       "plots": [{"name": ..., "series": [{"title": ..., "points": ...}]}],
 *       "verdicts": {"agrees": 48, ...}}]}
 *
 * Numbers are given in full here, as 17 digits or what they need; cells of a
 * table are strings where they hold text and null where they are gaps.
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

static void name_text(struct buffer *to, const char *name, const char *text,
                      const char *after)
{
    buffer_format(to, "\"%s\": ", name);
    put_text(to, text);
    buffer_text(to, after);
}

static void name_number(struct buffer *to, const char *name, double x,
                        const char *after)
{
    buffer_format(to, "\"%s\": ", name);
    put_number(to, x);
    buffer_text(to, after);
}

/* Print what is in the buffer, and free it. */
static void flush(struct buffer *b, FILE *to)
{
    if (b->failed)
        lab_fail("no memory for what was found");
    fwrite(b->bytes, 1, b->len, to);
    buffer_clear(b);
}

static bool first; /* of the experiments */

void print_json_begin(FILE *file, const struct lab *lab)
{
    static const char *const size[] = { "quick", "usual", "full" };
    struct buffer b = { .bytes = NULL }, *to = &b;

    buffer_text(to, "{");
    name_text(to, "version", SEEN_VERSION, ", ");
    name_text(to, "size", size[lab->size], ", ");
    buffer_format(to, "\"seed\": %llu, \"threads\": %u, \"experiments\": [",
                  (unsigned long long)lab->seed, lab->threads);
    flush(to, file);
    first = true;
}

static void put_finding(struct buffer *to, const struct row_finding *r)
{
    const struct finding *f = &r->f;

    buffer_format(to, "{\"row\": %zu, ", r->row);
    name_number(to, "published", f->published, ", ");
    name_number(to, "step", f->step, ", ");
    name_number(to, "theory", f->theory, ", ");
    name_number(to, "measured", f->measured, ", ");
    name_number(to, "low", f->low, ", ");
    name_number(to, "high", f->high, ", ");
    name_number(to, "their_low", f->their_low, ", ");
    name_number(to, "their_high", f->their_high, ", ");
    name_text(to, "verdict", judgement_word(finding_judge(f)), "}");
}

static void put_table(struct buffer *to, const struct table *t)
{
    buffer_text(to, "{");
    name_text(to, "name", t->name, ", ");
    name_text(to, "title", t->title, ", \"columns\": [");
    for (size_t i = 0; i < t->columns; i++) {
        buffer_text(to, i ? ", " : "");
        put_text(to, t->head[i]);
    }
    buffer_text(to, "], \"rows\": [");
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
    name_text(to, "name", p->name, ", ");
    name_text(to, "title", p->title, ", ");
    name_text(to, "x", p->x, ", ");
    name_text(to, "y", p->y, ", \"series\": [");
    for (size_t i = 0; i < p->count; i++) {
        const struct series *s = &p->series[i];

        buffer_text(to, i ? ", {" : "{");
        name_text(to, "title", s->title, ", \"points\": [");
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

/* The parts of one sort, which `put_one` writes if it is of that sort. */
static void put_parts(struct buffer *to, const struct section *s,
                      const char *name,
                      bool (*put_one)(struct buffer *to, const struct part *p,
                                      const char *before))
{
    const char *before = "";

    buffer_format(to, "\"%s\": [", name);
    for (size_t i = 0; i < s->parts; i++)
        if (put_one(to, &s->part[i], before))
            before = ", ";
    buffer_text(to, "], ");
}

static bool one_text(struct buffer *to, const struct part *p,
                     const char *before)
{
    if (!p->text)
        return false;
    buffer_text(to, before);
    put_text(to, p->text);
    return true;
}

static bool one_table(struct buffer *to, const struct part *p,
                      const char *before)
{
    if (!p->table)
        return false;
    buffer_text(to, before);
    put_table(to, p->table);
    return true;
}

static bool one_plot(struct buffer *to, const struct part *p,
                     const char *before)
{
    if (!p->plot)
        return false;
    buffer_text(to, before);
    put_plot(to, p->plot);
    return true;
}

void print_json_section(FILE *file, const struct section *s)
{
    struct buffer b = { .bytes = NULL }, *to = &b;

    buffer_text(to, first ? "\n{" : ",\n{");
    first = false;
    name_text(to, "name", s->experiment->name, ", ");
    name_text(to, "paper", s->paper->name, ", ");
    name_text(to, "place", s->experiment->place, ", ");
    name_text(to, "title", s->experiment->title, ", ");
    name_number(to, "seconds", s->seconds, ", ");
    put_parts(to, s, "text", one_text);
    put_parts(to, s, "tables", one_table);
    put_parts(to, s, "plots", one_plot);
    buffer_format(to,
                  "\"verdicts\": {\"agrees\": %zu, \"differs\": %zu, "
                  "\"published_differs\": %zu, \"not_judged\": %zu}}",
                  s->judged[AGREES], s->judged[DIFFERS],
                  s->judged[PUBLISHED_DIFFERS], s->judged[NOT_JUDGED]);
    flush(to, file);
}

void print_json_end(FILE *file)
{
    fputs("\n]}\n", file);
}
