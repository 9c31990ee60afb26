/* walk.h - what is in a folder. */
#ifndef SEEN_DISK_WALK_H
#define SEEN_DISK_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>

struct walk_names {
    char **name;
    size_t n, room;
};

/*
 * The names in a folder, in the order of their bytes; those that begin with a
 * dot only if `hidden`, "." and ".." never. On failure the list is empty:
 * SEEN_IO with errno, SEEN_NOMEM.
 */
enum seen_code walk_folder(struct walk_names *names, const char *folder,
                           bool hidden, struct seen_error *why);

/* Append a copy of a name. */
enum seen_code walk_add(struct walk_names *names, const char *name,
                        struct seen_error *why);
void walk_sort(struct walk_names *names);
void walk_clear(struct walk_names *names);

/* "folder/name", for the caller to free(), with one slash between them; NULL
   without memory. */
char *walk_path(const char *folder, const char *name);

/* Remove a folder and all that is in it; links are not followed. True if it
   is gone. */
bool walk_remove(const char *folder);

#endif
