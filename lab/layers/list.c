/* list.c - the experiments on the multi-layer paper. */
#include "../lab.h"

const struct experiment layers[] = {
    { .name = NULL },
};
