/*
 * memento_timemap.h - the mementos of one URL, from all archives that were
 * asked.
 *
 * It is made once, by the aggregator's thread, and read by any number of
 * threads then. The last one frees it.
 *
 *     t = q->timemap;                          one reference is ours
 *     memento_write(&body, &form, t);          memento_write.h
 *     memento_timemap_release(t);
 */
#ifndef SEEN_SERVE_MEMENTO_MEMENTO_TIMEMAP_H
#define SEEN_SERVE_MEMENTO_MEMENTO_TIMEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lib/text/buffer.h"

enum { MEMENTO_WHY = 120 }; /* bytes of a reason */

/* A date that is now or later: it asks for the last memento. */
#define MEMENTO_LATEST (INT64_MAX / 2)

/* What a capture is among all of them. */
enum memento_relation {
    MEMENTO_FIRST = 1,
    MEMENTO_LAST = 2,
    MEMENTO_CLOSEST = 4, /* to a date; and what is beside that one: */
    MEMENTO_NEXT = 8,
    MEMENTO_PREV = 16
};

struct memento_capture {
    int64_t when;    /* seconds since 1970 */
    const char
        *url; /* http or https, of printable ASCII without space " < > */
    uint32_t len;
    uint32_t archive; /* number of its report */
};

/* How one archive answered. */
struct memento_report {
    char *name;
    uint64_t mementos; /* that it has, without those that another one has, too;
                          of a sparse TimeMap: that it has named */
    bool gate;       /* its TimeGate has answered, and not its TimeMap */
    uint64_t skipped, future; /* links: broken; later than tomorrow */
    unsigned pages, ms;       /* TimeMaps that were fetched; how long it took */
    bool failed;              /* mementos may be missing, */
    char why[MEMENTO_WHY];    /* because of this */
    struct buffer urls;       /* of its captures */
};

struct memento_timemap {
    unsigned references;
    struct memento_capture *capture; /* in order of time */
    size_t captures;
    bool sparse; /* there are more: these are around the date that was asked
                    for */
    unsigned unknown; /* relations that no capture may be given */
    struct memento_report *report;
    size_t reports, failed; /* archives */
    uint64_t skipped;       /* of all of them, with those of the future */
    uint64_t made;          /* by clock_ms() */
    size_t bytes;           /* of memory */
};

/* Room for the reports of n archives; NULL without memory. */
struct memento_timemap *memento_timemap_new(size_t archives);

/*
 * Sort the captures, remove those that are there twice, count them and
 * measure the memory. For the thread that made it.
 */
void memento_timemap_finish(struct memento_timemap *t);

/* The capture that is closest in time, of two equally close ones the later;
   there must be one. */
size_t memento_timemap_closest(const struct memento_timemap *t, int64_t when);

struct memento_timemap *memento_timemap_keep(struct memento_timemap *t);
void memento_timemap_release(struct memento_timemap *t); /* NULL is welcome */

#endif
