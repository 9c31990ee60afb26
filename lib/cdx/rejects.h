/*
 * rejects.h - bad lines, counted by their cause.
 *
 * One bad line in ten million costs one line, not the run. The memory for them
 * is bounded: eight causes, with the first five places of each.
 */
#ifndef SEEN_CDX_REJECTS_H
#define SEEN_CDX_REJECTS_H

#include <seen/ingest.h>

/* Line `line` of `input` cannot be used. */
void cdx_rejects_add(struct seen_rejects *r, const char *input, uint64_t line,
                     const char *text, enum seen_cost cost);

/* Move everything from `from` to `r`, with `before` added to line numbers. */
void cdx_rejects_fold(struct seen_rejects *r, struct seen_rejects *from,
                      uint64_t before);

#endif
