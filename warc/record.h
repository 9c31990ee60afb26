/*
 * record.h - the header of a WARC record, and what the standard says about it.
 *
 *     struct warc_record r;
 *
 *     warc_record_read(&r, head, say, owner);
 *     if (r.sized)
 *         pass over r.length bytes
 *     r.value[WARC_TARGET_URI]              a span, or { NULL, 0 }
 *
 * `say` is called with each rule that the header breaks. A note is about what
 * the standard recommends, or about what it leaves open.
 *
 * Threads: nothing here has state.
 */
#ifndef SEEN_WARC_RECORD_H
#define SEEN_WARC_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

#include "date.h"

enum warc_type {
    WARC_WARCINFO,
    WARC_RESPONSE,
    WARC_RESOURCE,
    WARC_REQUEST,
    WARC_METADATA,
    WARC_REVISIT,
    WARC_CONVERSION,
    WARC_CONTINUATION,
    WARC_OTHER, /* of an extension, or missing */
    WARC_TYPES
};

/* "warcinfo" and so on, "other". */
const char *warc_type_name(enum warc_type type);

enum warc_name {
    WARC_TYPE,
    WARC_RECORD_ID,
    WARC_RECORD_DATE,
    WARC_CONTENT_LENGTH,
    WARC_CONTENT_TYPE,
    WARC_CONCURRENT_TO, /* the first */
    WARC_BLOCK_DIGEST,
    WARC_PAYLOAD_DIGEST,
    WARC_IP_ADDRESS,
    WARC_REFERS_TO,
    WARC_REFERS_TO_TARGET_URI,
    WARC_REFERS_TO_DATE,
    WARC_TARGET_URI,
    WARC_TRUNCATED,
    WARC_WARCINFO_ID,
    WARC_FILENAME,
    WARC_PROFILE,
    WARC_IDENTIFIED_PAYLOAD_TYPE,
    WARC_SEGMENT_ORIGIN_ID,
    WARC_SEGMENT_NUMBER,
    WARC_SEGMENT_TOTAL_LENGTH,
    WARC_NAMES
};

struct warc_record {
    unsigned major, minor; /* of the version */
    enum warc_type type;
    struct seen_span value[WARC_NAMES]; /* into the head; without < > */
    bool sized;                         /* `length` is known */
    uint64_t length;                    /* of the block */
    bool dated;
    struct warc_date date;
};

/* `head` begins with "WARC/" and ends with an empty line. */
void warc_record_read(struct warc_record *r, struct seen_span head,
                      void (*say)(void *owner, bool note, const char *text),
                      void *owner);

/* Is this the first line of a record, "WARC/1.1"? */
bool warc_version_read(struct seen_span line, unsigned *major,
                       unsigned *minor);

/* Does a record begin here, as far as a glance can tell? For places after
   damage, where it may also be a page about WARC files. */
bool warc_record_likely(struct seen_span bytes);

#endif
