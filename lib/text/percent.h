/*
 * percent.h - bytes that are written %41 in URLs.
 *
 * Which bytes must be written so depends on where they stand, so each place
 * has a set with a name. The first seven are the percent-encode sets of the
 * WHATWG URL standard, section 1.3. All sets have the C0 controls, DEL and
 * everything that is not ASCII.
 */
#ifndef SEEN_TEXT_PERCENT_H
#define SEEN_TEXT_PERCENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

#include "buffer.h"

enum percent_set {
    PERCENT_CONTROL = 1,
    PERCENT_FRAGMENT = 2,
    PERCENT_QUERY = 4,
    PERCENT_SPECIAL_QUERY = 8,
    PERCENT_PATH = 16,
    PERCENT_USERINFO = 32,
    PERCENT_COMPONENT = 64,
    PERCENT_SPACE = 128,    /* the space only: a URL as it was given, in a
                               header or a line */
    PERCENT_LINK = 256,     /* what would end a <link>: space " < > */
    PERCENT_NAME = 512,     /* all but letters, digits and - . _ ~ */
    PERCENT_SEGMENTS = 1024 /* the same, but slashes stay: a relative path */
};

extern const uint16_t percent_sets[128]; /* the sets that a byte is in */

/* Is the byte in the set? */
static inline bool percent_has(enum percent_set set, char c)
{
    unsigned char b = (unsigned char)c;

    return b < 0x20 || b > 0x7e || percent_sets[b] & set;
}

/* Write one byte as %XX. */
void percent_write(char to[3], char c);

/* Append a text, with the bytes of the set as %XX. */
void percent_encode(struct buffer *to, const char *text, size_t len,
                    enum percent_set set);

/*
 * Replace each %XX by its byte, once. `to` has room for `len` bytes and may
 * be the text itself. The strict form returns false if a "%" is not followed
 * by two digits; the other keeps such a "%" and returns the new length.
 */
bool percent_decode(char *to, size_t *n, const char *text, size_t len);
size_t percent_decode_lenient(char *to, const char *text, size_t len);

/*
 * A part of the address of a server, such as its user, decoded: *out is freed
 * and becomes a C string of the caller. `what` names the part in the message.
 * SEEN_RANGE: a "%" without two digits, or a zero byte, which would hide what
 * follows it; *out is unchanged then.
 */
enum seen_code percent_part(char **out, struct seen_span s, const char *what,
                            struct seen_error *why);

#endif
