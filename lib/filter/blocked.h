/*
 * blocked.h - one key in one line: shared by the versions of blocked.c.
 *
 * A key becomes a line and 51 bits that say what is set in it. They are the
 * upper bits of a product:
 *
 *    63  61 60     55             24    19 18    13 12        0
 *   +------+---------+-----------+--------+--------+----------+
 *   | turn | bit of  |    ...    | bit of | bit of | not used |
 *   |      | word 7  |           | word 1 | word 0 |          |
 *   +------+---------+-----------+--------+--------+----------+
 *
 * With k <= 8 probes, words turn, turn + 1, ... turn + k - 1 (mod 8) of the
 * line get the bit that is theirs. With k > 8 all words do, and the first
 * k - 8 of them from `turn` on get a second one, which lies d = 1..63 after
 * the first, d from the product with PROBE_STEP: never the same bit twice.
 *
 * 51 bits and the 13 of a line in its region make 64: the builder's entry.
 */
#ifndef SEEN_FILTER_BLOCKED_H
#define SEEN_FILTER_BLOCKED_H

#include <seen/kind_writer.h>

#include "cells.h"
#include "probe.h"

enum {
    WORDS = 8, /* per line */
    MARK_BITS = 51,
    MARK_SHIFT = 64 - MARK_BITS,
    AHEAD = 32, /* keys between the prefetch of a line and its use */
    FAR_AHEAD = 128,   /* the same in filters of FAR_FROM bytes and more */
    FAR_FROM = 1 << 23
};

#define BLOCKED_LEAST_RATE 1e-4 /* plans below it are refused */

struct blocked {
    struct seen_filter base;
    const struct blocked_way *way;
    uint64_t salt, bytes; /* of the lines */
};

/*
 * Where a key goes, and what it sets there. `at` is a byte of the key's line,
 * but not always the first: a prefetch needs no more, and the loops that
 * probe round it down.
 */
struct mark {
    uint64_t at, bits;
};

/* Where the line begins. */
static inline uint64_t line_of(const struct mark *m)
{
    return m->at & -(uint64_t)LINE;
}

/* What mark_of() needs of a filter, in registers. */
struct marker {
    uint64_t salt, bytes;
};

static inline struct marker marker_of(const struct blocked *b)
{
    struct marker m = { b->salt, b->bytes };

    return m;
}

/*
 * Both halves of a key are uniform, so one product each is enough to mix the
 * seed in. Two rounds of seen_mix() took one nanosecond more, of about three.
 * If x picks byte `at` of all bytes, then it picks line at / 64 of all lines.
 */
static inline struct mark mark_of(const struct marker *by,
                                  const struct seen_key *key)
{
    uint64_t x = (key->lo ^ by->salt) * PROBE_STEP;
    struct mark m;

    m.at = reduce(x, by->bytes);
    m.bits = (key->hi ^ x) * PROBE_STEP;
    return m;
}

/* The mark of a key, with its line on the way, to be written to if `write`. */
static inline struct mark fetch_mark(const struct marker *by,
                                     const struct seen_key *key,
                                     const unsigned char *cells, bool write)
{
    struct mark m = mark_of(by, key);

    if (write)
        __builtin_prefetch(cells + m.at, 1);
    else
        __builtin_prefetch(cells + m.at);
    return m;
}

static inline unsigned turn_of(uint64_t bits)
{
    return (unsigned)(bits >> 61);
}

/* Where the second bits of a key come from, in the places of the first. */
static inline uint64_t second_bits(uint64_t bits)
{
    return ((bits >> MARK_SHIFT) * PROBE_STEP) >> 16 << MARK_SHIFT;
}

/* The words, one bit each, that n probes from `turn` on fall into. */
static inline unsigned turned(unsigned n, unsigned turn)
{
    unsigned words = (1u << n) - 1;

    return (words << turn | words >> (WORDS - turn)) & 0xff;
}

/* The same for all eight turns, one byte each. */
static inline uint64_t turns(unsigned n)
{
    uint64_t all = 0;

    for (unsigned turn = 0; turn < WORDS; turn++)
        all |= (uint64_t)turned(n, turn) << (8 * turn);
    return all;
}

/*
 * The loops over keys, in one version for each width of SIMD. All give the
 * same answers and the same bytes. fresh may be NULL; add, share and fill
 * return the number of bits that were clear before. share is add for several
 * threads: it takes the locks of the lines. has returns SEEN_OK, and add_one
 * true, so that the kind can end with a jump to them.
 */
struct blocked_way {
    const char *name;
    enum seen_code (*has)(const struct blocked *b, const struct seen_key *key,
                          size_t n, bool *seen);
    /* For k <= 8. */
    enum seen_code (*has_one)(const struct seen_filter *f,
                              const struct seen_key *key, bool *seen);
    uint64_t (*add)(struct blocked *b, const struct seen_key *key, size_t n,
                    bool *fresh);
    /* For k <= 8. It adds the number of bits to base.set itself. */
    bool (*add_one)(struct blocked *b, const struct seen_key *key,
                    bool *fresh);
    uint64_t (*share)(struct blocked *b, const struct seen_key *key, size_t n,
                      bool *fresh);
    /* Entries are a line in the region << 51 | the key's 51 bits. */
    uint64_t (*fill)(struct blocked *b, unsigned char *region,
                     const uint64_t *entry, size_t n,
                     const struct seen_soon *soon);
};

extern const struct blocked_way blocked_portable;
#if defined __x86_64__ && !defined SEEN_PORTABLE
extern const struct blocked_way blocked_avx2, blocked_avx512;
#endif

/* The widest version that this CPU supports and seen_simd_set() allows. */
const struct blocked_way *blocked_best(void);

/* For the builder, in blocked_build.c. */
void blocked_spread(const struct seen_filter *f, const struct seen_key *key,
                    size_t n, struct seen_entry *out);
uint64_t blocked_fill(struct seen_filter *f, uint64_t region,
                      const uint64_t *what, size_t n,
                      const struct seen_soon *soon);

#endif
