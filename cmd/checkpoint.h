/*
 * checkpoint.h - continue a build that was killed.
 *
 * From time to time, while all threads pause, the unfinished filter is written
 * beside its output: FILTER.checkpoint, a filter file like any other, replaced
 * atomically, whose metadata record how far the input was read and what was
 * counted. `--resume` continues from there, provided that inputs and options
 * are the same. The result has the same bytes as a build that was never
 * stopped: the union of bits that were set in two parts is what one run sets.
 *
 *     what is built     at a checkpoint
 *     bits, counters    finished, merged with the file, written; begun anew
 *     growing, dynamic  written as it is, then added to
 *     fuse, ribbon,     none: it is built in one step, from all hashes
 *     shards
 *
 * Without a capacity there is no filter yet. Then the keys so far are in
 * FILTER.checkpoint.log, which only grows, and FILTER.checkpoint, an empty
 * filter, records how much of it counts.
 */
#ifndef SEEN_CHECKPOINT_H
#define SEEN_CHECKPOINT_H

#include <seen/key_log.h>
#include <seen/store.h>

#include "ingest.h"

struct checkpoint {
    char *path, *log; /* of the checkpoint, and of its keys */
    bool written;     /* there is one, of this build */
    bool logs;        /* there is no capacity: it has keys */
    struct seen_key_log_mark mark;
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

/* The same without a capacity: keep the keys. */
enum seen_code checkpoint_log(struct checkpoint *c, struct seen_key_log *log,
                              const struct seen_ingest *in,
                              struct seen_error *why);

/* Add what the checkpoint holds to `f`, if there is one. */
enum seen_code checkpoint_unite(const struct checkpoint *c,
                                struct seen_filter *f, struct seen_error *why);

/*
 * Continue from the checkpoint; NO if it does not exist. Sets the counts of
 * `in`, the position of its source, and the capacity of `plan`. If `f` is not
 * NULL, *f becomes the filter of the checkpoint, to be added to. TROUBLE after
 * a message: inputs or options have changed.
 */
enum outcome checkpoint_read(struct checkpoint *c, struct seen_ingest *in,
                             struct seen_plan *plan, struct seen_filter **f);

/* Remove it, after the build. */
void checkpoint_drop(const struct checkpoint *c);

#endif
