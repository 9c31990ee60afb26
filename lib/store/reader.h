/* reader.h - what others need to know about a filter that was read. */
#ifndef SEEN_STORE_READER_H
#define SEEN_STORE_READER_H

#include <seen/store.h>

/* The number of the last change of the file when it was read, its journal
   included; 0 for a copy that was changed since. */
uint64_t store_reader_applied(const struct seen_filter *f);

/* Was one of its heads damaged? And how many bytes behind the last complete
   record of its journal were left out? Unchanged if f is not a reader's. */
void store_reader_flaws(const struct seen_filter *f, bool *damaged,
                        uint64_t *left);

/* Is the log of its keys whole, as far as a reader can see? */
bool store_reader_grows(const struct seen_filter *f, struct seen_error *why);

#endif
