/*
 * inside_view.h - struct archive_view, for the files that implement it.
 *
 *     archive_watch.c    which files changed: inotify
 *     archive.c          one archive, as its file changes
 *     view.c             all of them
 */
#ifndef SEEN_SERVE_ARCHIVES_INSIDE_VIEW_H
#define SEEN_SERVE_ARCHIVES_INSIDE_VIEW_H

#include "view.h"

struct archive_watch {
    int id;
    char *folder;
    bool served; /* new files in it are new archives */
    dev_t dev;   /* which folder it was */
    ino_t ino;
};

struct archive_view {
    struct archive_set *set;
    archive_describe *describe;
    int notify;
    struct archive_watch *watch;
    size_t watches;
    struct archive **archive; /* in order of names, */
    struct archive **ordered; /* and in that in which they are shown */
    size_t archives;
    struct archive_overlay *overlay; /* of each folder */
    unsigned version; /* of the set, at the last refresh */
    unsigned rereads;
    bool stale;       /* files of a folder came or went */
    bool dirty;       /* some archive is */
    unsigned held;    /* files of archives that are open */
};

/* --- archive_watch.c --- */

/* False if that fails: then what others change there would not be noticed.
   `served`: new files in the folder are new archives. */
bool archive_watch_folder(struct archive_view *v, const char *folder,
                          bool served);
/* The folder of a file and, if it is a link, that of its target. */
bool archive_watch_file(struct archive_view *v, const char *path);
/* The i-th watched folder was replaced by another. */
void archive_watch_again(struct archive_view *v, size_t i);
/* Note what inotify reports, for the next refresh; false if that is nothing. */
bool archive_watch_read(struct archive_view *v);
/* Anything may have changed. */
void archive_touch_all(struct archive_view *v);

/* --- archive.c --- */

/* Do these say that a file has the same bytes? */
bool archive_same_bytes(const struct stat *a, const struct stat *b);

void archive_load(struct archive_view *v, struct archive *a);
/* Follow what changed since. */
void archive_refresh(struct archive_view *v, struct archive *a);
/* Is it time to compute the rate of an archive with a filter again? */
bool archive_rate_due(const struct archive *a);
void archive_update_state(struct archive_view *v, struct archive *a);
void archive_drop_writer(struct archive_view *v, struct archive *a);
void archive_free(struct archive_view *v, struct archive *a);

#endif
