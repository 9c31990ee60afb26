/*
 * input.h - a file that is read more than once, also if it comes by a pipe.
 *
 *     struct input in;
 *
 *     if (input_open(&in, "-")) {
 *         look at in.path, then read it;
 *         input_close(&in);
 *     }
 *
 * A regular file is what it is. Standard input, a FIFO or <(zcat ...) can be
 * read once, so it is copied to a temporary file, in $TMPDIR or /tmp.
 */
#ifndef SEEN_INPUT_H
#define SEEN_INPUT_H

#include <stdbool.h>

struct input {
    const char *name; /* for messages */
    const char *path; /* to be opened, any number of times */
    char *copy;       /* or NULL */
};

/* `path` is - for standard input. False after a message. */
bool input_open(struct input *in, const char *path);
void input_close(struct input *in);

/* Where large temporary files go, such as keys, large answers of a worker
   without --into and notes for its successor: $TMPDIR, or else /var/tmp rather
   than /tmp, which may be memory. */
const char *cmd_temporary_folder(void);

#endif
