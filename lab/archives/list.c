/* list.c - the experiments of the archives report. */
#include "archives.h"

const struct experiment archives[] = {
    { "archives-table-1", "Table 1", "one index into one filter",
      archives_table_1 },
    { "archives-figure-3", "Figure 3", "how many hash functions",
      archives_figure_3 },
    { "archives-figure-4", "Figure 4", "hash functions, good and bad",
      archives_figure_4 },
    { "archives-figure-5", "Figure 5", "arrays of filters that are all asked",
      archives_figure_5 },
    { "archives-figure-6", "Figure 6", "size against rate",
      archives_figure_6 },
    { "archives-figure-7", "Figure 7", "one of 16 filters, by MD5",
      archives_figure_7 },
    { "archives-memory-16", "Section 2.2", "the memory of 16 filters",
      archives_memory_16 },
    { "archives-choice-of-k", "Section 2.1", "five hash functions for 1 %",
      archives_choice_of_k },
    { "archives-ten-years", "Section 2.2", "ten years of growth",
      archives_ten_years },
    { "archives-truncated", "Section 3",
      "truncated URLs, and archive profiles", archives_truncated },
    { .name = NULL }
};
