/*
 * backend.h - what a place for queues can do, as a table of functions.
 *
 * queue.c is the door: it chooses the table by the address, fills in the
 * settings, checks every argument, and leaves the rest to the functions of the
 * table. They may rely on this:
 *
 *   - names of queues are 1 to QUEUE_NAME_MOST letters, digits and . _ - @
 *   - ids have 1 to QUEUE_ID_MOST bytes of any value, bodies at most
 *     QUEUE_BODY_MOST
 *   - reasons have at most QUEUE_REASON_MOST bytes
 *   - n and most are not 0; a batch is empty when take() gets it
 *
 * A place keeps what it needs after the struct that all of them share:
 *
 *     struct place {
 *         struct queue base;
 *         ...
 *     };
 *     const struct queue_backend queue_place = {
 *         .schemes = { "place:" }, .size = sizeof(struct place), ...
 *     };
 */
#ifndef SEEN_QUEUE_BACKEND_H
#define SEEN_QUEUE_BACKEND_H

#include "queue.h"

enum { QUEUE_OWNER_MOST = 100, QUEUE_SCHEMES = 3 };

struct queue_backend {
    const char *schemes[QUEUE_SCHEMES]; /* how its addresses begin */
    size_t size;                        /* of its struct, zeroed by the door */

    /* base is filled in but for its name, which open() sets with malloc().
       close() is called after a failed open(), too. */
    enum seen_code (*open)(struct queue *q, const char *where,
                           struct seen_error *why);
    void (*close)(struct queue *q);

    /* As the functions of queue.h with these names. */
    enum seen_code (*make)(struct queue *q, const char *name, bool single,
                           struct seen_error *why);
    enum seen_code (*publish)(struct queue *q, const char *name,
                              const struct queue_message *message, size_t n,
                              struct seen_error *why);
    enum seen_code (*take)(struct queue *q, const char *name, unsigned most,
                           unsigned ms, struct queue_batch *batch,
                           struct seen_error *why);
    enum seen_code (*done)(struct queue *q,
                           const struct queue_message *message, size_t n,
                           struct seen_error *why);
    enum seen_code (*retry)(struct queue *q, const struct queue_message *m,
                            struct seen_span reason, struct seen_error *why);
    enum seen_code (*reject)(struct queue *q, const struct queue_message *m,
                             struct seen_span reason, struct seen_error *why);
    enum seen_code (*give_back)(struct queue *q,
                                const struct queue_message *message, size_t n,
                                struct seen_error *why);
    enum seen_code (*keep)(struct queue *q, struct seen_error *why);
    enum seen_code (*stats)(struct queue *q, queue_take_stats *take,
                            void *owner, struct seen_error *why);
    enum seen_code (*dead)(struct queue *q, const char *name, unsigned most,
                           queue_take_dead *take, void *owner,
                           struct seen_error *why);
    enum seen_code (*revive)(struct queue *q, const char *name, const char *id,
                             uint64_t *n, struct seen_error *why);
    enum seen_code (*drop)(struct queue *q, const char *name, const char *id,
                           uint64_t *n, struct seen_error *why);
};

struct queue {
    const struct queue_backend *backend;
    struct queue_settings settings; /* complete: no zeros, no NULL */
    char owner[QUEUE_OWNER_MOST + 1];
    char *name;
};

/* One per file: rows.c and amqp.c. */
extern const struct queue_backend queue_rows;
extern const struct queue_backend queue_amqp __attribute__((weak));

/*
 * Append a copy of a message to a batch. The spans of the batch are not valid
 * before queue_batch_end(), because the copies move while they grow. False if
 * there is no memory: the batch then is as it was.
 */
bool queue_batch_add(struct queue_batch *b, const struct queue_message *m);
void queue_batch_end(struct queue_batch *b);

#endif
