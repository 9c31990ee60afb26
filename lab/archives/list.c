/* list.c - the experiments on the report on web archives' holdings. */
#include "../lab.h"

const struct experiment archives[] = {
    { .name = NULL },
};
