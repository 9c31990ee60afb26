/* byhand.c - k hashes, one after the other. */
#include "byhand.h"

#include <stdlib.h>

#include "../../lib/key/published.h"
#include "thesis.h"

void byhand_init(struct byhand *b, unsigned filters, unsigned k, uint64_t m,
                 uint64_t seed)
{
    b->filters = filters;
    b->k = k;
    b->m = m;
    b->word = thesis_memory(filters * (m / 64 + 1), sizeof *b->word);
    b->salt = thesis_memory((size_t)filters * k, sizeof *b->salt);
    for (unsigned i = 0; i < filters * k; i++)
        b->salt[i] = (uint32_t)seen_mix(seen_mix(seed) + i);
}

void byhand_clear(struct byhand *b)
{
    free(b->word);
    free(b->salt);
}

/* The word and the bit of hash j of a filter. */
static uint64_t *locate(const struct byhand *b, unsigned filter, unsigned j,
                        const char *text, size_t len, uint64_t *bit)
{
    uint64_t hash = published_jenkins(text, len, b->salt[filter * b->k + j]);
    uint64_t at = hash * b->m >> 32;

    *bit = UINT64_C(1) << (at % 64);
    return &b->word[filter * (b->m / 64 + 1) + at / 64];
}

void byhand_add(struct byhand *b, const char *text, size_t len)
{
    uint64_t bit;

    for (unsigned f = 0; f < b->filters; f++)
        for (unsigned j = 0; j < b->k; j++)
            *locate(b, f, j, text, len, &bit) |= bit;
}

/* The times of the thesis are those of all hashes: so it computed them all,
   whatever its Algorithm 2 says of leaving the loop. */
bool byhand_has(const struct byhand *b, const char *text, size_t len)
{
    bool seen = true;
    uint64_t bit;

    for (unsigned f = 0; f < b->filters; f++)
        for (unsigned j = 0; j < b->k; j++)
            seen &= (*locate(b, f, j, text, len, &bit) & bit) != 0;
    return seen;
}
