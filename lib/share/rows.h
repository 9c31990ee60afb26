/*
 * rows.h - the lines of a text, with their numbers and their SHA-256.
 *
 *     struct rows from;
 *
 *     code = rows_open(&from, path, why);
 *     while (rows_next(&from, &line, true, why) == SEEN_OK && line.text)
 *         ...
 *     rows_close(&from);
 *
 * A line ends with LF or CR LF. The CR is not part of the line or the sum:
 * mail and other systems change line ends on the way. A text that ends within
 * a line was cut short. A line longer than LINE_MOST (text_form.h) is refused.
 */
#ifndef SEEN_SHARE_ROWS_H
#define SEEN_SHARE_ROWS_H

#include <seen/span.h>

#include "sha256.h"

struct rows {
    int fd;
    char *text;
    size_t at, end; /* bytes that were read and not yet used */
    size_t summed;  /* all before it is in the sum or excluded */
    uint64_t line;  /* number of the last line, from 1 on */
    bool over;      /* end of file */
    struct sha256 sum;
};

/* Call rows_close() even if this fails. */
enum seen_code rows_open(struct rows *r, const char *path,
                         struct seen_error *why);
void rows_close(struct rows *r);

/* The next line, valid until the call after this; text is NULL past the last
   one. Unless `summed` it is excluded from the sum. */
enum seen_code rows_next(struct rows *r, struct seen_span *row, bool summed,
                         struct seen_error *why);

/* The SHA-256 of all summed lines, each with its line feed. */
bool rows_sum(struct rows *r, unsigned char sum[SEEN_DIGEST]);

/* SEEN_CORRUPT at the last line: "line 17: ...". */
enum seen_code rows_bad(const struct rows *r, struct seen_error *why,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Split a row into `to`: the name before the first comma, a zero, the value
 * after it without its quotes (RFC 4180), and a zero; at most row->len + 1
 * bytes. False if there is no room or the row is invalid; the content of `to`
 * is undefined then. Names have letters, digits, '-', '.' and '!'; neither
 * has control bytes.
 */
bool rows_split(const struct seen_span *row, char *to, size_t room,
                const char **value);

/* Read a decimal number without sign and leading zeros. */
bool rows_number(const char *text, size_t len, uint64_t *number);

#endif
