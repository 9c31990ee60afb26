/*
 * structured.h - a search among functions that see the structure of URLs.
 *
 * Threads: one; the tries are spread over those of the lab.
 */
#ifndef SEEN_LAB_THESIS_STRUCTURED_H
#define SEEN_LAB_THESIS_STRUCTURED_H

#include "../lab.h"
#include "trial.h"

/* Tries of n URLs twice, in filters of this shape; writes a table and a
   paragraph. */
void structured_search(struct lab *lab, struct section *s,
                       const struct thesis_shape *shape, uint64_t n,
                       unsigned runs);

#endif
