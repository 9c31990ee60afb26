/*
 * dedup_memory.h - what seen dedup knows without --filter.
 *
 * A filter of a fixed size is smaller and faster than one that grows, but gets
 * full. So keys are kept (<seen/key_log.h>), and when the filter is full, one
 * for twice as many is made of them:
 *
 *     keys      1M       2M               4M
 *     filter    [ 2.5 MB ][    5 MB      ][         10 MB          ]
 *     log       ------------------------------------------------->  file
 *
 * Each key is filled in again once on average, in bulk. At a rate of 0.01 % the
 * filter takes 20 to 40 bits per key, a builder as much while it works, and the
 * log 16 bytes of a temporary file, of which the first 16 MB stay in memory.
 *
 * Each key is asked of one filter only, which is within its capacity: so the
 * rate is kept.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CMD_DEDUP_MEMORY_H
#define SEEN_CMD_DEDUP_MEMORY_H

#include <seen/filter.h>

struct dedup_memory;

/* The kind for the rate of a plan. */
void dedup_memory_kind(struct seen_plan *plan);

/* Of a plan without a kind. */
enum seen_code dedup_memory_new(struct dedup_memory **out,
                                const struct seen_plan *plan,
                                struct seen_error *why);
void dedup_memory_free(struct dedup_memory *m);

/* Add n keys; fresh[i] is set to whether key i was new. Up to 4096 at a time. */
enum seen_code dedup_memory_add(struct dedup_memory *m,
                                const struct seen_key *key, size_t n,
                                bool *fresh, struct seen_error *why);

/* The filter of now, until keys are added. */
const struct seen_filter *dedup_memory_filter(const struct dedup_memory *m);

#endif
