/*
 * near.h - of the mementos of one archive, those around a date.
 *
 *     first ... before[1] before[0] | when | after[0] after[1] ... last
 *
 * A TimeGate, and a question for the closest memento, need no more than these
 * six: the closest one is before[0] or after[0], and the ones next to it are
 * among the others. So a TimeMap of any length is read in the memory of six
 * URLs, in whatever order it lists its mementos.
 *
 *     struct memento_near n = { .when = when };
 *
 *     for each memento:
 *         memento_near_add(&n, its time, its URL);
 *     for (unsigned i = 0; i < MEMENTO_KEPT; i++)
 *         if (n.kept[i].there)
 *             ...                           some may be the same memento
 *     memento_near_clear(&n);
 *
 * The six of many archives together have the same closest memento as all their
 * mementos together, and the same ones next to it. Let c be the closest of all.
 * An archive whose own closest one is at or before the date has no memento
 * between that one and the date, and none from the date up to c, if c is later:
 * it would be closer than c. So the last one before c and the first one behind
 * c are among its four; the other case is the same from the other side.
 *
 * What a TimeGate names are some of its mementos. Between which of them it has
 * no others, it says by "first", "last", "prev" and "next". What is not known to
 * stand next to the closest memento must not be called so: _unknown().
 *
 * Threads: belongs to one thread at a time.
 */
#ifndef SEEN_SERVE_MEMENTO_NEAR_H
#define SEEN_SERVE_MEMENTO_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

#include "../../lib/text/buffer.h"

enum { MEMENTO_KEPT = 6 };

struct memento_kept {
    bool there;
    int64_t when;
    struct buffer url; /* encoded for a <link> */
};

/* Zeroed but for `when`, it is ready. */
struct memento_near {
    int64_t when;
    uint64_t added;
    struct memento_kept kept[MEMENTO_KEPT];

    /* Of a TimeGate: not every memento was added. Between `prev`, `chosen` and
       `next` it has no others, nor before the first one and behind the last
       one, if it has named them. */
    bool partial;
    bool names_first, names_last, names_prev, names_next;
    int64_t prev, chosen, next;

    /* Inside. */
    struct buffer url;
};

/* False without memory: the memento is left out then. */
bool memento_near_add(struct memento_near *n, int64_t when,
                      struct seen_span url);

/* The time that is closest to `when`, of two equally close ones the later;
   false if there is none. */
bool memento_near_closest(const struct memento_near *n, int64_t *when);

/* The chosen memento is not the closest one that was named, and what is next
   to it does not explain that. */
bool memento_near_contradicts(const struct memento_near *n);

/* Bits of enum memento_relation: which of them are not known with regard to
   a memento of this time, which is the closest of all archives. */
unsigned memento_near_unknown(const struct memento_near *n, int64_t closest);

/* Bytes of memory that its texts take. */
size_t memento_near_bytes(const struct memento_near *n);

void memento_near_clear(struct memento_near *n);

#endif
