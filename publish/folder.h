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

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>

struct names {
    char **name; /* relative to the folder */
    size_t n, room;
};

struct folder {
    struct names files;
    struct names blind; /* folders that could not be read, with a slash */
};

/* For each name that is left out for a reason; `lost`: it is a filter that
   should have been found, or there may be some. */
typedef void folder_tell(void *whose, const char *name, const char *why,
                         bool lost);

enum seen_code folder_walk(struct folder *f, const char *path,
                           folder_tell *tell, void *whose,
                           struct seen_error *why);
void folder_clear(struct folder *f);

/* Is it in a folder that could not be read? */
bool folder_blind(const struct folder *f, const char *name);

/* All files below a folder, of any name, for who is to remove some: SEEN_IO
   if it is a link. None if there is no such folder. */
enum seen_code names_below(struct names *n, const char *path,
                           struct seen_error *why);
void names_clear(struct names *n);

#endif
