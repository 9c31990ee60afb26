/*
 * json.c - sheets as JSON.
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

#ifndef SEEN_VERSION
#define SEEN_VERSION "0.1.0"
#endif

static void put_text(FILE *to, const char *text)
{
    putc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            putc(c, to);
    }
    putc('"', to);
}

static void put_number(FILE *to, double x)
{
    if (isfinite(x))
        fprintf(to, "%.17g", x);
    else
        fputs("null", to);
}

static void name_text(FILE *to, const char *name, const char *text,
                      const char *after)
{
    fprintf(to, "\"%s\": ", name);
    put_text(to, text);
    fputs(after, to);
}

static void name_number(FILE *to, const char *name, double x,
                        const char *after)
{
    fprintf(to, "\"%s\": ", name);
    put_number(to, x);
    fputs(after, to);
}

static bool first; /* of the experiments */

void json_open(FILE *to, const struct lab *lab)
{
    static const char *const size[] = { "quick", "usual", "full" };

    fputs("{", to);
    name_text(to, "version", SEEN_VERSION, ", ");
    name_text(to, "size", size[lab->size], ", ");
    fprintf(to, "\"seed\": %llu, \"threads\": %u, \"experiments\": [",
            (unsigned long long)lab->seed, lab->threads);
    first = true;
}

static void put_finding(FILE *to, const struct row_finding *r)
{
    const struct finding *f = &r->f;

    fprintf(to, "{\"row\": %zu, ", r->row);
    name_number(to, "published", f->published, ", ");
    name_number(to, "step", f->step, ", ");
    name_number(to, "theory", f->theory, ", ");
    name_number(to, "measured", f->measured, ", ");
    name_number(to, "low", f->low, ", ");
    name_number(to, "high", f->high, ", ");
    name_number(to, "their_low", f->their_low, ", ");
    name_number(to, "their_high", f->their_high, ", ");
    name_text(to, "verdict", verdict_word(finding_verdict(f)), "}");
}

static void put_table(FILE *to, const struct table *t)
{
    fputs("{", to);
    name_text(to, "name", t->name, ", ");
    name_text(to, "title", t->title, ", \"columns\": [");
    for (size_t i = 0; i < t->columns; i++) {
        fputs(i ? ", " : "", to);
        put_text(to, t->head[i]);
    }
    fputs("], \"rows\": [", to);
    for (size_t i = 0; i < t->cells; i++) {
        const struct cell *c = &t->cell[i];

        fputs(i % t->columns ? ", " : i ? "], [" : "[", to);
        if (c->number)
            put_number(to, c->x);
        else
            put_text(to, c->text);
    }
    fputs(t->cells ? "]], \"findings\": [" : "], \"findings\": [", to);
    for (size_t i = 0; i < t->findings; i++) {
        fputs(i ? ", " : "", to);
        put_finding(to, &t->finding[i]);
    }
    fputs("]}", to);
}

static void put_plot(FILE *to, const struct plot *p)
{
    fputs("{", to);
    name_text(to, "name", p->name, ", ");
    name_text(to, "title", p->title, ", ");
    name_text(to, "x", p->x, ", ");
    name_text(to, "y", p->y, ", \"series\": [");
    for (size_t i = 0; i < p->count; i++) {
        const struct series *s = &p->series[i];

        fputs(i ? ", {" : "{", to);
        name_text(to, "title", s->title, ", \"points\": [");
        for (size_t j = 0; j < s->points; j++) {
            fputs(j ? ", [" : "[", to);
            put_number(to, s->point[j].x);
            fputs(", ", to);
            put_number(to, s->point[j].y);
            fputs("]", to);
        }
        fputs("]}", to);
    }
    fputs("]}", to);
}

/* The parts of one sort, which `put_one` writes if it is of that sort. */
static void put_parts(FILE *to, const struct sheet *s, const char *name,
                      bool (*put_one)(FILE *to, const struct part *p,
                                      const char *before))
{
    const char *before = "";

    fprintf(to, "\"%s\": [", name);
    for (size_t i = 0; i < s->parts; i++)
        if (put_one(to, &s->part[i], before))
            before = ", ";
    fputs("], ", to);
}

static bool one_text(FILE *to, const struct part *p, const char *before)
{
    if (!p->text)
        return false;
    fputs(before, to);
    put_text(to, p->text);
    return true;
}

static bool one_table(FILE *to, const struct part *p, const char *before)
{
    if (!p->table)
        return false;
    fputs(before, to);
    put_table(to, p->table);
    return true;
}

static bool one_plot(FILE *to, const struct part *p, const char *before)
{
    if (!p->plot)
        return false;
    fputs(before, to);
    put_plot(to, p->plot);
    return true;
}

void json_sheet(FILE *to, const struct sheet *s)
{
    fputs(first ? "\n{" : ",\n{", to);
    first = false;
    name_text(to, "name", s->experiment->name, ", ");
    name_text(to, "paper", s->paper->name, ", ");
    name_text(to, "place", s->experiment->place, ", ");
    name_text(to, "title", s->experiment->title, ", ");
    name_number(to, "seconds", s->seconds, ", ");
    put_parts(to, s, "text", one_text);
    put_parts(to, s, "tables", one_table);
    put_parts(to, s, "plots", one_plot);
    fprintf(to,
            "\"verdicts\": {\"agrees\": %zu, \"differs\": %zu, "
            "\"published_differs\": %zu, \"not_judged\": %zu}}",
            s->verdict[AGREES], s->verdict[DIFFERS],
            s->verdict[PUBLISHED_DIFFERS], s->verdict[NOT_JUDGED]);
}

void json_close(FILE *to)
{
    fputs("\n]}\n", to);
}
