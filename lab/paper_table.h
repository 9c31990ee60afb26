/*
 * paper_table.h - published numbers, from lab/data/NAME.tsv.
 *
 * Lines that begin with # name the source; then a line of column names; then
 * rows, whose first columns name the case. The files are part of the program.
 *
 * Threads: any number may read.
 */
#ifndef SEEN_LAB_PAPER_TABLE_H
#define SEEN_LAB_PAPER_TABLE_H

#include <stddef.h>

struct paper_table;

/* By name, without .tsv; an unknown name ends the lab. */
const struct paper_table *paper_table(const char *name);

size_t paper_rows(const struct paper_table *p);
size_t paper_columns(const struct paper_table *p);
const char *paper_head(const struct paper_table *p, size_t column);
const char *paper_text(const struct paper_table *p, size_t row, size_t column);
/* NAN if the cell is not a number. *step, unless NULL, is half of the last
   printed digit: 6.104 is known to 0.0005. */
double paper_number(const struct paper_table *p, size_t row, size_t column,
                    double *step);
/* The row whose first column is `key`, and the value of that name in a table
   of names and values; an unknown key ends the lab. */
size_t paper_row(const struct paper_table *p, const char *key);
double paper_value(const struct paper_table *p, const char *key);

#endif
