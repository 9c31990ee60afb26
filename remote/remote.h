/*
 * remote.h - filters that live on a server: in Redis, in a Redis Cluster, or
 * behind the BF commands of `seen serve` and RedisBloom.
 *
 * An address (address.h) is used where the path of a file is. The filter that
 * remote_open() gives is used through <seen/filter.h> as any other; each call
 * asks the server, so give it batches. Bits do not come here: such a filter
 * has the traits SEEN_IS_SLOW and SEEN_CELLS_ELSEWHERE and cannot be saved or
 * merged. remote_load() copies one into memory, remote_save() the other way.
 *
 *     if (remote_is_address(path) &&
 *         remote_open(&f, path, &options, &why) == SEEN_OK) {
 *         code = seen_filter_add(f, key, n, fresh, &why);
 *         seen_filter_free(f);
 *     }
 *
 * Of many processes that add one key at once, at most one gets fresh = true;
 * none does only if the key is a false positive or the answer was an error. An
 * add that fails with SEEN_IO may have been done. Adds that a server has
 * acknowledged can be lost when it restarts or fails over; warn() reports that
 * it may have happened. So a filter on a server spares questions to something
 * that decides, and decides nothing itself.
 *
 * Threads: any number may use one filter; they take turns.
 */
#ifndef SEEN_REMOTE_REMOTE_H
#define SEEN_REMOTE_REMOTE_H

#include <seen/store.h>

#include "address.h"

typedef void remote_warn(void *whose, const char *text);

struct remote_options {
    const char *profile;         /* expected; NULL: any */
    const unsigned char *secret; /* of a keyed filter; NULL: none */
    bool over;                   /* accept keys past capacity */
    bool fresh; /* remote_save() replaces no filter: SEEN_EXISTS */
    bool still; /* rate and entries never wait for the server: of a filter
                   behind bf:// they stay what they were at opening */
    remote_warn *warn; /* or NULL */
    void *whose;
};

/*
 * Open the filter at an address. SEEN_ABSENT: there is none. SEEN_CORRUPT: the
 * key is something else, or parts of the filter are missing. SEEN_MISMATCH: it
 * is of a later version, or has another profile or secret. SEEN_UNABLE: the
 * server refuses the password or a command. SEEN_IO: the server cannot be
 * reached.
 */
enum seen_code remote_open(struct seen_filter **out, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why);

/*
 * Choose the number of probes of a plan that leaves it open. A probe is four
 * words of a command, so a filter on a server has the fewest that cost at most
 * 5 % more memory than the best number: 14 instead of 20 at a rate of 1e-6.
 */
void remote_plan(struct seen_plan *plan);

/*
 * Can filters of this plan live on a server? SEEN_UNABLE with the reason if
 * not. To be asked before the work of building one.
 */
enum seen_code remote_able(const struct seen_filter *f,
                           struct seen_error *why);

/* The same for an address: one with several parts takes filters of as many,
   and to bf:// none can be copied. */
enum seen_code remote_able_at(const struct seen_filter *f, const char *address,
                              struct seen_error *why);

/*
 * Copy a filter in memory to an address, and replace what is there in one
 * step. If it is stopped, the old filter stays, and the next call with the
 * same filter continues. SEEN_BUSY: another process does so now. SEEN_EXISTS:
 * the key is something else than a filter.
 */
enum seen_code remote_save(const struct seen_filter *f, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why);

/* Copy the filter at an address into memory: the same cells, byte for byte. */
enum seen_code remote_load(struct seen_filter **out, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why);

/* Times that adds which the server acknowledged may have been lost: counted
   for the filter, over all processes that noticed. 0 for other filters. */
uint64_t remote_losses(const struct seen_filter *f);

#endif
