/*
 * changes.h - the history of each filter, as far as deltas go back.
 *
 * For each filter the change list has the versions that deltas connect: the
 * oldest without a delta, then each with the delta that leads to it. A
 * harvester that has any of them can update step by step to the newest:
 *
 *     haw.seen   a1  ──delta──>  b2  ──delta──>  c3    is announced
 *
 * A version without a delta (the plan changed) makes all versions before it
 * useless. So are deltas that together are longer than the file.
 */
#ifndef SEEN_PUBLISH_CHANGES_H
#define SEEN_PUBLISH_CHANGES_H

#include "state.h"

/*
 * Bring the changes up to date with the items, at the time `now`: append new
 * and deleted filters, drop what is of no more use. s->deltas 0: drop all.
 */
enum seen_code publish_changes_update(struct publish_state *s, int64_t now,
                                      struct seen_error *why);

#endif
