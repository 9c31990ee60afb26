/* list.c - the experiments on the aggregation paper. */
#include "aggregation.h"

const struct experiment aggregation[] = {
    { "aggregation-1", "Experiment 1", "the time to classify pages",
      aggregation_experiment_1 },
    { "aggregation-2", "Experiment 2",
      "a Bloom filter against comparing strings", aggregation_experiment_2 },
    { "misnamed", "Section 2b", "how often a change gets the wrong name",
      aggregation_misnamed },
    { "changed-words", "Section 3",
      "which word changed: theory beside measurement", aggregation_words },
    { .name = NULL },
};
