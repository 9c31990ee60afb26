/* list.c - the experiments on what is ours, beside them. */
#include "ours.h"

extern const struct experiment ours[];

const struct experiment ours[] = {
    { "which", "Ours beside them", "which structure should I use?",
      ours_which },
    { "narrow-hashes", "Ours beside them",
      "published hash functions in large filters", ours_narrow },
    { "deltas", "Ours beside them", "what an update takes, beside Clubcards",
      ours_deltas },
    { "unknown-number", "Ours beside them",
      "a filter for an unknown number of URLs", ours_unknown },
    { .name = NULL },
};
