/*
 * chunk.c - chunks, byte by byte between the pieces of payload.
 *
 *     SIZE -> LINE -> BYTES -> CR -> LF -> SIZE ...       a chunk
 *       (size 0) LINE -> TRAILER -> INSIDE ... -> LAST -> DONE
 *
 * The state is one part and a count, so the input may be cut anywhere. A byte
 * that cannot be where it is leaves the state as it was: every later call finds
 * the same damage.
 */
#include "chunk.h"

#include <string.h>

#include "../lib/text/hex.h"

enum { DIGITS = 16 }; /* of a size, at most; libcurl takes no more either */

/* The size is complete, or there is none. */
static bool end_size(struct fetch_chunks *c)
{
    c->part = FETCH_CHUNKS_LINE;
    return c->digits > 0;
}

static bool size_byte(struct fetch_chunks *c, char byte)
{
    int digit = hex_digit(byte);

    if (digit < 0 || ++c->digits > DIGITS || c->left >> 59)
        return false; /* 2^63 and more has no place in a length of libcurl */
    c->left = c->left << 4 | (unsigned)digit;
    return true;
}

static void end_line(struct fetch_chunks *c)
{
    c->part = c->left ? FETCH_CHUNKS_BYTES : FETCH_CHUNKS_TRAILER;
    c->digits = 0;
}

/* Take one byte that is not payload. *used is false if it belongs to the
   part that follows. False if it cannot be here. */
static bool take(struct fetch_chunks *c, char byte, bool *used)
{
    *used = true;
    switch (c->part) {
    case FETCH_CHUNKS_SIZE:
        if (hex_digit(byte) >= 0)
            return size_byte(c, byte);
        *used = false;
        return end_size(c);
    case FETCH_CHUNKS_LINE:
        if (byte == '\n')
            end_line(c);
        return true;
    case FETCH_CHUNKS_CR:
        c->part = byte == '\n' ? FETCH_CHUNKS_SIZE : FETCH_CHUNKS_LF;
        return byte == '\r' || byte == '\n';
    case FETCH_CHUNKS_LF: c->part = FETCH_CHUNKS_SIZE; return byte == '\n';
    case FETCH_CHUNKS_TRAILER:
        c->part = byte == '\r'   ? FETCH_CHUNKS_LAST
                  : byte == '\n' ? FETCH_CHUNKS_DONE
                                 : FETCH_CHUNKS_INSIDE;
        return true;
    case FETCH_CHUNKS_INSIDE:
        if (byte == '\n')
            c->part = FETCH_CHUNKS_TRAILER;
        return true;
    case FETCH_CHUNKS_LAST: c->part = FETCH_CHUNKS_DONE; return byte == '\n';
    default: return false;
    }
}

static void take_piece(struct fetch_chunks *c, struct seen_span *bytes,
                       struct seen_span *piece)
{
    *piece = *bytes;
    if (piece->len > c->left)
        piece->len = (size_t)c->left;
    bytes->text += piece->len;
    bytes->len -= piece->len;
    c->left -= piece->len;
    if (!c->left)
        c->part = FETCH_CHUNKS_CR;
}

enum fetch_chunks_result fetch_chunks_next(struct fetch_chunks *c,
                                           struct seen_span *bytes,
                                           struct seen_span *piece)
{
    struct fetch_chunks before;
    bool used;

    while (bytes->len && c->part != FETCH_CHUNKS_DONE) {
        if (c->part == FETCH_CHUNKS_BYTES) {
            take_piece(c, bytes, piece);
            return FETCH_CHUNKS_PIECE;
        }
        before = *c;
        if (!take(c, *bytes->text, &used)) {
            *c = before; /* so that it is found again */
            return FETCH_CHUNKS_DAMAGE;
        }
        bytes->text += used;
        bytes->len -= used;
    }
    return c->part == FETCH_CHUNKS_DONE ? FETCH_CHUNKS_END : FETCH_CHUNKS_MORE;
}
