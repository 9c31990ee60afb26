/*
 * change.h - changes of archives, for clients that wait for them.
 *
 *     struct put { struct serve_change change; ... };
 *
 *     archive_change_begin(&put->change.change, ...);
 *     archive_change_add(&put->change.change, url, ARCHIVE_URL, &why);
 *     put->change.pending.done = put_done;
 *     if (!serve_change_start(c, &put->change))
 *         answer(503), put_free(put);
 *
 * Clients of one loop share the writes. While a change of an archive is under
 * way, others of the same archive wait, and more join them during its flush;
 * then they are made together. A change for which nothing has to be waited,
 * which is most of them under --sync everysec and no, is made by the loop when
 * its turn ends, with those of all other clients. With 50 clients that add one
 * URL at a time under --sync always, this makes 47,000 adds per second instead
 * of 10,000, at 15 instead of 110 us of CPU time per add.
 *
 * Threads: belongs to one loop.
 */
#ifndef SEEN_SERVE_CHANGE_H
#define SEEN_SERVE_CHANGE_H

#include "archives/archive_change.h"
#include "conn.h"

struct serve_change {
    struct job job;
    struct archive_change change;
    struct pending pending; /* done() is set by the user; its owner is the
                               change, which was made or has failed */

    /* The lists are drawn in change.c. */
    struct serve_change *next, *last, *waiting, *also_now;
};

/* Make the change, for which the client waits. False if there is too much to
   do already: nothing was done. */
bool serve_change_start(struct conn *c, struct serve_change *change);

#endif
