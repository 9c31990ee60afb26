/*
 * changes.h - what became of each filter, as far as deltas go back.
 *
 * The change list has, of each filter, the versions that deltas join: the
 * oldest without a delta, then each with the one that leads to it. Who has
 * any of them gets to the newest step by step:
 *
 *     haw.seen   a1  ──delta──>  b2  ──delta──>  c3    is what is announced
 *
 * A version without a delta (the plan changed) makes all before it useless,
 * and so are deltas that are longer together than the file.
 */
#ifndef SEEN_PUBLISH_CHANGES_H
#define SEEN_PUBLISH_CHANGES_H

#include "state.h"

/*
 * Bring the changes up to the items, at the time `now`: append what is new
 * and what is gone, drop what nobody can use. s->deltas 0: drop all.
 */
enum seen_code publish_changes_update(struct publish_state *s, int64_t now,
                                      struct seen_error *why);

#endif
