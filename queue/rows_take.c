/*
 * rows_take.c - take messages from queues that are rows: look whether there are
 * any, give back those of the dead, and note who has them.
 */
#include "rows.h"

#include <time.h>

#include "../lib/disk/clock.h"
#include "../lib/text/buffer.h"
#include "../lib/text/memory.h"

enum {
    ALONE = 2,            /* earlier attempts of a message delivered alone */
    POLL_MOST = 100,      /* ms */
    BATCH_MOST = 64 << 20 /* bytes; a batch with more ends */
};

struct collecting {
    struct queue_place *p;
    const struct queue_line *line;
    unsigned most;
    struct queue_batch *batch;
    bool ready, due, expired, held, single, claim;
};

static enum seen_code look(struct collecting *w, struct seen_error *why)
{
    struct sql_statement *st = w->p->st[ROWS_LOOK];
    enum seen_code code;
    bool row;

    sql_bind_number(st, 1, w->line->number * ROWS_RANGE);
    sql_bind_number(st, 2, (w->line->number + 1) * ROWS_RANGE);
    sql_bind_number(st, 3, w->line->number);
    sql_bind_number(st, 4, w->p->me);
    sql_bind_number(st, 5, queue_rows_lease_most(w->p));
    sql_bind_number(st, 6, queue_rows_pause_most(w->p));
    code = sql_step(st, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    w->ready = sql_number(st, 0) != 0;
    w->due = sql_number(st, 1) != 0;
    w->expired = sql_number(st, 2) != 0;
    w->held = sql_number(st, 3) != 0;
    w->single = sql_number(st, 4) != 0;
    w->claim = sql_number(st, 4) == 2;
    sql_reset(st);
    return SEEN_OK;
}

/* May this process read the queue? If nobody does, it does from now on. */
static enum seen_code hold(struct queue_place *p,
                           const struct queue_line *line, bool *mine,
                           struct seen_error *why)
{
    struct sql_statement *st = p->st[ROWS_HOLDER];
    int64_t holder = p->me;
    enum seen_code code;
    bool row, alive;

    *mine = false;
    sql_bind_number(st, 1, line->number);
    code = sql_step(st, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    holder = sql_number(st, 0);
    sql_reset(st);
    *mine = holder == p->me;
    if (*mine)
        return SEEN_OK;
    st = p->st[ROWS_ALIVE];
    sql_bind_number(st, 1, holder);
    sql_bind_number(st, 2, line->number);
    sql_bind_number(st, 3, queue_rows_lease_most(p));
    code = sql_step(st, &alive, why);
    if (code != SEEN_OK || alive) {
        sql_reset(st);
        return code;
    }
    *mine = true;
    return ROWS_DO(p, ROWS_HOLD, why, line->number, p->me);
}

static enum seen_code read_next(struct collecting *w, struct seen_error *why)
{
    struct sql_statement *st = w->p->st[ROWS_NEXT];
    const struct buffer *kept;
    struct queue_message m;
    enum seen_code code;
    bool row;

    sql_bind_number(st, 1, w->line->number * ROWS_RANGE);
    sql_bind_number(st, 2, (w->line->number + 1) * ROWS_RANGE);
    sql_bind_number(st, 3, w->most);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        m = (struct queue_message){ .id = sql_text(st, 2),
                                    .body = sql_text(st, 4),
                                    .attempt = (unsigned)sql_number(st, 1),
                                    .reason = sql_text(st, 3),
                                    .tag = (uint64_t)sql_number(st, 0) };
        if (m.attempt >= ALONE && w->batch->n)
            break;
        m.attempt++;
        if (!queue_batch_add(w->batch, &m)) {
            code = no_memory_for(why, "messages");
            break;
        }
        kept = w->batch->kept;
        if (m.attempt > ALONE || kept->len > BATCH_MOST)
            break;
    }
    if (code != SEEN_OK || row)
        sql_reset(st);
    return code;
}

static void bind_taken(void *owner, struct sql_statement *st, size_t i)
{
    const struct collecting *w = owner;

    sql_bind_number(st, 1, (int64_t)w->batch->message[i].tag);
    sql_bind_number(st, 2, w->p->me);
}

/*
 * Note that the messages of the batch are taken. They are all that nobody has
 * from the first to the last of them. In a SQLite file nobody else changes that
 * during the transaction, so one statement does it, which spares a tenth of the
 * time of a message. A server skipped rows that others are about to take.
 */
static enum seen_code note_taken(struct collecting *w, struct seen_error *why)
{
    struct queue_place *p = w->p;
    const struct queue_batch *b = w->batch;
    enum seen_code code;

