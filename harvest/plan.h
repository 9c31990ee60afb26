/*
 * plan.h - what is to be done about an announced filter?
 *
 *     the file here is            announced is            so
 *     missing                                             fetch
 *     there, not harvested                                refuse: not ours
 *     from another URL            by the same source, or
 *                                 https instead of http   as below
 *                                 by others               refuse
 *     as we left it               the same hash           unchanged
 *                                 another hash            patch or fetch
 *                                 no hash; same lastmod,
 *                                 to the second, and length  unchanged
 *                                 no hash, otherwise      ask the server
 *     changed here, and valid                             refuse
 *     damaged here                                        fetch
 *
 * The hash and length of a file that was converted from a text are those of
 * the text. Of a filter that is announced in several forms only the best one
 * counts.
 *
 * A harvested filter that was added to here is not overwritten until the user
 * moves it away.
 */
#ifndef SEEN_HARVEST_PLAN_H
#define SEEN_HARVEST_PLAN_H

#include "record.h"
#include "round.h"

enum harvest_local {
    HARVEST_MISSING,
    HARVEST_OURS,    /* as it was put in place */
    HARVEST_CHANGED, /* by somebody else, and a valid filter */
    HARVEST_DAMAGED, /* no longer what it was, and not a filter */
    HARVEST_FOREIGN  /* not harvested */
};

/*
 * Load a record and look at its file. If a harvester was killed before it
 * could write the record, the record is corrected here: *settled, and the
 * caller may save it.
 */
enum seen_code harvest_plan_local(const struct harvest_round *r,
                                  const char *name,
                                  struct harvest_record *record,
                                  enum harvest_local *local, bool *settled,
                                  struct seen_error *why);

/*
 * Plan all items. Those that are unchanged or refused are reported at once,
 * in a dry run the others, too. *patchable: some could be patched, if there
 * are change lists.
 */
void harvest_plan_all(struct harvest_round *r, bool *patchable);

#endif
