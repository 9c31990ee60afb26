/* authors.c - what the experiments on the multi-layer paper share. */
#include "layers.h"

#include <string.h>

#include <seen/url.h>

#include "../urls.h"

double authors(const char *name)
{
    return paper_value(paper_table("multi-layer-text"), name);
}

double data_set(unsigned number, const char *structure, const char *column,
                double *step)
{
    const struct paper_table *p = paper_table("multi-layer-repository-times");
    size_t at = 0;

    while (at < paper_columns(p) && strcmp(paper_head(p, at), column) != 0)
        at++;
    for (size_t row = 0; row < paper_rows(p); row++)
        if (at < paper_columns(p) &&
            fabs(paper_number(p, row, 0, NULL) - number) < 0.5 &&
            !strcmp(paper_text(p, row, 3), structure))
            return paper_number(p, row, at, step);
    lab_fail("data set %u has no %s of %s", number, column, structure);
}

unsigned authors_layers(const struct lab *lab, uint64_t n)
{
    size_t end[SEEN_LAYERS];
    char url[URL_MOST];
    unsigned most = 1;

    for (uint64_t i = 0; i < n; i++) {
        size_t len = urls_get(lab->urls, i, url);
        unsigned have = seen_url_segments(url, len, end, SEEN_LAYERS);

        most = have > most ? have : most;
    }
    return most;
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