    if (p->server)
        return sql_do_many(p->st[ROWS_TAKE], bind_taken, w, b->n, NULL, why);
    code = ROWS_DO(p, ROWS_TAKE_RANGE, why, (int64_t)b->message[0].tag,
                   (int64_t)b->message[b->n - 1].tag, p->me);
    if (code == SEEN_OK && sql_changes(p->db) != (int64_t)b->n)
        return seen_fail(why, SEEN_CORRUPT, 0, "%s: the queue is damaged",
                         sql_name(p->db));
    return code;
}

static enum seen_code take(void *owner, struct sql *db, struct seen_error *why)
{
    struct collecting *w = owner;
    struct queue_place *p = w->p;
    struct queue_batch *b = w->batch;
    enum seen_code code = SEEN_OK;
    bool mine = true;

    (void)db;
    b->n = 0; /* this may be the second time */
    if (b->kept)
        ((struct buffer *)b->kept)->len = 0;
    if (w->expired)
        code = queue_rows_reap(p, why);
    if (code == SEEN_OK && w->due)
        code = ROWS_DO(p, ROWS_PROMOTE, why, w->line->number,
                       queue_rows_pause_most(p));
    if (code == SEEN_OK && w->single)
        code = hold(p, w->line, &mine, why);
    if (code != SEEN_OK || !mine)
        return code;
    code = read_next(w, why);
    if (code == SEEN_OK && b->n)
        code = note_taken(w, why);
    if (code == SEEN_OK && (b->n || w->single))
        code = queue_rows_count(p, w->line->number,
                                b->n ? (int64_t)b->message[b->n - 1].tag : 0,
                                0, 0, 0, why);
    return code;
}

/*
 * After a power failure nobody has what was taken, so nobody has to know that
 * it was: the commit is not flushed, which spares a third of the flushes. A
 * publish or a done that follows is flushed together with it.
 */
static enum seen_code take_relaxed(struct collecting *w,
                                   struct seen_error *why)
{
    struct queue_place *p = w->p;
    bool strict = !p->base.settings.relaxed;
    enum seen_code code = strict ? sql_relax(p->db, true, why) : SEEN_OK, back;

    if (code != SEEN_OK)
        return code;
    code = queue_rows_transact(p, take, w, why);
    back = strict ? sql_relax(p->db, false, code == SEEN_OK ? why : NULL)
                  : SEEN_OK;
    return code == SEEN_OK ? back : code;
}

static void sleep_ms(uint64_t ms)
{
    struct timespec time = { (time_t)(ms / 1000),
                             (long)(ms % 1000) * 1000000 };

    nanosleep(&time, NULL);
}

enum seen_code queue_rows_take(struct queue *q, const char *name,
                               unsigned most, unsigned ms,
                               struct queue_batch *batch,
                               struct seen_error *why)
{
    struct collecting w = { .p = queue_rows_of(q),
                            .most = most,
                            .batch = batch };
    struct queue_line *line;
    enum seen_code code = queue_rows_get_line(w.p, name, &line, why);
    uint64_t began = clock_ms(), spent, pause = 1;

    w.line = line;
    if (code == SEEN_OK)
        code = queue_rows_keep_if_due(w.p, why);
    while (code == SEEN_OK) {
        /* A lost connection is made again by transact(). */
        if (look(&w, NULL) != SEEN_OK)
            w.ready = w.due = w.expired = true;
        if (w.expired || ((w.ready || w.due || w.claim) && !w.held))
            code = take_relaxed(&w, why);
        spent = clock_ms() - began;
        if (code != SEEN_OK || batch->n || spent >= ms)
            break;
        sleep_ms(pause < ms - spent ? pause : ms - spent);
        pause = pause * 2 < POLL_MOST ? pause * 2 : POLL_MOST;
        code = queue_rows_keep_if_due(w.p, why);
    }
    if (code != SEEN_OK)
        batch->n = 0;
    queue_batch_end(batch);
    return code;
}
