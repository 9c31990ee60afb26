/*
 * reserve.h - make an empty filter at an address.
 *
 * Cells cannot be copied to a bf:// address, but a server with BF commands
 * makes filters itself, and they are filled by adding to them:
 *
 *     if (remote_must_reserve(address))
 *         code = remote_reserve(address, &plan, &why);
 *
 * A filter in Redis is made in memory, of a kind that can live there, and
 * copied. remote_create() does either.
 *
 * Threads: none of these keeps anything.
 */
#ifndef SEEN_REMOTE_RESERVE_H
#define SEEN_REMOTE_RESERVE_H

#include "remote.h"

/* Is it a bf:// address, or are all its parts? False if some are: such parts
   cannot be of one filter. */
bool remote_must_reserve(const char *address);

/*
 * Make a filter for plan->capacity keys at plan->rate that grows past that.
 * plan->profile and plan->seed are those of the filter if the server is `seen
 * serve`. RedisBloom has one seed for all filters and no profiles; there the
 * size depends on the seed instead, by up to 1/16, so that filters with
 * different seeds err on different keys, too. With several parts the rates
 * multiply to plan->rate, and each part gets a seed of its own. SEEN_EXISTS:
 * there is a filter of this name.
 */
enum seen_code remote_reserve(const char *address,
                              const struct seen_plan *plan,
                              struct seen_error *why);

/* Set the kind of a plan for an address of n parts in Redis: blocked if the
   rate of a part is 1e-4 or above, else routed:N/bloom. */
void remote_choose_kind(struct seen_plan *plan, unsigned n);

/*
 * Make an empty filter for plan->capacity keys at plan->rate; for 10 million in
 * Redis, and 100,000 where it grows, if plan->capacity is 0; and of the profile
 * in the address, or whatwg, if plan->profile is empty. Its kind is chosen: in Redis it has that capacity and does not grow, and *plan is as the
 * filter has it then. SEEN_EXISTS: there is one, or a part of one, or a key that
 * is something else; nothing is changed. SEEN_BUSY: another process writes it.
 */
enum seen_code remote_create(const char *address, struct seen_plan *plan,
                             const struct remote_options *options,
                             struct seen_error *why);

#endif
