/*
 * rows.h - what the files of queues as rows share (rows.c has the idea).
 *
 *     rows.c           open and close, queues by name, the table of functions
 *     rows_sql.c       tables and statements
 *     rows_users.c     processes that use queues: leases and counts
 *     rows_publish.c   publish
 *     rows_take.c      take
 *     rows_end.c       what becomes of a message that was taken
 *     rows_operate.c   counts and dead letters, for operators
 */
#ifndef SEEN_QUEUE_ROWS_H
#define SEEN_QUEUE_ROWS_H

#include "backend.h"

#include "../lib/text/map.h"
#include "../sql/sql.h"

enum {
    ROWS_MANY = 25 /* messages that one statement inserts */
};

#define ROWS_VERSION "1"
#define ROWS_NOBODY "4611686018427387904" /* 2^62; owners are above */
#define ROWS_NOBODY_NUMBER ((int64_t)1 << 62)
#define ROWS_RANGE_TEXT "1099511627776" /* 2^40 */
#define ROWS_RANGE ((int64_t)1 << 40)

/* Statements; their texts are in rows_sql.c. */
enum {
    ROWS_FACT,
    ROWS_EPOCH,
    ROWS_EPOCH_USERS,
    ROWS_EPOCH_DUE,
    ROWS_EPOCH_AGED,
    ROWS_FIND,
    ROWS_MAKE,
    ROWS_SINGLE,
    ROWS_RESERVE,
    ROWS_PUBLISH,
    ROWS_PUBLISH_MANY,
    ROWS_USED,
    ROWS_LOOK,
    ROWS_EXPIRED,
    ROWS_BURY_RANGE,
    ROWS_CUT_RANGE,
    ROWS_FREE_RANGE,
    ROWS_RETURN_RANGE,
    ROWS_FOLD,
    ROWS_FORGET,
    ROWS_PROMOTE,
    ROWS_HOLDER,
    ROWS_ALIVE,
    ROWS_HOLD,
    ROWS_NEXT,
    ROWS_TAKE,
    ROWS_TAKE_RANGE,
    ROWS_DONE,
    ROWS_DONE_RANGE,
    ROWS_RETURN,
    ROWS_RETRY,
    ROWS_BURY,
    ROWS_KEEP,
    ROWS_MINE,
    ROWS_STATS,
    ROWS_DEAD,
    ROWS_REVIVE,
    ROWS_DROP,
    ROWS_STATEMENTS
};

extern const char queue_rows_schema[];
extern const char *const queue_rows_text[ROWS_STATEMENTS];

/* A queue that this process has used. */
struct queue_line {
    int64_t number;
    int64_t next, end; /* reserved places */
    char name[];
};

struct queue_place {
    struct queue base;
    struct sql *db;
    struct sql_statement *st[ROWS_STATEMENTS];
    int64_t me;
    bool server;      /* others change rows during a transaction */
    bool used;        /* there may be rows of mine in queue_users */
    uint64_t kept;    /* when their lease began, by clock_ms() */
    struct map lines; /* by name */
    int64_t *changed; /* what sql_do_many() reports per row */
    size_t room;
};

/* --- rows.c --- */

static inline struct queue_place *queue_rows_of(struct queue *q)
{
    return (struct queue_place *)q;
}

/* Run a step that may be repeated. */
enum seen_code queue_rows_transact(struct queue_place *p, sql_work *work,
                                   void *owner, struct seen_error *why);

/* Execute a statement that has numbers as its first parameters. */
enum seen_code queue_rows_do_numbers(struct queue_place *p, int statement,
                                     const int64_t *number, int n,
                                     struct seen_error *why);

#define ROWS_DO(p, statement, why, ...) \
    queue_rows_do_numbers( \
        p, statement, (const int64_t[]){ __VA_ARGS__ }, \
        sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), why)

/* The queue with this name, made if it is missing. */
enum seen_code queue_rows_get_line(struct queue_place *p, const char *name,
                                   struct queue_line **out,
                                   struct seen_error *why);
/* The queue with this name, which must be there. */
enum seen_code queue_rows_known_line(struct queue_place *p, const char *name,
                                     struct queue_line **out,
                                     struct seen_error *why);

/* Room for n numbers in p->changed. */
bool queue_rows_changed_room(struct queue_place *p, size_t n);

/* --- rows_users.c --- */

/* Count what this process did with a queue; its lease begins again. */
enum seen_code queue_rows_count(struct queue_place *p, int64_t queue,
                                int64_t last, int64_t published, int64_t done,
                                int64_t inside, struct seen_error *why);

/* How far from now, in ms, the end of a lease, and the next attempt of a
   message, can be at most. */
int64_t queue_rows_lease_most(const struct queue_place *p);
int64_t queue_rows_pause_most(const struct queue_place *p);

/* Give back what users had whose lease ended. */
enum seen_code queue_rows_reap(struct queue_place *p, struct seen_error *why);

/* This process goes: an end of its own will counts no attempt. For
   queue_rows_transact(). */
enum seen_code queue_rows_leave(void *owner, struct sql *db,
                                struct seen_error *why);

/* A consumer that asks for messages is alive. */
enum seen_code queue_rows_keep_if_due(struct queue_place *p,
                                      struct seen_error *why);

/* --- the table of functions, as in backend.h --- */

enum seen_code queue_rows_keep(struct queue *q, struct seen_error *why);
enum seen_code queue_rows_publish(struct queue *q, const char *name,
                                  const struct queue_message *message,
                                  size_t n, struct seen_error *why);
enum seen_code queue_rows_take(struct queue *q, const char *name,
                               unsigned most, unsigned ms,
                               struct queue_batch *batch,
                               struct seen_error *why);
enum seen_code queue_rows_done(struct queue *q,
                               const struct queue_message *message, size_t n,
                               struct seen_error *why);
enum seen_code queue_rows_give_back(struct queue *q,
                                    const struct queue_message *message,
                                    size_t n, struct seen_error *why);
enum seen_code queue_rows_retry(struct queue *q, const struct queue_message *m,
                                struct seen_span reason,
                                struct seen_error *why);
enum seen_code queue_rows_reject(struct queue *q,
                                 const struct queue_message *m,
                                 struct seen_span reason,
                                 struct seen_error *why);
enum seen_code queue_rows_stats(struct queue *q, queue_take_stats *take_stats,
                                void *owner, struct seen_error *why);
enum seen_code queue_rows_dead(struct queue *q, const char *name,
                               unsigned most, queue_take_dead *take_dead,
                               void *owner, struct seen_error *why);
enum seen_code queue_rows_revive(struct queue *q, const char *name,
                                 const char *id, uint64_t *n,
                                 struct seen_error *why);
enum seen_code queue_rows_drop(struct queue *q, const char *name,
                               const char *id, uint64_t *n,
                               struct seen_error *why);

#endif
