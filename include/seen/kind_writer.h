/*
 * kind_writer.h - how to write a kind of filter, inside the library or outside.
 *
 * Unstable: what is here follows the library's needs, and may change with
 * every version. Programs that use filters need <seen/kind.h> only.
 *
 * A kind is one file with one constant table of functions. Its state starts
 * with struct seen_filter, so that the table is found from any filter; C
 * guarantees that the two addresses are equal. The door, filter.c, checks
 * arguments before it calls these functions, allocates the cells and builds
 * the tree of parts: a kind stays as short as its paper.
 *
 *     extern const struct seen_kind redis;
 *
 *     if (seen_kind_register(&redis, &why) == SEEN_OK)
 *         strcpy(plan.kind, "redis:6379");
 *
 * A kind is written name[:arg,...], with the kind it is made of after a
 * slash: "routed:16/bloom". A leaf has cells of its own; a combinator has
 * parts. make() finds the whole text in plan->kind.
 *
 * Threads: register before the first filter is made. has() may run in many
 * threads at once. In a shared filter (f->stripes is not NULL) so may add()
 * and remove(), which then take a stripe's lock and change cells atomically.
 */
#ifndef SEEN_KIND_WRITER_H
#define SEEN_KIND_WRITER_H

#include <seen/kind.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A change that one key makes in one region of a filter's cells. */
struct seen_entry {
    uint32_t region;
    uint64_t what;
};

struct seen_kind {
    const char *name;
    const char *synopsis; /* "routed:N[,md5]/KIND": see seen_kind_list() */
    const char *summary;  /* in a few words */

    /*
     * What it can do, enum seen_trait added up, where that is the same
     * whatever its arguments are; or else a function that finds it from the
     * text. A combinator names what it can do if its parts can.
     */
    unsigned traits;
    unsigned (*traits_of)(const char *text);

    bool combines; /* has parts, of the kind after the slash */
    /* A combinator: to which part keys are added. route() finds the one. */
    enum seen_target { SEEN_TO_ONE, SEEN_TO_ALL, SEEN_TO_LAST } target;
    /* A combinator: the rate of its parts if its own is to be `rate`; NULL:
       the same. `text` begins with the combinator. */
    double (*part_rate)(const char *text, double rate);

    /* A leaf: a growing filter whose rates fall below `least_rate` goes on
       with leaves of the kind `below`, whose name is no longer than its
       own; NULL: it has no such bound. */
    const char *below;
    double least_rate;
    /* A leaf: the kind that has a bit set where this one has a cell that is
       not 0, and gives the same answers; or NULL. */
    const char *as_bits;

    /*
     * Derive what is 0 in f->plan, or check it if it is `recorded`. The door
     * has allocated f, of `state` bytes, which are zero behind struct
     * seen_filter. A leaf sets size, cell_bits and limit, and has no cells
     * yet; a combinator sets `room`, the parts it can have, and `first`,
     * those to begin with.
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
    double (*rate)(const struct seen_filter *f);

    /* A combinator: derive the plan of part i, which begins as a copy of
       f's with kind and seed already the part's own. */
    enum seen_code (*part)(const struct seen_filter *f, unsigned i,
                           struct seen_plan *plan, struct seen_error *why);

    /* All of these may be NULL: SEEN_UNABLE, or what filter.c does then. */
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
    /* The part that answers for each key, where that is one of them. */
    enum seen_code (*route)(const struct seen_filter *f,
                            const struct seen_key *key, size_t n,
                            unsigned *part, struct seen_error *why);
    enum seen_code (*merge)(struct seen_filter *f,
                            const struct seen_filter *from,
                            struct seen_error *why);
    uint64_t (*recount)(const struct seen_filter *f); /* cells not zero */
    uint64_t (*filled)(const struct seen_filter *f);  /* cells that `limit`
                                      is about, if not all that are set */
    /* A leaf's cells were exchanged, or changed by another process: forget
       what was derived from them. `set` is not the kind's business. */
    void (*renew)(struct seen_filter *f);

