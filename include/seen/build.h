/*
 * build.h - make a filter from a set that is known in advance.
 *
 * Adding keys in random order costs a cache miss each. A builder partitions
 * them by the region of the filter that they fall into, and fills each
 * region while it is in the cache; and it is the only way to a `fuse`, which
 * must see all keys before it can be made.
 *
 *     struct seen_build *b;
 *
 *     if (seen_build_new(&b, &plan, 2, &why) == SEEN_OK) {
 *         code = seen_build_add(b, 0, key, n, &why);
 *         code = seen_build_finish(b, &f, &why);
 *     }
 *
 * Here there are two lanes, 0 and 1, of which another thread may fill the
 * second meanwhile.
 *
 * The result has the same bytes whatever the number of lanes, for every kind
 * where order does not matter; for the others (SEEN_NEEDS_ORDER of kind.h) the lanes
 * are one. So is the number of keys offered if the calls of seen_build_add()
 * are the same: adjacent equal keys count once within a call.
 *
 * Threads: each lane belongs to one thread at a time.
 */
#ifndef SEEN_BUILD_H
#define SEEN_BUILD_H

#include <seen/filter.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct seen_build;

/*
 * Begin. Errors as of seen_filter_new(), but kinds made from a known set are
 * welcome; SEEN_RANGE for 0 lanes, or more than one where order matters.
 */
enum seen_code seen_build_new(struct seen_build **out,
                              const struct seen_plan *plan, unsigned lanes,
                              struct seen_error *why);

/* The same under a secret: see seen_filter_new_keyed(). */
enum seen_code seen_build_new_keyed(struct seen_build **out,
                                    const struct seen_plan *plan,
                                    const unsigned char *secret,
                                    unsigned lanes, struct seen_error *why);

/*
 * Add n keys through a lane. Keys may come twice. SEEN_FULL as of
 * seen_filter_add(), but told late: by the key that finds its region full,
 * or by seen_build_finish().
 */
enum seen_code seen_build_add(struct seen_build *b, unsigned lane,
                              const struct seen_key *key, size_t n,
                              struct seen_error *why);

/*
 * Fill what is still waiting in one lane. Not needed, but it lets threads
 * share the work that seen_build_finish() would do alone.
 */
enum seen_code seen_build_flush(struct seen_build *b, unsigned lane,
                                struct seen_error *why);

/*
 * Fill what is still waiting, and hand the filter over to the caller. The
 * builder is gone, whatever is returned; on failure *out is NULL.
 */
enum seen_code seen_build_finish(struct seen_build *b,
                                 struct seen_filter **out,
                                 struct seen_error *why);

/* Drop a builder that is not to be finished. NULL is welcome. */
void seen_build_free(struct seen_build *b);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
