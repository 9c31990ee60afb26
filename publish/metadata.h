/*
 * metadata.h - the description of a filter, as Dublin Core.
 *
 * There are three sources, and the first that has a value wins: the entry of
 * the file in archive.json, the metadata of the filter (`seen build --meta`),
 * the entries of the archive in archive.json:
 *
 *     {
 *       "creator": "National and University Library in Zagreb",
 *       "rights": "CC0-1.0",
 *       "files": { "haw.seen": { "coverage": "2004/2026" } }
 *     }
 *
 * archive.json is optional. Unknown names are reported, since they are mostly
 * misspelt; values that are not strings are refused.
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

/* The metadata of a filter. */
enum seen_code publish_about_read(struct publish_about *a,
                                  const struct seen_filter *f,
                                  struct seen_error *why);

/* The elements of an entry; `base` is the URL of the folder. */
void publish_metadata_print(const struct publish_metadata *m,
                            const struct publish_item *item, const char *base,
                            struct buffer *to);

#endif
