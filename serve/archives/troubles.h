/*
 * troubles.h - report archives that do not answer, to the operator.
 *
 *     struct archive_troubles *t = archive_troubles_new();
 *
 *     archive_troubles_check(t, set, view);     once per second
 *
 * An archive is in trouble while it is withdrawn: broken, unreadable, too
 * expensive, its key not known, its file gone. One message is given when that
 * has lasted from one check to the next, so that a file that is replaced in
 * two steps is not trouble; one more if the reason changes; and one when it
 * answers again. Archives on other servers report by themselves (remote.h).
 *
 * Threads: belongs to one thread, that of the view.
 */
#ifndef SEEN_SERVE_ARCHIVES_TROUBLES_H
#define SEEN_SERVE_ARCHIVES_TROUBLES_H

#include "view.h"

struct archive_troubles;

/* NULL without memory. */
struct archive_troubles *archive_troubles_new(void);
void archive_troubles_free(struct archive_troubles *t);

/* The first check reports what is there at once. */
void archive_troubles_check(struct archive_troubles *t,
                            struct archive_set *set, struct archive_view *v);

#endif
