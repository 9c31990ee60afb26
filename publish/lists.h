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

/* SEEN_MISMATCH if a file with the name of a list is not ours, another code if
   it cannot be read. */
enum seen_code publish_lists_check(const char *folder, bool changes,
                                   struct seen_error *why);

/*
 * Write lists of files before lists of lists, so that no list names a file
 * that does not exist yet. parts[] becomes the number of files of sitemap and
 * change list; the number of lists written is added to *written.
 */
enum seen_code publish_lists_write(const struct publish_options *options,
                                   const struct publish_state *s,
                                   const struct publish_metadata *m,
                                   unsigned parts[2], size_t *written,
                                   struct seen_error *why);

/* Remove the parts of lists that had `had` of them and now have `parts`, and
   the change list if deltas are no longer kept. */
void publish_lists_sweep(const char *folder, const struct publish_state *s,
                         const unsigned had[2], const unsigned parts[2]);

#endif
