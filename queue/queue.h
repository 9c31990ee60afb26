/*
 * queue.h - messages on their way between programs: jobs and page records.
 *
 *     sqlite:FILE         several processes of one machine
 *     postgresql://...    the same tables on a server
 *     amqp://..., amqps://...    RabbitMQ
 *
 * Each place holds many queues, by name. A message is delivered at least once,
 * to one consumer at a time. It stays until the consumer says that it is done;
 * if the consumer dies, it is delivered again. Every message has an id that
 * its publisher chose, so that the second delivery can be known by it.
 *
 *     code = queue_open(&q, "sqlite:jobs.db", &settings, &why);
 *     code = queue_publish(q, "jobs", &message, 1, &why);    it is safe now
 *
 *     code = queue_take(q, "jobs", 10, 1000, &batch, &why);  wait up to 1 s
 *     for (size_t i = 0; i < batch.n; i++)
 *         if (use(&batch.message[i]))
 *             queue_done(q, &batch.message[i], 1, &why);
 *         else
 *             queue_retry(q, &batch.message[i], "the reason", &why);
 *
 * A message that failed five times, or that killed its consumers as often, or
 * that was rejected, is a dead letter: it is kept with its reason and holds
 * up nobody.
 *
 * Lost connections are made again, for at most settings.patience.
 *
 * Threads: a queue belongs to one thread at a time.
 */
#ifndef SEEN_QUEUE_H
#define SEEN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

enum {
    QUEUE_TRIES = 5,         /* deliveries before a message is a dead letter */
    QUEUE_NAME_MOST = 100,   /* bytes of the name of a queue */
    QUEUE_ID_MOST = 255,     /* bytes of an id */
    QUEUE_REASON_MOST = 500, /* bytes of a reason; longer ones are cut */
    QUEUE_BODY_MOST = 16 << 20 /* bytes of a body */
};

struct queue;

struct queue_settings {
    unsigned lease;    /* ms that a consumer has before it must queue_keep();
                          0: 60,000 */
    unsigned patience; /* ms to wait for a server that is away; 0: 60,000 */
    bool relaxed;      /* SQLite: see sql_relax() */
    bool existing;     /* SQLite: SEEN_IO if there is no such file */
    bool looks;        /* SQL: only queue_stats() and queue_dead() are used,
                          and nothing is written; SEEN_ABSENT if there are no
                          queues */
    const char *owner; /* name of this process, for reports; NULL: host:pid */
    const char *names; /* RabbitMQ: "jobs,pages.0" for queue_stats(), which
                          finds all queues elsewhere; lives as long as the
                          queue; NULL: those of the address, or used here */

    /* ms before the attempts 2 to 5; all 0: 10 s, 1 min, 10 min, 1 h. On
       RabbitMQ all programs must agree about them. */
    unsigned pauses[QUEUE_TRIES - 1];
};

struct queue_message {
    struct seen_span id, body;
    unsigned attempt;        /* from 1; set by queue_take() */
    struct seen_span reason; /* why the last attempt failed, or "" */
    uint64_t tag;            /* of the delivery; the backend's */
};

/* Texts of the messages live until the next queue_take() of the same batch,
   or queue_batch_clear(). */
struct queue_batch {
    struct queue_message *message;
    size_t n, room;
    void *kept;
};
void queue_batch_clear(struct queue_batch *b);

/* Is this text the address of a place for queues? */
bool queue_is_address(const char *where);

enum seen_code queue_open(struct queue **out, const char *where,
                          const struct queue_settings *settings,
                          struct seen_error *why);
void queue_close(struct queue *q);

/* What it is called in messages, without a password. */
const char *queue_name(const struct queue *q);

/*
 * Make a queue, if it is missing. All queues are made by their first use;
 * this is for those that only one consumer at a time may read, in order: the
 * shards of page records.
 */
enum seen_code queue_make(struct queue *q, const char *name, bool single,
                          struct seen_error *why);

/*
 * Publish messages. When it returns SEEN_OK the place has stored all of them.
 * After a fault some may be stored: publish all again. A message with the id
 * of one that is still in the queue changes nothing on SQL places; RabbitMQ
 * keeps both.
 */
enum seen_code queue_publish(struct queue *q, const char *name,
                             const struct queue_message *message, size_t n,
                             struct seen_error *why);

/*
 * Take up to `most` messages; wait up to `ms` for the first one. batch->n is 0
 * if none came. On a queue that is single, another consumer may have all of
 * them: then none come as long as it lives.
 *
 * On RabbitMQ a consumer that dies counts against all messages that it has: take
 * one at a time if a message may kill.
 */
enum seen_code queue_take(struct queue *q, const char *name, unsigned most,
                          unsigned ms, struct queue_batch *batch,
                          struct seen_error *why);

/* The messages are done: they are gone. SEEN_ABSENT if one was delivered to
   somebody else meanwhile, because its lease ended or the connection was lost;
   the others are done nevertheless. */
enum seen_code queue_done(struct queue *q, const struct queue_message *message,
                          size_t n, struct seen_error *why);

/* The message failed: it comes again after 10 s, 1 min, 10 min, 1 h (or
   settings.pauses), and after QUEUE_TRIES attempts it is a dead letter with
   this reason. */
enum seen_code queue_retry(struct queue *q, const struct queue_message *m,
                           const char *reason, struct seen_error *why);

/* The message will never be right: a dead letter at once. */
enum seen_code queue_reject(struct queue *q, const struct queue_message *m,
                            const char *reason, struct seen_error *why);

/* The consumer stops: give the message back, as if it had not been taken. On
   RabbitMQ its attempt may be higher next time, but it does not become a dead
   letter by this. */
enum seen_code queue_return(struct queue *q, const struct queue_message *m,
                            size_t n, struct seen_error *why);

/* The lease of everything that was taken begins again. */
enum seen_code queue_keep(struct queue *q, struct seen_error *why);

/* --- for operators --- */

struct queue_stats {
    struct seen_span name;
    int64_t ready;   /* may be taken now */
    int64_t taken;   /* with a consumer; -1: unknown */
    int64_t waiting; /* for their next attempt */
    int64_t dead;
    int64_t oldest; /* age of the oldest ready message in ms; -1: unknown */
    int64_t published, done; /* since the queue was made; -1: unknown */
};
typedef bool queue_take_stats(void *owner, const struct queue_stats *stats);
enum seen_code queue_stats(struct queue *q, queue_take_stats *take,
                           void *owner, struct seen_error *why);

/* Dead letters, oldest first; take() returns false to stop. */
typedef bool queue_take_dead(void *owner, const struct queue_message *m);
enum seen_code queue_dead(struct queue *q, const char *name, unsigned most,
                          queue_take_dead *take, void *owner,
                          struct seen_error *why);

/* Put dead letters back into the queue with attempt 1, or drop them: those
   with this id, or all if it is NULL. *n is how many. */
enum seen_code queue_revive(struct queue *q, const char *name, const char *id,
                            uint64_t *n, struct seen_error *why);
enum seen_code queue_drop(struct queue *q, const char *name, const char *id,
                          uint64_t *n, struct seen_error *why);

#endif
