/*
 * published.h - numbers that were published, from lab/data/NAME.tsv.
 *
 * Lines that begin with # tell where they come from; then a line of column
 * names, then rows, of which the first columns name the case. The files are
 * part of the program.
 *
 * Threads: any number may read.
 */
#ifndef SEEN_LAB_PUBLISHED_H
#define SEEN_LAB_PUBLISHED_H

#include <stddef.h>

struct published;

/* By name, without .tsv; one that is not there ends the lab. */
const struct published *published(const char *name);

size_t published_rows(const struct published *p);
size_t published_columns(const struct published *p);
const char *published_head(const struct published *p, size_t column);
const char *published_text(const struct published *p, size_t row,
                           size_t column);
/* NAN where there is no number. *step, unless NULL, is half of the last
   digit that was printed: 6.104 is known to 0.0005. */
double published_number(const struct published *p, size_t row, size_t column,
                        double *step);
/* The row whose first column is `key`, or ends the lab; a value of a table
   of name and value. */
size_t published_row(const struct published *p, const char *key);
double published_value(const struct published *p, const char *key);
/* The comment lines at its head, without #. */
const char *published_about(const struct published *p);

#endif
