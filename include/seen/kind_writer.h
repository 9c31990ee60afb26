/*
 * kind_writer.h - for writers of kinds, inside the library or outside.
 *
 * UNSTABLE: this header may change with every version. Programs that only use
 * filters need <seen/kind.h>.
 *
 * A kind is one file with one constant table of functions. Its state begins
 * with struct seen_filter, which points to the table; C guarantees that both
 * have the same address. filter.c and tree.c check arguments before they call
 * these functions, allocate the cells and build the tree of parts, so that a
 * kind stays as short as its paper.
 *
 *     extern const struct seen_kind redis;
 *
 *     if (seen_kind_register(&redis, &why) == SEEN_OK)
 *         strcpy(plan.kind, "redis:6379");
 *
 * Threads: register before the first filter is made. has() may run in many
 * threads at once. If f->stripes is not NULL, add() and remove() may, too;
 * they then take the lock of a stripe and change cells atomically.
 */
#ifndef SEEN_KIND_WRITER_H
#define SEEN_KIND_WRITER_H

#include <seen/kind.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * The functions of a kind that change cells, and those for the builder. A
 * library that only answers, as that of js/ does, is a sixth smaller without
 * them; so the table of a kind names each of them in this macro.
 */
#ifdef SEEN_ANSWERS_ONLY
#define SEEN_CHANGE(function) NULL
#else
#define SEEN_CHANGE(function) function
#endif

/* A change that one key makes in one region of a filter's cells. */
struct seen_entry {
    uint32_t region;
    uint64_t what;
};

/* Cells that the builder will need next; none if both are equal. */
struct seen_soon {
    const unsigned char *from, *to;
};

struct seen_kind {
    const char *name;
    const char *synopsis; /* "routed:N[,md5]/KIND": see seen_kind_list() */
    const char *summary;  /* in a few words */

    /*
     * What it can do: values of enum seen_trait, joined with |. If that
     * depends on arguments, a function finds it from the text. A combinator
     * names what it can do if its parts can.
     */
    unsigned traits;
    unsigned (*traits_of)(const char *text);

    /*
     * An argument that new filters always record. Where a request ends before
     * argument `implied_at`, it gets the value `implied`; a file that ends
     * there is older and means `implied_before`. NULL: no such argument.
     */
    unsigned implied_at;
    const char *implied, *implied_before;

    bool combines; /* has parts, of the kind after the slash */
    /* A combinator: which parts get a new key. route() finds the one. */
    enum seen_target { SEEN_TO_ONE, SEEN_TO_ALL, SEEN_TO_LAST } target;
    /* A combinator: the rate of its parts if its own is `rate`; NULL: the
       same. `text` begins with the combinator. */
    double (*part_rate)(const char *text, double rate);

    /* A leaf: where rates fall below `least_rate`, growing filters use leaves
       of the kind `below` instead, whose name is not longer; NULL: there is
       no such bound. */
    const char *below;
    double least_rate;
    /* A leaf: the kind that gives the same answers with a bit set for each
       cell that is not 0; or NULL. */
    const char *as_bits;

    /*
     * Derive the values that are 0 in f->plan or, if f->recorded, check
     * them. f has `state` bytes, which are zero after struct seen_filter. A
     * leaf sets size, cell_bits and limit, and has no cells yet. A combinator
     * sets `room`, the most parts it can have, and `first`, the number of
     * parts to begin with.
     */
    size_t state;
    enum seen_code (*make)(struct seen_filter *f, struct seen_error *why);
    /* Release what make() allocated, also after it failed; or NULL. */
    void (*clear)(struct seen_filter *f);

    enum seen_code (*has)(const struct seen_filter *f,
                          const struct seen_key *key, size_t n, bool *seen,
                          struct seen_error *why);
    enum seen_code (*add)(struct seen_filter *f, const struct seen_key *key,
                          size_t n, bool *fresh, struct seen_error *why);
    /*
     * The same for one key of a filter without `stripes`. False, with nothing
     * changed, if that takes add(), which knows the reason. NULL: it always
     * does.
     */
    bool (*add_one)(struct seen_filter *f, const struct seen_key *key,
                    bool *fresh);
    double (*rate)(const struct seen_filter *f);

