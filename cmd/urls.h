/*
 * urls.h - the URLs that a command is asked about, batch by batch, from
 * operands, from the files of -i, or from standard input.
 *
 *     struct urls *u = urls_open(&how, operand, profile);
 *
 *     while (urls_next(u))
 *         ... u->batch.key[0 .. u->batch.n - 1] ...
 *     return urls_close(u, out);
 *
 * A bad line is left out and told at the end. A bad operand is trouble: who
 * asks for one URL must not be answered "all of them were seen".
 */
#ifndef SEEN_URLS_H
#define SEEN_URLS_H

#include "batch.h"
#include "command.h"

/* The options of every command that reads URLs. */
struct urls_how {
    struct texts inputs;
    bool strict;
};

/* clang-format off */
#define URLS_OPTIONS(type, how)                                             \
    { "input", 'i', PATHS, "INPUT", offsetof(type, how.inputs),             \
      "read URLs from this file, a line each; - is standard input; may be " \
      "given many times" },                                                 \
    { "strict", 0, FLAG, NULL, offsetof(type, how.strict),                  \
      "stop at the first bad line, with exit code 2" }
/* clang-format on */

struct urls {
    struct reading reading;
    struct batch batch;
    char **operand;             /* the next one; NULL: there were none */
    size_t number;
    struct lines lines;
    struct block block;
    uint64_t before;            /* lines of this input, before the block */
    uint64_t taken;             /* lines of all inputs */
    struct rejects rejects;
    bool failed;
};

/* NULL after a message if there is no memory, or an input that is not. */
struct urls *urls_open(const struct urls_how *how, char **operand,
                       const char *profile);

/* The next batch; false at the end and after trouble, which urls_close() has
   then told. */
bool urls_next(struct urls *u);

/* Report what was left out, and release all. Returns `out`, or TROUBLE. */
enum outcome urls_close(struct urls *u, enum outcome out);

#endif
