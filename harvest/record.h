/*
 * record.h - what is known about a harvested file: DIR/.harvest/NAME.json.
 *
 *     {"loc": "https://haw.nsk.hr/bloom-filter/haw.seen",
 *      "source": "https://haw.nsk.hr/", "root": "https://r.example/list.txt",
 *      "file": {"hash": "sha-256:...", "length": 246448, "seconds": 1,
 *               "lastmod": "...", "etag": "...", "modified": "...",
 *               "origin": "sha-256:...", "origin-length": 341620},
 *      "next": {...},
 *      "part-of": "https://haw.nsk.hr/bloom-filter/haw.seen",
 *      "part": {"hash": "...", "etag": "...", ...}}
 *
 * One small file per filter, rather than one for all: it is replaced whenever
 * its filter is, and only one is in memory at a time. `next` is written
 * before a file is put in place and becomes `file` afterwards, so that a
 * harvester that is killed in between recognises its own file. `part` is the
 * version that a part of a download belongs to. `origin` is the text that a
 * file was converted from, so that it is not converted twice.
 */
#ifndef SEEN_HARVEST_RECORD_H
#define SEEN_HARVEST_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "folder.h"
#include "hash.h"
#include "url.h"

enum { HARVEST_ETAG = 256, HARVEST_DATE = 64 };

struct harvest_version {
    bool there;
    struct harvest_hash hash;
    uint64_t length;
    struct harvest_hash origin; /* of the text that it was converted from;
                                   unknown if there was none */
    uint64_t origin_length;     /* of that text */
    int64_t seconds, nanoseconds; /* when the file was changed, here */
    char lastmod[HARVEST_DATE];   /* as announced */
    char etag[HARVEST_ETAG], modified[HARVEST_DATE]; /* from its server */
};

struct harvest_record {
    char loc[HARVEST_URL + 1];    /* where the file comes from */
    char source[HARVEST_URL + 1]; /* the sitemap or site that announced it */
    char root[HARVEST_URL + 1];   /* the URL that was asked for */
    struct harvest_version file, next;
    char part_loc[HARVEST_URL + 1];
    struct harvest_version part;
};

/* What was announced and downloaded: the file, or the text that it was
   converted from. */
const struct harvest_hash *harvest_version_hash(
    const struct harvest_version *v);
uint64_t harvest_version_length(const struct harvest_version *v);

/* The file of version `v` is in place, as lstat() describes it. */
void harvest_record_settle(struct harvest_record *r,
                           const struct harvest_version *v,
                           const struct stat *it);

/* The file is from this URL, of this source. */
void harvest_record_move(struct harvest_record *r, const char *loc,
                         const char *source, const char *root);

/* SEEN_OK with an empty record if there is none; SEEN_CORRUPT if it cannot be
   understood. */
enum seen_code harvest_record_load(struct harvest_record *r,
                                   const struct harvest_folder *f,
                                   const char *name, struct seen_error *why);

/* Replace it, atomically and on the disk. */
enum seen_code harvest_record_save(const struct harvest_record *r,
                                   const struct harvest_folder *f,
                                   const char *name, struct seen_error *why);

#endif
