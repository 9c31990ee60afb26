/*
 * lists.h - all lists of a folder, from its state.
 *
 *     .well-known/resourcesync   ──>  capabilitylist.xml  ──>  sitemap.xml
 *                                                         ──>  changelist.xml
 */
#ifndef SEEN_PUBLISH_LISTS_H
#define SEEN_PUBLISH_LISTS_H

#include "metadata.h"
#include "publish.h"
#include "state.h"

/* SEEN_MISMATCH if a file of that name is not ours, or the reason why that
   cannot be told. */
enum seen_code publish_lists_check(const char *folder, bool changes,
                                   struct seen_error *why);

/*
 * Write them in such an order that none names what is not there yet: the
 * lists of files before the lists of lists. parts[] becomes the files of
 * sitemap and change list; *written is added to.
 */
enum seen_code publish_lists_write(const struct publish_options *options,
                                   const struct publish_state *s,
                                   const struct publish_metadata *m,
                                   unsigned parts[2], size_t *written,
                                   struct seen_error *why);

/* Remove the parts of lists that had `had` of them, and the change list if
   there is none any more. */
void publish_lists_sweep(const char *folder, const struct publish_state *s,
                         const unsigned had[2], const unsigned parts[2]);

#endif
