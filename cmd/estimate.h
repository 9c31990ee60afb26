/*
 * estimate.h - how large must a filter be, when nobody says? A first pass
 * over the inputs estimates how many distinct URLs they have, and for
 * `layered` how many distinct segments there are in each layer.
 */
#ifndef SEEN_ESTIMATE_H
#define SEEN_ESTIMATE_H

#include <seen/filter.h>

#include "exclude.h"
#include "ingest.h"

/*
 * Set plan->capacity, and plan->segments if its kind has layers, with a
 * margin so that the rate holds. Inputs, threads and reading are those of
 * `like`. TROUBLE after a message, or at a bad line if reading is strict.
 */
enum outcome estimate(const struct seen_ingest *like,
                      const struct exclude *without, struct seen_plan *plan);

#endif
