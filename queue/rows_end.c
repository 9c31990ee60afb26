/*
 * rows_end.c - what becomes of a message that was taken: it is done, given
 * back, tried again later, or a dead letter.
 */
#include "rows.h"

#include <string.h>

#include "../lib/text/memory.h"

struct ending {
    struct queue_place *p;
    const struct queue_message *message;
    size_t n;
    int statement;
    bool dead;
    struct seen_span reason;
    int64_t pause;
    bool missing;
};

static int64_t line_of(const struct queue_message *m)
{
    return (int64_t)m->tag / ROWS_RANGE;
}

static void bind_delivery(void *owner, struct sql_statement *st, size_t i)
{
    const struct ending *w = owner;

    sql_bind_number(st, 1, (int64_t)w->message[i].tag);
    sql_bind_number(st, 2, w->p->me);
    sql_bind_number(st, 3, w->message[i].attempt);
}

/* How many of the messages follow each other in their queue, and were taken
   as often. */
static size_t run_length(const struct queue_message *m, size_t n)
{
    size_t i = 1;

    while (i < n && m[i].tag == m[0].tag + i && m[i].attempt == m[0].attempt)
        i++;
    return i;
}

/* The same as DONE for each of them, on SQLite: batches are done as they were
   taken, so one statement ends all of them. */
static enum seen_code done_ranges(struct ending *w, struct seen_error *why)
{
    struct queue_place *p = w->p;
    enum seen_code code = SEEN_OK;
    size_t many;

    memset(p->changed, 0, w->n * sizeof *p->changed);
    for (size_t at = 0; code == SEEN_OK && at < w->n; at += many) {
        const struct queue_message *m = &w->message[at];
        int64_t first = (int64_t)m->tag;

        many = run_length(m, w->n - at);
        code = ROWS_DO(p, ROWS_DONE_RANGE, why, first,
                       first + (int64_t)many - 1, p->me, m->attempt);
        for (int64_t i = 0; code == SEEN_OK && i < sql_changes(p->db); i++)
            p->changed[at + (size_t)i] = 1; /* how many is what matters */
    }
    return code;
}

/* done, return: many messages, perhaps of several queues. */
static enum seen_code end_many(void *owner, struct sql *db,
                               struct seen_error *why)
{
    struct ending *w = owner;
    struct queue_place *p = w->p;
    enum seen_code code = w->statement == ROWS_DONE && !p->server
                              ? done_ranges(w, why)
                              : sql_do_many(p->st[w->statement], bind_delivery,
                                            w, w->n, p->changed, why);
    int64_t gone = 0, queue;

    (void)db;
    w->missing = false;
    for (size_t i = 0; code == SEEN_OK && i < w->n; i++) {
        queue = line_of(&w->message[i]);
        w->missing |= p->changed[i] == 0;
        gone += p->changed[i];
        if (w->statement != ROWS_DONE ||
            (i + 1 < w->n && line_of(&w->message[i + 1]) == queue) || !gone)
            continue;
        code = queue_rows_count(p, queue, 0, 0, gone, -gone, why);
        gone = 0;
    }
    return code;
}

static enum seen_code finish(struct queue_place *p, sql_work *work,
                             struct ending *w, struct seen_error *why)
{
    enum seen_code code;

    if (!queue_rows_changed_room(p, w->n))
        return no_memory_for(why, "messages");
    code = queue_rows_transact(p, work, w, why);
    if (code == SEEN_OK && w->missing)
        return seen_fail(why, SEEN_ABSENT, 0,
                         "the message was delivered again meanwhile");
    return code;
}

enum seen_code queue_rows_done(struct queue *q,
                               const struct queue_message *message, size_t n,
                               struct seen_error *why)
{
    struct ending w = { .p = queue_rows_of(q),
                        .message = message,
                        .n = n,
                        .statement = ROWS_DONE };

    return finish(w.p, end_many, &w, why);
}

enum seen_code queue_rows_give_back(struct queue *q,
                                    const struct queue_message *message,
                                    size_t n, struct seen_error *why)
{
    struct ending w = { .p = queue_rows_of(q),
                        .message = message,
                        .n = n,
                        .statement = ROWS_RETURN };

    return finish(w.p, end_many, &w, why);
}

static enum seen_code end_one(void *owner, struct sql *db,
                              struct seen_error *why)
{
    struct ending *w = owner;
    struct queue_place *p = w->p;
    struct sql_statement *st = p->st[w->dead ? ROWS_BURY : ROWS_RETRY];
    enum seen_code code;

    bind_delivery(w, st, 0);
    if (w->dead) {
        sql_bind_bytes(st, 4, w->reason);
    } else {
        sql_bind_number(st, 4, w->pause);
        sql_bind_bytes(st, 5, w->reason);
    }
    code = sql_do(st, why);
    w->missing = code == SEEN_OK && sql_changes(db) == 0;
    if (code != SEEN_OK || w->missing || !w->dead)
        return code;
    bind_delivery(w, p->st[ROWS_DONE], 0);
    code = sql_do(p->st[ROWS_DONE], why);
    return code == SEEN_OK
               ? queue_rows_count(p, line_of(w->message), 0, 0, 0, -1, why)
               : code;
}

enum seen_code queue_rows_retry(struct queue *q, const struct queue_message *m,
                                struct seen_span reason,
                                struct seen_error *why)
{
    struct ending w = {
        .p = queue_rows_of(q), .message = m, .n = 1, .reason = reason
    };

    w.dead = m->attempt >= QUEUE_TRIES;
    if (!w.dead)
        w.pause = q->settings.pauses[m->attempt ? m->attempt - 1 : 0];
    return finish(w.p, end_one, &w, why);
}

enum seen_code queue_rows_reject(struct queue *q,
                                 const struct queue_message *m,
                                 struct seen_span reason,
                                 struct seen_error *why)
{
    struct ending w = { .p = queue_rows_of(q),
                        .message = m,
                        .n = 1,
                        .reason = reason,
                        .dead = true };

    return finish(w.p, end_one, &w, why);
}
