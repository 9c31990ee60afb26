/*
 * json_cursor.h - read JSON strictly, in one pass, without building a tree.
 *
 * A reader that builds a tree of allocated values takes longer for that than
 * the filters take for their answers, and page records and lines of an index
 * are flat: an object with texts, numbers and lists of them. So this is a
 * cursor, and the caller asks for what it expects next:
 *
 *     struct json_cursor j;
 *
 *     json_cursor_begin(&j, line, &bytes);
 *     if (json_cursor_open(&j, '{'))
 *         while (json_cursor_next(&j, '}') && json_cursor_name(&j, &name))
 *             if (span_is(name, "_url")) json_cursor_text(&j, &url);
 *             else json_cursor_skip(&j);
 *     if (!json_cursor_done(&j))
 *         complain(j.wrong, j.at - j.begin);
 *
 * After the first fault all functions return false, and `wrong` has its
 * words. The grammar is that of RFC 8259, in UTF-8.
 *
 * Threads: a cursor belongs to one thread.
 */
#ifndef SEEN_TEXT_JSON_CURSOR_H
#define SEEN_TEXT_JSON_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

#include "buffer.h"

enum { JSON_CURSOR_DEPTH = 32 }; /* of values that are skipped */

struct json_cursor {
    const char *begin, *at, *end;
    bool first;           /* nothing of the open list or object was read */
    const char *wrong;    /* NULL: nothing yet */
    struct buffer *bytes; /* for texts with escapes */
};

/*
 * Texts without escapes are views of `text`; the others are written to
 * `bytes`, in which room for all of them is made here, so that views of it
 * stay valid until the next begin. False: it is not UTF-8, or there is no
 * memory (bytes->failed).
 */
bool json_cursor_begin(struct json_cursor *j, struct seen_span text,
                       struct buffer *bytes);

/* The type of the next value, which begins at j->at: one of { [ " 0 t f n, or 0
   at the end. */
char json_cursor_peek(struct json_cursor *j);

bool json_cursor_open(struct json_cursor *j, char bracket);
/* Is there another member or element? If not, `bracket` was read. */
bool json_cursor_next(struct json_cursor *j, char bracket);
bool json_cursor_name(struct json_cursor *j, struct seen_span *name);
bool json_cursor_text(struct json_cursor *j, struct seen_span *text);
/* A number as it is written. */
bool json_cursor_digits(struct json_cursor *j, struct seen_span *digits);
/* A number without a sign, a point or an exponent. */
bool json_cursor_count(struct json_cursor *j, uint64_t *count);
bool json_cursor_real(struct json_cursor *j, double *number);
bool json_cursor_flag(struct json_cursor *j, bool *flag);
bool json_cursor_skip(struct json_cursor *j);

/* Was everything read, without a fault? */
bool json_cursor_done(struct json_cursor *j);

/* Note a fault; returns false. */
bool json_cursor_fail(struct json_cursor *j, const char *wrong);

#endif
