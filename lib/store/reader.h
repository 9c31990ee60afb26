/* reader.h - what the other forms of a filter ask of its reader. */
#ifndef SEEN_STORE_READER_H
#define SEEN_STORE_READER_H

#include <seen/store.h>

/* How many changes the file had when it was read, with those of its journal;
   0 for a copy that was changed since, which is no longer that file. */
uint64_t store_reader_applied(const struct seen_filter *f);

#endif
