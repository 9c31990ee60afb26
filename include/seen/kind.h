/*
 * kind.h - which kinds of filter there are, and what each can do.
 *
 * A kind is written name[:arg,...], with the kind it is made of after a
 * slash: "routed:16/bloom" is sixteen filters of kind "bloom". A leaf has
 * cells of its own; a combinator has parts. Which kinds there are, and what
 * each can do, is data: programs ask for what they need, and work with kinds
 * that did not exist when they were written.
 *
 *     if (!seen_kind_can(plan.kind, SEEN_CAN_REMOVE))
 *         fprintf(stderr, "%s cannot remove\n", plan.kind);
 *
 * New kinds are written with <seen/kind_writer.h>.
 *
 * Threads: kinds are registered before other threads start; from then on
 * everything here is free of state.
 */
#ifndef SEEN_KIND_H
#define SEEN_KIND_H

#include <seen/filter.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Numbered once and for good. */
enum seen_trait {
    SEEN_CAN_ADD = 1 << 0,    /* seen_filter_add() */
    SEEN_CAN_REMOVE = 1 << 1, /* seen_filter_remove() */
    SEEN_CAN_COUNT = 1 << 2,  /* seen_filter_count() */
    SEEN_CAN_PREFIX = 1 << 3, /* seen_filter_has_prefix() */
    SEEN_CAN_MERGE = 1 << 4,  /* seen_filter_merge() */
    SEEN_CAN_ROUTE = 1 << 5,  /* seen_filter_route() */
    SEEN_CAN_GROW = 1 << 6,   /* never full, and its rate stays as planned;
                                 argument 0 is the factor of growth */
    SEEN_ADDS_PARTS = 1 << 7, /* gets parts, hence memory, as keys come */
    SEEN_READS_TEXT = 1 << 8, /* hashes the text of keys */
    SEEN_NEEDS_ORDER = 1 << 9,   /* its cells depend on the order of keys: it
                                    is built in one lane */
    SEEN_BUILT_ONCE = 1 << 10,   /* made by the builder only, from all keys */
    SEEN_SIZES_ITSELF = 1 << 11, /* by its keys: its plan has no capacity */
    SEEN_HAS_LAYERS = 1 << 12,   /* is sized by plan.segments, for as many
                                    layers as argument 0 says */
    SEEN_HAS_LINES = 1 << 13     /* the cells of a key are in one line of 64
                                    bytes */
};

/*
 * Can the whole that `kind` describes do all of `traits` (added up)?
 * "routed:4/fuse" cannot add, since its parts cannot. False for a kind that
 * is not known. Arguments are not checked: seen_filter_new() does that.
 */
bool seen_kind_can(const char *kind, unsigned traits);

/* The same of a filter. */
bool seen_filter_can(const struct seen_filter *f, unsigned traits);

/*
 * Where in `kind` the outermost kind begins that has the trait by itself, or
 * NULL: with SEEN_HAS_LAYERS, "layered:4" of "routed:16/layered:4".
 */
const char *seen_kind_which(const char *kind, enum seen_trait trait);

/*
 * Copy argument i (from 0) of the outermost kind of `text` into `arg`, cut
 * to its room: argument 1 of "routed:16,md5/bloom" is "md5". False if there
 * is none; an empty one is "".
 */
bool seen_kind_arg(const char *text, unsigned i, char *arg, size_t room);

/* A kind, for help, completion and messages. */
struct seen_kind_entry {
    const char *name;     /* "routed" */
    const char *synopsis; /* "routed:N[,md5]/KIND" */
    const char *summary;  /* "the URL chooses one of N filters" */
};

/* The i-th kind; false past the last. */
bool seen_kind_list(unsigned i, struct seen_kind_entry *entry);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
