/* thesis.h - the experiments of the thesis, one function each; list.c lists
   them. */
#ifndef SEEN_LAB_THESIS_H
#define SEEN_LAB_THESIS_H

#include "../lab.h"

/* The thesis averages over so many runs, of so many URLs each. */
enum { THEIR_RUNS = 100, THEIR_N = 1000000 };

void table_5_9(struct lab *lab, struct sheet *s);

#endif
