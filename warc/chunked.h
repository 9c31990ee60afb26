/*
 * chunked.h - undo HTTP's chunked coding, as the bytes come.
 *
 *     struct warc_chunked c = { .left = 0 };
 *
 *     while (warc_chunked_next(&c, &rest, &payload))
 *         use(payload);
 *     c.state is WARC_CHUNKED_DONE, _DAMAGED, or it waits for more
 *
 * Threads: a plain value.
 */
#ifndef SEEN_WARC_CHUNKED_H
#define SEEN_WARC_CHUNKED_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

enum warc_chunked_state {
    WARC_CHUNKED_SIZE, /* the digits of a size */
    WARC_CHUNKED_EXTENSION,
    WARC_CHUNKED_DATA,
    WARC_CHUNKED_AFTER,   /* the line end after the data */
    WARC_CHUNKED_TRAILER, /* lines after the last chunk */
    WARC_CHUNKED_DONE,
    WARC_CHUNKED_DAMAGED
};

struct warc_chunked {
    uint64_t left;   /* of a chunk */
    unsigned digits; /* of its size */
    unsigned line;   /* bytes of a line of the trailer */
    enum warc_chunked_state state;
};

/* Take bytes from the front of *rest until some are payload. False if none
   are: at the end of *rest, of the coding, or at a fault. */
bool warc_chunked_next(struct warc_chunked *c, struct seen_span *rest,
                       struct seen_span *payload);

#endif
