/*
 * rows_sql.c - the tables and the statements of queues as rows.
 *
 * rows.c has the idea. What a statement may cost decides its shape:
 *
 *     by range      n >= first AND n < last: the messages of a queue, from its
 *                   front, in the order of the primary key
 *     by number     n = ? AND owner = ? AND attempt = ?: a delivery. If the
 *                   lease ended, one of the three differs, and no row changes.
 *     {skip}        rows that others have locked are passed over, so that
 *                   consumers do not wait for each other
 *     {lock}        a row that decides (who holds a queue) is read under a lock
 *
 * Only ROWS_STATS counts, for people. {now} is the database's clock: those of
 * the consumers need not agree.
 */
#include "rows.h"

const char queue_rows_schema[] =
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
    "INSERT INTO queue_facts (name, value) VALUES ('version', '" ROWS_VERSION
    "') "
    "ON CONFLICT DO NOTHING;"
    "INSERT INTO queue_facts (name, value) VALUES ('epoch', '') ON CONFLICT "
    "DO NOTHING;";

/* Is the consumer of a row of queue_users alive? A lease that ends later than
   any lease can was noted before the machine was started again, or while the
   clock of a server was ahead: its consumer is gone. The same holds for
   messages that wait. */
#define ALIVE(most) "(until > {now} AND until <= {now} + " most ")"
#define OF_RANGE "n >= ?1 AND n <= ?2 AND owner = ?3"
#define DELIVERY "n = ?1 AND owner = ?2 AND attempt = ?3"
#define USERS(column) \
    "(SELECT coalesce(sum(u." column "), 0) FROM queue_users u WHERE " \
    "u.queue = q.number)"
#define OF_QUEUE \
    "m.n >= q.number * " ROWS_RANGE_TEXT \
    " AND m.n < (q.number + 1) * " ROWS_RANGE_TEXT

