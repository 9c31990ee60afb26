/*
 * overlay.h - what an operator says about the archives of a folder.
 *
 * Filters of other archives come with the metadata that their holders gave
 * them, and are replaced when they change. What is to be shown here instead is
 * in a file `archives.json` beside them:
 *
 *     { "haw": { "title": "Croatian Web Archive",
 *                "timemap": "https://haw.nsk.hr/timemap/link/{url}",
 *                "timegate": "https://haw.nsk.hr/timegate/{url}",
 *                "order": 1 },
 *       "ia":  { "order": 2 } }
 *
 * Names are those of archives; one that is not there (yet) has no effect.
 * Archives with an order come first, by it; the others follow by name.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_SERVE_ARCHIVES_OVERLAY_H
#define SEEN_SERVE_ARCHIVES_OVERLAY_H

#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

#define ARCHIVE_OVERLAY "archives.json"
enum { ARCHIVE_OVERLAY_BYTES = 1 << 20, ARCHIVE_ORDER_NONE = INT32_MAX };

struct archive_note {
    char *name, *title, *timemap, *timegate; /* NULL: as the filter says */
    int32_t order;
};

struct archive_overlay {
    struct archive_note *note; /* in the order of the file */
    size_t n, room;
};

/* Parse the text of such a file. On failure *out is empty: SEEN_CORRUPT or
   SEEN_RANGE, why->at is the line, and the clause names it. */
enum seen_code archive_overlay_parse(struct archive_overlay *out,
                                     const char *text, size_t len,
                                     struct seen_error *why);

/* The same for the file of a folder; without one *out is empty. *text is what
   was parsed, and belongs to the caller; NULL on failure or without a file. */
enum seen_code archive_overlay_load(struct archive_overlay *out,
                                    const char *folder, char **text,
                                    size_t *len, struct seen_error *why);
void archive_overlay_clear(struct archive_overlay *overlay);

/* What it says about an archive; NULL if nothing. */
const struct archive_note *archive_overlay_find(
    const struct archive_overlay *overlay, const char *name);

#endif
