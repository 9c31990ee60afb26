/*
 * layers.h - a multi-layer Bloom filter for duplicated URL detection.
 *
 * S. Saha, S. Navale, M. Navandar: A multi-layer Bloom filter for duplicated
 * URL detection, after Cen Zhiwang, Xu Jungang, Sun Jian (ICACTE 2010). One
 * file per experiment; this header has what they share. lib/filter/layered.c
 * draws the structure.
 */
#ifndef SEEN_LAB_LAYERS_H
#define SEEN_LAB_LAYERS_H

#include "../band.h"
#include "../lab.h"
#include "../paper_table.h"

void layers_figure_3(struct lab *lab, struct section *s);
void layers_figure_4(struct lab *lab, struct section *s);
void layers_figure_5(struct lab *lab, struct section *s);
void layers_memory(struct lab *lab, struct section *s);
void layers_equal_memory(struct lab *lab, struct section *s);
void layers_formula(struct lab *lab, struct section *s);
void layers_crossing(struct lab *lab, struct section *s);

/* A number of the paper or its repository: multi-layer-text.tsv. */
double authors(const char *name);

/* The three data sets of the repository: multi-layer-repository-times.tsv.
   Columns are named by their heads; *step as in paper_table.h. */
enum { DATA_SETS = 3 };
double data_set(unsigned number, const char *structure, const char *column,
                double *step);

/* The layers that the authors' program makes: as many as the deepest of URLs
   [0, n) has segments, up to the most that there can be. */
unsigned authors_layers(const struct lab *lab, uint64_t n);

/* The bits that the authors give n keys at a rate: -n ln p / (ln 2)^2. */
double authors_bits(double n, double rate);

/* The least n for which such a layer has a whole line of memory. */
uint64_t authors_least(double rate);

#endif
