/*
 * estimate.h - the capacity of a filter, if none is given: a first pass over
 * the inputs estimates the number of distinct URLs, and for `layered` the
 * number of distinct segments in each layer.
 */
#ifndef SEEN_ESTIMATE_H
#define SEEN_ESTIMATE_H

#include <seen/filter.h>

#include "exclude.h"
#include "ingest.h"

/*
 * Set plan->capacity, and plan->segments if its kind has layers, with a
 * margin so that the rate holds. Inputs, threads and reading are those of
 * `like`. What was counted is in *found and *excluded. TROUBLE after a message,
 * or at a bad line if reading is strict.
 */
enum outcome estimate(const struct seen_ingest *like,
                      const struct exclude *without, struct seen_plan *plan,
                      struct seen_ingest *found, uint64_t *excluded);

#endif
