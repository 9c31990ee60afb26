/*
 * reserve.h - make an empty filter with BF commands.
 *
 * Cells cannot be copied to a bf:// address, but a server with BF commands
 * makes filters itself, and they are filled by adding to them:
 *
 *     if (remote_must_reserve(address))
 *         code = remote_reserve(address, &plan, &why);
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

#endif
