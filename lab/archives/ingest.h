/*
 * ingest.h - a filter from an archive's index, as a user would make it.
 *
 * The lab's URLs are written as CDX files, some hundred thousand lines at a
 * time so that the disk does not fill up, and read back by all threads of the
 * lab into a builder. Only the reading is timed.
 */
#ifndef SEEN_LAB_INGEST_H
#define SEEN_LAB_INGEST_H

#include "../lab.h"

struct ingest {
    struct lab *lab;
    struct seen_plan plan; /* its profile says which column becomes the key */
    uint64_t n; /* URLs [0, n), a line for each that an index can have */
    struct seen_filter *into; /* add to this one, on a server; NULL: build */
    /* Found: */
    struct seen_filter *filter; /* belongs to the caller; `into` if given */
    double seconds;
    uint64_t lines, bytes; /* read; of the files */
};

/* Trouble ends the experiment. */
void ingest(struct ingest *in);

/* Can an index have it? A line of a user's list that is not a URL, or has
   blanks, cannot be a line of CDX. */
bool ingest_able(const char *url, size_t len);

#endif
