/*
 * health.h - which archives do not answer, and are left alone for a while.
 *
 *     if (memento_health_rests(&health, name, now, patience))
 *         say that it was not asked;
 *     ...
 *     memento_health_note(&health, asking);         it has ended
 *     memento_health_clear(&health);
 *
 * Threads: a zeroed map, which belongs to one thread.
 */
#ifndef SEEN_SERVE_MEMENTO_HEALTH_H
#define SEEN_SERVE_MEMENTO_HEALTH_H

#include "../../lib/text/map.h"
#include "ask.h"

enum {
    MEMENTO_FAILURES = 3,   /* in a row, then an archive rests */
    MEMENTO_REST_MS = 30000 /* for so long */
};

/*
 * An archive has ended, or was ended. One that is late is silent if nothing
 * came from it, and it has answered nobody else meanwhile: otherwise it is only
 * slow, or has much to do.
 */
void memento_health_note(struct map *health, const struct memento_asking *a);

/* Does it rest? After a rest one question finds out, for `patience` ms, and
   others do not wait with it. */
bool memento_health_rests(struct map *health, const char *name, uint64_t now,
                          uint64_t patience);

void memento_health_clear(struct map *health);

#endif
