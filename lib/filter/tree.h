/*
 * tree.h - making a filter in steps, for the builder and the store.
 *
 * seen_filter_new() makes a filter, its parts and their cells at once. The
 * store, which has the cells already and finds the parts in a file, and the
 * builder use these steps.
 */
#ifndef SEEN_FILTER_TREE_H
#define SEEN_FILTER_TREE_H

#include <seen/kind_writer.h>

/* What files record of a filter: its plan with all values, and more. */
struct filter_record {
    struct seen_plan plan;
    uint64_t shape[SEEN_SHAPE];
    uint64_t check;
};

struct filter_record filter_record(const struct seen_filter *f);

/* The secret of a filter, or NULL if it is not known. */
const unsigned char *filter_secret(const struct seen_filter *f);

/*
 * Make the filter of a plan and its parts, without cells. It is keyed unless
 * `secret` is NULL. Kinds that are built once are accepted.
 */
enum seen_code filter_make(struct seen_filter **out,
                           const struct seen_plan *plan,
                           const unsigned char *secret,
                           struct seen_error *why);

/* Make the filter of a record, without parts. A NULL secret is not known. */
enum seen_code filter_restore(struct seen_filter **out,
                              const struct filter_record *record,
                              const unsigned char *secret,
                              struct seen_error *why);

/*
 * The derived plan of part 0, for a make() whose plan lacks capacity or rate.
 * f has its plan and what part() reads.
 */
enum seen_code filter_sample(const struct seen_filter *f,
                             struct seen_plan *sample, struct seen_error *why);

/* Allocate cells for all leaves that have none. */
enum seen_code filter_fill(struct seen_filter *f, struct seen_error *why);

/* The number of leaves: 1 for a leaf. */
size_t filter_leaves(const struct seen_filter *f);

/*
 * Append a part, which then belongs to f, also on failure. SEEN_RANGE if the
 * part lacks a trait that the whole has by its parts: what f->traits says
 * holds for the whole tree.
 */
enum seen_code filter_append(struct seen_filter *f, struct seen_filter *part,
                             struct seen_error *why);

/* Remove the limits of f in memory, so that it can be filled past its
   capacity. The plan, which files record, keeps the limit. */
void filter_lift(struct seen_filter *f);

/* The opposite, for filters of bits without parts to come. */
void filter_limit(struct seen_filter *f);

/* SEEN_OK if two filters may be merged. */
enum seen_code filter_alike(const struct seen_filter *f,
                            const struct seen_filter *g,
                            struct seen_error *why);

/* Hash n keys under the secret of a keyed filter, into `keyed`. */
void filter_key(const struct seen_filter *f, const struct seen_key *key,
                size_t n, struct seen_key *keyed);

/* Count keys as offered, adjacent equal keys once. For one thread. */
void filter_offer(struct seen_filter *f, const struct seen_key *key, size_t n);

#endif
