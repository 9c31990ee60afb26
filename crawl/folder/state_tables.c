/*
 * state_tables.c - the tables of a state, and the statements that it uses.
 *
 * One table is large: `fetched`, with a row per page that was ever fetched. It
 * has an index by key, which a commit asks for each page, and one by due time,
 * which a continuous crawl asks in each turn. What reads all of it in the order
 * of its ids must not use the index of due times: +due keeps SQLite from that.
 *
 * A page that waits in the frontier, or is not to be fetched again, is due at
 * 9223372036854775807, which is never.
 */
#include "state_inside.h"

#define KNOWN_COLUMNS \
    "id, visit, first, last, due, stored, checks, changes, history, status, " \
    "turn, url, etag, modified, digest, note, place, type, size, depth, every"

const char *const crawl_state_texts[STATE_STATEMENTS] = {
    [STATE_GET] = "SELECT value FROM settings WHERE name = ?1",
    [STATE_SET] = "INSERT INTO settings VALUES (?1, ?2) ON CONFLICT (name) DO "
                  "UPDATE SET value = excluded.value",
    [STATE_VISIT_ADD] =
        "INSERT INTO visits (name, seed, began, ended, expected) "
        "VALUES (?1, ?2, ?3, 0, 0)",
    [STATE_VISIT_LAST] =
        "SELECT id, name, seed, began, ended, expected FROM visits "
        "ORDER BY id DESC LIMIT 1",
    [STATE_VISIT_END] = "UPDATE visits SET ended = ?2 WHERE id = ?1",
    [STATE_EXPECTED] = "UPDATE visits SET expected = ?2 WHERE id = ?1",
    [STATE_WRITE] =
        "UPDATE position SET warc_file = ?1, warc = ?2, cdxj = ?3, "
        "pages = ?4, log = ?5, urls = ?6",
    [STATE_FIND] = "SELECT " KNOWN_COLUMNS " FROM fetched WHERE key = ?1",
    [STATE_KEEP] =
        "INSERT INTO fetched (key, visit, first, last, due, stored, "
        "checks, changes, history, status, turn, url, etag, modified, "
        "digest, note, place, type, size, depth, every) VALUES (?1, ?2, ?3, "
        "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
        "?18, ?19, ?20, ?21) ON CONFLICT (key) DO UPDATE SET visit = ?2, last = ?4, due = "
        "?5, stored = ?6, checks = ?7, changes = ?8, history = ?9, status = "
        "?10, turn = ?11, url = ?12, etag = ?13, modified = ?14, digest = "
        "?15, note = ?16, place = ?17, type = ?18, size = ?19, depth = ?20, "
        "every = ?21 RETURNING id",
    [STATE_URL] = "SELECT url FROM fetched WHERE id = ?1",
    [STATE_START_ADD] = "INSERT OR IGNORE INTO starts (url) VALUES (?1)",
    [STATE_START_READ] = "SELECT id, url FROM starts ORDER BY id",
    [STATE_START_FIND] = "SELECT 1 FROM starts WHERE url = ?1",
    [STATE_ROBOTS_FIND] =
        "SELECT status, CASE WHEN length(body) <= ?3 THEN body END, "
        "until, length(body) > ?3 FROM robots WHERE origin = ?1 "
        "AND until > ?2",
    [STATE_ROBOTS_KEEP] =
        "INSERT INTO robots VALUES (?1, ?2, ?3, ?4) ON CONFLICT "
        "(origin) DO UPDATE SET until = ?2, status = ?3, body = "
        "?4",
    [STATE_COUNT_ADD] =
        "INSERT INTO counts VALUES (?1, ?2, ?3) ON CONFLICT (visit, "
        "name) DO UPDATE SET n = n + ?3",
    [STATE_COUNT_READ] =
        "SELECT name, n FROM counts WHERE visit = ?1 ORDER BY name",
    [STATE_DUE_READ] =
        "SELECT id, url, depth, type, stored FROM fetched WHERE due <= ?1 "
        "ORDER BY due LIMIT ?2",
    [STATE_DUE_CLEAR] =
        "UPDATE fetched SET due = 9223372036854775807 WHERE id = ?1",
    [STATE_DUE_NEXT] =
        "SELECT coalesce(min(due), 9223372036854775807) FROM fetched",
    [STATE_TRAP_ADD] = "INSERT OR IGNORE INTO traps VALUES (?1, ?2)",
    [STATE_TRAP_FIND] = "SELECT reason FROM traps WHERE url = ?1",
    [STATE_RECOVERED] = "INSERT INTO recovered VALUES (?1, ?2)",
    [STATE_KNOWN_READ] =
        "SELECT id, url FROM fetched WHERE visit >= ?1 ORDER BY id",
    /* +due: not by its index, in the order of the ids. */
    [STATE_QUERIES_READ] =
        "SELECT id, url FROM fetched WHERE +due < "
        "9223372036854775807 AND instr(url, '?') ORDER BY id",
    [STATE_COPIES_READ] =
        "SELECT id, url, depth, type, place, digest FROM fetched "
        "WHERE id > ?1 AND visit < ?2 AND +due < "
        "9223372036854775807 AND place <> '' ORDER BY id",
    [STATE_KNOWS] = "SELECT 1 FROM fetched WHERE key = ?1",
    [STATE_UNFETCHED_ADD] = "INSERT OR REPLACE INTO unfetched VALUES (?1, ?2)",
    [STATE_UNFETCHED_READ] = "SELECT key FROM unfetched WHERE visit = ?1",
    [STATE_UNFETCHED_FIND] =
        "SELECT 1 FROM unfetched WHERE key = ?1 AND visit = "
        "?2",
};