const char *const queue_rows_text[ROWS_STATEMENTS] = {
    [ROWS_FACT] = "SELECT value FROM queue_facts WHERE name = ?1",
    [ROWS_EPOCH] = "UPDATE queue_facts SET value = ?1 WHERE name = 'epoch'",
    [ROWS_EPOCH_USERS] = "UPDATE queue_users SET until = 0",
    [ROWS_EPOCH_DUE] = "UPDATE queue_messages SET due = 0 WHERE n < 0",
    [ROWS_EPOCH_AGED] = "UPDATE queues SET aged = next",
    [ROWS_FIND] = "SELECT number FROM queues WHERE name = ?1",
    [ROWS_MAKE] =
        "INSERT INTO queues (name, single, owner, next, aged, published, "
        "done, inside) VALUES (?1, ?2, " ROWS_NOBODY ", 1, 0, 0, 0, 0) ON "
        "CONFLICT DO NOTHING",
    [ROWS_SINGLE] = "UPDATE queues SET single = 1 WHERE name = ?1",
    [ROWS_RESERVE] = "UPDATE queues SET next = next + ?2 WHERE number = ?1 "
                     "RETURNING next",
    [ROWS_PUBLISH] =
        "INSERT INTO queue_messages (n, queue, owner, attempt, due, "
        "since, id, body) VALUES (?1, ?2, " ROWS_NOBODY ", 0, 0, {now}, "
        "?3, ?4) ON CONFLICT DO NOTHING",
    [ROWS_USED] =
        "INSERT INTO queue_users (number, queue, name, until, last, "
        "published, done, inside) VALUES (?1, ?2, ?3, {now} + ?4, ?5, "
        "?6, ?7, ?8) ON CONFLICT (number, queue) DO UPDATE SET until = "
        "excluded.until, last = CASE WHEN excluded.last > "
        "queue_users.last THEN excluded.last ELSE queue_users.last END, "
        "published = queue_users.published + excluded.published, done = "
        "queue_users.done + excluded.done, inside = queue_users.inside + "
        "excluded.inside",
    /* What would a consumer find? Reads only: many may ask at once. */
    [ROWS_LOOK] =
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM queue_messages WHERE n "
        ">= ?1 AND n < ?2 AND owner = " ROWS_NOBODY ") THEN 1 ELSE 0 END, "
        "CASE WHEN EXISTS (SELECT 1 FROM queue_messages WHERE queue = ?3 "
        "AND n < 0 AND due <= {now}) OR EXISTS (SELECT 1 FROM "
        "queue_messages WHERE queue = ?3 AND n < 0 AND due > {now} + ?6) "
        "THEN 1 ELSE 0 END, "
        "CASE WHEN EXISTS (SELECT 1 FROM queue_users WHERE NOT " ALIVE(
            "?5") ") "
                  "THEN 1 ELSE 0 END, "
                  "CASE WHEN EXISTS (SELECT 1 FROM queues q JOIN queue_users u ON "
                  "u.number = q.owner AND u.queue = q.number WHERE q.number = ?3 "
                  "AND q.single = 1 AND q.owner <> ?4 AND " ALIVE(
                      "?5") ") THEN 1 "
                            "ELSE 0 END, "
                            "(SELECT CASE WHEN single = 0 THEN 0 WHEN owner = ?4 THEN 1 ELSE "
                            "2 END FROM queues WHERE number = ?3)",
    [ROWS_EXPIRED] =
        "SELECT number, queue, last, published, done, inside FROM "
        "queue_users WHERE NOT " ALIVE("?2") " ORDER BY number, queue "
                                             "LIMIT ?1 {skip}",
    [ROWS_BURY_RANGE] =
        "INSERT INTO queue_dead (n, queue, attempt, id, reason, "
        "body) SELECT n, queue, attempt, id, ?5, body FROM "
        "queue_messages WHERE " OF_RANGE " AND attempt >= ?4 {lock}",
    [ROWS_CUT_RANGE] = "DELETE FROM queue_messages WHERE " OF_RANGE
                       " AND attempt >= ?4",
    [ROWS_FREE_RANGE] = "UPDATE queue_messages SET owner = " ROWS_NOBODY
                        " WHERE " OF_RANGE,
    [ROWS_RETURN_RANGE] = "UPDATE queue_messages SET owner = " ROWS_NOBODY
                          ", attempt = attempt - 1 WHERE " OF_RANGE,
    [ROWS_FOLD] =
        "UPDATE queues SET published = published + ?2, done = done + ?3, "
        "inside = inside + ?4 WHERE number = ?1",
    [ROWS_FORGET] = "DELETE FROM queue_users WHERE number = ?1 AND queue = ?2",
    [ROWS_PROMOTE] =
        "UPDATE queue_messages SET n = -n, due = 0 WHERE n IN (SELECT n FROM "
        "queue_messages WHERE queue = ?1 AND n < 0 AND due <= {now} UNION ALL "
        "SELECT n FROM queue_messages WHERE queue = ?1 AND n < 0 AND due > "
        "{now} + ?2)",
    /* Two steps: the second one sees what was committed while the first one
       waited for the lock. */
    [ROWS_HOLDER] = "SELECT owner FROM queues WHERE number = ?1 {lock}",
    [ROWS_ALIVE] =
        "SELECT 1 FROM queue_users WHERE number = ?1 AND queue = ?2 AND "
        "" ALIVE("?3"),
    [ROWS_HOLD] = "UPDATE queues SET owner = ?2 WHERE number = ?1",
    [ROWS_NEXT] =
        "SELECT n, attempt, id, reason, body FROM queue_messages WHERE n "
        ">= ?1 AND n < ?2 AND owner = " ROWS_NOBODY " ORDER BY n LIMIT ?3 "
        "{skip}",
    [ROWS_TAKE] =
        "UPDATE queue_messages SET owner = ?2, attempt = attempt + 1 "
        "WHERE n = ?1",
    [ROWS_TAKE_RANGE] =
        "UPDATE queue_messages SET owner = ?3, attempt = attempt + "
        "1 WHERE n >= ?1 AND n <= ?2 AND owner = " ROWS_NOBODY,
    [ROWS_DONE] = "DELETE FROM queue_messages WHERE " DELIVERY,
    [ROWS_DONE_RANGE] = "DELETE FROM queue_messages WHERE " OF_RANGE
                        " AND attempt = ?4",
    [ROWS_RETURN] = "UPDATE queue_messages SET owner = " ROWS_NOBODY
                    ", attempt = "
                    "attempt - 1 WHERE " DELIVERY,
    [ROWS_RETRY] = "UPDATE queue_messages SET n = -n, owner = " ROWS_NOBODY
                   ", due = "
                   "{now} + ?4, reason = ?5 WHERE " DELIVERY,
    [ROWS_BURY] =
        "INSERT INTO queue_dead (n, queue, attempt, id, reason, body) "
        "SELECT n, queue, attempt, id, ?4, body FROM queue_messages "
        "WHERE " DELIVERY " {lock}",
    [ROWS_KEEP] =
        "UPDATE queue_users SET until = {now} + ?2 WHERE number = ?1",
    [ROWS_MINE] = "SELECT number, queue, last, published, done, inside FROM "
                  "queue_users WHERE number = ?1 ORDER BY queue {lock}",
    [ROWS_STATS] =
        "SELECT q.name, q.published + " USERS("published") ", q.done + " USERS("done") ", q.inside + " USERS(
            "inside") ", "
                      "(SELECT count(*) FROM queue_messages m WHERE " OF_QUEUE
                      " AND m.n <= "
                      "(SELECT max(u.last) FROM queue_users u WHERE u.queue = q.number) AND "
                      "m.owner <> " ROWS_NOBODY "), "
                      "(SELECT count(*) FROM queue_messages m WHERE m.queue = q.number AND "
                      "m.n < 0 AND m.due > {now}), "
                      "(SELECT count(*) FROM queue_dead m WHERE " OF_QUEUE
                      "), "
                      "(SELECT CASE WHEN m.n < q.number * " ROWS_RANGE_TEXT
                      " + q.aged THEN "
                      "{now} WHEN m.since > {now} THEN 0 ELSE {now} - m.since END FROM queue_messages m WHERE " OF_QUEUE
                      " AND m.owner = " ROWS_NOBODY " ORDER BY m.n LIMIT 1) "
                      "FROM queues q ORDER BY q.name",
    [ROWS_DEAD] =
        "SELECT n, attempt, id, reason, body FROM queue_dead WHERE n >= "
        "?1 AND n < ?2 ORDER BY n LIMIT ?3",
    [ROWS_REVIVE] =
        "INSERT INTO queue_messages (n, queue, owner, attempt, due, "
        "since, id, body) SELECT n, queue, " ROWS_NOBODY ", 0, 0, {now}, "
        "id, body FROM queue_dead WHERE n >= ?1 AND n < ?2 AND (id = "
        "?3 OR ?3 IS NULL) ON CONFLICT DO NOTHING",
    [ROWS_DROP] =
        "DELETE FROM queue_dead WHERE n >= ?1 AND n < ?2 AND (id = ?3 OR "
        "?3 IS NULL)",
};
