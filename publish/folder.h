/*
 * folder.h - which filters a folder and its subfolders have.
 *
 * All that is called *.seen, in the order of names. Left out are dot files
 * and dot folders, and folders that are links. Told, and left out, are links
 * that lead out, names in upper case, and filters in the folder `deltas` at
 * the top, which is ours. What cannot be looked at is told, and remembered:
 * files that cannot be seen are not gone.
 */
#ifndef SEEN_PUBLISH_FOLDER_H
#define SEEN_PUBLISH_FOLDER_H

#include "../lib/disk/walk.h"

struct publish_folder {
    struct walk_names files;
    struct walk_names unread; /* folders that could not be, with a slash */
};

/* For each name that is left out for a reason; `lost`: it is a filter that
   should have been found, or there may be some. */
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
