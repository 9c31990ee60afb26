/*
 * ingest.h - a filter from an archive's index, as a user would make it.
 *
 * The lab's URLs are written as CDX files, some hundred thousand lines at a
 * time so that no disk is filled, and read in again by as many threads as
 * the lab has, into a builder. Only the reading is timed.
 */
#ifndef SEEN_LAB_INGEST_H
#define SEEN_LAB_INGEST_H

#include "../lab.h"

struct ingest {
    struct lab *lab;
    struct seen_plan plan; /* its profile says which column becomes the key */
    uint64_t n; /* URLs [0, n), a line each that an index can have */
    /* Found: */
    struct seen_filter *filter; /* belongs to the caller */
    double seconds;
    uint64_t lines, bytes; /* read; of the files */
};

/* What goes wrong ends the lab. */
void ingest(struct ingest *in);

/* Whether an index can have it: a line of a user's list that is no URL, or
   has blanks, would be no line of CDX. */
bool ingest_able(const char *url, size_t len);

#endif
