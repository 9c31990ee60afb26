/*
 * rows_users.c - processes that use queues: their leases, their counts, and
 * what becomes of their messages when they go or die.
 */
#include "rows.h"

#include "../lib/disk/clock.h"
#include "../lib/text/span.h"

enum {
    REAPED = 64, /* dead users per transaction */
    LEASE_MOST = 600000, /* ms, ten times that of all programs */
    HOUR = 3600000,
    DAY = 24 * HOUR
};

#define DIED "its consumers died"

/* A row of queue_users. */
struct user {
    int64_t number, queue, last, published, done, inside;
};

static enum seen_code read_users(struct sql_statement *st, struct user *user,
                                 int most, int *n, struct seen_error *why)
{
    enum seen_code code;
    bool row;

    *n = 0;
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        user[(*n)++] = (struct user){ sql_number(st, 0), sql_number(st, 1),
                                      sql_number(st, 2), sql_number(st, 3),
                                      sql_number(st, 4), sql_number(st, 5) };
        if (*n == most) {
            sql_reset(st);
            break;
        }
    }
    return code;
}

/* The clock of a machine is never set; that of a server may have been ahead,
   and come back while its consumers live. */
static int64_t with_steps(const struct queue_place *p, int64_t ms)
{
    return p->server ? ms + DAY : ms;
}

int64_t queue_rows_lease_most(const struct queue_place *p)
{
    int64_t mine = p->base.settings.lease;

    return with_steps(p, mine > LEASE_MOST ? mine : LEASE_MOST);
}

int64_t queue_rows_pause_most(const struct queue_place *p)
{
    int64_t most = HOUR;

    for (int i = 0; i < QUEUE_TRIES - 1; i++)
        if (p->base.settings.pauses[i] > most)
            most = p->base.settings.pauses[i];
    return with_steps(p, most);
}

/* Give back what a user has, and forget it. */
static enum seen_code forget_user(struct queue_place *p, const struct user *u,
                                  bool died, struct seen_error *why)
{
    const int64_t first = u->queue * ROWS_RANGE;
    enum seen_code code = SEEN_OK;
    int64_t dead = 0;

    if (died) {
        sql_bind_bytes(p->st[ROWS_BURY_RANGE], 5, span_of(DIED));
        code = ROWS_DO(p, ROWS_BURY_RANGE, why, first, u->last, u->number,
                       QUEUE_TRIES);
        dead = code == SEEN_OK ? sql_changes(p->db) : 0;
        if (dead)
            code = ROWS_DO(p, ROWS_CUT_RANGE, why, first, u->last, u->number,
                           QUEUE_TRIES);
    }
    if (code == SEEN_OK)
        code = ROWS_DO(p, died ? ROWS_FREE_RANGE : ROWS_RETURN_RANGE, why,
                       first, u->last, u->number);
    if (code == SEEN_OK)
        code = ROWS_DO(p, ROWS_FOLD, why, u->queue, u->published, u->done,
                       u->inside - dead);
    return code == SEEN_OK ? ROWS_DO(p, ROWS_FORGET, why, u->number, u->queue)
                           : code;
}

enum seen_code queue_rows_reap(struct queue_place *p, struct seen_error *why)
{
    struct user user[REAPED];
    enum seen_code code;
    int n;

    sql_bind_number(p->st[ROWS_EXPIRED], 1, REAPED);
    sql_bind_number(p->st[ROWS_EXPIRED], 2, queue_rows_lease_most(p));
    code = read_users(p->st[ROWS_EXPIRED], user, REAPED, &n, why);
    for (int i = 0; code == SEEN_OK && i < n; i++)
        code = forget_user(p, &user[i], true, why);
    return code;
}

/* This process goes: an end of its own will counts no attempt. */
enum seen_code queue_rows_leave(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct queue_place *p = owner;
    struct user user[REAPED];
    enum seen_code code;
    int n;

    (void)db;
    do {
        sql_bind_number(p->st[ROWS_MINE], 1, p->me);
        code = read_users(p->st[ROWS_MINE], user, REAPED, &n, why);
        for (int i = 0; code == SEEN_OK && i < n; i++)
            code = forget_user(p, &user[i], false, why);
    } while (code == SEEN_OK && n == REAPED);
    return code;
}

/* Count what this process did with a queue; its lease begins again. */
enum seen_code queue_rows_count(struct queue_place *p, int64_t queue,
                                int64_t last, int64_t published, int64_t done,
                                int64_t inside, struct seen_error *why)
{
    struct sql_statement *st = p->st[ROWS_USED];

    p->used = true;
    sql_bind_number(st, 1, p->me);
    sql_bind_number(st, 2, queue);
    sql_bind_text(st, 3, span_of(p->base.owner));
    sql_bind_number(st, 4, p->base.settings.lease);
    sql_bind_number(st, 5, last);
    sql_bind_number(st, 6, published);
    sql_bind_number(st, 7, done);
    sql_bind_number(st, 8, inside);
    return sql_do(st, why);
}

static enum seen_code keep(void *owner, struct sql *db, struct seen_error *why)
{
    struct queue_place *p = owner;

    (void)db;
    return ROWS_DO(p, ROWS_KEEP, why, p->me, p->base.settings.lease);
}

enum seen_code queue_rows_keep(struct queue *q, struct seen_error *why)
{
    struct queue_place *p = queue_rows_of(q);
    uint64_t now = clock_ms();
    enum seen_code code = p->used ? queue_rows_transact(p, keep, p, why)
                                  : SEEN_OK;

    if (code == SEEN_OK)
        p->kept = now;
    return code;
}

/* A consumer that asks for messages is alive. */
enum seen_code queue_rows_keep_if_due(struct queue_place *p,
                                      struct seen_error *why)
{
    return p->used && clock_ms() - p->kept > p->base.settings.lease / 3
               ? queue_rows_keep(&p->base, why)
               : SEEN_OK;
}
