/*
 * lines.h - read lists of URLs, a line each, fast and in bounded memory.
 *
 * Inputs are handed out in blocks of whole lines, which the lines are found
 * in without copying. One reader fills blocks for any number of threads: at
 * several GB a second it is never what they wait for, it reads disks in the
 * order they like, and pipes work as files do.
 *
 *     inputs ──read()──> | block | block | block | ...
 *                          │        │       └─> thread 0
 *                          │        └─> thread 1
 *                          └─> thread 0: lines ──> keys
 *
 * A block ends with the last whole line that fits, so its borders depend on
 * the input alone, never on threads. A line may be of any length: of one
 * that is too long to be a URL only the beginning is kept.
 */
#ifndef SEEN_LINES_H
#define SEEN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/key.h>

enum { BLOCK = 1 << 20 };

struct lines {
    const char *const *input;   /* names; "-" is standard input */
    size_t inputs, next;
    bool eager;                 /* hand out what is there, do not wait for
                                   more, and flush standard output first */
    int fd;
    int64_t start;              /* of standard input, if it is a file */
    bool regular, begun, skipping;
    uint64_t bytes, total;      /* read so far; of all regular files */
    size_t carried;
    char carry[SEEN_KEY_TEXT + 1];      /* a line that is not whole yet */
};

struct block {
    char *data;                 /* of BLOCK bytes */
    size_t len, at;
    const char *input;          /* its name; NULL if it is the only one */
    bool first;                 /* of its input */
    uint64_t line;              /* how many were taken, empty ones too */
};

/*
 * Begin to read n inputs, of none standard input. Errors are as early as can
 * be: a missing file is told now, though it is read last. `*name` is then
 * the input that is at fault.
 */
enum seen_code lines_open(struct lines *l, const char *const *input, size_t n,
                          const char **name, struct seen_error *why);
void lines_close(struct lines *l);

/* Are all inputs regular files, which can be read twice? Then this makes
   standard input ready for the second time. */
bool lines_twice(const char *const *input, size_t n);
void lines_rewind(const struct lines *l);

enum seen_code block_init(struct block *b, struct seen_error *why);
void block_clear(struct block *b);

/* Fill the block with what comes next; its `len` is 0 at the end. */
enum seen_code lines_next(struct lines *l, struct block *b, const char **name,
                          struct seen_error *why);

/*
 * The next line that is not empty, without its end ("\n" or "\r\n"), which
 * lives as long as the block has it; false at the end of the block.
 */
bool block_line(struct block *b, const char **line, size_t *len);


#endif
