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
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/disk/clock.h"
#include "../lib/text/array.h"
#include "../lib/text/buffer.h"
#include "../lib/text/map.h"
#include "../lib/text/random.h"
#include "../lib/text/span.h"
#include "../sql/sql.h"

enum {
    MANY = 25,            /* messages that one statement inserts */
    BLOCK = 1000,         /* places that are reserved at once */
    ALONE = 2,            /* earlier attempts of a message delivered alone */
    POLL_MOST = 100,      /* ms */
    REAPED = 64,          /* dead users per transaction */
    BATCH_MOST = 64 << 20 /* bytes; a batch with more ends */
};

#define VERSION "1"
#define NOBODY "4611686018427387904" /* 2^62; owners are above */
#define NOBODY_NUMBER ((int64_t)1 << 62)
#define RANGE_TEXT "1099511627776" /* 2^40 */
#define RANGE ((int64_t)1 << 40)
#define DIED "its consumers died"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS queues (number {id}, name TEXT NOT NULL "
    "UNIQUE, single {number} NOT NULL, owner {number} NOT NULL, next {number} "
    "NOT NULL, aged {number} NOT NULL, published {number} NOT NULL, done "
    "{number} NOT NULL, inside {number} NOT NULL);"
    "CREATE TABLE IF NOT EXISTS queue_messages (n {number} PRIMARY KEY, queue "
    "{number} NOT NULL, owner {number} NOT NULL, attempt {number} NOT NULL, "
    "due {number} NOT NULL, since {number} NOT NULL, id {bytes} NOT NULL, "
    "reason {bytes}, body {bytes} NOT NULL);"
    "CREATE UNIQUE INDEX IF NOT EXISTS queue_ids ON queue_messages (queue, "
    "id);"
    "CREATE INDEX IF NOT EXISTS queue_waiting ON queue_messages (queue, due) "
    "WHERE n < 0;"
    "CREATE TABLE IF NOT EXISTS queue_dead (n {number} PRIMARY KEY, queue "
    "{number} NOT NULL, attempt {number} NOT NULL, id {bytes} NOT NULL, "
    "reason {bytes} NOT NULL, body {bytes} NOT NULL);"
    "CREATE TABLE IF NOT EXISTS queue_users (number {number} NOT NULL, queue "
    "{number} NOT NULL, name TEXT NOT NULL, until {number} NOT NULL, last "
    "{number} NOT NULL, published {number} NOT NULL, done {number} NOT NULL, "
    "inside {number} NOT NULL, PRIMARY KEY (number, queue));"
    "CREATE TABLE IF NOT EXISTS queue_facts (name TEXT PRIMARY KEY, value "
    "TEXT NOT NULL);"
    "INSERT INTO queue_facts (name, value) VALUES ('version', '" VERSION "') "
    "ON CONFLICT DO NOTHING;"
    "INSERT INTO queue_facts (name, value) VALUES ('epoch', '') ON CONFLICT "
    "DO NOTHING;";

enum {
    FACT,
    EPOCH,
    EPOCH_USERS,
    EPOCH_DUE,
    EPOCH_AGED,
    FIND,
    MAKE,
    SINGLE,
    RESERVE,
    PUBLISH,
    PUBLISH_MANY,
    USED,
    LOOK,
    EXPIRED,
    BURY_RANGE,
    CUT_RANGE,
    FREE_RANGE,
    RETURN_RANGE,
    FOLD,
    FORGET,
    PROMOTE,
    HOLDER,
    ALIVE,
    HOLD,
    NEXT,
    TAKE,
    TAKE_RANGE,
    DONE,
    DONE_RANGE,
    RETURN,
    RETRY,
    BURY,
    KEEP,
    MINE,
    STATS,
    DEAD,
    REVIVE,
    DROP,
    STATEMENTS
};

#define OF_RANGE "n >= ?1 AND n <= ?2 AND owner = ?3"
#define DELIVERY "n = ?1 AND owner = ?2 AND attempt = ?3"
#define USERS(column) \
    "(SELECT coalesce(sum(u." column "), 0) FROM queue_users u WHERE " \
    "u.queue = q.number)"
#define OF_QUEUE \
    "m.n >= q.number * " RANGE_TEXT " AND m.n < (q.number + 1) * " RANGE_TEXT

