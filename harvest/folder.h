/*
 * folder.h - where filters are harvested to, and what is ours in it.
 *
 *     DIR/haw.seen                      harvested
 *     DIR/.harvest/lock                 one harvester a folder
 *     DIR/.harvest/haw.seen.json        what is known of it: record.h
 *     DIR/.harvest/haw.seen.json.new    while that is replaced
 *     DIR/.harvest/haw.seen.part        while it is fetched
 *     DIR/.harvest/haw.seen.delta       while patches are applied: one of
 *     DIR/.harvest/haw.seen.step        them, what it makes, and what the
 *     DIR/.harvest/haw.seen.base        ones before it made
 *
 * All of it must be one file system, since a rename swaps a file in. So DIR
 * may be a link to a folder, but .harvest may not.
 */
#ifndef SEEN_HARVEST_FOLDER_H
#define SEEN_HARVEST_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>

enum { FOLDER_PATH = 4096, FOLDER_RESERVE = 256 << 20 };

struct folder {
    char *path;
    int lock; /* -1: only looked at */
};

/*
 * Make the folder and what is ours if they are missing, and be its only
 * harvester: SEEN_BUSY if there is another. To only look at it, nothing is
 * made and nobody is kept away.
 */
enum seen_code folder_open(struct folder *f, const char *path, bool only_look,
                           struct seen_error *why);
void folder_close(struct folder *f);

/* DIR/NAME, and DIR/.harvest/NAME with an ending; SEEN_RANGE if too long. */
enum seen_code folder_file(const struct folder *f, char out[FOLDER_PATH],
                           const char *name, struct seen_error *why);
enum seen_code folder_own(const struct folder *f, char out[FOLDER_PATH],
                          const char *name, const char *ending,
                          struct seen_error *why);

/* Remove what lies under these names, if anything does. */
void folder_drop(const struct folder *f, const char *name, const char *ending);

/* Bytes that the disk has room for, besides a reserve: a twentieth of it, but
   no more than FOLDER_RESERVE. */
uint64_t folder_room(const struct folder *f);

/* The names that there are records of, one after another; NULL at the end.
   Begin with *dir NULL; it is closed at the end. */
const char *folder_next(const struct folder *f, DIR **dir, char name[256]);

#endif
