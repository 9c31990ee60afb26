/*
 * print.c - a section as text for a terminal.
 *
 *     Table 5.9: false positives of one filter            thesis, table-5.9
 *
 *     Paragraphs, broken at 78 columns.
 *
 *     k    M  published  theory  measured  difference  vs theory  vs published
 *     3  1.7     8.7927  8.7817    8.7853     +0.0036  agrees     agrees
 */
#include "print.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/utf8.h"

enum { WIDTH = 78 };

static int width(const char *text)
{
    return (int)utf8_count(text, strlen(text));
}

void print_text(FILE *to, const char *text, int indent)
{
    int column = 0; /* behind the indent */

    while (*text) {
        size_t len = strcspn(text, " \n");
        char word[256];
        int w;

        if (len >= sizeof word)
            len = sizeof word - 1;
        memcpy(word, text, len);
        word[len] = '\0';
        w = width(word);
        if (column && indent + column + 1 + w > WIDTH) {
            fprintf(to, "\n%*s", indent, "");
            column = 0;
        }
        if (column && w) {
            putc(' ', to);
            column++;
        }
        fputs(word, to);
        column += w;
        text += len;
        if (*text == '\n') {
            fprintf(to, "\n%*s", indent, "");
            column = 0;
        }
        if (*text == ' ' || *text == '\n')
            text++;
    }
    if (column)
        putc('\n', to);
}

static int column_width(const struct table *t, size_t column)
{
    int most = width(t->head[column]);

    for (size_t i = 0; i < table_rows(t); i++) {
        const struct cell *c = table_cell(t, i, column);
        int w = c ? width(c->text) : 0;

        if (w > most)
            most = w;
    }
    return most;
}

/* Numbers stand to the right, so does the head above them. */
static bool is_right(const struct table *t, size_t column)
{
    const struct cell *c = table_cell(t, 0, column);

    return c && c->number;
}

static void print_cell(FILE *to, const struct table *t, size_t column,
                       const char *text, int room)
{
    int pad = room - width(text);

    fprintf(to, "%s%*s%s", column ? "  " : "", is_right(t, column) ? pad : 0,
            "", text);
    if (!is_right(t, column) && column + 1 < t->columns)
        fprintf(to, "%*s", pad, "");
}

static void print_table(FILE *to, const struct table *t)
{
    print_text(to, t->title, 0);
    for (size_t i = 0; i < t->columns; i++)
        print_cell(to, t, i, t->head[i], column_width(t, i));
    putc('\n', to);
    for (size_t row = 0; row < table_rows(t); row++) {
        for (size_t i = 0; i < t->columns; i++) {
            const struct cell *c = table_cell(t, row, i);

            print_cell(to, t, i, c ? c->text : "", column_width(t, i));
        }
        putc('\n', to);
    }
}

static void print_figure(FILE *to, const struct plot *p)
{
    char *text;

    if (asprintf(&text, "Figure: %s (drawn with --report DIR)", p->title) < 0)
        lab_fail("no memory for what was found");
    print_text(to, text, 0);
    free(text);
}

void print_section(FILE *to, const struct section *s)
{
    const struct experiment *e = s->experiment;
    int gap = WIDTH - width(e->place) - width(e->title) - 4 -
              width(s->paper->name) - width(e->name);

    fprintf(to, "%s: %s%*s%s, %s\n", e->place, e->title, gap < 2 ? 2 : gap, "",
            s->paper->name, e->name);
    for (size_t i = 0; i < s->parts; i++) {
        const struct part *p = &s->part[i];

        putc('\n', to);
        if (p->text)
            print_text(to, p->text, 0);
        else if (p->table)
            print_table(to, p->table);
        else
            print_figure(to, p->plot);
    }
    putc('\n', to);
}
