/*
 * examine.h - one filter of a folder: is it valid, and has it changed?
 */
#ifndef SEEN_PUBLISH_EXAMINE_H
#define SEEN_PUBLISH_EXAMINE_H

#include "publish.h"
#include "state.h"

struct publish_run {
    const struct publish_options *options;
    struct publish_totals *totals;
    struct publish_state was, now; /* of the last run and of this one */
    int64_t time;          /* of this run */
    bool page;             /* is to be written */
};

/*
 * Examine folder/path and append it to r->now if it is to be announced; call
 * it in the order of paths. `old` is what was announced, or NULL. Problems of
 * the file are reported by publish_report() and are not a failure.
 */
enum seen_code publish_examine(struct publish_run *r, const char *path,
                               const struct publish_item *old,
                               struct seen_error *why);

/* Announce it as before. */
enum seen_code publish_examine_leave(struct publish_run *r,
                                     const struct publish_item *old,
                                     const char *text, struct seen_error *why);

void publish_report(struct publish_run *r, enum publish_what what,
                    const char *path, const char *text,
                    const struct publish_item *item);

#endif
