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

struct finding in_percent(double theory, struct band band, double measured,
                          int digits)
{
    return (struct finding){ .published = NAN,
                             .theory = 100 * theory,
                             .measured = 100 * measured,
                             .low = 100 * band.low,
                             .high = 100 * band.high,
                             .their_low = NAN,
                             .their_high = NAN,
                             .digits = digits };
}
