/*
 * chunks.c - bodies in chunks: RFC 9112, section 7.1.
 *
 *     5;name=value\r\n         hexadecimal digits, extensions
 *     hello\r\n                as many bytes
 *     0\r\n                    the last one
 *     Digest: abc\r\n          trailers
 *     \r\n
 *
 * Extensions and trailers are read and dropped, but not what only looks like
 * them: `2;` has no extension after its semicolon, and two programs may
 * disagree about what follows. Bytes around the body are
 * counted, and must not outweigh it: each chunk gives credit for an ordinary
 * line and for twice its bytes. So a body in chunks of one byte is accepted,
 * and a stream of extensions around nothing is soon refused.
 */
#include "parse.h"

#include "../../lib/text/hex.h"
#include "scan.h"

enum http_chunk_state {
    SIZE,  /* its first digit; a body begins here, so it is zero */
    MORE,  /* digits, or what follows them */
    BLANK, /* between digits or an extension and ";" */
    BEFORE_NAME, /* of an extension */
    EXTENSION,   /* its name */
    AFTER_NAME,
    BEFORE_VALUE,
    TOKEN, /* a value, or */
    QUOTED,
    ESCAPED,
    AFTER_QUOTED,
    SIZE_LF,
    BYTES,
    BYTES_CR,
    BYTES_LF,
    TRAILER, /* the first byte of a line */
    NAME,
    VALUE,
    VALUE_LF,
    LAST_LF,
    DONE,
    BROKEN
};

enum {
    OVERHEAD = 4096, /* bytes around the body beyond the credit */
    CREDIT = 16      /* of each chunk, besides its bytes */
};

/* Behind a size, or an extension that is whole. */
static enum http_chunk_state after_size(char c)
{
    if (c == '\r')
        return SIZE_LF;
    return c == ';' ? BEFORE_NAME : is_blank(c) ? BLANK : BROKEN;
}

/* ;name, ;name=token, ;name="quoted", with blanks before and after ";" and
   "=". */
static enum http_chunk_state read_extension(enum http_chunk_state state,
                                            char c)
{
    switch (state) {
    case BLANK: return is_blank(c) ? BLANK : c == ';' ? BEFORE_NAME : BROKEN;
    case BEFORE_NAME:
        return is_blank(c) ? BEFORE_NAME : is_token(c) ? EXTENSION : BROKEN;
    case EXTENSION:
        if (is_token(c))
            return EXTENSION;
        return c == '='      ? BEFORE_VALUE
               : is_blank(c) ? AFTER_NAME
                             : after_size(c);
    case AFTER_NAME:
        return is_blank(c) ? AFTER_NAME
               : c == '='  ? BEFORE_VALUE
               : c == ';'  ? BEFORE_NAME
                           : BROKEN;
    case BEFORE_VALUE:
        return is_blank(c)   ? BEFORE_VALUE
               : c == '"'    ? QUOTED
               : is_token(c) ? TOKEN
                             : BROKEN;
    case TOKEN: return is_token(c) ? TOKEN : after_size(c);
    case QUOTED:
        return c == '"'     ? AFTER_QUOTED
               : c == '\\'  ? ESCAPED
               : is_text(c) ? QUOTED
                            : BROKEN;
    case ESCAPED: return is_text(c) ? QUOTED : BROKEN;
    default: return after_size(c); /* AFTER_QUOTED */
    }
}

static enum http_chunk_state read_size(struct http_chunks *c, char byte)
{
    int d = hex_digit(byte);

    if (d < 0)
        return c->state == SIZE ? BROKEN : after_size(byte);
    if (c->left >> 59) /* of 2^63 and more */
        return BROKEN;
    c->left = c->left << 4 | (uint64_t)d;
    return MORE;
}

/* A size is complete: its chunk begins, or the trailers. */
static enum http_chunk_state begin_bytes(struct http_chunks *c)
{
    uint64_t credit;

    if (!c->left)
        return TRAILER;
    credit = c->left < OVERHEAD ? CREDIT + 2 * c->left : 2 * OVERHEAD;
    c->count = c->count > credit ? c->count - (unsigned)credit : 0;
    return BYTES;
}

static enum http_chunk_state expect(char byte, char wanted,
                                    enum http_chunk_state next)
{
    return byte == wanted ? next : BROKEN;
}

/* The state after one more byte that is not of the body. */
static enum http_chunk_state step(struct http_chunks *c, char byte)
{
    switch ((enum http_chunk_state)c->state) {
    case SIZE:
    case MORE: return read_size(c, byte);
    case BLANK:
    case BEFORE_NAME:
    case EXTENSION:
    case AFTER_NAME:
    case BEFORE_VALUE:
    case TOKEN:
    case QUOTED:
    case ESCAPED:
    case AFTER_QUOTED:
        return read_extension((enum http_chunk_state)c->state, byte);
    case SIZE_LF: return byte == '\n' ? begin_bytes(c) : BROKEN;
    case BYTES_CR: return expect(byte, '\r', BYTES_LF);
    case BYTES_LF: return expect(byte, '\n', SIZE);
    case TRAILER: return is_token(byte) ? NAME : expect(byte, '\r', LAST_LF);
    case NAME: return is_token(byte) ? NAME : expect(byte, ':', VALUE);
    case VALUE: return is_text(byte) ? VALUE : expect(byte, '\r', VALUE_LF);
    case VALUE_LF: return expect(byte, '\n', TRAILER);
    case LAST_LF: return expect(byte, '\n', DONE);
    case BYTES:
    case DONE:
    case BROKEN: break;
    }
    return BROKEN;
}

int http_chunks(struct http_chunks *c, const char *text, size_t len,
                size_t *used, struct seen_span *data)
{
    size_t i = 0;

    *data = (struct seen_span){ text, 0 };
    while (i < len && c->state != BYTES && c->state != DONE &&
           c->state != BROKEN) {
        c->count++;
        c->state = step(c, text[i++]);
        if (c->count > OVERHEAD)
            c->state = BROKEN;
    }
    if (c->state == BYTES && i < len) {
        size_t n = len - i < c->left ? len - i : (size_t)c->left;

        *data = (struct seen_span){ text + i, n };
        i += n;
        c->left -= n;
        if (!c->left)
            c->state = BYTES_CR;
    }
    *used = i;
    return c->state == DONE ? HTTP_WHOLE
                            : (c->state == BROKEN ? 400 : HTTP_PARTIAL);
}
