/*
 * thesis.h - the experiments of the thesis, one function each, and what they
 * share. list.c lists them, trial.h measures, grid.h compares.
 */
#ifndef SEEN_LAB_THESIS_H
#define SEEN_LAB_THESIS_H

#include "../lab.h"

struct corpus;

/* rates.c */
void table_5_9(struct lab *lab, struct section *s);
void table_5_16(struct lab *lab, struct section *s);
void tables_5_18_5_19(struct lab *lab, struct section *s);
void tables_5_20_5_21(struct lab *lab, struct section *s);

/* hashes.c */
void tables_5_1_5_8(struct lab *lab, struct section *s);

/* crawls.c */
void table_5_17(struct lab *lab, struct section *s);
void figure_5_1(struct lab *lab, struct section *s);
void figures_A_1_A_6(struct lab *lab, struct section *s);

/* memory.c */
void tables_5_10_5_12(struct lab *lab, struct section *s);
void table_5_13(struct lab *lab, struct section *s);

/* times.c */
void tables_5_14_5_15(struct lab *lab, struct section *s);

/* filter_times.c */
void tables_A_1_A_6(struct lab *lab, struct section *s);

/* visits.c, sizes.c, spent.c, evenness.c, tuned.c: what it leaves open */
void temporal_visits(struct lab *lab, struct section *s);
void temporal_sizes(struct lab *lab, struct section *s);
void k_against_M(struct lab *lab, struct section *s);
void free_and_paid(struct lab *lab, struct section *s);
void thesis_hash_evenness(struct lab *lab, struct section *s);
void tuned_hash(struct lab *lab, struct section *s);

/* questions.c */
void questions(struct lab *lab, struct section *s);

/* --- shared --- */

/* How many URLs to add, and as many to ask for. */
uint64_t thesis_n(const struct lab *lab, uint64_t quick, uint64_t usual,
                  uint64_t full);
/* A paragraph with the size of the experiment, here and in the thesis. */
void thesis_sizes(const struct lab *lab, struct section *s, uint64_t n,
                  unsigned runs);
/* A number that the text of the thesis gives: data/thesis-text.tsv. */
double thesis_says(const char *name);
/* The bytes of a hash set of these strings: memory.c. */
uint64_t thesis_set_bytes(const struct corpus *t);

#endif
