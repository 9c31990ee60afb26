/*
 * rows.h - the lines of a text, counted and summed while they are read.
 *
 *     struct rows from;
 *
 *     code = rows_open(&from, path, why);
 *     while (rows_next(&from, &line, true, why) == SEEN_OK && line.text)
 *         ...
 *     rows_close(&from);
 *
 * A line ends with a line feed, or with one after a carriage return, which
 * belongs to no line and is not summed: mail and other systems change line
 * ends on the way. A text that ends within a line was cut short; one longer
 * than LINE_MOST (text_form.h) is refused before it is looked into.
 */
#ifndef SEEN_SHARE_ROWS_H
#define SEEN_SHARE_ROWS_H

#include <seen/span.h>

#include "sha256.h"

struct rows {
    int fd;
    char *text;
    size_t at, end; /* what is read and not yet taken */
    size_t summed;  /* before it, all is in the sum or left out */
    uint64_t line;  /* of the one that was taken last, from 1 on */
    bool over;      /* the file has no more */
    struct sha256 sum;
};

/* rows_close() is due whether or not this succeeds. */
enum seen_code rows_open(struct rows *r, const char *path,
                         struct seen_error *why);
void rows_close(struct rows *r);

/* The next line, which lives until the one after it is asked for; text is
   NULL when there are no more. Unless `summed` it is left out of the sum. */
enum seen_code rows_next(struct rows *r, struct seen_span *row, bool summed,
                         struct seen_error *why);

/* The sum of all lines that were taken, each with its line feed. */
bool rows_sum(struct rows *r, unsigned char sum[SEEN_DIGEST]);

/* SEEN_CORRUPT at the line that was taken last: "line 17: ...". */
enum seen_code rows_bad(const struct rows *r, struct seen_error *why,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Take a row apart into `to`: the name before the first comma, a zero, and the
 * value behind it, out of its quotes if it has any (RFC 4180), and a zero:
 * at most row->len + 1 bytes. False if there is no room for them or it is no
 * such row: then `to` holds anything. Names are of letters, digits, '-', '.'
 * and '!'; neither has control bytes.
 */
bool rows_split(const struct seen_span *row, char *to, size_t room,
                const char **value);

/* The number that the text is, in the one way to write it. */
bool rows_number(const char *text, size_t len, uint64_t *number);

#endif
