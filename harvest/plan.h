/*
 * plan.h - what is to be done about an announced filter?
 *
 *     the file here is            and announced is        so
 *     not there                                           fetch
 *     there, not harvested                                refuse: never ours
 *     of another address          by who announced it,
 *                                 or https instead of http  as below
 *                                 by others               refuse
 *     as we left it               the same hash           unchanged
 *                                 another hash            patch or fetch
 *                                 no hash; same lastmod,
 *                                 to the second, and length  unchanged
 *                                 no hash, otherwise      ask the server
 *     changed here, and whole                             refuse
 *     damaged here                                        fetch
 *
 * Who adds to a harvested filter has made it his own: it is not overwritten
 * until he moves it away.
 */
#ifndef SEEN_HARVEST_PLAN_H
#define SEEN_HARVEST_PLAN_H

#include "record.h"
#include "work.h"

enum local {
    LOCAL_NONE,    /* there is no file */
    LOCAL_OURS,    /* as it was swapped in */
    LOCAL_CHANGED, /* by somebody else, and a good filter */
    LOCAL_DAMAGED, /* no longer what it was, nor a filter */
    LOCAL_FOREIGN  /* not harvested */
};

/*
 * Look at the file of a record. What a harvester that was killed did not get
 * to write down is found out here and written into the record: *settled, and
 * the caller may save it.
 */
enum seen_code plan_local(const struct work *w, const char *name,
                          struct record *r, enum local *local, bool *settled,
                          struct seen_error *why);

/*
 * Plan all items. What is unchanged or refused is told at once, in a dry run
 * everything else, too. *patchable: some could be patched, if there are
 * change lists.
 */
void plan_all(struct work *w, bool *patchable);

#endif