static const char *const texts[STATEMENTS] = {
    [FACT] = "SELECT value FROM queue_facts WHERE name = ?1",
    [EPOCH] = "UPDATE queue_facts SET value = ?1 WHERE name = 'epoch' AND "
              "value <> ?1",
    [EPOCH_USERS] = "UPDATE queue_users SET until = 0",
    [EPOCH_DUE] = "UPDATE queue_messages SET due = 0 WHERE n < 0",
    [EPOCH_AGED] = "UPDATE queues SET aged = next",
    [FIND] = "SELECT number FROM queues WHERE name = ?1",
    [MAKE] = "INSERT INTO queues (name, single, owner, next, aged, published, "
             "done, inside) VALUES (?1, ?2, " NOBODY ", 1, 0, 0, 0, 0) ON "
             "CONFLICT DO NOTHING",
    [SINGLE] = "UPDATE queues SET single = 1 WHERE name = ?1",
    [RESERVE] = "UPDATE queues SET next = next + ?2 WHERE number = ?1 "
                "RETURNING next",
    [PUBLISH] = "INSERT INTO queue_messages (n, queue, owner, attempt, due, "
                "since, id, body) VALUES (?1, ?2, " NOBODY ", 0, 0, {now}, "
                "?3, ?4) ON CONFLICT DO NOTHING",
    [USED] = "INSERT INTO queue_users (number, queue, name, until, last, "
             "published, done, inside) VALUES (?1, ?2, ?3, {now} + ?4, ?5, "
             "?6, ?7, ?8) ON CONFLICT (number, queue) DO UPDATE SET until = "
             "excluded.until, last = CASE WHEN excluded.last > "
             "queue_users.last THEN excluded.last ELSE queue_users.last END, "
             "published = queue_users.published + excluded.published, done = "
             "queue_users.done + excluded.done, inside = queue_users.inside + "
             "excluded.inside",
    /* What would a consumer find? Reads only: many may ask at once. */
    [LOOK] = "SELECT CASE WHEN EXISTS (SELECT 1 FROM queue_messages WHERE n "
             ">= ?1 AND n < ?2 AND owner = " NOBODY ") THEN 1 ELSE 0 END, "
             "CASE WHEN EXISTS (SELECT 1 FROM queue_messages WHERE queue = ?3 "
             "AND n < 0 AND due <= {now}) THEN 1 ELSE 0 END, "
             "CASE WHEN EXISTS (SELECT 1 FROM queue_users WHERE until <= "
             "{now}) THEN 1 ELSE 0 END, "
             "CASE WHEN EXISTS (SELECT 1 FROM queues q JOIN queue_users u ON "
             "u.number = q.owner AND u.queue = q.number WHERE q.number = ?3 "
             "AND q.single = 1 AND q.owner <> ?4 AND u.until > {now}) THEN 1 "
             "ELSE 0 END, "
             "(SELECT CASE WHEN single = 0 THEN 0 WHEN owner = ?4 THEN 1 ELSE "
             "2 END FROM queues WHERE number = ?3)",
    [EXPIRED] = "SELECT number, queue, last, published, done, inside FROM "
                "queue_users WHERE until <= {now} ORDER BY number, queue "
                "LIMIT ?1 {skip}",
    [BURY_RANGE] = "INSERT INTO queue_dead (n, queue, attempt, id, reason, "
                   "body) SELECT n, queue, attempt, id, ?5, body FROM "
                   "queue_messages WHERE " OF_RANGE
                   " AND attempt >= ?4 {lock}",
    [CUT_RANGE] = "DELETE FROM queue_messages WHERE " OF_RANGE
                  " AND attempt >= ?4",
    [FREE_RANGE] = "UPDATE queue_messages SET owner = " NOBODY
                   " WHERE " OF_RANGE,
    [RETURN_RANGE] = "UPDATE queue_messages SET owner = " NOBODY
                     ", attempt = attempt - 1 WHERE " OF_RANGE,
    [FOLD] = "UPDATE queues SET published = published + ?2, done = done + ?3, "
             "inside = inside + ?4 WHERE number = ?1",
    [FORGET] = "DELETE FROM queue_users WHERE number = ?1 AND queue = ?2",
    [PROMOTE] = "UPDATE queue_messages SET n = -n, due = 0 WHERE queue = ?1 "
                "AND n < 0 AND due <= {now}",
    /* Two steps: the second one sees what was committed while the first one
       waited for the lock. */
    [HOLDER] = "SELECT owner FROM queues WHERE number = ?1 {lock}",
    [ALIVE] = "SELECT 1 FROM queue_users WHERE number = ?1 AND queue = ?2 AND "
              "until > {now}",
    [HOLD] = "UPDATE queues SET owner = ?2 WHERE number = ?1",
    [NEXT] = "SELECT n, attempt, id, reason, body FROM queue_messages WHERE n "
             ">= ?1 AND n < ?2 AND owner = " NOBODY " ORDER BY n LIMIT ?3 "
             "{skip}",
    [TAKE] = "UPDATE queue_messages SET owner = ?2, attempt = attempt + 1 "
             "WHERE n = ?1",
    [TAKE_RANGE] = "UPDATE queue_messages SET owner = ?3, attempt = attempt + "
                   "1 WHERE n >= ?1 AND n <= ?2 AND owner = " NOBODY,
    [DONE] = "DELETE FROM queue_messages WHERE " DELIVERY,
    [DONE_RANGE] = "DELETE FROM queue_messages WHERE " OF_RANGE
                   " AND attempt = ?4",
    [RETURN] = "UPDATE queue_messages SET owner = " NOBODY ", attempt = "
               "attempt - 1 WHERE " DELIVERY,
    [RETRY] = "UPDATE queue_messages SET n = -n, owner = " NOBODY ", due = "
              "{now} + ?4, reason = ?5 WHERE " DELIVERY,
    [BURY] = "INSERT INTO queue_dead (n, queue, attempt, id, reason, body) "
             "SELECT n, queue, attempt, id, ?4, body FROM queue_messages "
             "WHERE " DELIVERY " {lock}",
    [KEEP] = "UPDATE queue_users SET until = {now} + ?2 WHERE number = ?1",
    [MINE] = "SELECT number, queue, last, published, done, inside FROM "
             "queue_users WHERE number = ?1 ORDER BY queue {lock}",
    [STATS] =
        "SELECT q.name, q.published + " USERS("published") ", q.done + " USERS("done") ", q.inside + " USERS(
            "inside") ", "
                      "(SELECT count(*) FROM queue_messages m WHERE " OF_QUEUE
                      " AND m.n <= "
                      "(SELECT max(u.last) FROM queue_users u WHERE u.queue = q.number) AND "
                      "m.owner <> " NOBODY "), "
                      "(SELECT count(*) FROM queue_messages m WHERE m.queue = q.number AND "
                      "m.n < 0 AND m.due > {now}), "
                      "(SELECT count(*) FROM queue_dead m WHERE " OF_QUEUE
                      "), "
                      "(SELECT CASE WHEN m.n < q.number * " RANGE_TEXT
                      " + q.aged THEN "
                      "{now} ELSE {now} - m.since END FROM queue_messages m WHERE " OF_QUEUE
                      " AND m.owner = " NOBODY " ORDER BY m.n LIMIT 1) "
                      "FROM queues q ORDER BY q.name",
    [DEAD] = "SELECT n, attempt, id, reason, body FROM queue_dead WHERE n >= "
             "?1 AND n < ?2 ORDER BY n LIMIT ?3",
    [REVIVE] = "INSERT INTO queue_messages (n, queue, owner, attempt, due, "
               "since, id, body) SELECT n, queue, " NOBODY ", 0, 0, {now}, "
               "id, body FROM queue_dead WHERE n >= ?1 AND n < ?2 AND (id = "
               "?3 OR ?3 IS NULL) ON CONFLICT DO NOTHING",
    [DROP] = "DELETE FROM queue_dead WHERE n >= ?1 AND n < ?2 AND (id = ?3 OR "
             "?3 IS NULL)",
};

