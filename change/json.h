/*
 * json.h - read JSON strictly, in one pass, without building a tree.
 *
 * Records are checked at the door. A reader that builds a tree of allocated
 * values takes longer for that than the filters take for their answers, and
 * a record is flat: an object with texts, numbers and lists of them. So this
 * is a cursor, and the caller asks for what it expects next:
 *
 *     struct change_json j;
 *
 *     change_json_begin(&j, line, &bytes);
 *     if (change_json_open(&j, '{'))
 *         while (change_json_next(&j, '}') && change_json_name(&j, &name))
 *             if (span_is(name, "_url")) change_json_text(&j, &url);
 *             else change_json_skip(&j);
 *     if (!change_json_done(&j))
 *         complain(j.wrong, j.at - j.begin);
 *
 * After the first fault all functions return false, and `wrong` has its
 * words. The grammar is that of RFC 8259, in UTF-8.
 *
 * Threads: a cursor belongs to one thread.
 */
#ifndef SEEN_CHANGE_JSON_H
#define SEEN_CHANGE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

#include "../lib/text/buffer.h"

enum { CHANGE_JSON_DEPTH = 32 }; /* of values that are skipped */

struct change_json {
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
bool change_json_begin(struct change_json *j, struct seen_span text,
                       struct buffer *bytes);

/* The type of the next value: one of { [ " 0 t f n, or 0 at the end. */
char change_json_peek(struct change_json *j);

bool change_json_open(struct change_json *j, char bracket);
/* Is there another member or element? If not, `bracket` was read. */
bool change_json_next(struct change_json *j, char bracket);
bool change_json_name(struct change_json *j, struct seen_span *name);
bool change_json_text(struct change_json *j, struct seen_span *text);
/* A number as it is written. */
bool change_json_digits(struct change_json *j, struct seen_span *digits);
/* A number without a sign, a point or an exponent. */
bool change_json_count(struct change_json *j, uint64_t *count);
bool change_json_real(struct change_json *j, double *number);
bool change_json_flag(struct change_json *j, bool *flag);
bool change_json_skip(struct change_json *j);

/* Was everything read, without a fault? */
bool change_json_done(struct change_json *j);

/* Note a fault; returns false. */
bool change_json_fail(struct change_json *j, const char *wrong);

#endif
