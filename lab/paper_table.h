/*
 * paper_table.h - numbers that were published, from lab/data/NAME.tsv.
 *
 * Lines that begin with # tell where they come from; then a line of column
 * names, then rows, of which the first columns name the case. The files are
 * part of the program.
 *
 * Threads: any number may read.
 */
#ifndef SEEN_LAB_PAPER_TABLE_H
#define SEEN_LAB_PAPER_TABLE_H

#include <stddef.h>

struct paper_table;

/* By name, without .tsv; one that is not there ends the lab. */
const struct paper_table *paper_table(const char *name);

size_t paper_rows(const struct paper_table *p);
size_t paper_columns(const struct paper_table *p);
const char *paper_head(const struct paper_table *p, size_t column);
const char *paper_text(const struct paper_table *p, size_t row, size_t column);
/* NAN where there is no number. *step, unless NULL, is half of the last
   digit that was printed: 6.104 is known to 0.0005. */
double paper_number(const struct paper_table *p, size_t row, size_t column,
                    double *step);
/* The row whose first column is `key`, or ends the lab; a value of a table
   of name and value. */
size_t paper_row(const struct paper_table *p, const char *key);
double paper_value(const struct paper_table *p, const char *key);
/* The comment lines at its head, without #. */
const char *paper_about(const struct paper_table *p);

#endif
