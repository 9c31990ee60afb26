/* list.c - the experiments on what is ours, beside them. */
#include "ours.h"

extern const struct experiment ours[];

const struct experiment ours[] = {
    { "which", "Ours beside them", "which structure should I use?",
      ours_which },
    { .name = NULL },
};
