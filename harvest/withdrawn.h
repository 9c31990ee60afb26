/*
 * withdrawn.h - harvested files that are no longer announced.
 */
#ifndef SEEN_HARVEST_WITHDRAWN_H
#define SEEN_HARVEST_WITHDRAWN_H

#include "round.h"

/*
 * Report harvested files that are no longer announced, and remove them if
 * that is asked for. A file counts only if its source was read without a
 * fault; if that source is gone itself, or is a registry now, or shares a
 * list with another source, then all sources of the root must have been, or
 * of the round. Also remove parts of files that are no longer announced, and
 * parts that were not continued for a month.
 */
void harvest_withdraw(struct harvest_round *r);

#endif
