/*
 * queue_sqlite.c - the least that a queue on SQLite can do: insert a batch in
 * one transaction, read it, delete it in a second one.
 *
 * It has one consumer, no leases, no ids that are unique, no attempts and no
 * counts. What it reaches is the machine's limit for tables of messages.
 */
#include "queue.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

struct bare {
    sqlite3 *db;
    sqlite3_stmt *insert, *read, *cut;
    char wrong[200];
};

static bool run(struct bare *b, const char *script)
{
    return sqlite3_exec(b->db, script, NULL, NULL, NULL) == SQLITE_OK;
}

static bool prepare(struct bare *b, sqlite3_stmt **st, const char *text)
{
    return sqlite3_prepare_v3(b->db, text, -1, SQLITE_PREPARE_PERSISTENT, st,
                              NULL) == SQLITE_OK;
}

static const char *bare_open(struct bench_queue *c, const char *at)
{
    struct bare *b = calloc(1, sizeof *b);

    c->state = b;
    if (!b)
        return "no memory";
    if (sqlite3_open_v2(at, &b->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                            SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK ||
        !run(b, "PRAGMA journal_mode = WAL") ||
        !run(b, c->relaxed ? "PRAGMA synchronous = NORMAL"
                           : "PRAGMA synchronous = FULL") ||
        !run(b, "CREATE TABLE message (n INTEGER PRIMARY KEY, body BLOB)") ||
        !prepare(b, &b->insert, "INSERT INTO message VALUES (?1, ?2)") ||
        !prepare(b, &b->read,
                 "SELECT n, body FROM message ORDER BY n LIMIT ?1") ||
        !prepare(b, &b->cut, "DELETE FROM message WHERE n <= ?1")) {
        snprintf(b->wrong, sizeof b->wrong, "%s", sqlite3_errmsg(b->db));
        return b->wrong;
    }
    return NULL;
}

static bool bare_batch(struct bench_queue *c, uint64_t first, size_t n,
                       const char *body, size_t len)
{
    struct bare *b = c->state;
    sqlite3_int64 last = 0;
    size_t got = 0;
    bool good = run(b, "BEGIN IMMEDIATE");

    for (size_t i = 0; good && i < n; i++) {
        sqlite3_bind_int64(b->insert, 1, (sqlite3_int64)(first + i));
        sqlite3_bind_blob64(b->insert, 2, body, len, SQLITE_STATIC);
        good = sqlite3_step(b->insert) == SQLITE_DONE;
        sqlite3_reset(b->insert);
    }
    good = good && run(b, "COMMIT");
    sqlite3_bind_int64(b->read, 1, (sqlite3_int64)n);
    while (good && sqlite3_step(b->read) == SQLITE_ROW) {
        last = sqlite3_column_int64(b->read, 0);
        got += (size_t)sqlite3_column_bytes(b->read, 1) == len;
    }
    sqlite3_reset(b->read);
    good = good && got == n && run(b, "BEGIN IMMEDIATE");
    sqlite3_bind_int64(b->cut, 1, last);
    good = good && sqlite3_step(b->cut) == SQLITE_DONE;
    sqlite3_reset(b->cut);
    return good && run(b, "COMMIT");
}

static void bare_close(struct bench_queue *c)
{
    struct bare *b = c->state;

    if (!b)
        return;
    sqlite3_finalize(b->insert);
    sqlite3_finalize(b->read);
    sqlite3_finalize(b->cut);
    sqlite3_close(b->db);
    free(b);
    c->state = NULL;
}

const struct bench_queue bench_queue_sqlite = { .name = "sqlite",
                                                .open = bare_open,
                                                .batch = bare_batch,
                                                .close = bare_close };