/* A queue that this process has used. */
struct line {
    int64_t number;
    int64_t next, end; /* reserved places */
    char name[];
};

struct place {
    struct queue base;
    struct sql *db;
    struct sql_statement *st[STATEMENTS];
    int64_t me;
    bool server;      /* others change rows during a transaction */
    bool used;        /* there may be rows of mine in queue_users */
    uint64_t kept;    /* when their lease began, by clock_ms() */
    struct map lines; /* by name */
    int64_t *changed; /* of sql_do_many() */
    size_t room;
};

static struct place *of(struct queue *q)
{
    return (struct place *)q;
}

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for messages");
}

static enum seen_code transact(struct place *p, sql_work *work, void *owner,
                               struct seen_error *why)
{
    return sql_transact(p->db, work, owner, p->base.settings.patience, why);
}

/* Execute a statement that has numbers as its first parameters. */
static enum seen_code do_numbers(struct place *p, int statement,
                                 const int64_t *number, int n,
                                 struct seen_error *why)
{
    for (int i = 0; i < n; i++)
        sql_bind_number(p->st[statement], i + 1, number[i]);
    return sql_do(p->st[statement], why);
}

#define DO(p, statement, why, ...) \
    do_numbers(p, statement, (const int64_t[]){ __VA_ARGS__ }, \
               sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), \
               why)

/* --- open and close --- */

/* SEEN_ABSENT: there are no tables, or they cannot be read; to make them
   shows which. */
