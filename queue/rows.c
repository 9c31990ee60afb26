/*
 * rows.c - queues as rows of a database: a SQLite file, or PostgreSQL.
 *
 * One table has the messages of all queues, in the order of their numbers:
 *
 *       63        40                     0
 *      +------------+---------------------+
 *   n  |   queue    |  place in the queue |     n of a message that waits
 *      +------------+---------------------+     for its next attempt is -n
 *
 * A queue is a range of the primary key, so that the next messages are read
 * from its beginning, and no index has to be kept for that. The one index is
 * the unique one over ids. Messages that wait are out of the range: however
 * many there are, no consumer has to step over them. Places are reserved in
 * blocks, so that publishers of one queue do not wait for each other's commits
 * on a server, and are never used again.
 *
 * A message that is taken has the number of its consumer in `owner`. A message
 * has no lease of its own; the consumer has one, in its row of `queue_users`
 * for this queue, with the highest number it took. If the lease ends, the
 * next one who asks gives back what the row's owner had up to there, and
 * deletes the row. A late queue_done() of that owner then finds neither its
 * number nor its attempt, and changes nothing.
 *
 * The attempt is counted when a message is taken, so a death counts. Messages
 * that were taken twice already are delivered alone: one that kills its
 * consumers then becomes a dead letter alone, and not with its neighbours.
 *
 * Counts (published, done, inside: rows in the table) are in the rows of
 * users and are added up by readers: on a server many processes would queue up
 * for one row. They are in the transactions that change the messages, so that
 * they are exact and nobody has to count a long queue.
 *
 * SQLite overwrites a row in place if its length stays. Owners are numbers of
 * 62 random bits, and "none" is as long as they are: to take a message that
 * has a body of many pages changes one page.
 */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/text/array.h"
#include "../lib/text/buffer.h"
#include "../lib/text/memory.h"
#include "../lib/text/random.h"
#include "../lib/text/span.h"

enum seen_code queue_rows_transact(struct queue_place *p, sql_work *work,
                                   void *owner, struct seen_error *why)
{
    return sql_transact(p->db, work, owner, p->base.settings.patience, why);
}

enum seen_code queue_rows_do_numbers(struct queue_place *p, int statement,
                                     const int64_t *number, int n,
                                     struct seen_error *why)
{
    for (int i = 0; i < n; i++)
        sql_bind_number(p->st[statement], i + 1, number[i]);
    return sql_do(p->st[statement], why);
}

/* --- open and close --- */

/* SEEN_ABSENT: there are no tables, or they cannot be read; to make them
   shows which. */
static enum seen_code check_version(struct queue_place *p,
                                    struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool row, same;

    if (!p->st[ROWS_FACT])
        code = sql_prepare(&p->st[ROWS_FACT], p->db,
                           queue_rows_text[ROWS_FACT], why);
    if (code == SEEN_OK) {
        sql_bind_text(p->st[ROWS_FACT], 1, span_of("version"));
        code = sql_step(p->st[ROWS_FACT], &row, why);
    }
    if (code != SEEN_OK)
        return code == SEEN_UNABLE ? SEEN_ABSENT : code;
    if (!row)
        return SEEN_ABSENT;
    same = span_is(sql_text(p->st[ROWS_FACT], 0), ROWS_VERSION);
    sql_reset(p->st[ROWS_FACT]);
    return same ? SEEN_OK
                : seen_fail(why, SEEN_MISMATCH, 0,
                            "%s: the queues are of another version of seen",
                            sql_name(p->db));
}

static enum seen_code create_tables(void *owner, struct sql *db,
                                    struct seen_error *why)
{
    (void)owner;
    return sql_run(db, queue_rows_schema, why);
}

/* Another process may make them at the same time. PostgreSQL then fails one
   of the two, which finds the tables of the other one. */
static enum seen_code make_tables(struct queue_place *p,
                                  struct seen_error *why)
{
    enum seen_code code = check_version(p, why), made;
    const struct timespec pause = { .tv_nsec = 50000000 };

    for (int i = 0; code == SEEN_ABSENT && i < 20; i++) {
        made = queue_rows_transact(p, create_tables, NULL, why);
        code = check_version(p, made == SEEN_OK ? why : NULL);
        if (code == SEEN_ABSENT && made == SEEN_OK)
            return seen_fail(why, SEEN_CORRUPT, 0,
                             "%s: the tables of queues are not complete",
                             sql_name(p->db));
        if (code == SEEN_ABSENT && i == 19)
            code = made;
        else if (code == SEEN_ABSENT)
            nanosleep(&pause, NULL);
    }
    return code;
}

/* Find out which start of the machine the times in the tables count from.
   *noted: this process has noted its own start there already. */
