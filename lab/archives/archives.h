/*
 * archives.h - the report on Bloom filters for web archives' holdings.
 *
 * M. Klein, L. Balakireva, K. Holub, I. Rudomino, D. Celjak, M. Milinovic:
 * Developing Bloom filters for web archives' holdings. Final project report,
 * IIPC. One file per experiment; this header has what they share.
 *
 * The report's filter is for 200 million URLs. At other sizes the bits per URL
 * stay the same, and with them the rates; what depends on size, megabytes, is
 * converted to the report's size.
 */
#ifndef SEEN_LAB_ARCHIVES_H
#define SEEN_LAB_ARCHIVES_H

#include "../band.h"
#include "../lab.h"
#include "../noise.h"
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

/* A number of the report's captions (archives-figures.tsv) and of its text
   (archives-text.tsv); *step as in paper_table.h. */
double said(const char *name, double *step);
double said_in_text(const char *name);

/* With fewer URLs no experiment here means anything. */
enum { LEAST_URLS = 100 };

/* URLs of Table 1's index. */
double said_entries(void);

/* The band of the rate of one Bloom filter of n URLs, for `asked` absent
   URLs. */
struct band rate_band(double n, double bits, unsigned k, double asked);

/* "0.823 % with k = 7": the lowest of the measured rates of k = 1, ..., most,
   and, if there are some, those that noise cannot tell from it. */
void describe_lowest_rate(const struct noisy *rate, unsigned most, char *to,
                          size_t room);

/* How many absent URLs to ask for: `times` n, up to a number beyond which the
   band hardly gets narrower. */
uint64_t enough_absent(uint64_t n, unsigned times);

/* The bits for n URLs: with k probes, and with the best number of probes,
   which need not be whole. */
double bits_for(double n, double rate, double k);
double least_bits(double n, double rate);

#endif
