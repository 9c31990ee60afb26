/*
 * tree.h - making a filter in steps, for the builder and the store.
 *
 * seen_filter_new() makes a filter, its parts and their cells at once. Who
 * has the cells already, or finds the parts in a file, takes the steps.
 */
#ifndef SEEN_FILTER_TREE_H
#define SEEN_FILTER_TREE_H

#include <seen/kind_writer.h>

/*
 * Make the filter of a plan: a leaf without cells, a combinator without
 * parts unless `whole`. Kinds that are made from a known set are welcome.
 */
enum seen_code filter_make(struct seen_filter **out,
                           const struct seen_plan *plan, bool whole,
                           struct seen_error *why);

/* Give cells to all leaves that have none. */
enum seen_code filter_fill(struct seen_filter *f, struct seen_error *why);

/* How many leaves there are: 1 for a leaf. */
size_t filter_leaves(const struct seen_filter *f);

/* Append a part that was made apart, which then belongs to f. */
enum seen_code filter_append(struct seen_filter *f, struct seen_filter *part,
                             struct seen_error *why);

/* Let f be filled past its capacity as long as it is in memory. The plan,
   which files record, still has its limit. */
void filter_lift(struct seen_filter *f);

/* SEEN_OK if two filters may be merged. */
enum seen_code filter_alike(const struct seen_filter *f,
                            const struct seen_filter *g,
                            struct seen_error *why);

/* Hash n keys under the secret of a keyed plan, into `keyed`. */
void filter_key(const struct seen_plan *plan, const struct seen_key *key,
                size_t n, struct seen_key *keyed);

/* Count the offered keys; adjacent equal ones once. Not for shared use. */
void filter_offer(struct seen_filter *f, const struct seen_key *key, size_t n);

#endif
