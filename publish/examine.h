/*
 * examine.h - one filter of a folder: is it there, whole, and new?
 */
#ifndef SEEN_PUBLISH_EXAMINE_H
#define SEEN_PUBLISH_EXAMINE_H

#include "publish.h"
#include "state.h"

struct publish_run {
    const struct publish_options *options;
    struct publish_totals *totals;
    struct publish_state was, now; /* as it was found, and as it becomes */
    int64_t time;          /* of this run */
};

/*
 * Look at folder/path and add what is to be announced to r->now, after what
 * comes before it in order of paths. `old` is what was announced, or NULL.
 * Whatever is wrong with the file is told, and no failure.
 */
enum seen_code publish_examine(struct publish_run *r, const char *path,
                               const struct publish_item *old,
                               struct seen_error *why);

/* Announce it as it was. */
enum seen_code publish_examine_leave(struct publish_run *r,
                                     const struct publish_item *old,
                                     const char *text, struct seen_error *why);

void publish_report(struct publish_run *r, enum publish_what what,
                    const char *path, const char *text,
                    const struct publish_item *item);

#endif
