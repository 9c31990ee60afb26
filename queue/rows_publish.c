/*
 * rows_publish.c - publish messages to queues that are rows.
 *
 * A message needs a place in its queue. Places are reserved in blocks of BLOCK
 * by a transaction of their own, which is short; the messages then need no
 * common row, so that publishers do not wait for each other's commits. Places
 * of a process that died are never used, which costs nothing: only their order
 * matters.
 *
 * On SQLite ROWS_MANY messages are one statement; a server gets all of them in
 * one go. An id that is there already is passed over: publishing twice is
 * publishing once.
 */
#include "rows.h"

#include <string.h>

#include "../lib/text/memory.h"

enum { BLOCK = 1000 }; /* places that are reserved at once */

struct publishing {
    struct queue_place *p;
    struct queue_line *line;
    const struct queue_message *message;
    size_t n;
    size_t from; /* messages from this one on are inserted one by one */
};

static enum seen_code reserve(void *owner, struct sql *db,
                              struct seen_error *why)
{
    struct publishing *w = owner;
    struct sql_statement *st = w->p->st[ROWS_RESERVE];
    int64_t n = w->n > BLOCK ? (int64_t)w->n : BLOCK;
    enum seen_code code;
    bool row;

    (void)db;
    sql_bind_number(st, 1, w->line->number);
    sql_bind_number(st, 2, n);
    code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    if (!row)
        return seen_fail(why, SEEN_CORRUPT, 0, "the queue %s is gone",
                         w->line->name);
    w->line->end = sql_number(st, 0);
    w->line->next = w->line->end - n;
    return sql_do(st, why); /* to its end: RETURNING has more steps */
}

static int64_t number_of(const struct publishing *w, size_t i)
{
    return w->line->number * ROWS_RANGE + w->line->next + (int64_t)i;
}

static void bind_message(void *owner, struct sql_statement *st, size_t i)
{
    const struct publishing *w = owner;

    i += w->from;
    sql_bind_number(st, 1, number_of(w, i));
    sql_bind_number(st, 2, w->line->number);
    sql_bind_bytes(st, 3, w->message[i].id);
    sql_bind_bytes(st, 4, w->message[i].body);
}

static int64_t sum(const int64_t *of, size_t n)
{
    int64_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += of[i];
    return all;
}

/* MANY messages per statement, on SQLite; the rest has one each. */
static enum seen_code insert_many(struct publishing *w, size_t *n,
                                  int64_t *stored, struct seen_error *why)
{
    struct sql_statement *st = w->p->st[ROWS_PUBLISH_MANY];
    enum seen_code code = SEEN_OK;

    for (; code == SEEN_OK && *n + ROWS_MANY <= w->n; *n += ROWS_MANY) {
        sql_bind_number(st, 1, w->line->number);
        for (size_t i = 0; i < ROWS_MANY; i++) {
            int at = (int)(3 * i);

            sql_bind_number(st, at + 2, number_of(w, *n + i));
            sql_bind_bytes(st, at + 3, w->message[*n + i].id);
            sql_bind_bytes(st, at + 4, w->message[*n + i].body);
        }
        code = sql_do(st, why);
        *stored += code == SEEN_OK ? sql_changes(w->p->db) : 0;
    }
    return code;
}

static enum seen_code insert(void *owner, struct sql *db,
                             struct seen_error *why)
{
    struct publishing *w = owner;
    struct queue_place *p = w->p;
    enum seen_code code = SEEN_OK;
    int64_t stored = 0;

    (void)db;
    w->from = 0;
    if (!p->server)
        code = insert_many(w, &w->from, &stored, why);
    if (code == SEEN_OK)
        code = sql_do_many(p->st[ROWS_PUBLISH], bind_message, w,
                           w->n - w->from, p->changed, why);
    if (code != SEEN_OK)
        return code;
    stored += sum(p->changed, w->n - w->from);
    return queue_rows_count(p, w->line->number, 0, stored, 0, stored, why);
}

enum seen_code queue_rows_publish(struct queue *q, const char *name,
                                  const struct queue_message *message,
                                  size_t n, struct seen_error *why)
{
    struct publishing w = { .p = queue_rows_of(q),
                            .message = message,
                            .n = n };
    enum seen_code code = queue_rows_get_line(w.p, name, &w.line, why);

    if (code != SEEN_OK)
        return code;
    if (!queue_rows_changed_room(w.p, n))
        return no_memory_for(why, "messages");
    if (w.line->end - w.line->next < (int64_t)n)
        code = queue_rows_transact(w.p, reserve, &w, why);
    if (code != SEEN_OK) {
        w.line->next = w.line->end = 0; /* they may be somebody else's */
        return code;
    }
    code = queue_rows_transact(w.p, insert, &w, why);
    /* After a fault, too: if the connection was lost in the commit, messages
       may have these places, and others that got them would be lost. */
    w.line->next += (int64_t)n;
    return code;
}
