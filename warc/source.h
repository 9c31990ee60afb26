/*
 * source.h - the unpacked bytes of a WARC file, unit by unit.
 *
 * A unit is a gzip member, or a whole plain file. Records are found in units;
 * damage ends with a unit, because the next member can be found again:
 *
 *     code = warc_source_open(&s, path, &why);
 *     while (at < s.size) {
 *         warc_source_begin(&s, at);
 *         while ((n = warc_source_peek(&s, 1)) > 0) {
 *             use(s.at, n);
 *             warc_source_skip(&s, n);
 *         }
 *         at = s.state == WARC_UNIT_ENDED ? warc_source_here(&s)
 *                                         : warc_source_find(&s, at + 1);
 *     }
 *     warc_source_close(&s);
 *
 * A system call that fails ends everything: s.code.
 *
 * Threads: belongs to one thread at a time.
 */
#ifndef SEEN_WARC_SOURCE_H
#define SEEN_WARC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

#include "../lib/disk/inflate.h"

enum { WARC_PEEK_MOST = 1 << 17 }; /* bytes that can be looked at */

enum warc_unit {
    WARC_UNIT_GOES_ON,
    WARC_UNIT_ENDED,
    WARC_UNIT_DAMAGED, /* the gzip data is damaged here */
    WARC_UNIT_CUT      /* the file ends inside the member */
};

struct warc_source {
    int fd;
    uint64_t size;
    bool gzip;
    enum warc_unit state;
    const char *at;    /* the next byte, if any were peeked */
    uint64_t unit;     /* where the unit begins in the file */
    uint64_t unpacked; /* bytes of the unit that were skipped */
    uint64_t effort;   /* bytes read to find members; see _find() */
    enum seen_code code;
    struct seen_error why;

    char *out; /* WARC_PEEK_MOST bytes */
    size_t out_at, out_len;
    unsigned char *in; /* of gzip */
    size_t in_at, in_len;
    uint64_t in_end; /* where in[in_len] is in the file */
    struct inflate z, trial;
};

/* Open a regular file. SEEN_IO, SEEN_RANGE, SEEN_NOMEM; close it in any
   case. */
enum seen_code warc_source_open(struct warc_source *s, const char *path,
                                struct seen_error *why);
void warc_source_close(struct warc_source *s);

/* Begin a unit at this byte of the file. */
void warc_source_begin(struct warc_source *s, uint64_t at);

/*
 * Unpack until at least `want` bytes can be looked at, or the unit ends.
 * Returns how many there are at s->at; they stay until the next call. s->state
 * is other than GOES_ON only when all bytes of the unit can be looked at.
 */
size_t warc_source_peek(struct warc_source *s, size_t want);
void warc_source_skip(struct warc_source *s, size_t n);

/* The place in the file: of the next byte if it is plain, of the next member
   if this one has ended. */
uint64_t warc_source_here(const struct warc_source *s);

/*
 * Does a member begin at this byte whose unpacked bytes begin a record, with
 * "WARC/"? *member reports whether it is a member at all.
 */
bool warc_source_begins(struct warc_source *s, uint64_t at, bool *member);

/* The next such member at or after this byte; s->size if there is none. */
uint64_t warc_source_find(struct warc_source *s, uint64_t at);

#endif
