/*
 * head.h - the head of an answer, line by line, strictly.
 *
 *     head_init(&h);
 *     for each line, its CRLF or LF included:
 *         head_line(&h, line, len, &why)
 *     once h.whole: h.says, h.location, h.coding, ...
 *
 * Provisional answers (1xx) are read over, and count towards the bounds.
 * Lines after the head, the trailer of a chunked body, are only counted.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_FETCH_HEAD_H
#define SEEN_FETCH_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "fetch.h"

enum {
    HEAD_BYTES = 1 << 16, /* of all lines, at most */
    HEAD_LINES = 100,
    HEAD_URL = 8192 /* bytes of a Location, and of any URL */
};

enum head_coding { CODED_NOT, CODED_GZIP, CODED_OTHERWISE };

struct head {
    struct fetch_head says; /* its texts are those below; its url is not */
    bool whole;             /* the last line of the head was read */
    bool chunked;           /* Transfer-Encoding */
    bool ranged;            /* from and last were given */
    uint64_t last;          /* byte of the range */
    enum head_coding coding;

    char etag[512], modified[64], type[128], location[HEAD_URL + 1];

    size_t bytes; /* what was read */
    unsigned lines;
    bool inside; /* after a status line */
};

void head_init(struct head *h);

/* SEEN_RANGE if there is too much of it, SEEN_CORRUPT if it is no HTTP. */
enum seen_code head_line(struct head *h, const char *line, size_t len,
                         struct seen_error *why);

/* Does the answer lead elsewhere? */
bool head_leads_on(const struct head *h);

/* May this be the value of a header that we send? */
bool head_value(const char *text);

#endif
