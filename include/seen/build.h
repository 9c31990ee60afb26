/*
 * build.h - make a filter from a set that is known in advance.
 *
 * Adding keys in random order costs a cache miss each. A builder sorts keys
 * by the region of the filter that they fall into, and fills each region
 * while it is in the cache. It is also the only way to make a `fuse` or a
 * `ribbon`, which need all keys before they can be made.
 *
 *     struct seen_build *b;
 *
 *     if (seen_build_new(&b, &plan, 2, &why) == SEEN_OK) {
 *         code = seen_build_add(b, 0, key, n, &why);
 *         code = seen_build_finish(b, &f, &why);
 *     }
 *
 * This builder has two lanes, 0 and 1. Another thread may add keys through
 * lane 1 at the same time.
 *
 * The number of lanes does not change the bytes of the result. Kinds whose
 * cells depend on the order of keys (SEEN_NEEDS_ORDER) are built in one lane.
 * The number of keys offered does not depend on lanes either, if the calls of
 * seen_build_add() are the same: adjacent equal keys count once per call.
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
 * Begin. Errors as in seen_filter_new(), but kinds with SEEN_BUILT_ONCE are
 * accepted. SEEN_RANGE for 0 lanes, or for more than one with a kind that
 * needs order.
 */
enum seen_code seen_build_new(struct seen_build **out,
                              const struct seen_plan *plan, unsigned lanes,
                              struct seen_error *why);

/* The same with a secret: see seen_filter_new_keyed(). */
enum seen_code seen_build_new_keyed(struct seen_build **out,
                                    const struct seen_plan *plan,
                                    const unsigned char *secret,
                                    unsigned lanes, struct seen_error *why);

/*
 * Add n keys through a lane. A key may be added twice. SEEN_FULL as in
 * seen_filter_add(), but later: when the region of the key is written, or from
 * seen_build_finish().
 */
enum seen_code seen_build_add(struct seen_build *b, unsigned lane,
                              const struct seen_key *key, size_t n,
                              struct seen_error *why);

/*
 * Write the keys that still wait in a lane to the cells. This is optional: it
 * lets threads share the work that seen_build_finish() would do alone.
 */
enum seen_code seen_build_flush(struct seen_build *b, unsigned lane,
                                struct seen_error *why);

/*
 * Write the keys that still wait, and give the filter to the caller. The
 * builder is freed in any case. On failure *out is NULL. A fuse or a ribbon
 * is made here, by as many threads as there are lanes where that helps.
 */
enum seen_code seen_build_finish(struct seen_build *b,
                                 struct seen_filter **out,
                                 struct seen_error *why);

/* Free a builder without finishing it. NULL is welcome. */
void seen_build_free(struct seen_build *b);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
