/*
 * check.h - are these WARC files what they should be?
 *
 * Checked are: gzip members and their checksums, one record per member; the
 * headers of records against the standard (record.h); lengths; digests of
 * blocks and payloads; ids that are used twice; revisits and what they refer
 * to; and, with an index, whether each of its lines leads to its record. After
 * damage the check goes on with the next member or record that it finds. A
 * file that ends inside a record is reported with the byte to cut it at.
 *
 *     struct warc_check *c;
 *
 *     code = warc_check_new(&c, report, owner, &why);
 *     code = warc_check_file(c, "crawl-00001.warc.gz", &counts, &why);
 *     code = warc_check_index(c, "index.cdxj", &lines, &why);
 *     code = warc_check_end(c, &counts, &why);
 *     warc_check_free(c);
 *
 * Plain and gzip files of WARC 1.0 and 1.1 are read, in about 400 kB of
 * memory and 140 bytes per record.
 *
 * Threads: a check belongs to one thread at a time.
 */
#ifndef SEEN_WARC_CHECK_H
#define SEEN_WARC_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>

#include "record.h"

struct warc_fault {
    const char *file;
    uint64_t at;      /* the byte where the record begins, or the damage; of
                         an index, the line */
    uint64_t record;  /* its number in the file, from 1; or 0 */
    const char *type; /* of the record, or "" */
    const char *url;  /* its target, without control bytes, cut; or "" */
    bool note;        /* allowed, but not recommended or not verified */
    const char *text; /* without control bytes */
};

struct warc_counts {
    uint64_t bytes, records, type[WARC_TYPES];
    uint64_t digests; /* that were verified and right */
    uint64_t faults, notes;
    uint64_t damaged, skipped; /* places, and bytes of the file there */
    unsigned major, minor;     /* version of the first record */
    bool gzip, torn;
    uint64_t whole; /* if it is torn: cut it to this length */
};

struct warc_lines {
    uint64_t lines, faults, notes;
    uint64_t unindexed; /* captures without a line, which is not a fault */
    bool unsorted;
};

struct warc_check;

/* `report` gets what is wrong; it lives as long as the call. SEEN_NOMEM. */
enum seen_code warc_check_new(struct warc_check **out,
                              void (*report)(void *owner,
                                             const struct warc_fault *fault),
                              void *owner, struct seen_error *why);

/*
 * Check a file. Faults are reported and counted, and the result is SEEN_OK.
 * SEEN_IO: it cannot be read; SEEN_RANGE: not a regular file; SEEN_UNABLE:
 * compressed by zstd; SEEN_NOMEM.
 */
enum seen_code warc_check_file(struct warc_check *c, const char *path,
                               struct warc_counts *counts,
                               struct seen_error *why);

/* Compare a CDXJ file with all files that were checked before. */
enum seen_code warc_check_index(struct warc_check *c, const char *path,
                                struct warc_lines *lines,
                                struct seen_error *why);

/* Compare ids, and look up what revisits refer to, among all files. Only
   faults and notes of *counts are written. SEEN_NOMEM. */
enum seen_code warc_check_end(struct warc_check *c, struct warc_counts *counts,
                              struct seen_error *why);
void warc_check_free(struct warc_check *c);

/* Check one file, with one call for all of the above. */
enum seen_code warc_check(const char *path,
                          void (*report)(void *owner,
                                         const struct warc_fault *fault),
                          void *owner, struct warc_counts *counts,
                          struct seen_error *why);

#endif
