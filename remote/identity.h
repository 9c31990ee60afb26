/*
 * identity.h - is the server that has a filter still the same?
 *
 * Redis acknowledges adds before its disk and its replicas have them, so a
 * process that was started again, or a replica that took over, may lack some.
 * A program that must know whether all its adds are there keeps the identity
 * of the servers, compares it when it opens the filter again, and asks
 * remote_noticed() while it uses the filter:
 *
 *     remote_look(f);                        after questions that matter
 *     code = seen_filter_has(f, key, 1, &seen, &why);
 *     if (remote_noticed(f))
 *         fill_again(f);
 *
 * Threads: the one that uses the filter.
 */
#ifndef SEEN_REMOTE_IDENTITY_H
#define SEEN_REMOTE_IDENTITY_H

#include "remote.h"

/*
 * The processes and the histories of data of all nodes that were asked, as one
 * word; the same word later means that nothing was lost in between. With
 * several parts those of all. The caller frees it. NULL: they are not known,
 * since the server does not allow INFO or does not say, or there is no memory.
 */
char *remote_identity(const struct seen_filter *f);

/* Times that they changed since the filter was opened. Unlike remote_losses(),
   which reads a counter that the server may have lost, too, it never falls. */
uint64_t remote_noticed(const struct seen_filter *f);

/* Compare them before the next command. */
void remote_look(struct seen_filter *f);

/* Is the metadata `name` of a filter, or of all its parts on servers, this? */
bool remote_is_marked(const struct seen_filter *f, const char *name,
                      const char *value);

/*
 * Remove the filter at an address if its metadata `name` is `value`. Otherwise
 * SEEN_MISMATCH; SEEN_ABSENT if there is none. BF commands cannot set metadata:
 * a filter at a bf:// address is removed in any case. Of several parts all are
 * tried.
 */
enum seen_code remote_remove(const char *address, const char *name,
                             const char *value, struct seen_error *why);

/* The address of a filter whose name has "-more" at its end, with a further
   setting such as "timeout=2", or NULL. With several parts it concerns each of
   them. The caller frees it; NULL without memory. */
char *remote_address_more(const char *address, const char *more,
                          const char *setting);

#endif
