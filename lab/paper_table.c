/*
 * paper_table.c - the tables of lab/data, taken apart when first asked for.
 *
 * The bytes are ours, so what is wrong in them is our mistake: a test looks
 * at all files, and here the lab just ends.
 */
#include "paper_table.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "lab.h"

struct paper_table {
    const char *name;
    char *text;  /* cells point into it */
    char **cell;        /* of the head, then row by row */
    size_t columns, rows;
};

/* --- taking apart --- */

/* Cut a line into cells, and return how many they are. */
static size_t cut_line(struct paper_table *p, size_t *count, char *line)
{
    size_t columns = 0;

    for (char *tab; line; line = tab, columns++) {
        tab = strchr(line, '\t');
        if (tab)
            *tab++ = '\0';
        p->cell[(*count)++] = line;
    }
    return columns;
}

static void take_apart(struct paper_table *p, const struct data_file *file)
{
    size_t most = 1, count = 0;
    char *next;

    p->name = file->name;
    p->text = lab_memory(file->len + 1, 1);
    memcpy(p->text, file->bytes, file->len);
    for (size_t i = 0; i < file->len; i++)
        most += p->text[i] == '\t' || p->text[i] == '\n';
    p->cell = lab_memory(most, sizeof *p->cell);
    for (char *line = p->text; line && *line; line = next) {
        size_t columns;

        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (*line == '#')
            continue;
        columns = cut_line(p, &count, line);
        if (!p->columns)
            p->columns = columns;
        else if (columns == p->columns)
            p->rows++;
        else
            lab_fail("%s: row %zu has %zu columns, its head %zu", p->name,
                     p->rows + 1, columns, p->columns);
    }
}

static struct paper_table *all;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_all(void)
{
    all = lab_memory(data_count, sizeof *all);
    for (size_t i = 0; i < data_count; i++)
        take_apart(&all[i], &data_files[i]);
}

const struct paper_table *paper_table(const char *name)
{
    size_t len = strlen(name);

    pthread_once(&once, read_all);
    for (size_t i = 0; i < data_count; i++)
        if (!strncmp(all[i].name, name, len) &&
            !strcmp(all[i].name + len, ".tsv"))
            return &all[i];
    lab_fail("there is no lab/data/%s.tsv", name);
}

/* --- reading --- */

size_t paper_rows(const struct paper_table *p)
{
    return p->rows;
}

size_t paper_columns(const struct paper_table *p)
{
    return p->columns;
}

const char *paper_head(const struct paper_table *p, size_t column)
{
    if (column >= p->columns)
        lab_fail("%s has no column %zu", p->name, column);
    return p->cell[column];
}

const char *paper_text(const struct paper_table *p, size_t row, size_t column)
{
    if (row >= p->rows || column >= p->columns)
        lab_fail("%s has no row %zu, column %zu", p->name, row, column);
    return p->cell[(row + 1) * p->columns + column];
}

/* Half of the last digit of a number that was printed so. */
static double half_digit(const char *text)
{
    const char *point = strchr(text, '.');

    return point ? 0.5 * pow(10, -(double)strspn(point + 1, "0123456789"))
                 : 0.5;
}

double paper_number(const struct paper_table *p, size_t row, size_t column,
                    double *step)
{
    const char *text = paper_text(p, row, column);
    char *end;
    double x = strtod(text, &end);

    if (end == text || *end)
        x = NAN;
    if (step)
        *step = isnan(x) ? NAN : half_digit(text);
    return x;
}

size_t paper_row(const struct paper_table *p, const char *key)
{
    for (size_t i = 0; i < p->rows; i++)
        if (!strcmp(paper_text(p, i, 0), key))
            return i;
    lab_fail("%s has no row %s", p->name, key);
}

double paper_value(const struct paper_table *p, const char *key)
{
    return paper_number(p, paper_row(p, key), 1, NULL);
}
