/* authors.c - what the experiments on the multi-layer paper share. */
#include "layers.h"

double authors(const char *name)
{
    return paper_value(paper_table("multi-layer-text"), name);
}

double authors_bits(double n, double rate)
{
    return ceil(-n * log(rate) / (log(2) * log(2)));
}

/* An array is of whole lines of 512 bits, rounded down; one URL more, as the
   bits of all layers are a whole number, too. */
uint64_t authors_least(double rate)
{
    return (uint64_t)ceil(512e6 / authors_bits(1e6, rate)) + 1;
}