static enum seen_code check_version(struct place *p, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool row, same;

    if (!p->st[FACT])
        code = sql_prepare(&p->st[FACT], p->db, texts[FACT], why);
    if (code == SEEN_OK) {
        sql_bind_text(p->st[FACT], 1, span_of("version"));
        code = sql_step(p->st[FACT], &row, why);
    }
    if (code != SEEN_OK)
        return code == SEEN_UNABLE ? SEEN_ABSENT : code;
    if (!row)
        return SEEN_ABSENT;
    same = span_is(sql_text(p->st[FACT], 0), VERSION);
    sql_reset(p->st[FACT]);
    return same ? SEEN_OK
                : seen_fail(why, SEEN_MISMATCH, 0,
                            "%s: the queues are of another version of seen",
                            sql_name(p->db));
}

static enum seen_code create_tables(void *owner, struct sql *db,
                                    struct seen_error *why)
{
    (void)owner;
    return sql_run(db, schema, why);
}

/* Another process may make them at the same time. PostgreSQL then fails one
   of the two, which finds the tables of the other one. */
static enum seen_code make_tables(struct place *p, struct seen_error *why)
{
    enum seen_code code = check_version(p, why), made;
    const struct timespec pause = { .tv_nsec = 50000000 };

    for (int i = 0; code == SEEN_ABSENT && i < 20; i++) {
        made = transact(p, create_tables, NULL, why);
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

/* The machine was started again: nobody who was there before is there now,
   and the times in the tables mean nothing. */
static enum seen_code begin_epoch(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    struct place *p = owner;
    enum seen_code code;

    sql_bind_text(p->st[EPOCH], 1, span_of(sql_epoch(db)));
    code = sql_do(p->st[EPOCH], why);
    if (code != SEEN_OK || sql_changes(db) == 0)
        return code;
    code = sql_do(p->st[EPOCH_USERS], why);
    if (code == SEEN_OK)
        code = sql_do(p->st[EPOCH_DUE], why);
    return code == SEEN_OK ? sql_do(p->st[EPOCH_AGED], why) : code;
}

static enum seen_code check_epoch(struct place *p, struct seen_error *why)
{
    enum seen_code code;
    bool row, same;

    if (!*sql_epoch(p->db))
        return SEEN_OK;
    sql_bind_text(p->st[FACT], 1, span_of("epoch"));
    code = sql_step(p->st[FACT], &row, why);
    if (code != SEEN_OK)
        return code;
    same = row && span_is(sql_text(p->st[FACT], 0), sql_epoch(p->db));
    sql_reset(p->st[FACT]);
    return same ? SEEN_OK : transact(p, begin_epoch, p, why);
}

/* For those who only look. */
static enum seen_code open_to_look(struct place *p, struct seen_error *why)
{
    static const int used[] = { FIND, STATS, DEAD };
    enum seen_code code = check_version(p, why);

    if (code == SEEN_ABSENT)
        return seen_fail(why, SEEN_ABSENT, 0, "%s has no queues",
                         sql_name(p->db));
    for (size_t i = 0; code == SEEN_OK && i < sizeof used / sizeof *used; i++)
        code = sql_prepare(&p->st[used[i]], p->db, texts[used[i]], why);
    return code;
}

static enum seen_code prepare_many(struct place *p, struct seen_error *why)
{
    struct buffer text = { .bytes = NULL };
    enum seen_code code;
    char *whole;

    buffer_text(&text, "INSERT INTO queue_messages (n, queue, owner, attempt, "
                       "due, since, id, body) VALUES ");
    for (unsigned i = 0; i < MANY; i++)
        buffer_format(&text, "%s(?%u, ?1, " NOBODY ", 0, 0, {now}, ?%u, ?%u)",
                      i ? ", " : "", 3 * i + 2, 3 * i + 3, 3 * i + 4);
    buffer_text(&text, " ON CONFLICT DO NOTHING");
    whole = buffer_take(&text);
    if (!whole)
        return no_memory(why);
    code = sql_prepare(&p->st[PUBLISH_MANY], p->db, whole, why);
    free(whole);
    return code;
}

static enum seen_code rows_open(struct queue *q, const char *where,
                                struct seen_error *why)
{
    struct place *p = of(q);
    enum sql_access access = q->settings.looks      ? SQL_READ
                             : q->settings.existing ? SQL_WRITE
                                                    : SQL_CREATE;
    enum seen_code code = sql_connect(&p->db, where, access, why);

    random_fill(&p->me, sizeof p->me);
    p->me = (p->me & (NOBODY_NUMBER - 1)) | NOBODY_NUMBER;
    p->me += p->me == NOBODY_NUMBER;
    if (code != SEEN_OK)
        return code;
    p->server = sql_is_url(where);
    q->name = strdup(sql_name(p->db));
    if (!q->name)
        return no_memory(why);
    if (q->settings.looks)
        return open_to_look(p, why);
    if (q->settings.relaxed && !sql_is_url(where))
        code = sql_relax(p->db, true, why);
    if (code == SEEN_OK)
        code = make_tables(p, why);
    for (int i = 0; code == SEEN_OK && i < STATEMENTS; i++)
        if (i != FACT && texts[i])
            code = sql_prepare(&p->st[i], p->db, texts[i], why);
    if (code == SEEN_OK)
        code = prepare_many(p, why);
    return code == SEEN_OK ? check_epoch(p, why) : code;
}

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

/* Give back what a user has, and forget it. */
static enum seen_code forget_user(struct place *p, const struct user *u,
                                  bool died, struct seen_error *why)
{
    const int64_t first = u->queue * RANGE;
    enum seen_code code = SEEN_OK;
    int64_t dead = 0;

    if (died) {
        sql_bind_bytes(p->st[BURY_RANGE], 5, span_of(DIED));
        code = DO(p, BURY_RANGE, why, first, u->last, u->number, QUEUE_TRIES);
        dead = code == SEEN_OK ? sql_changes(p->db) : 0;
        if (dead)
            code = DO(p, CUT_RANGE, why, first, u->last, u->number,
                      QUEUE_TRIES);
    }
    if (code == SEEN_OK)
        code = DO(p, died ? FREE_RANGE : RETURN_RANGE, why, first, u->last,
                  u->number);
    if (code == SEEN_OK)
        code = DO(p, FOLD, why, u->queue, u->published, u->done,
                  u->inside - dead);
    return code == SEEN_OK ? DO(p, FORGET, why, u->number, u->queue) : code;
}

static enum seen_code reap(struct place *p, struct seen_error *why)
{
    struct user user[REAPED];
    enum seen_code code;
    int n;

    sql_bind_number(p->st[EXPIRED], 1, REAPED);
    code = read_users(p->st[EXPIRED], user, REAPED, &n, why);
    for (int i = 0; code == SEEN_OK && i < n; i++)
        code = forget_user(p, &user[i], true, why);
    return code;
}

/* This process goes: an end of its own will counts no attempt. */
static enum seen_code leave(void *owner, struct sql *db,
                            struct seen_error *why)
{
    struct place *p = owner;
    struct user user[REAPED];
    enum seen_code code;
    int n;

    (void)db;
    do {
        sql_bind_number(p->st[MINE], 1, p->me);
        code = read_users(p->st[MINE], user, REAPED, &n, why);
        for (int i = 0; code == SEEN_OK && i < n; i++)
            code = forget_user(p, &user[i], false, why);
    } while (code == SEEN_OK && n == REAPED);
    return code;
}

static void rows_close(struct queue *q)
{
    struct place *p = of(q);
    struct line *line;

    if (p->used) /* if it fails, the lease ends by itself */
        sql_transact(p->db, leave, p, 0, NULL);
    sql_close(p->db);
    for (size_t at = 0; (line = map_next(&p->lines, &at));)
        free(line);
    map_clear(&p->lines);
    free(p->changed);
}

/* --- queues and their places --- */

static enum seen_code find_line(struct place *p, const char *name,
                                struct line **out, struct seen_error *why)
{
    struct sql_statement *st = p->st[FIND];
    struct line *line;
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
        return no_memory(why);
    }
    *out = line;
    return SEEN_OK;
}

struct making {
    struct place *p;
    const char *name;
    bool single;
    struct line *line;
};

static enum seen_code make_line(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct making *m = owner;
    struct sql_statement *st = m->p->st[MAKE];
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
        sql_bind_text(m->p->st[SINGLE], 1, span_of(m->name));
        code = sql_do(m->p->st[SINGLE], why);
    }
    return code;
}

