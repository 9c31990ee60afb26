/*
 * archives.h - the report on Bloom filters for web archives' holdings.
 *
 * M. Klein, L. Balakireva, K. Holub, I. Rudomino, D. Celjak, M. Milinovic:
 * Developing Bloom filters for web archives' holdings. Final project report,
 * IIPC. One file per experiment; here is what they share.
 *
 * The report's filter is for 200 million URLs. At other sizes the bits per URL
 * stay the same, and with them the rates; what depends on size, megabytes,
 * is told as it would be at the report's.
 */
#ifndef SEEN_LAB_ARCHIVES_H
#define SEEN_LAB_ARCHIVES_H

#include "../band.h"
#include "../lab.h"
#include "../paper_table.h"

void archives_table_1(struct lab *lab, struct section *s);
void archives_figure_3(struct lab *lab, struct section *s);
void archives_figure_4(struct lab *lab, struct section *s);
void archives_figure_5(struct lab *lab, struct section *s);
void archives_figure_6(struct lab *lab, struct section *s);
void archives_figure_7(struct lab *lab, struct section *s);
void archives_memory_16(struct lab *lab, struct section *s);
void archives_choice_of_k(struct lab *lab, struct section *s);
void archives_ten_years(struct lab *lab, struct section *s);
void archives_truncated(struct lab *lab, struct section *s);

/* A number of the report's captions and text, of archives-figures.tsv and
   archives-text.tsv; *step as in paper_table.h. */
double said(const char *name, double *step);
double said_in_text(const char *name);

/* Fewer URLs than this tell nothing of any experiment here. */
enum { LEAST_URLS = 100 };

/* URLs of Table 1's index. */
double said_entries(void);

/* What one Bloom filter of n URLs should answer to so many absent ones. */
struct band rate_band(double n, double bits, unsigned k, double asked);

/* How many absent URLs to ask for: `times` n, and no more than make the band
   so narrow that more do not pay. */
uint64_t enough_absent(uint64_t n, unsigned times);

/* The bits for n URLs: with k probes, and with as many as are best, not
   necessarily a whole number. */
double bits_for(double n, double rate, double k);
double least_bits(double n, double rate);

#endif
