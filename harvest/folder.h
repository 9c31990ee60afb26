/*
 * folder.h - the folder that filters are mirrored into, and .harvest in it.
 *
 *     DIR/haw.seen                      harvested
 *     DIR/.harvest/lock                 one harvester per folder
 *     DIR/.harvest/haw.seen.json        what is known about it: record.h
 *     DIR/.harvest/haw.seen.json.new    while that is replaced
 *     DIR/.harvest/haw.seen.part        while it is downloaded
 *     DIR/.harvest/haw.seen.delta       while patches are applied: a patch,
 *     DIR/.harvest/haw.seen.step        its result, and the result of the
 *     DIR/.harvest/haw.seen.base        patches before it
 *
 * All must be on one file system, since a rename puts a file in place.
 * So DIR may be a link to a folder, but .harvest may not.
 */
#ifndef SEEN_HARVEST_FOLDER_H
#define SEEN_HARVEST_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>

#include "../lib/disk/walk.h"

enum {
    HARVEST_PATH = 4096,  /* bytes of a path, */
    HARVEST_BEHIND = 300, /* of them for names and endings */
    HARVEST_RESERVE = 256 << 20
};

struct harvest_folder {
    char *path;
    int lock; /* -1: opened for reading */
};

/*
 * Make the folder and .harvest if they are missing, lock the folder, and remove
 * what a killed harvester left unfinished:
 * SEEN_BUSY if another harvester has it, SEEN_RANGE if the path is too long.
 * If `only_look`, nothing is made or locked.
 */
enum seen_code harvest_folder_open(struct harvest_folder *f, const char *path,
                                   bool only_look, struct seen_error *why);
void harvest_folder_close(struct harvest_folder *f);

/* DIR/NAME, and DIR/.harvest/NAME with an ending. A name is that of a file. */
void harvest_folder_file(const struct harvest_folder *f,
                         char out[HARVEST_PATH], const char *name);
void harvest_folder_own(const struct harvest_folder *f, char out[HARVEST_PATH],
                        const char *name, const char *ending);

/* Remove DIR/.harvest/NAME with an ending, if there is one. */
void harvest_folder_drop(const struct harvest_folder *f, const char *name,
                         const char *ending);

/* Bytes that are free on the disk, without a reserve: a twentieth of the
   disk, but at most HARVEST_RESERVE. */
uint64_t harvest_folder_room(const struct harvest_folder *f);

/* The names of all filters with a record, for walk_clear(). */
enum seen_code harvest_folder_records(const struct harvest_folder *f,
                                      struct walk_names *names,
                                      struct seen_error *why);

#endif