    /*
     * Start to fetch the cells that has() will read first for n keys, and
     * return without waiting. NULL: there is nothing to fetch, or finding it
     * takes as long as the answer.
     */
    void (*expect)(const struct seen_filter *f, const struct seen_key *key,
                   size_t n);

    /* A combinator: derive the plan of part i. It is given as a copy of f's
       plan with the kind and seed of the part. */
    enum seen_code (*part)(const struct seen_filter *f, unsigned i,
                           struct seen_plan *plan, struct seen_error *why);

    /* All of these may be NULL: then filter.c has a default, or returns
       SEEN_UNABLE. */
    double (*entries)(const struct seen_filter *f);
    double (*planned)(const struct seen_filter *f);
    enum seen_code (*remove)(struct seen_filter *f, const struct seen_key *key,
                             size_t n, struct seen_error *why);
    enum seen_code (*count)(const struct seen_filter *f,
                            const struct seen_key *key, size_t n,
                            uint64_t *count, struct seen_error *why);
    enum seen_code (*under)(const struct seen_filter *f,
                            const struct seen_key *key, bool *seen,
                            struct seen_error *why);
    /* The one part that holds each key, if there is one. */
    enum seen_code (*route)(const struct seen_filter *f,
                            const struct seen_key *key, size_t n,
                            unsigned *part, struct seen_error *why);
    enum seen_code (*merge)(struct seen_filter *f,
                            const struct seen_filter *from,
                            struct seen_error *why);
    uint64_t (*recount)(const struct seen_filter *f); /* cells that are set */
    uint64_t (*filled)(const struct seen_filter *f);  /* set cells that
                                      count against `limit`; NULL: all */
    /* The work of a lookup, in the units of seen_filter_cost(): of a leaf, or
       of a combinator without its parts. NULL: a line per probe, and a hash
       of the text if it reads the text. */
    uint64_t (*cost)(const struct seen_filter *f);
    /* The cells of a leaf were replaced, or changed by another process:
       forget what was derived from them. The caller updates `set`. */
    void (*renew)(struct seen_filter *f);

    /*
     * For the builder; both or neither. spread() writes the entries of n
     * keys: `entries_per_key` per key or, if that is 0, plan.probes. fill()
     * makes the changes of the entries of one region of 256 KiB, and returns
     * how many cells it has set. Their order must not matter. Meanwhile it can
     * begin to fetch the cells of `soon`, some with every few entries.
     */
    unsigned entries_per_key;
    void (*spread)(const struct seen_filter *f, const struct seen_key *key,
                   size_t n, struct seen_entry *out);
    uint64_t (*fill)(struct seen_filter *f, uint64_t region,
                     const uint64_t *what, size_t n,
                     const struct seen_soon *soon);
    /*
     * A leaf of bits: write the numbers of the bits of n keys, plan.probes per
     * key. Bit i is bit i % 8, from the low end, of byte i / 8 of the cells.
     * It reads no cells, so that they can be elsewhere. NULL: not for kinds
     * that read the text of keys.
     */
    void (*locate)(const struct seen_filter *f, const struct seen_key *key,
                   size_t n, uint64_t *bit);
    /*
     * A leaf: where the cells are that has(), add(), remove(), count() and
     * under() read or change for one key, as offsets in bytes; *n of them, at
     * most SEEN_REACH. A cell that may cross a multiple of 64 bytes has two,
     * its first and its last byte. It reads no cells. The store checks only
     * these cells for a filter that is opened `lazy`. NULL: it checks all.
     */
    enum seen_code (*reach)(const struct seen_filter *f,
                            const struct seen_key *key, uint64_t *at,
                            size_t *n, struct seen_error *why);
    /* A leaf whose reach() does read cells: from which byte to which one. The
       store checks these first. NULL: it reads none. */
    void (*index)(const struct seen_filter *f, uint64_t *from, uint64_t *to);
};

