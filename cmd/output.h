/*
 * output.h - standard output, fast and with its errors.
 *
 * `seen check` prints tens of millions of lines per second, which is too fast
 * for stdio at two or three calls per line. Callers need not check each call:
 * after an error all output is dropped, and finish() reports it.
 *
 * Threads: the main one only.
 */
#ifndef SEEN_OUTPUT_H
#define SEEN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/span.h>

void output_bytes(const char *text, size_t len);
void output_text(const char *text);
void output_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Text of others, in one line and without bytes that change a terminal. */
void output_shown(struct seen_span text);

/* Write everything that was printed; the errno of the first failure, or 0. */
int output_flush(void);

/*
 * The same, and if standard output is a regular file, flush it to the disk:
 * then it survives a power failure. Pipes and terminals have no disk. A file
 * that cannot be flushed is a failure.
 */
int output_sync(void);

/* There was no memory for what was to be printed: a failure like others. */
void output_no_memory(void);

/* True after a failure: nothing more will be printed. */
bool output_dead(void);

#endif
