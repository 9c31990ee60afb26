/*
 * publish.h - put the filters of a folder on the web.
 *
 * Any web server can then serve the folder as an archive: a sitemap that is
 * also the resource list of ResourceSync, a change list with deltas, the lists
 * that lead to both, and a page on which people ask the filters. doc/sharing.md describes the files.
 *
 *     struct publish_options options = {
 *         .folder = "/srv/haw",
 *         .url = "https://haw.nsk.hr/bloom-filter/",
 *         .deltas = 8,
 *         .each = print_event
 *     };
 *     struct publish_totals totals;
 *
 *     code = publish(&options, &totals, &why);
 *     publish_totals_clear(&totals);
 *
 * If a run is killed, at any point, all files that the lists name exist; the
 * next run finishes the work.
 *
 * Threads: any number of folders; a lock allows one run per folder.
 */
#ifndef SEEN_PUBLISH_PUBLISH_H
#define SEEN_PUBLISH_PUBLISH_H

#include <stdbool.h>

#include <seen/share.h>

enum publish_what {
    PUBLISH_NEW,
    PUBLISH_CHANGED,
    PUBLISH_SAME,
    PUBLISH_WITHDRAWN, /* it is no longer in the folder */
    PUBLISH_LEFT,      /* could not be examined: announced as before */
    PUBLISH_REFUSED,   /* is broken or empty: not announced */
    PUBLISH_NOTE       /* a remark, in `text` */
};

/* The result for one file. */
struct publish_event {
    enum publish_what what;
    const char *path;       /* in the folder */
    const char *text;       /* why, or NULL */
    uint64_t length, delta; /* in bytes; 0: there is no delta */
};

#define PUBLISH_AS_BEFORE UINT64_MAX

struct publish_options {
    const char *folder;
    const char *url; /* NULL: as before */
    uint64_t deltas; /* to keep per file, or PUBLISH_AS_BEFORE */
    enum { PUBLISH_TEXT_AS_BEFORE, PUBLISH_TEXT, PUBLISH_NO_TEXT } text;
    bool page;                    /* write a page to ask the filters; one that is
                                     there is kept up to date anyway */
    bool rehash;                  /* also read files that look unchanged */
    bool dry;                     /* write nothing */
    bool allow_empty;             /* announce filters that hold no URL */
    size_t most_urls, most_bytes; /* of a sitemap; 0: as the protocol says */
    void (*each)(void *whose, const struct publish_event *e);
    void *whose;
};

struct publish_totals {
    char *url;
    bool moved;   /* published for the first time at this URL */
    size_t files; /* that are announced */
    size_t fresh, changed, same, withdrawn, left, refused;
    uint64_t bytes;               /* of all files */
    uint64_t deltas;              /* to keep per file */
    size_t made;                  /* deltas in this run */
    uint64_t made_bytes, instead; /* bytes of these; of the new files */
    size_t written;               /* lists that changed */
};

/*
 * SEEN_RANGE for an invalid URL, SEEN_BUSY if another process publishes the
 * same folder, SEEN_CORRUPT for an invalid archive.json, SEEN_MISMATCH if a
 * list would replace a file that is not ours; why->text begins with the name
 * of the file.
 */
enum seen_code publish(const struct publish_options *options,
                       struct publish_totals *totals, struct seen_error *why);

/* Become the only one who writes lists into the folder, until lock_release()
   (lib/disk/lock.h). SEEN_BUSY if another does, SEEN_IO if it is not a
   folder. */
enum seen_code publish_lock(int *fd, const char *folder,
                            struct seen_error *why);

void publish_totals_clear(struct publish_totals *totals);

#endif
