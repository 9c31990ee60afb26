/*
 * catalogue.h - what was found in WARC files, to compare with.
 *
 * Three questions need all records at once: is an id used twice, is the record
 * there that a revisit refers to, and is it where an index says. A record is
 * kept as hashes, in about 140 bytes.
 *
 * Threads: belongs to one thread at a time.
 */
#ifndef SEEN_WARC_CATALOGUE_H
#define SEEN_WARC_CATALOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../lib/text/map.h"

struct warc_print { /* a hash of something */
    uint64_t lo, hi;
};

struct warc_print warc_print(const void *bytes, size_t len);
bool warc_print_same(struct warc_print a, struct warc_print b);

enum {
    WARC_ENTRY_CAPTURE = 1, /* response, resource or revisit */
    WARC_ENTRY_REVISIT = 2,
    WARC_ENTRY_REFERS_ID = 4, /* `refers_id` is known */
    WARC_ENTRY_REFERS = 8,    /* `refers` is known */
    WARC_ENTRY_DIGEST = 16,   /* `digest` is known */
    WARC_ENTRY_INDEXED = 32,  /* a line of the index points here */
    WARC_ENTRY_ID = 64        /* `id` is known */
};

struct warc_entry {
    uint64_t at, length; /* in the file; 0: the length is not known */
    uint64_t number;     /* of the record, from 1 */
    struct warc_print id, url;
    struct warc_print event;             /* URL and date */
    struct warc_print refers_id, refers; /* id, event */
    uint64_t digest;                     /* of the payload; its first bytes */
    char stamp[15];
    unsigned short status; /* of HTTP, or 0 */
    unsigned char flags;
    unsigned file; /* in the order in which they were begun */
};

struct warc_catalogue {
    struct warc_entry *entry; /* by file and place */
    size_t n, room;
    char **path;
    size_t files, path_room;
    struct map names; /* the last part of a path to its number + 1 */
};

/* The next entries are of this file. SEEN_NOMEM. */
enum seen_code warc_catalogue_file(struct warc_catalogue *c, const char *path,
                                   struct seen_error *why);

/* Entries of a file come in the order of their places. SEEN_NOMEM. */
enum seen_code warc_catalogue_add(struct warc_catalogue *c,
                                  const struct warc_entry *entry,
                                  struct seen_error *why);

/* The record at a place of the file with this name, or NULL; *known reports
   whether there is such a file. */
struct warc_entry *warc_catalogue_find(const struct warc_catalogue *c,
                                       struct seen_span name, uint64_t at,
                                       bool *known);
void warc_catalogue_clear(struct warc_catalogue *c);

#endif
