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

#include <stdio.h>

#include "state.h"

struct metadata; /* of an archive */

/* Read it; there may be no such file. */
enum seen_code metadata_load(struct metadata **out, const char *path,
                             void (*tell)(void *whose, const char *name,
                                          const char *why),
                             void *whose, struct seen_error *why);
void metadata_free(struct metadata *m);

/* What a filter says of itself. */
enum seen_code about_read(struct about *a, const struct seen_filter *f,
                          struct seen_error *why);

/* The elements of an entry, indented; `loc` is its URL. */
void metadata_print(const struct metadata *m, const struct item *item,
                    const char *loc, FILE *to);

#endif
