/*
 * record.h - what is known of a harvested file: DIR/.harvest/NAME.json.
 *
 *     {"loc": "https://haw.nsk.hr/bloom-filter/haw.seen",
 *      "source": "https://haw.nsk.hr/", "root": "https://r.example/list.txt",
 *      "file": {"hash": "sha-256:...", "length": 246448, "seconds": 1,
 *               "lastmod": "...", "etag": "...", "modified": "..."},
 *      "next": {...},
 *      "part-of": "https://haw.nsk.hr/bloom-filter/haw.seen",
 *      "part": {"hash": "...", "etag": "...", ...}}
 *
 * One small file each, rather than one for all: it is replaced whenever its
 * filter is, and a folder of 100,000 filters needs no more memory than one
 * of ten. `next` is written before a file is swapped in and becomes `file`
 * after it, so that a harvester that is killed between the two knows its own
 * file again. `part` tells of which version a cut download is.
 */
#ifndef SEEN_HARVEST_RECORD_H
#define SEEN_HARVEST_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "address.h"
#include "folder.h"
#include "hash.h"

enum { RECORD_TAG = 256, RECORD_DATE = 64 };

struct version {
    bool there;
    struct hash hash;
    uint64_t length;
    int64_t seconds, nanoseconds; /* when the file was changed, here */
    char lastmod[RECORD_DATE];    /* as announced */
    char etag[RECORD_TAG], modified[RECORD_DATE]; /* as its server says */
};

struct record {
    char loc[ADDRESS_MOST + 1];    /* where it comes from */
    char source[ADDRESS_MOST + 1]; /* of the sitemap or site that named it */
    char root[ADDRESS_MOST + 1];   /* as asked for */
    struct version file, next;
    char part_loc[ADDRESS_MOST + 1];
    struct version part;
};

/* SEEN_OK with an empty record where there is none. SEEN_CORRUPT if it
   cannot be understood. */
enum seen_code record_load(struct record *r, const struct folder *f,
                           const char *name, struct seen_error *why);

/* Replace it, on the disk. */
enum seen_code record_save(const struct record *r, const struct folder *f,
                           const char *name, struct seen_error *why);

#endif
