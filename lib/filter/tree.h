/*
 * tree.h - making a filter in steps, for the builder and the store.
 *
 * seen_filter_new() makes a filter, its parts and their cells at once. Who
 * has the cells already, or finds the parts in a file, takes the steps.
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
 * Make the filter of a plan, keyed unless `secret` is NULL, and its parts;
 * leaves have no cells. Kinds that are made from a known set are welcome.
 */
enum seen_code filter_make(struct seen_filter **out,
                           const struct seen_plan *plan,
                           const unsigned char *secret,
                           struct seen_error *why);

/* Make the filter of a record, without parts; `secret` may be unknown. */
enum seen_code filter_restore(struct seen_filter **out,
                              const struct filter_record *record,
                              const unsigned char *secret,
                              struct seen_error *why);

/*
 * The plan that part 0 comes to, for a make() that was not given capacity or
 * rate; f has the plan and whatever part() reads.
 */
enum seen_code filter_sample(const struct seen_filter *f,
                             struct seen_plan *sample, struct seen_error *why);

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

/* Hash n keys under the secret of a keyed filter, into `keyed`. */
void filter_key(const struct seen_filter *f, const struct seen_key *key,
                size_t n, struct seen_key *keyed);

/* Count the offered keys; adjacent equal ones once. Not for shared use. */
void filter_offer(struct seen_filter *f, const struct seen_key *key, size_t n);

#endif