enum seen_code crawl_state_create(struct sql *db, struct seen_error *why)
{
    enum seen_code code = sql_begin(db, why);

    if (code == SEEN_OK)
        code = frontier_create(db, why);
    if (code == SEEN_OK)
        code = sql_run(
            db,
            "PRAGMA user_version = 2;"
            "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT "
            "NULL) WITHOUT ROWID;"
            "CREATE TABLE visits (id INTEGER PRIMARY KEY, name TEXT NOT NULL, "
            "seed INTEGER NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT "
            "NULL, expected REAL NOT NULL);"
            "CREATE TABLE position (warc_file INTEGER NOT NULL, warc INTEGER "
            "NOT NULL, cdxj INTEGER NOT NULL, pages INTEGER NOT NULL, log "
            "INTEGER NOT NULL, urls INTEGER NOT NULL);"
            "INSERT INTO position VALUES (0, 0, 0, 0, 0, 0);"
            "CREATE TABLE fetched (id INTEGER PRIMARY KEY, key BLOB NOT NULL "
            "UNIQUE, visit INTEGER NOT NULL, first INTEGER NOT NULL, last "
            "INTEGER NOT NULL, due INTEGER NOT NULL, stored INTEGER NOT NULL, "
            "checks INTEGER NOT NULL, changes INTEGER NOT NULL, history BLOB "
            "NOT NULL, status INTEGER NOT NULL, turn INTEGER NOT NULL, url "
            "TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL, "
            "digest TEXT NOT NULL, note TEXT NOT NULL, place TEXT NOT NULL, "
            "type TEXT NOT NULL, size INTEGER NOT NULL, depth INTEGER NOT "
            "NULL, every INTEGER NOT NULL);"
            "CREATE INDEX fetched_due ON fetched (due);"
            "CREATE TABLE starts (id INTEGER PRIMARY KEY, url TEXT NOT NULL "
            "UNIQUE);"
            "CREATE TABLE robots (origin TEXT PRIMARY KEY, until INTEGER NOT "
            "NULL, status INTEGER NOT NULL, body BLOB NOT NULL) WITHOUT "
            "ROWID;"
            "CREATE TABLE counts (visit INTEGER NOT NULL, name TEXT NOT NULL, "
            "n INTEGER NOT NULL, PRIMARY KEY (visit, name)) WITHOUT ROWID;"
            "CREATE TABLE recovered (visit INTEGER NOT NULL, url TEXT NOT "
            "NULL);"
            "CREATE TABLE traps (url TEXT PRIMARY KEY, reason TEXT NOT NULL) "
            "WITHOUT ROWID;"
            "CREATE TABLE unfetched (key BLOB PRIMARY KEY, visit INTEGER NOT "
            "NULL) WITHOUT ROWID;"
            "CREATE TABLE audit (key BLOB PRIMARY KEY) WITHOUT ROWID;",
            why);
    return code == SEEN_OK ? sql_commit(db, why) : code;
}

enum seen_code crawl_state_upgrade(struct sql *db, struct seen_error *why)
{
    enum seen_code code = sql_begin(db, why);

    if (code != SEEN_OK)
        return code;
    code = frontier_upgrade(db, why);
    if (code == SEEN_OK)
        code = sql_run(db, "PRAGMA user_version = 2", why);
    return sql_end(db, code, why);
}
