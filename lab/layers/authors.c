/* authors.c - what the experiments on the multi-layer paper share. */
#include "layers.h"

double authors(const char *name)
{
    return published_value(published("multi-layer-text"), name);
}

double authors_bits(double n, double rate)
{
    return ceil(-n * log(rate) / (log(2) * log(2)));
}