    /*
     * Both or neither, for the builder: write the entries of n keys, as many
     * a key as `entries_a_key` or, if that is 0, plan.probes; and make the
     * changes of entries that fall into one region of 512 KiB, returning how
     * many cells are no longer zero. Order must not matter.
     */
    unsigned entries_a_key;
    void (*spread)(const struct seen_filter *f, const struct seen_key *key,
                   size_t n, struct seen_entry *out);
    uint64_t (*fill)(struct seen_filter *f, uint64_t region,
                     const uint64_t *what, size_t n);
};

enum { SEEN_SHAPE = SEEN_LAYERS + 1 };

struct seen_stripes; /* the locks of a shared filter */
struct seen_storage; /* the file where the cells are stored, if any */
struct seen_meta;    /* names and values: see store.h */

struct seen_filter {
    const struct seen_kind *kind;
    unsigned traits;            /* of the whole text of its kind */
    struct seen_plan plan;      /* as asked for, with all that was derived */
    uint64_t shape[SEEN_SHAPE]; /* what else the kind records */
    uint64_t check;             /* which secret it is keyed with, or 0 */
    bool recorded;              /* plan and shape come from a file: make()
                                   takes them as they are */
    unsigned char secret[SEEN_SECRET]; /* all zero: not known */

    unsigned char *cells; /* a leaf's, on a line of their own; else NULL */
    size_t size;          /* in bytes */
    unsigned cell_bits;   /* 1 for bits, 4 to 32 for counters */
    uint64_t set;         /* how many cells are not zero */
    uint64_t limit;       /* full when so many are */
    bool over;            /* what grows: its last part gets no limit; unlike
                             plan.over, for this opening only */

    struct seen_filter **part;
    unsigned parts, room, first;

    uint64_t offered;
    uint64_t last;    /* `lo` of the key offered last */
    uint64_t applied; /* changes that a saved file has had: see share.h */
    struct seen_stripes *stripes;
    struct seen_storage *storage;
    struct seen_meta *meta;
};

/*
 * Make a kind known by its name. The table must outlive every filter.
 * SEEN_EXISTS if the name is taken, SEEN_FULL after SEEN_KINDS of them,
 * SEEN_RANGE if a trait lacks its function.
 */
enum { SEEN_KINDS = 32 };
enum seen_code seen_kind_register(const struct seen_kind *kind,
                                  struct seen_error *why);

/* The kind that `text` begins with: "bloom" of "bloom:md5", or NULL. */
const struct seen_kind *seen_kind_find(const char *text);

/*
 * For a combinator: make its next part, with cells, and append it. Readers
 * of a shared filter see it whole or not at all. SEEN_FULL past `room`.
 */
enum seen_code seen_filter_grow(struct seen_filter *f, struct seen_error *why);

/*
 * Bring capacity, rate, bits, probes and multiplier of a leaf's plan to
 * agreement, deriving what is 0, unless they are `recorded`. rate(n, m, k) is the kind's formula for n
 * keys in m cells of cell_bits and k probes; it falls as m grows. Bits that
 * are derived are rounded up to whole lines, given ones are kept. SEEN_RANGE
 * says what is missing or at odds.
 */
enum seen_code seen_plan_size(struct seen_plan *plan, bool recorded,
                              unsigned cell_bits, unsigned max_probes,
                              double (*rate)(double n, double m, unsigned k),
                              struct seen_error *why);

/*
 * How many of `cells` may be set before a filter of this plan is full. Keys
 * are not counted: a sum of fresh ones would depend on their order. n keys
 * set m (1 - e^-c) cells on average, c = kn/m, with variance
 * m e^-c (1 - (1 + c) e^-c); five standard deviations more and n keys fit
 * but for one filter in three million. UINT64_MAX for a plan that is `over`.
 */
uint64_t seen_plan_limit(const struct seen_plan *plan, uint64_t cells);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
