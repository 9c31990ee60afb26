/*
 * output.h - standard output, fast and with its errors.
 *
 * `seen check` prints tens of millions of lines a second, which stdio does
 * not, at two or three calls a line. Nobody looks at every call: an error
 * stays, all later output is dropped, and finish() tells.
 *
 * Threads: the main one only.
 */
#ifndef SEEN_OUTPUT_H
#define SEEN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

void output_bytes(const char *text, size_t len);
void output_text(const char *text);
void output_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Hand over all that was printed; the errno of the first failure, or 0. */
int output_flush(void);

/* True once nobody can read what is printed: the work may stop. */
bool output_dead(void);

#endif
