/* list.c - the experiments on the multi-layer paper. */
#include "layers.h"

const struct experiment layers[] = {
    { "layers-figure-3", "Figure 3", "false positives of two halves",
      layers_figure_3 },
    { "layers-figure-4", "Figure 4", "the time of a question",
      layers_figure_4 },
    { "layers-figure-5", "Figure 5", "the time to add a URL",
      layers_figure_5 },
    { "layers-memory", "Section 1.1", "the memory of lists and filters",
      layers_memory },
    { "layers-equal-memory", "Conclusion",
      "layers against a Bloom filter of the same memory",
      layers_equal_memory },
    { "layers-formula", "Analysis", "the formula against measurement",
      layers_formula },
    { "layers-crossing", "Figure 2", "URLs that cross, with and without XOR",
      layers_crossing },
    { .name = NULL }
};
