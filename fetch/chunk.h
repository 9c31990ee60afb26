/*
 * chunk.h - undo chunks (RFC 9112, section 7.1), as the bytes come.
 *
 *     struct fetch_chunks c = { 0 };
 *
 *     while ((at = fetch_chunks_next(&c, &bytes, &piece)) ==
 *            FETCH_CHUNKS_PIECE)
 *         use(piece);
 *
 * It accepts what libcurl does: chunk extensions, lines that end with LF alone,
 * trailers. It also says where the body ends, to the byte, which libcurl
 * does not when it hands over chunks as they came: whatever a server sent
 * after them in the same packet would be part of the body.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_FETCH_CHUNK_H
#define SEEN_FETCH_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

enum fetch_chunks_result {
    FETCH_CHUNKS_MORE,  /* the bytes are used up, the body goes on */
    FETCH_CHUNKS_PIECE, /* here is a piece of the payload; call again */
    FETCH_CHUNKS_END,   /* the last line was read; what is left in the bytes
                           is not part of the body */
    FETCH_CHUNKS_DAMAGE /* the next byte cannot be one of chunks */
};

enum fetch_chunks_part {
    FETCH_CHUNKS_SIZE,    /* hexadecimal digits */
    FETCH_CHUNKS_LINE,    /* the rest of that line */
    FETCH_CHUNKS_BYTES,   /* the chunk itself */
    FETCH_CHUNKS_CR,      /* the line end after the chunk */
    FETCH_CHUNKS_LF,
    FETCH_CHUNKS_TRAILER, /* the first byte of a line of the trailer */
    FETCH_CHUNKS_INSIDE,  /* the rest of such a line */
    FETCH_CHUNKS_LAST,    /* the LF of the empty line */
    FETCH_CHUNKS_DONE
};

/* Begins zeroed. */
struct fetch_chunks {
    enum fetch_chunks_part part;
    unsigned digits; /* of the size, so far */
    uint64_t left;   /* bytes of the chunk that are still to come */
};

/* Takes bytes from the front of *bytes. *piece, which is never empty, is a part
   of them. After END or DAMAGE the same is returned again. */
enum fetch_chunks_result fetch_chunks_next(struct fetch_chunks *c,
                                           struct seen_span *bytes,
                                           struct seen_span *piece);

#endif
