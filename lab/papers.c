/* papers.c - the papers, in the order in which they are listed. */
#include "lab.h"

/* Of FOLDER/list.c. In no header, since `ours` is too good a name for a
   variable to take it from everyone. */
extern const struct experiment thesis[], layers[], archives[], spectral[],
    aggregation[], ours[];

const struct paper papers[] = {
    { "thesis",
      "T. H. Gøytil, A. Lundberg: A novel spatio-temporal scheme for reducing "
      "the rate of false positives in Bloom filter based URL-caching. "
      "University of Agder, 2010",
      thesis },
    { "layers",
      "S. Saha, S. Navale, M. Navandar: A multi-layer Bloom filter for "
      "duplicated URL detection",
      layers },
    { "archives",
      "M. Klein et al.: Developing Bloom filters for web archives' holdings. "
      "Final project report",
      archives },
    { "spectral", "Lecture notes on Bloom filters and spectral Bloom filters",
      spectral },
    { "aggregation",
      "S. Nadaraj: Distributed content aggregation and content change "
      "detection using Bloom filters",
      aggregation },
    { "ours", "Ours beside them", ours },
    { .name = NULL },
};
