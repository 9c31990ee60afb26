/*
 * rows_operate.c - counts and dead letters of queues that are rows.
 *
 * What people and monitoring ask for, beside the work: no row that a consumer
 * needs is locked here, except while dead letters are moved. Moving them back
 * is one transaction: copies whose id is in the queue again are not added
 * twice, and all originals go.
 */
#include "rows.h"

#include "../lib/text/span.h"

enum seen_code queue_rows_stats(struct queue *q, queue_take_stats *take_stats,
                                void *owner, struct seen_error *why)
{
    struct sql_statement *st = queue_rows_of(q)->st[ROWS_STATS];
    enum seen_code code;
    bool row;

    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct queue_stats s = { .name = sql_text(st, 0),
                                 .published = sql_number(st, 1),
                                 .done = sql_number(st, 2),
                                 .ready = sql_number(st, 3),
                                 .taken = sql_number(st, 4),
                                 .waiting = sql_number(st, 5),
                                 .dead = sql_number(st, 6),
                                 .oldest = sql_number(st, 7) };

        s.ready -= s.taken + s.waiting;
        if (sql_is_null(st, 7))
            s.oldest = -1;
        if (!take_stats(owner, &s)) {
            sql_reset(st);
            break;
        }
    }
    return code;
}

enum seen_code queue_rows_dead(struct queue *q, const char *name,
                               unsigned most, queue_take_dead *take_dead,
                               void *owner, struct seen_error *why)
{
    struct queue_place *p = queue_rows_of(q);
    struct sql_statement *st = p->st[ROWS_DEAD];
    struct queue_line *line;
    enum seen_code code = queue_rows_known_line(p, name, &line, why);
    bool row;

    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, line->number * ROWS_RANGE);
    sql_bind_number(st, 2, (line->number + 1) * ROWS_RANGE);
    sql_bind_number(st, 3, most);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct queue_message m = { .id = sql_text(st, 2),
                                   .body = sql_text(st, 4),
                                   .attempt = (unsigned)sql_number(st, 1),
                                   .reason = sql_text(st, 3),
                                   .tag = (uint64_t)sql_number(st, 0) };

        if (!take_dead(owner, &m)) {
            sql_reset(st);
            break;
        }
    }
    return code;
}

struct moving {
    struct queue_place *p;
    const struct queue_line *line;
    const char *id;
    bool revive;
    uint64_t n;
};

static enum seen_code move_one_way(struct moving *w, int statement,
                                   struct seen_error *why)
{
    struct sql_statement *st = w->p->st[statement];

    sql_bind_number(st, 1, w->line->number * ROWS_RANGE);
    sql_bind_number(st, 2, (w->line->number + 1) * ROWS_RANGE);
    if (w->id)
        sql_bind_bytes(st, 3, span_of(w->id));
    else
        sql_bind_null(st, 3);
    return sql_do(st, why);
}

static enum seen_code move_dead(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct moving *w = owner;
    enum seen_code code = SEEN_OK;
    int64_t back = 0;

    if (w->revive) {
        code = move_one_way(w, ROWS_REVIVE, why);
        back = code == SEEN_OK ? sql_changes(db) : 0;
    }
    if (code == SEEN_OK)
        code = move_one_way(w, ROWS_DROP, why);
    if (code == SEEN_OK)
        w->n = (uint64_t)sql_changes(db);
    if (code == SEEN_OK && back)
        code = queue_rows_count(w->p, w->line->number, 0, 0, 0, back, why);
    return code;
}

enum seen_code queue_rows_revive(struct queue *q, const char *name,
                                 const char *id, uint64_t *n,
                                 struct seen_error *why)
{
    struct moving w = { .p = queue_rows_of(q), .id = id, .revive = true };
    struct queue_line *line;
    enum seen_code code = queue_rows_known_line(w.p, name, &line, why);

    w.line = line;
    if (code == SEEN_OK)
        code = queue_rows_transact(w.p, move_dead, &w, why);
    *n = w.n;
    return code;
}

enum seen_code queue_rows_drop(struct queue *q, const char *name,
                               const char *id, uint64_t *n,
                               struct seen_error *why)
{
    struct moving w = { .p = queue_rows_of(q), .id = id };
    struct queue_line *line;
    enum seen_code code = queue_rows_known_line(w.p, name, &line, why);

    w.line = line;
    if (code == SEEN_OK)
        code = queue_rows_transact(w.p, move_dead, &w, why);
    *n = w.n;
    return code;
}
