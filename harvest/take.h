/*
 * take.h - have one announced filter: fetch, verify, swap in.
 *
 *     patches, if they lead from our version to the announced one
 *        │ anything off
 *        v
 *     the whole file, gone on with where it was cut ──> verify ──> swap
 *        ^                                                │ resumed, and
 *        └──────── once more, from its beginning <────────┘ wrong
 *
 * What fails on the way is tried again after a pause, twice; each time the
 * part that came is kept, and if all fails, too: the next round goes on with
 * it. So it does with what takes too long. What is wrong is thrown away.
 */
#ifndef SEEN_HARVEST_TAKE_H
#define SEEN_HARVEST_TAKE_H

#include "work.h"

struct takes {
    struct work *work;
    struct take *first;
    unsigned active;
};

/* Begin with an item that is planned. What comes of it is told. */
void take_start(struct takes *all, struct item *i);

/* How many are under way that come from the host of this address? */
unsigned take_of_host(const struct takes *all, const char *url);

/* Those whose pause is over go on; those that are too slow are given up.
   Milliseconds until this should be called again. */
int take_tend(struct takes *all);

/* Free those that pause, after the client was freed. */
void take_clear(struct takes *all);

#endif
