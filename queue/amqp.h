/*
 * amqp.h - RabbitMQ as a place for queues: what its files share.
 *
 *     amqp_url.c      the address
 *     amqp_tls.c      TLS
 *     amqp_link.c     one connection: frames, replies, heartbeats
 *     amqp.c          the queues and their arguments; open, close, keep, stats
 *     amqp_publish.c  publish, and wait for the confirms
 *     amqp_take.c     take, done, retry, reject, return
 *     amqp_dead.c     dead letters for operators
 *
 * A queue NAME is several queues of RabbitMQ. All are quorum queues, and all
 * messages are published to the default exchange, which knows each queue by
 * its name:
 *
 *     publish ──> NAME ──> take ──> done
 *                  ^         │
 *                  │         ├──> retry ──> NAME.retry.10s, .60s, .600s, .3600s
 *                  │         │                 │ their messages expire
 *                  └─────────┼─────────────────┘
 *                            └──> NAME.dead    failed five times, rejected, or
 *                                              died five times with its consumer
 *
 * Two connections: the server stops reading from connections that publish when
 * it is short of memory or disk; acknowledgements must pass then, for they are
 * what frees memory.
 */
#ifndef SEEN_QUEUE_AMQP_H
#define SEEN_QUEUE_AMQP_H

#include "amqp_link.h"
#include "backend.h"

enum {
    QUEUE_AMQP_CONFIRMS = 1, /* the channel that publishes */
    QUEUE_AMQP_CONTROL = 2   /* the channel for everything that may fail */
};

/* The queues that one name stands for. */
enum queue_amqp_part {
    QUEUE_PART_MAIN,
    QUEUE_PART_DEAD,
    QUEUE_PART_RETRY, /* + attempt - 1 */
    QUEUE_PARTS = QUEUE_PART_RETRY + QUEUE_TRIES - 1
};

struct queue_amqp_known {
    char *name;
    unsigned made; /* bits: parts that are known to exist */
};

/* Messages on their way to the server. */
struct queue_amqp_flight {
    const struct queue_message *message;
    size_t n, left, open; /* all; not stored; sent and not answered */
    unsigned char *state;
    size_t *index; /* which message has the number first + i */
    size_t state_room, index_room, sent;
    uint64_t first, low, last; /* numbers of publishes on this channel */
    size_t nacked, returned;
    uint64_t progress; /* when the last answer came */
};

struct queue_amqp_place {
    struct queue base;
    struct queue_amqp_address to;
    struct queue_amqp_link out; /* publishes and declares */
    struct queue_amqp_link in;  /* consumes */
    uint64_t out_ready;         /* generation whose channel is in confirm mode */
    uint64_t control_ready;     /* generation whose control channel is open */
    struct queue_amqp_known *known;
    size_t n_known, known_room;
    struct queue_amqp_flight flight;
    struct queue_amqp_consumer *consumer[QUEUE_AMQP_CHANNELS];
    unsigned n_consumers;
};

/* The time at which patience ends. */
uint64_t queue_amqp_patience(const struct queue_amqp_place *p);

/* The name of a part, in `to`. */
enum { QUEUE_AMQP_NAME = QUEUE_NAME_MOST + 32 };
void queue_amqp_part_name(const struct queue_amqp_place *p,
                          char to[QUEUE_AMQP_NAME], const char *name,
                          unsigned part);

/* Make a part and those that it needs; if it was returned as missing, `again`.
   Waits for a server that is away. */
enum seen_code queue_amqp_need(struct queue_amqp_place *p, const char *name,
                               unsigned part, bool again,
                               struct seen_error *why);

/* Connect the link that publishes, with its channel in confirm mode. */
enum seen_code queue_amqp_ready(struct queue_amqp_place *p, uint64_t until,
                                struct seen_error *why);

/* The same, with the control channel. */
enum seen_code queue_amqp_control(struct queue_amqp_place *p, uint64_t until,
                                  struct seen_error *why);

/* How many messages of a part are ready; 0 if it does not exist. */
enum seen_code queue_amqp_count(struct queue_amqp_place *p, const char *name,
                                unsigned part, int64_t *n,
                                struct seen_error *why);

/* Store messages in a part, as this attempt and with this reason. */
enum seen_code queue_amqp_post(struct queue_amqp_place *p, const char *name,
                               unsigned part,
                               const struct queue_message *message, size_t n,
                               unsigned attempt, struct seen_span reason,
                               struct seen_error *why);

/* Read what has come on both connections. */
void queue_amqp_attend(struct queue_amqp_place *p);

extern const struct queue_amqp_events queue_amqp_out_events,
    queue_amqp_in_events;
void queue_amqp_free_consumers(struct queue_amqp_place *p);

/* Functions of the table. */
enum seen_code queue_amqp_publish(struct queue *q, const char *name,
                                  const struct queue_message *message,
                                  size_t n, struct seen_error *why);
enum seen_code queue_amqp_take(struct queue *q, const char *name,
                               unsigned most, unsigned ms,
                               struct queue_batch *batch,
                               struct seen_error *why);
enum seen_code queue_amqp_done(struct queue *q,
                               const struct queue_message *message, size_t n,
                               struct seen_error *why);
enum seen_code queue_amqp_retry(struct queue *q, const struct queue_message *m,
                                struct seen_span reason,
                                struct seen_error *why);
enum seen_code queue_amqp_reject(struct queue *q,
                                 const struct queue_message *m,
                                 struct seen_span reason,
                                 struct seen_error *why);
enum seen_code queue_amqp_give_back(struct queue *q,
                                    const struct queue_message *message,
                                    size_t n, struct seen_error *why);
enum seen_code queue_amqp_dead(struct queue *q, const char *name,
                               unsigned most, queue_take_dead *take,
                               void *owner, struct seen_error *why);
enum seen_code queue_amqp_revive(struct queue *q, const char *name,
                                 const char *id, uint64_t *n,
                                 struct seen_error *why);
enum seen_code queue_amqp_drop_dead(struct queue *q, const char *name,
                                    const char *id, uint64_t *n,
                                    struct seen_error *why);

#endif
