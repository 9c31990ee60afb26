/* list.c - the experiments on the notes on spectral Bloom filters. */
#include "../lab.h"

const struct experiment spectral[] = {
    { .name = NULL },
};
