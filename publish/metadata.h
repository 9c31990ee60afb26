/*
 * metadata.h - what is said about a filter, in the words of Dublin Core.
 *
 * Three sources, the first that says something wins: what archive.json says
 * of this file, what the filter says of itself (`seen build --meta`), what
 * archive.json says of the archive:
 *
 *     {
 *       "creator": "National and University Library in Zagreb",
 *       "rights": "CC0-1.0",
 *       "files": { "haw.seen": { "coverage": "2004/2026" } }
 *     }
 *
 * A folder works without it. Names that nobody knows are told, since they are
 * mostly misspelt; values that are no text are refused.
 */
#ifndef SEEN_PUBLISH_METADATA_H
#define SEEN_PUBLISH_METADATA_H

#include "../lib/text/buffer.h"
#include "state.h"

struct publish_metadata; /* of an archive */

/* Read it; there may be no such file. */
enum seen_code publish_metadata_load(
    struct publish_metadata **out, const char *path,
    void (*tell)(void *whose, const char *name, const char *why), void *whose,
    struct seen_error *why);
void publish_metadata_free(struct publish_metadata *m);

/* What a filter says of itself. */
enum seen_code publish_about_read(struct publish_about *a,
                                  const struct seen_filter *f,
                                  struct seen_error *why);

/* The elements of an entry; `base` is the URL of the folder. */
void publish_metadata_print(const struct publish_metadata *m,
                            const struct publish_item *item, const char *base,
                            struct buffer *to);

#endif
