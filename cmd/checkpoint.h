/*
 * checkpoint.h - a build that can be killed, and go on.
 *
 * Every now and then, when no thread is at work, what was built so far is
 * written beside the filter that is to be: FILTER.checkpoint, a filter file
 * like any other, replaced atomically, whose metadata say how far the input
 * was read and what was found in it. `--resume` goes on from there, provided
 * that inputs and plan are still the same. The result has the bytes of a
 * build that was never stopped: bits that are set in two parts and united
 * are the bits that are set in one go.
 *
 *     what is built     at a checkpoint
 *     bits, counters    finished, united with the file, written; then anew
 *     growing, dynamic  written as it is, and added to further
 *     fuse              none: it is made at once, from all hashes
 */
#ifndef SEEN_CHECKPOINT_H
#define SEEN_CHECKPOINT_H

#include <seen/store.h>

#include "ingest.h"

struct checkpoint {
    char *path;
    bool written;  /* there is one, of this build */
    uint64_t plan; /* a number for all that was asked for */
    struct seen_access access;
    uint64_t excluded; /* what the build counts itself */
    int64_t kept;      /* bytes of the file of bad lines */
};

/* The path beside `output`; false if there is no memory. */
bool checkpoint_init(struct checkpoint *c, const char *output);
void checkpoint_clear(struct checkpoint *c);

/*
 * Write `f`, with what `in` has found, as the checkpoint. If `unite`, what
 * the checkpoint holds so far is first added to `f`.
 */
enum seen_code checkpoint_write(struct checkpoint *c, struct seen_filter *f,
                                bool unite, const struct seen_ingest *in,
                                struct seen_error *why);

/* Add what the checkpoint holds to `f`, if there is one. */
enum seen_code checkpoint_unite(const struct checkpoint *c,
                                struct seen_filter *f, struct seen_error *why);

/*
 * Go on from a checkpoint, if there is one: NO if there is none. Sets what
 * `in` had found, where its source goes on, and the capacity of `plan`.
 * If `f` is not NULL, the filter that the checkpoint is, to be added to.
 * TROUBLE after a message: inputs or plan are not those of before.
 */
enum outcome checkpoint_read(struct checkpoint *c, struct seen_ingest *in,
                             struct seen_plan *plan, struct seen_filter **f);

/* The build is done: there is no need of it any more. */
void checkpoint_drop(const struct checkpoint *c);

#endif