/* The queue with this name, made if it is missing. */
static enum seen_code get_line(struct place *p, const char *name,
                               struct line **out, struct seen_error *why)
{
    struct making m = { .p = p, .name = name };
    enum seen_code code = SEEN_OK;

    *out = map_get(&p->lines, name, strlen(name));
    if (*out)
        return SEEN_OK;
    code = transact(p, make_line, &m, why);
    *out = m.line;
    return code;
}

/* The queue with this name, which must be there. */
static enum seen_code known_line(struct place *p, const char *name,
                                 struct line **out, struct seen_error *why)
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

static enum seen_code rows_make(struct queue *q, const char *name, bool single,
                                struct seen_error *why)
{
    struct making m = { .p = of(q),
                        .name = name,
                        .single = single,
                        .line = map_get(&of(q)->lines, name, strlen(name)) };

    return transact(m.p, make_line, &m, why);
}

/* Count what this process did with a queue; its lease begins again. */
static enum seen_code count(struct place *p, int64_t queue, int64_t last,
                            int64_t published, int64_t done, int64_t inside,
                            struct seen_error *why)
{
    struct sql_statement *st = p->st[USED];

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

static bool changed_room(struct place *p, size_t n)
{
    int64_t *more = array_grow(p->changed, &p->room, n, sizeof *more);

    if (more)
        p->changed = more;
    return more != NULL;
}

/* --- publish --- */

struct publishing {
    struct place *p;
    struct line *line;
    const struct queue_message *message;
    size_t n;
    size_t from; /* that are to be inserted one by one */
};

static enum seen_code reserve(void *owner, struct sql *db,
                              struct seen_error *why)
{
    struct publishing *w = owner;
    struct sql_statement *st = w->p->st[RESERVE];
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
    return w->line->number * RANGE + w->line->next + (int64_t)i;
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
    struct sql_statement *st = w->p->st[PUBLISH_MANY];
    enum seen_code code = SEEN_OK;

