/*
 * queue.h - the contenders of seen bench queue.
 *
 * Each does the same with messages of the same length: store a batch, read
 * it, and remove it, with a commit or a confirm for what must be safe.
 */
#ifndef SEEN_BENCH_QUEUE_H
#define SEEN_BENCH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_BATCH_MOST = 1000 };

struct bench_queue {
    const char *name;
    bool relaxed;
    /* Returns what is wrong, or NULL. */
    const char *(*open)(struct bench_queue *c, const char *at);
    /* Store, read and remove one batch. Bodies have `len` bytes. */
    bool (*batch)(struct bench_queue *c, uint64_t first, size_t n,
                  const char *body, size_t len);
    void (*close)(struct bench_queue *c);
    void *state;
};

extern const struct bench_queue bench_queue_ours, bench_queue_sqlite,
    bench_queue_rabbit;

#endif
