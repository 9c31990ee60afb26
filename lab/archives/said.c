/* said.c - what the experiments on the archives report share. */
#include "archives.h"

#include <math.h>
#include <stdio.h>

double said(const char *name, double *step)
{
    const struct paper_table *p = paper_table("archives-figures");

    return paper_number(p, paper_row(p, name), 1, step);
}

double said_in_text(const char *name)
{
    return paper_value(paper_table("archives-text"), name);
}

double said_entries(void)
{
    const struct paper_table *p = paper_table("archives-table-1");

    return paper_number(p, paper_row(p, "ingested_entries"), 3, NULL);
}

struct band rate_band(double n, double bits, unsigned k, double asked)
{
    return band_share(theory_rate(n, bits, k), asked,
                      theory_spread(n, bits, k), 1);
}

/* With 1 % of 50 million the band is 0.6 % wide on either side. */
uint64_t enough_absent(uint64_t n, unsigned times)
{
    const uint64_t most = 50000000;

    return n < most / times ? n * times : most;
}

/* (1 - e^(-kn/m))^k = p, solved for m. */
double bits_for(double n, double rate, double k)
{
    return -k * n / log1p(-pow(rate, 1 / k));
}

double least_bits(double n, double rate)
{
    return -n * log(rate) / (log(2) * log(2));
}

void describe_lowest_rate(const struct noisy *rate, unsigned most, char *to,
                          size_t room)
{
    unsigned first, last, best = noise_near(rate, most, &first, &last);
    int len = snprintf(to, room, "%.3f %% with k = %u", 100 * rate[best].value,
                       best + 1);

    if (first < last && len > 0 && (size_t)len < room)
        snprintf(to + len, room - (size_t)len,
                 ", but between k = %u and %u there is " NO_DIFFERENCE,
                 first + 1, last + 1);
}
