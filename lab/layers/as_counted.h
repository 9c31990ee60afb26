/*
 * as_counted.h - the authors' count on a list as it stands, with what is repeated.
 *
 * Threads: one.
 */
#ifndef SEEN_LAB_LAYERS_AS_COUNTED_H
#define SEEN_LAB_LAYERS_AS_COUNTED_H

#include "../lab.h"

/* Writes a table and a paragraph about a list of the user's, beside the data
   set of the repository that has as many rows, if one has; nothing for URLs
   that are made up. */
void layers_count_rows(struct lab *lab, struct section *s);

#endif