static enum seen_code read_epoch(struct queue_place *p, enum sql_start *start,
                                 bool *noted, struct seen_error *why)
{
    struct sql_statement *st = p->st[ROWS_FACT];
    enum seen_code code;
    bool row;

    sql_bind_text(st, 1, span_of("epoch"));
    code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    *start = row ? sql_start_of(p->db, sql_text(st, 0)) : SQL_START_ANOTHER;
    *noted = row && span_is(sql_text(st, 0), sql_epoch(p->db));
    sql_reset(st);
    return SEEN_OK;
}

/* The machine was started again: no process that was there before is there now,
   and the times in the tables mean nothing. If that is not known, those who
   live keep what they have, and times that cannot be are distrusted
   (queue_rows_lease_most()). */
static enum seen_code begin_epoch(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    struct queue_place *p = owner;
    enum sql_start start;
    enum seen_code code;
    bool noted;

    code = read_epoch(p, &start, &noted, why);
    if (code != SEEN_OK || noted)
        return code;
    sql_bind_text(p->st[ROWS_EPOCH], 1, span_of(sql_epoch(db)));
    code = sql_do(p->st[ROWS_EPOCH], why);
    if (code != SEEN_OK || start != SQL_START_ANOTHER)
        return code;
    code = sql_do(p->st[ROWS_EPOCH_USERS], why);
    if (code == SEEN_OK)
        code = sql_do(p->st[ROWS_EPOCH_DUE], why);
    return code == SEEN_OK ? sql_do(p->st[ROWS_EPOCH_AGED], why) : code;
}

static enum seen_code check_epoch(struct queue_place *p,
                                  struct seen_error *why)
{
    enum sql_start start;
    enum seen_code code;
    bool noted;

    if (!*sql_epoch(p->db))
        return SEEN_OK;
    code = read_epoch(p, &start, &noted, why);
    return code != SEEN_OK || noted
               ? code
               : queue_rows_transact(p, begin_epoch, p, why);
}

/* For those who only look. */
static enum seen_code open_to_look(struct queue_place *p,
                                   struct seen_error *why)
{
    static const int used[] = { ROWS_FIND, ROWS_STATS, ROWS_DEAD };
    enum seen_code code = check_version(p, why);

    if (code == SEEN_ABSENT)
        return seen_fail(why, SEEN_ABSENT, 0, "%s has no queues",
                         sql_name(p->db));
    for (size_t i = 0; code == SEEN_OK && i < sizeof used / sizeof *used; i++)
        code = sql_prepare(&p->st[used[i]], p->db, queue_rows_text[used[i]],
                           why);
    return code;
}

static enum seen_code prepare_many(struct queue_place *p,
                                   struct seen_error *why)
{
    struct buffer text = { .bytes = NULL };
    enum seen_code code;
    char *whole;

    buffer_text(&text, "INSERT INTO queue_messages (n, queue, owner, attempt, "
                       "due, since, id, body) VALUES ");
    for (unsigned i = 0; i < ROWS_MANY; i++)
        buffer_format(&text,
                      "%s(?%u, ?1, " ROWS_NOBODY ", 0, 0, {now}, ?%u, ?%u)",
                      i ? ", " : "", 3 * i + 2, 3 * i + 3, 3 * i + 4);
    buffer_text(&text, " ON CONFLICT DO NOTHING");
    whole = buffer_take(&text);
    if (!whole)
        return no_memory_for(why, "messages");
    code = sql_prepare(&p->st[ROWS_PUBLISH_MANY], p->db, whole, why);
    free(whole);
    return code;
}

static enum seen_code rows_open(struct queue *q, const char *where,
                                struct seen_error *why)
{
    struct queue_place *p = queue_rows_of(q);
    enum sql_access access = q->settings.looks      ? SQL_READ
                             : q->settings.existing ? SQL_WRITE
                                                    : SQL_CREATE;
    enum seen_code code = sql_connect(&p->db, where, access, why);

    random_fill(&p->me, sizeof p->me);
    p->me = (p->me & (ROWS_NOBODY_NUMBER - 1)) | ROWS_NOBODY_NUMBER;
    p->me += p->me == ROWS_NOBODY_NUMBER;
    if (code != SEEN_OK)
        return code;
    p->server = sql_is_url(where);
    q->name = strdup(sql_name(p->db));
    if (!q->name)
        return no_memory_for(why, "messages");
    if (q->settings.looks)
        return open_to_look(p, why);
    if (q->settings.relaxed && !sql_is_url(where))
        code = sql_relax(p->db, true, why);
    if (code == SEEN_OK)
        code = make_tables(p, why);
    for (int i = 0; code == SEEN_OK && i < ROWS_STATEMENTS; i++)
        if (i != ROWS_FACT && queue_rows_text[i])
            code = sql_prepare(&p->st[i], p->db, queue_rows_text[i], why);
    if (code == SEEN_OK)
        code = prepare_many(p, why);
    return code == SEEN_OK ? check_epoch(p, why) : code;
}

