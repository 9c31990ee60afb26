/*
 * folder.h - the filters of a folder and its subfolders.
 *
 * All files named *.seen, in the order of names. Files and folders that begin
 * with a dot, and folders that are links, are skipped. Links that lead out of
 * the folder, names in upper case, and filters in our folder `deltas` are
 * skipped and reported. Folders that cannot be read are reported and
 * remembered: filters in them are not deleted.
 */
#ifndef SEEN_PUBLISH_FOLDER_H
#define SEEN_PUBLISH_FOLDER_H

#include "../lib/disk/walk.h"

struct publish_folder {
    struct walk_names files;
    struct walk_names unread; /* folders that cannot be read, with a slash */
};

/* Called for each name that is skipped and reported. `lost`: it is a filter
   that should be announced, or may contain some. */
typedef void publish_folder_report(void *whose, const char *name,
                                   const char *why, bool lost);

enum seen_code publish_folder_walk(struct publish_folder *f, const char *path,
                                   publish_folder_report *tell, void *whose,
                                   struct seen_error *why);
void publish_folder_clear(struct publish_folder *f);

/* Is it in a folder that could not be read? */
bool publish_folder_unread(const struct publish_folder *f, const char *name);

/* All files below a folder, of any name, to remove some of them: SEEN_IO if
   it is a link. None if there is no such folder. */
enum seen_code publish_files_below(struct walk_names *n, const char *path,
                                   struct seen_error *why);

#endif
