/*
 * outbox.h - bring links to the database of their hosts. For spread.c.
 */
#ifndef SEEN_FRONTIER_OUTBOX_H
#define SEEN_FRONTIER_OUTBOX_H

#include "shared.h"

/*
 * Deliver some of the links that wait in `from` for hosts of `to`; this worker
 * has a lease in both. Any number of workers may do this at once. *more: there
 * may be more of them. *to_failed: if this failed, it was at the second.
 */
enum seen_code frontier_outbox_deliver(struct frontier_shared *from,
                                       struct frontier_shared *to, bool *more,
                                       bool *to_failed,
                                       struct seen_error *why);

#endif
