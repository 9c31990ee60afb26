/*
 * build.h - one run of seen build, as its parts share it.
 *
 *     options -----> plan ---------> keys into cells ---> report
 *     build.c        build_plan.c    build_work.c         build_report.c
 */
#ifndef SEEN_CMD_BUILD_H
#define SEEN_CMD_BUILD_H

#include <stdio.h>

#include <seen/build.h>
#include <seen/filter.h>
#include <seen/key_log.h>

#include "checkpoint.h"
#include "command.h"
#include "exclude.h"
#include "ingest.h"
#include "select.h"
#include "wait.h"

struct build {
    /* Asked for: */
    const char *output, *kind, *profile, *keyed, *exclude, *rejects, *keys;
    double rate, multiplier, checkpoint;
    uint64_t capacity, bits, probes, seed, threads;
    uint64_t memory; /* of --memory, and 1 more; 0: not given */
    bool hostile, over, strict, json, quiet;
    bool partial, allow_empty;
    bool resume;
    struct texts meta;
    struct select_options conditions;
    struct wait wait;

    /* Derived from that: */
    const char *const *input;
    size_t inputs;
    struct select *select;
    struct seen_plan plan;
    enum seen_index_keys asked; /* by --keys */
    unsigned char secret[SEEN_SECRET]; /* if `keyed` */
    struct seen_ingest in;
    FILE *kept; /* bad lines; or NULL */
    struct exclude without;
    uint64_t excluded;
    bool sizes;               /* the capacity follows from the keys */
    struct seen_key_log *log; /* then they are kept here first */
    struct seen_build *builder;
    struct seen_filter *filter; /* instead, where order matters */
    struct checkpoint point;
    double begun;
};

/* All that can fail returns TROUBLE after a message. */

/* --- build_plan.c --- */

/* The plan that the options ask for; its capacity may still be missing. */
enum outcome build_plan(struct build *b);

/*
 * Report mistakes before an hour of reading, not after it: metadata is tried on
 * a small filter, and a plan without a capacity with a small one.
 */
enum outcome build_rehearse(const struct build *b);

/*
 * An incomplete or empty filter must not replace a good one. Is the input of
 * this run whole, as far as it was read, or is --partial given? Are there URLs,
 * after `excluded` were left out, or is --allow-empty given?
 */
enum outcome build_whole(const struct build *b, const struct seen_ingest *in);
enum outcome build_filled(const struct build *b, const struct seen_ingest *in,
                          uint64_t urls, uint64_t excluded);

/* Every --meta NAME=VALUE, set on a filter. */
enum outcome build_meta(const struct build *b, struct seen_filter *f);

/* --- build_work.c --- */

/* Set up checkpoints, and continue from one if --resume is given. */
enum outcome build_points(struct build *b);

/* Read the inputs, fill the filter, write it and report. */
enum outcome build_fill(struct build *b);

/* --- build_report.c --- */

/* Report what was built, in words or as JSON. */
void build_report(const struct build *b, const struct seen_filter *f);

#endif
