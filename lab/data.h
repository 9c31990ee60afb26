/* data.h - the files of lab/data, as bytes in the program: written by the
   build, sorted by name. */
#ifndef SEEN_LAB_DATA_H
#define SEEN_LAB_DATA_H

#include <stddef.h>

struct data_file {
    const char *name; /* "thesis-5.09-non-incremental-1-filter.tsv" */
    const unsigned char *bytes;
    size_t len;
};

extern const struct data_file data_files[];
extern const size_t data_count;

#endif
