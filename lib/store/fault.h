/*
 * fault.h - pages of mapped files that the system cannot give.
 *
 * A page that is not there is a signal, SIGBUS, wherever the cells are read or
 * changed: the file was cut short, its disk failed, or a file system that
 * copies on write has no block for it. A library cannot take signals without
 * changing its program. So it only keeps the addresses of mappings, and the
 * program's handler asks seen_store_fault() about the address that it got.
 */
#ifndef SEEN_STORE_FAULT_H
#define SEEN_STORE_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* The addresses of one mapping. `lost`: one of its pages was, for good. */
struct store_range;

/* Have faults there noted; NULL without memory. */
struct store_range *store_range_new(const void *base, size_t len);

/* Before the mapping goes away. NULL is welcome. */
void store_range_free(struct store_range *r);

/* Is nonzero after a fault, as long as the range is kept. */
const int *store_range_lost(const struct store_range *r);

#endif
