/*
 * download.h - get one announced filter: fetch, verify, install.
 *
 *     patches, if they lead from our version to the announced one
 *        │ anything wrong
 *        v
 *     the file, continued where an earlier part ends ──> verify ──> install
 *        ^                                                  │ wrong, though
 *        └──── once more, from its beginning <──────────────┘ resumed
 *
 * Requests that fail are repeated (retry.h of fetch). The part that came is
 * kept, also if all attempts fail or take too long: the next round continues
 * it. A file that is wrong is removed.
 */
#ifndef SEEN_HARVEST_DOWNLOAD_H
#define SEEN_HARVEST_DOWNLOAD_H

#include "round.h"

/* Get everything that is planned, and report it. */
void harvest_download_all(struct harvest_round *r);

#endif
