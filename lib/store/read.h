/*
 * read.h - from an open file to a filter, for readers and the writer.
 */
#ifndef SEEN_STORE_READ_H
#define SEEN_STORE_READ_H

#include <seen/store.h>

#include "format.h"

/* The filter of what was read before the cells, without cells but with the
   counts of the table. Refuses another profile or secret. */
enum seen_code read_plan(struct seen_filter **out, const struct front *front,
                         const struct seen_access *how,
                         struct seen_error *why);

/* Give the leaves memory of their own, and copy the cells into it. */
enum seen_code read_copy(struct seen_filter *f, int fd,
                         const struct front *front, bool check,
                         struct seen_error *why);

/* Map the cells and give each leaf its place in the mapping. */
struct mapping {
    unsigned char *base;        /* on a page */
    size_t len;
};
enum seen_code read_map(struct seen_filter *f, int fd,
                        const struct front *front, int protection, int flags,
                        struct mapping *map, struct seen_error *why);

/* Take the cells away from the leaves again, and unmap them. */
void read_unmap(struct seen_filter *f, struct mapping *map);

/* Count the set cells anew, after a crash. */
void read_recount(struct seen_filter *f);

#endif
