/*
 * larger.h - a larger k or a larger M, in the cache and out of it?
 *
 * Threads: one.
 */
#ifndef SEEN_LAB_THESIS_LARGER_H
#define SEEN_LAB_THESIS_LARGER_H

#include "../lab.h"

/* Writes a table, and what follows from it. */
void larger_k_or_M(struct lab *lab, struct section *s);

#endif
