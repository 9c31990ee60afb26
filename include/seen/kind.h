/*
 * kind.h - which kinds of filter there are, and what each can do.
 *
 * A kind is written name[:arg,...], with the kind it is made of after a
 * slash: "routed:16/bloom" is sixteen filters of kind "bloom". A leaf has
 * its own cells; a combinator has parts. Programs ask what a kind can do and
 * do not compare names, so that they work with kinds that are added later.
 *
 *     if (!seen_kind_can(plan.kind, SEEN_CAN_REMOVE))
 *         fprintf(stderr, "%s cannot remove\n", plan.kind);
 *
 * New kinds are written with <seen/kind_writer.h>.
 *
 * Threads: kinds are registered before other threads start. Nothing else here
 * has state.
 */
#ifndef SEEN_KIND_H
#define SEEN_KIND_H

#include <seen/filter.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The numbers never change. */
enum seen_trait {
    SEEN_CAN_ADD = 1 << 0,    /* seen_filter_add() */
    SEEN_CAN_REMOVE = 1 << 1, /* seen_filter_remove() */
    SEEN_CAN_COUNT = 1 << 2,  /* seen_filter_count() */
    SEEN_CAN_PREFIX = 1 << 3, /* seen_filter_has_prefix() */
    SEEN_CAN_MERGE = 1 << 4,  /* seen_filter_merge() */
    SEEN_CAN_ROUTE = 1 << 5,  /* seen_filter_route() */
    SEEN_CAN_GROW = 1 << 6,   /* is never full and keeps its planned rate;
                                 argument 0 is the growth factor */
    SEEN_ADDS_PARTS = 1 << 7, /* gets new parts as keys are added, so its
                                 size is not fixed */
    SEEN_READS_TEXT = 1 << 8, /* hashes the text of keys */
    SEEN_NEEDS_ORDER = 1 << 9,   /* its cells depend on the order of keys, so
                                    it is built in one lane */
    SEEN_BUILT_ONCE = 1 << 10,   /* is made from all keys by the builder; no
                                    key can be added later */
    SEEN_SIZES_ITSELF = 1 << 11, /* derives its size from its keys, so its
                                    plan needs no capacity */
    SEEN_HAS_LAYERS = 1 << 12,   /* is sized by plan.segments; argument 0 is
                                    the number of layers */
    SEEN_HAS_LINES = 1 << 13,    /* all cells of a key are in one line of 64
                                    bytes */
    SEEN_IGNORES_ORDER = 1 << 14, /* URLs that are made of segments of added
                                    URLs, in another order or repeated, are
                                    found; its rate does not cover them */
    SEEN_PARTS_AGREE = 1 << 15,  /* every part holds every key, so a key on
                                    which the parts disagree is a false
                                    positive of some of them */
    SEEN_IS_SLOW = 1 << 16, /* a question takes a round trip to a server: ask
                               it outside of event loops */
    SEEN_CELLS_ELSEWHERE = 1 << 17 /* has no cells in this process, so it
                               cannot be saved or merged: load it first */
};

/*
 * Does a filter of this kind have all of `traits` (joined with |)? The answer
 * is about the whole text: "routed:4/fuse" cannot add, because its parts
 * cannot. False for an unknown kind. Arguments of kinds are not checked:
 * seen_filter_new() does that.
 * Arguments that a request may leave out are read as in a file: seen_filter_plan()
 * has the text of a filter that was made.
 */
bool seen_kind_can(const char *kind, unsigned traits);

/* The same for a filter. */
bool seen_filter_can(const struct seen_filter *f, unsigned traits);

/*
 * The place in `kind` of the outermost kind that itself has the trait, or
 * NULL: for SEEN_HAS_LAYERS, "layered:4" in "routed:16/layered:4".
 */
const char *seen_kind_which(const char *kind, enum seen_trait trait);

/*
 * Copy argument i (from 0) of the outermost kind of `text` into `arg`, cut
 * to its room: argument 1 of "routed:16,md5/bloom" is "md5". False if there
 * is no such argument; an empty argument is "".
 */
bool seen_kind_arg(const char *text, unsigned i, char *arg, size_t room);

/*
 * The kind to choose for a rate where nothing else matters: "blocked" from
 * 0.01 % on, and below, where its lines would need too many bits, several of
 * about 1 % that must all say yes: "spatial:3/blocked" at one in a million. A
 * `bloom` takes 3 % fewer bits, and a cache miss per probe instead of one per
 * part: 10 million URLs at 1e-6 were built in 1.1 s of CPU time instead of 1.8,
 * and asked in 0.9 instead of 1.3, most of which is reading the URLs.
 */
void seen_kind_for_rate(char kind[SEEN_KIND_TEXT], double rate);

/* A kind, for help, completion and messages. */
struct seen_kind_entry {
    const char *name;     /* "routed" */
    const char *synopsis; /* "routed:N[,md5]/KIND" */
    const char *summary;  /* "the URL chooses one of N filters" */
};

/* The i-th kind; false past the last. */
bool seen_kind_list(unsigned i, struct seen_kind_entry *entry);

/*
 * The SIMD version of the loops that filters made from now on use: "avx512",
 * "avx2" or "portable". All versions give the same answers and the same
 * bytes; the widest that the CPU supports is chosen. seen_simd_set() chooses
 * another, for tests and measurements, or the widest again for NULL. It is
 * called before other threads start. SEEN_RANGE: this CPU, or this build, does
 * not have it.
 */
const char *seen_simd(void);
enum seen_code seen_simd_set(const char *name, struct seen_error *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
