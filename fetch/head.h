/*
 * head.h - the head of an answer, line by line, strictly.
 *
 *     fetch_head_init(&h);
 *     for each line, its CRLF or LF included:
 *         fetch_head_line(&h, line, len, &why)
 *     once h.whole: h.says, h.location, h.coding, ...
 *
 * Provisional answers (1xx) are skipped, but count towards the limits. Lines
 * after the head, the trailer of a chunked body, are only counted.
 *
 * A raw head is read for the bounds of its body alone: what else it says is the
 * caller's to judge, and wrong only in what the caller makes of it.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_FETCH_HEAD_H
#define SEEN_FETCH_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "fetch.h"

enum {
    FETCH_HEAD_BYTES = 1 << 16, /* of all lines, at most */
    FETCH_HEAD_LINES = 100,     /* of a raw one ten times as many */
    FETCH_HEAD_URL = 8192 /* bytes of a Location, and of any URL */
};

enum fetch_coding { FETCH_CODED_NOT, FETCH_CODED_GZIP, FETCH_CODED_OTHER };

struct fetch_head {
    struct fetch_response says; /* its texts are those below; its url is not */
    bool raw;               /* any status, Location and Content-Range goes;
                               set it after fetch_head_init() */
    bool whole;             /* its last line was read */
    bool chunked;           /* Transfer-Encoding */
    bool ranged;            /* from and last were given */
    uint64_t last;          /* the last byte of the range */
    enum fetch_coding coding;

    char etag[512], modified[64], type[128], media[256];
    char location[FETCH_HEAD_URL + 1];

    size_t bytes; /* how many were read */
    unsigned lines;
    bool inside; /* between a status line and the empty line */
};

void fetch_head_init(struct fetch_head *h);

/* SEEN_RANGE if the head is too long, SEEN_CORRUPT if it is not HTTP. */
enum seen_code fetch_head_line(struct fetch_head *h, const char *line,
                               size_t len, struct seen_error *why);

/* Is the answer a redirect that can be followed? */
bool fetch_head_redirects(const struct fetch_head *h);

/* May this be the value of a header that we send? */
bool fetch_head_value(const char *text);

#endif
