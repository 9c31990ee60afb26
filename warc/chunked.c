/* chunked.c - undo HTTP's chunked coding (RFC 9112, section 7.1). */
#include "chunked.h"

#include "../lib/text/hex.h"

enum { DIGITS = 15 }; /* of a size, at most */

static enum warc_chunked_state size_ended(struct warc_chunked *c)
{
    if (!c->digits)
        return WARC_CHUNKED_DAMAGED;
    c->digits = 0;
    return c->left ? WARC_CHUNKED_DATA : WARC_CHUNKED_TRAILER;
}

/* One byte that is not payload. */
static enum warc_chunked_state step(struct warc_chunked *c, char byte)
{
    int digit = hex_digit(byte);

    switch (c->state) {
    case WARC_CHUNKED_SIZE:
        if (digit >= 0 && c->digits < DIGITS) {
            c->left = c->digits++ ? c->left << 4 | (unsigned)digit
                                  : (unsigned)digit;
            return WARC_CHUNKED_SIZE;
        }
        if (byte == '\n')
            return size_ended(c);
        if (c->digits &&
            (byte == ';' || byte == ' ' || byte == '\t' || byte == '\r'))
            return WARC_CHUNKED_EXTENSION;
        return WARC_CHUNKED_DAMAGED;
    case WARC_CHUNKED_EXTENSION:
        return byte == '\n' ? size_ended(c) : WARC_CHUNKED_EXTENSION;
    case WARC_CHUNKED_AFTER:
        if (byte == '\n')
            return WARC_CHUNKED_SIZE;
        return byte == '\r' ? WARC_CHUNKED_AFTER : WARC_CHUNKED_DAMAGED;
    case WARC_CHUNKED_TRAILER:
        if (byte == '\n') {
            bool empty = !c->line;

            c->line = 0;
            return empty ? WARC_CHUNKED_DONE : WARC_CHUNKED_TRAILER;
        }
        if (byte != '\r')
            c->line = 1;
        return WARC_CHUNKED_TRAILER;
    default: return c->state;
    }
}

bool warc_chunked_next(struct warc_chunked *c, struct seen_span *rest,
                       struct seen_span *payload)
{
    while (rest->len && c->state < WARC_CHUNKED_DONE) {
        if (c->state == WARC_CHUNKED_DATA) {
            payload->text = rest->text;
            payload->len = c->left < rest->len ? (size_t)c->left : rest->len;
            rest->text += payload->len;
            rest->len -= payload->len;
            c->left -= payload->len;
            if (!c->left)
                c->state = WARC_CHUNKED_AFTER;
            return true;
        }
        c->state = step(c, *rest->text);
        rest->text++;
        rest->len--;
    }
    return false;
}
