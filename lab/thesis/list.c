/* list.c - the experiments of the thesis. */
#include "thesis.h"

const struct experiment thesis[] = {
    { "table-5.9", "Table 5.9", "false positives of one filter", table_5_9 },
    { .name = NULL },
};
