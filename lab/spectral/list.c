/* list.c - the experiments on the notes on spectral Bloom filters. */
#include "spectral.h"

const struct experiment spectral[] = {
    { "spectral-equal", "Spectral Bloom filter",
      "counters and bits at equal m and k: the same error, larger space",
      spectral_equal },
    { "spectral-remove", "Deletion",
      "what was removed is gone, what was not "
      "is found",
      spectral_remove },
    { "spectral-overflow", "Insertion, Deletion",
      "counters that are full, by their width", spectral_overflow },
    { "spectral-counts", "Lookup",
      "how wrong counts are: minimum selection and minimal increase",
      spectral_counts },
    { "spectral-pays", "Bloom filter", "when a filter pays at all",
      spectral_pays },
    { .name = NULL },
};
