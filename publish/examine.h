/*
 * examine.h - one filter of a folder: is it there, whole, and new?
 */
#ifndef SEEN_PUBLISH_EXAMINE_H
#define SEEN_PUBLISH_EXAMINE_H

#include "publish.h"
#include "state.h"

struct run {
    const struct publish_how *how;
    struct publish_sum *sum;
    struct state was, now; /* as it was found, and as it becomes */
    int64_t time;          /* of this run */
};

/*
 * Look at folder/path and add what is to be announced to r->now, after what
 * comes before it in order of paths. `old` is what was announced, or NULL.
 * Whatever is wrong with the file is told, and no failure.
 */
enum seen_code examine(struct run *r, const char *path, const struct item *old,
                       struct seen_error *why);

/* Announce it as it was. */
enum seen_code examine_leave(struct run *r, const struct item *old,
                             const char *text, struct seen_error *why);

void run_tell(struct run *r, enum publish_what what, const char *path,
              const char *text, const struct item *item);

#endif