static void rows_close(struct queue *q)
{
    struct queue_place *p = queue_rows_of(q);
    struct queue_line *line;

    if (p->used) /* if it fails, the lease ends by itself */
        sql_transact(p->db, queue_rows_leave, p, 0, NULL);
    sql_close(p->db);
    for (size_t at = 0; (line = map_next(&p->lines, &at));)
        free(line);
    map_clear(&p->lines);
    free(p->changed);
}

/* --- queues and their places --- */

static enum seen_code find_line(struct queue_place *p, const char *name,
                                struct queue_line **out,
                                struct seen_error *why)
{
    struct sql_statement *st = p->st[ROWS_FIND];
    struct queue_line *line;
    enum seen_code code;
    size_t len = strlen(name);
    bool row;

    *out = NULL;
    sql_bind_text(st, 1, span_of(name));
    code = sql_step(st, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    line = calloc(1, sizeof *line + len + 1);
    if (line) {
        line->number = sql_number(st, 0);
        memcpy(line->name, name, len);
    }
    sql_reset(st);
    if (!line || !map_set(&p->lines, line->name, len, line)) {
        free(line);
        return no_memory_for(why, "messages");
    }
    *out = line;
    return SEEN_OK;
}

struct making {
    struct queue_place *p;
    const char *name;
    bool single;
    struct queue_line *line;
};

static enum seen_code make_line(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct making *m = owner;
    struct sql_statement *st = m->p->st[ROWS_MAKE];
    enum seen_code code = SEEN_OK;

    (void)db;
    if (!m->line)
        code = find_line(m->p, m->name, &m->line, why);
    if (code == SEEN_OK && !m->line) {
        sql_bind_text(st, 1, span_of(m->name));
        sql_bind_number(st, 2, m->single);
        code = sql_do(st, why);
        if (code == SEEN_OK)
            code = find_line(m->p, m->name, &m->line, why);
    }
    if (code == SEEN_OK && m->single) {
        sql_bind_text(m->p->st[ROWS_SINGLE], 1, span_of(m->name));
        code = sql_do(m->p->st[ROWS_SINGLE], why);
    }
    return code;
}

/* The queue with this name, made if it is missing. */
enum seen_code queue_rows_get_line(struct queue_place *p, const char *name,
                                   struct queue_line **out,
                                   struct seen_error *why)
{
    struct making m = { .p = p, .name = name };
    enum seen_code code = SEEN_OK;

    *out = map_get(&p->lines, name, strlen(name));
    if (*out)
        return SEEN_OK;
    code = queue_rows_transact(p, make_line, &m, why);
    *out = m.line;
    return code;
}

/* The queue with this name, which must be there. */
enum seen_code queue_rows_known_line(struct queue_place *p, const char *name,
                                     struct queue_line **out,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    *out = map_get(&p->lines, name, strlen(name));
    if (!*out)
        code = find_line(p, name, out, why);
    if (code == SEEN_OK && !*out)
        return seen_fail(why, SEEN_ABSENT, 0, "there is no queue named %s",
                         name);
    return code;
}

static enum seen_code queue_rows_make(struct queue *q, const char *name,
                                      bool single, struct seen_error *why)
{
    struct making m = { .p = queue_rows_of(q),
                        .name = name,
                        .single = single,
                        .line = map_get(&queue_rows_of(q)->lines, name,
                                        strlen(name)) };

    return queue_rows_transact(m.p, make_line, &m, why);
}

bool queue_rows_changed_room(struct queue_place *p, size_t n)
{
    int64_t *more = array_grow(p->changed, &p->room, n, sizeof *more);

    if (more)
        p->changed = more;
    return more != NULL;
}

/* --- the door --- */

const struct queue_backend queue_rows = {
    .schemes = { "sqlite:", "postgresql://", "postgres://" },
    .size = sizeof(struct queue_place),
    .open = rows_open,
    .close = rows_close,
    .make = queue_rows_make,
    .publish = queue_rows_publish,
    .take = queue_rows_take,
    .done = queue_rows_done,
    .retry = queue_rows_retry,
    .reject = queue_rows_reject,
    .give_back = queue_rows_give_back,
    .keep = queue_rows_keep,
    .stats = queue_rows_stats,
    .dead = queue_rows_dead,
    .revive = queue_rows_revive,
    .drop = queue_rows_drop,
};
