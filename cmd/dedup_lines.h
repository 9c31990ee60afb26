/*
 * dedup_lines.h - lines and keys from the thread that reads to the one that
 * decides and prints.
 *
 * Making keys and asking for them take about as long, so two threads take half
 * of the time. A block has 4,096 keys and a copy of their lines, which the
 * reader overwrites:
 *
 *     read, make keys --> block --> | 0 | 1 | 2 | 3 | --> ask, print
 *
 * Order is kept. The second thread starts with the first full block: what comes
 * slowly, or is short, is decided at once, by the thread that reads.
 *
 * Threads: all functions are for the thread that reads. take() runs in one
 * thread at a time.
 */
#ifndef SEEN_CMD_DEDUP_LINES_H
#define SEEN_CMD_DEDUP_LINES_H

#include <seen/ingest.h>

#include "../lib/text/buffer.h"

enum { DEDUP_KEYS = 4096 };

struct dedup_block {
    size_t n;
    struct seen_key key[DEDUP_KEYS]; /* without texts */
    size_t end[DEDUP_KEYS];          /* of each line, with its newline */
    struct buffer lines;
};

struct dedup_lines;

/* Called for each block, in order. After a failure it is not called again. */
typedef enum seen_code dedup_take(void *to, struct dedup_block *block,
                                  struct seen_error *why);

/* NULL if there is no memory. */
struct dedup_lines *dedup_lines_new(dedup_take *take, void *to);

/* Add a batch, with its lines if `text`. Returns how an earlier block went. */
enum seen_code dedup_lines_add(struct dedup_lines *l,
                               const struct seen_batch *batch, bool text,
                               struct seen_error *why);

/* Wait until take() has had all that was added. */
enum seen_code dedup_lines_drain(struct dedup_lines *l,
                                 struct seen_error *why);

/* What was not drained is dropped. NULL is welcome. */
void dedup_lines_free(struct dedup_lines *l);

#endif