    for (; code == SEEN_OK && *n + MANY <= w->n; *n += MANY) {
        sql_bind_number(st, 1, w->line->number);
        for (size_t i = 0; i < MANY; i++) {
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
    struct place *p = w->p;
    enum seen_code code = SEEN_OK;
    int64_t stored = 0;

    (void)db;
    w->from = 0;
    if (!p->server)
        code = insert_many(w, &w->from, &stored, why);
    if (code == SEEN_OK)
        code = sql_do_many(p->st[PUBLISH], bind_message, w, w->n - w->from,
                           p->changed, why);
    if (code != SEEN_OK)
        return code;
    stored += sum(p->changed, w->n - w->from);
    return count(p, w->line->number, 0, stored, 0, stored, why);
}

static enum seen_code rows_publish(struct queue *q, const char *name,
                                   const struct queue_message *message,
                                   size_t n, struct seen_error *why)
{
    struct publishing w = { .p = of(q), .message = message, .n = n };
    enum seen_code code = get_line(w.p, name, &w.line, why);

    if (code != SEEN_OK)
        return code;
    if (!changed_room(w.p, n))
        return no_memory(why);
    if (w.line->end - w.line->next < (int64_t)n)
        code = transact(w.p, reserve, &w, why);
    if (code == SEEN_OK)
        code = transact(w.p, insert, &w, why);
    if (code == SEEN_OK)
        w.line->next += (int64_t)n;
    return code;
}

/* --- take --- */

struct collecting {
    struct place *p;
    const struct line *line;
    unsigned most;
    struct queue_batch *batch;
    bool ready, due, expired, held, single, claim;
};

static enum seen_code look(struct collecting *w, struct seen_error *why)
{
    struct sql_statement *st = w->p->st[LOOK];
    enum seen_code code;
    bool row;

    sql_bind_number(st, 1, w->line->number * RANGE);
    sql_bind_number(st, 2, (w->line->number + 1) * RANGE);
    sql_bind_number(st, 3, w->line->number);
    sql_bind_number(st, 4, w->p->me);
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
static enum seen_code hold(struct place *p, const struct line *line,
                           bool *mine, struct seen_error *why)
{
    struct sql_statement *st = p->st[HOLDER];
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
    st = p->st[ALIVE];
    sql_bind_number(st, 1, holder);
    sql_bind_number(st, 2, line->number);
    code = sql_step(st, &alive, why);
    if (code != SEEN_OK || alive) {
        sql_reset(st);
        return code;
    }
    *mine = true;
    return DO(p, HOLD, why, line->number, p->me);
}

static enum seen_code read_next(struct collecting *w, struct seen_error *why)
{
    struct sql_statement *st = w->p->st[NEXT];
    const struct buffer *kept;
    struct queue_message m;
    enum seen_code code;
    bool row;

    sql_bind_number(st, 1, w->line->number * RANGE);
    sql_bind_number(st, 2, (w->line->number + 1) * RANGE);
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
            code = no_memory(why);
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
    struct place *p = w->p;
    const struct queue_batch *b = w->batch;
    enum seen_code code;

    if (p->server)
        return sql_do_many(p->st[TAKE], bind_taken, w, b->n, NULL, why);
    code = DO(p, TAKE_RANGE, why, (int64_t)b->message[0].tag,
              (int64_t)b->message[b->n - 1].tag, p->me);
    if (code == SEEN_OK && sql_changes(p->db) != (int64_t)b->n)
        return seen_fail(why, SEEN_CORRUPT, 0, "%s: the queue is damaged",
                         sql_name(p->db));
    return code;
}

static enum seen_code take(void *owner, struct sql *db, struct seen_error *why)
{
    struct collecting *w = owner;
    struct place *p = w->p;
    struct queue_batch *b = w->batch;
    enum seen_code code = SEEN_OK;
    bool mine = true;

    (void)db;
    b->n = 0; /* this may be the second time */
    if (b->kept)
        ((struct buffer *)b->kept)->len = 0;
    if (w->expired)
        code = reap(p, why);
    if (code == SEEN_OK && w->due)
        code = DO(p, PROMOTE, why, w->line->number);
    if (code == SEEN_OK && w->single)
        code = hold(p, w->line, &mine, why);
    if (code != SEEN_OK || !mine)
        return code;
    code = read_next(w, why);
    if (code == SEEN_OK && b->n)
        code = note_taken(w, why);
    if (code == SEEN_OK && (b->n || w->single))
        code = count(p, w->line->number,
                     b->n ? (int64_t)b->message[b->n - 1].tag : 0, 0, 0, 0,
                     why);
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
    struct place *p = w->p;
    bool strict = !p->base.settings.relaxed;
    enum seen_code code = strict ? sql_relax(p->db, true, why) : SEEN_OK, back;

    if (code != SEEN_OK)
        return code;
    code = transact(p, take, w, why);
    back = strict ? sql_relax(p->db, false, code == SEEN_OK ? why : NULL)
                  : SEEN_OK;
    return code == SEEN_OK ? back : code;
}

static enum seen_code keep(void *owner, struct sql *db, struct seen_error *why)
{
    struct place *p = owner;

    (void)db;
    return DO(p, KEEP, why, p->me, p->base.settings.lease);
}

static enum seen_code rows_keep(struct queue *q, struct seen_error *why)
{
    struct place *p = of(q);
    uint64_t now = clock_ms();
    enum seen_code code = p->used ? transact(p, keep, p, why) : SEEN_OK;

    if (code == SEEN_OK)
        p->kept = now;
    return code;
}

/* A consumer that asks for messages is alive. */
static enum seen_code keep_if_due(struct place *p, struct seen_error *why)
{
    return p->used && clock_ms() - p->kept > p->base.settings.lease / 3
               ? rows_keep(&p->base, why)
               : SEEN_OK;
}

static void sleep_ms(uint64_t ms)
{
    struct timespec time = { (time_t)(ms / 1000),
                             (long)(ms % 1000) * 1000000 };

    nanosleep(&time, NULL);
}

static enum seen_code rows_take(struct queue *q, const char *name,
                                unsigned most, unsigned ms,
                                struct queue_batch *batch,
                                struct seen_error *why)
{
    struct collecting w = { .p = of(q), .most = most, .batch = batch };
    struct line *line;
    enum seen_code code = get_line(w.p, name, &line, why);
    uint64_t began = clock_ms(), spent, pause = 1;

    w.line = line;
    if (code == SEEN_OK)
        code = keep_if_due(w.p, why);
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
        code = keep_if_due(w.p, why);
    }
    if (code != SEEN_OK)
        batch->n = 0;
    queue_batch_end(batch);
    return code;
}

/* --- what becomes of a message --- */

struct ending {
    struct place *p;
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
    return (int64_t)m->tag / RANGE;
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
   taken, and one statement for all of them takes half of the time. */
static enum seen_code done_ranges(struct ending *w, struct seen_error *why)
{
    struct place *p = w->p;
    enum seen_code code = SEEN_OK;
    size_t many;

    memset(p->changed, 0, w->n * sizeof *p->changed);
    for (size_t at = 0; code == SEEN_OK && at < w->n; at += many) {
        const struct queue_message *m = &w->message[at];
        int64_t first = (int64_t)m->tag;

        many = run_length(m, w->n - at);
        code = DO(p, DONE_RANGE, why, first, first + (int64_t)many - 1, p->me,
                  m->attempt);
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
    struct place *p = w->p;
    enum seen_code code = w->statement == DONE && !p->server
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
        if (w->statement != DONE ||
            (i + 1 < w->n && line_of(&w->message[i + 1]) == queue) || !gone)
            continue;
        code = count(p, queue, 0, 0, gone, -gone, why);
        gone = 0;
    }
    return code;
}

static enum seen_code finish(struct place *p, sql_work *work, struct ending *w,
                             struct seen_error *why)
{
    enum seen_code code;

    if (!changed_room(p, w->n))
        return no_memory(why);
    code = transact(p, work, w, why);
    if (code == SEEN_OK && w->missing)
        return seen_fail(why, SEEN_ABSENT, 0,
                         "the message was delivered again meanwhile");
    return code;
}

static enum seen_code rows_done(struct queue *q,
                                const struct queue_message *message, size_t n,
                                struct seen_error *why)
{
    struct ending w = {
        .p = of(q), .message = message, .n = n, .statement = DONE
    };

    return finish(w.p, end_many, &w, why);
}

static enum seen_code rows_give_back(struct queue *q,
                                     const struct queue_message *message,
                                     size_t n, struct seen_error *why)
{
    struct ending w = {
        .p = of(q), .message = message, .n = n, .statement = RETURN
    };

    return finish(w.p, end_many, &w, why);
}

static enum seen_code end_one(void *owner, struct sql *db,
                              struct seen_error *why)
{
    struct ending *w = owner;
    struct place *p = w->p;
    struct sql_statement *st = p->st[w->dead ? BURY : RETRY];
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
    bind_delivery(w, p->st[DONE], 0);
    code = sql_do(p->st[DONE], why);
    return code == SEEN_OK ? count(p, line_of(w->message), 0, 0, 0, -1, why)
                           : code;
}

static enum seen_code rows_retry(struct queue *q,
                                 const struct queue_message *m,
                                 struct seen_span reason,
                                 struct seen_error *why)
{
    struct ending w = { .p = of(q), .message = m, .n = 1, .reason = reason };

    w.dead = m->attempt >= QUEUE_TRIES;
    if (!w.dead)
        w.pause = q->settings.pauses[m->attempt ? m->attempt - 1 : 0];
    return finish(w.p, end_one, &w, why);
}

static enum seen_code rows_reject(struct queue *q,
                                  const struct queue_message *m,
                                  struct seen_span reason,
                                  struct seen_error *why)
{
    struct ending w = {
        .p = of(q), .message = m, .n = 1, .reason = reason, .dead = true
    };

    return finish(w.p, end_one, &w, why);
}

/* --- for operators --- */

static enum seen_code rows_stats(struct queue *q, queue_take_stats *take_stats,
                                 void *owner, struct seen_error *why)
{
    struct sql_statement *st = of(q)->st[STATS];
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

static enum seen_code rows_dead(struct queue *q, const char *name,
                                unsigned most, queue_take_dead *take_dead,
                                void *owner, struct seen_error *why)
{
    struct place *p = of(q);
    struct sql_statement *st = p->st[DEAD];
    struct line *line;
    enum seen_code code = known_line(p, name, &line, why);
    bool row;

    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, line->number * RANGE);
    sql_bind_number(st, 2, (line->number + 1) * RANGE);
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
    struct place *p;
    const struct line *line;
    const char *id;
    bool revive;
    uint64_t n;
};

static enum seen_code move_one_way(struct moving *w, int statement,
                                   struct seen_error *why)
{
    struct sql_statement *st = w->p->st[statement];

    sql_bind_number(st, 1, w->line->number * RANGE);
    sql_bind_number(st, 2, (w->line->number + 1) * RANGE);
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
        code = move_one_way(w, REVIVE, why);
        back = code == SEEN_OK ? sql_changes(db) : 0;
    }
    if (code == SEEN_OK)
        code = move_one_way(w, DROP, why);
    if (code == SEEN_OK)
        w->n = (uint64_t)sql_changes(db);
    if (code == SEEN_OK && back)
        code = count(w->p, w->line->number, 0, 0, 0, back, why);
    return code;
}

static enum seen_code rows_revive(struct queue *q, const char *name,
                                  const char *id, uint64_t *n,
                                  struct seen_error *why)
{
    struct moving w = { .p = of(q), .id = id, .revive = true };
    struct line *line;
    enum seen_code code = known_line(w.p, name, &line, why);

    w.line = line;
    if (code == SEEN_OK)
        code = transact(w.p, move_dead, &w, why);
    *n = w.n;
    return code;
}

static enum seen_code rows_drop(struct queue *q, const char *name,
                                const char *id, uint64_t *n,
                                struct seen_error *why)
{
    struct moving w = { .p = of(q), .id = id };
    struct line *line;
    enum seen_code code = known_line(w.p, name, &line, why);

    w.line = line;
    if (code == SEEN_OK)
        code = transact(w.p, move_dead, &w, why);
    *n = w.n;
    return code;
}

const struct queue_backend queue_rows = {
    .schemes = { "sqlite:", "postgresql://", "postgres://" },
    .size = sizeof(struct place),
    .open = rows_open,
    .close = rows_close,
    .make = rows_make,
    .publish = rows_publish,
    .take = rows_take,
    .done = rows_done,
    .retry = rows_retry,
    .reject = rows_reject,
    .give_back = rows_give_back,
    .keep = rows_keep,
    .stats = rows_stats,
    .dead = rows_dead,
    .revive = rows_revive,
    .drop = rows_drop,
};