enum { SEEN_SHAPE = SEEN_LAYERS + 1, SEEN_REACH = 64 * SEEN_SHAPE };

struct seen_stripes; /* the locks of a filter for several threads */
struct seen_storage; /* the file where the cells are stored, if any */
struct seen_meta;    /* names and values: see store.h */

struct seen_filter {
    const struct seen_kind *kind;
    unsigned traits;            /* of the whole text of its kind */
    struct seen_plan plan;      /* as requested, with derived values */
    uint64_t shape[SEEN_SHAPE]; /* what else the kind records */
    uint64_t check;             /* identifies its secret; 0: not keyed */
    bool recorded;              /* plan and shape are from a file, so make()
                                   must not change them */
    unsigned char secret[SEEN_SECRET]; /* all zero: not known */

    unsigned char *cells; /* of a leaf, aligned to a line; else NULL */
    bool zeroed;          /* they were allocated by the library, as zeros */
    size_t size;          /* in bytes */
    unsigned cell_bits;   /* 1 for bits, 4 to 32 for counters */
    uint64_t set;         /* number of cells that are not zero */
    uint64_t limit;       /* the filter is full at this number */
    bool over;            /* the last part of a growing filter gets no limit;
                             unlike plan.over, this is not recorded */

    struct seen_filter **part;
    unsigned parts, room, first;

    /* has() for one key, in fewer instructions; or NULL. For make() of kinds
       whose has() cannot fail, unless the filter is keyed or reads text. */
    enum seen_code (*has_one)(const struct seen_filter *f,
                              const struct seen_key *key, bool *seen);

    uint64_t offered;
    uint64_t last;    /* `lo` of the last key offered */
    uint64_t applied; /* changes that the saved file includes */
    struct seen_stripes *stripes;
    struct seen_storage *storage;
    struct seen_meta *meta;
};

/*
 * Register a kind. The table must outlive all filters. SEEN_EXISTS if the
 * name is taken, SEEN_FULL after SEEN_KINDS kinds, SEEN_RANGE if the function
 * of a trait is missing.
 */
enum { SEEN_KINDS = 32 };
enum seen_code seen_kind_register(const struct seen_kind *kind,
                                  struct seen_error *why);

/* The outermost kind of a text: "bloom" for "bloom:md5"; or NULL. */
const struct seen_kind *seen_kind_find(const char *text);

/*
 * For a combinator: make its next part, with cells, and append it. Readers in
 * other threads see it whole or not at all. SEEN_FULL if there are `room`
 * parts already.
 */
enum seen_code seen_filter_grow(struct seen_filter *f, struct seen_error *why);

/* Allocate the cells of a filter that has none, and of its parts, all 0. */
enum seen_code seen_filter_allocate(struct seen_filter *f,
                                    struct seen_error *why);

/*
 * Derive those of capacity, rate, bits, probes and multiplier that are 0 in the
 * plan of a leaf or, if they are `recorded`, check them. rate(n, m, k) is the
 * kind's formula for n keys in m cells of cell_bits and k probes; it falls as
 * m grows. Derived bits are rounded up to whole lines, given bits are kept.
 * SEEN_RANGE if a value is missing or contradicts another.
 */
enum seen_code seen_plan_size(struct seen_plan *plan, bool recorded,
                              unsigned cell_bits, unsigned max_probes,
                              double (*rate)(double n, double m, unsigned k),
                              struct seen_error *why);

/*
 * The number of set cells, out of `cells`, at which a filter of this plan is
 * full. Keys are not counted: the number of fresh keys would depend on their
 * order. n keys set m (1 - e^-c) cells on average, c = kn/m, with variance
 * m e^-c (1 - (1 + c) e^-c). With five standard deviations more, n keys fit
 * into all but one of three million filters. UINT64_MAX for a plan that is
 * `over`.
 */
uint64_t seen_plan_limit(const struct seen_plan *plan, uint64_t cells);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
