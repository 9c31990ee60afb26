/* state.c - the tables of a crawl, and its folder. */
#include "state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/disk/disk.h"
#include "../../lib/disk/lock.h"
#include "../../lib/disk/walk.h"
#include "../../lib/text/little.h"
#include "../../lib/text/span.h"
#include "../engine/store.h"
#include "left_out.h"
#include "prune.h"

enum {
    CACHE = 16 << 20,  /* bytes of database pages in memory */
    TRAPS_MOST = 10000 /* links that are kept, per run */
};

enum {
    GET,
    SET,
    VISIT_ADD,
    VISIT_LAST,
    VISIT_END,
    EXPECTED,
    WRITE,
    FIND,
    KEEP,
    URL,
    START_ADD,
    START_READ,
    START_FIND,
    ROBOTS_FIND,
    ROBOTS_KEEP,
    COUNT_ADD,
    COUNT_READ,
    DUE_READ,
    DUE_CLEAR,
    DUE_NEXT,
    TRAP_ADD,
    TRAP_FIND,
    RECOVERED,
    KNOWN_READ,
    UNFETCHED_ADD,
    UNFETCHED_FIND,
    UNFETCHED_READ,
    KNOWS,
    QUERIES_READ,
    COPIES_READ,
    STATEMENTS
};

#define KNOWN_COLUMNS \
    "id, visit, first, last, due, stored, checks, changes, history, status, " \
    "turn, url, etag, modified, digest, note, place, type, size, depth, every"

static const char *const texts[STATEMENTS] = {
    [GET] = "SELECT value FROM settings WHERE name = ?1",
    [SET] = "INSERT INTO settings VALUES (?1, ?2) ON CONFLICT (name) DO "
            "UPDATE SET value = excluded.value",
    [VISIT_ADD] = "INSERT INTO visits (name, seed, began, ended, expected) "
                  "VALUES (?1, ?2, ?3, 0, 0)",
    [VISIT_LAST] = "SELECT id, name, seed, began, ended, expected FROM visits "
                   "ORDER BY id DESC LIMIT 1",
    [VISIT_END] = "UPDATE visits SET ended = ?2 WHERE id = ?1",
    [EXPECTED] = "UPDATE visits SET expected = ?2 WHERE id = ?1",
    [WRITE] = "UPDATE position SET warc_file = ?1, warc = ?2, cdxj = ?3, "
              "pages = ?4, log = ?5, urls = ?6",
    [FIND] = "SELECT " KNOWN_COLUMNS " FROM fetched WHERE key = ?1",
    [KEEP] =
        "INSERT INTO fetched (key, visit, first, last, due, stored, "
        "checks, changes, history, status, turn, url, etag, modified, "
        "digest, note, place, type, size, depth, every) VALUES (?1, ?2, ?3, "
        "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
        "?18, ?19, ?20, ?21) ON CONFLICT (key) DO UPDATE SET visit = ?2, last = ?4, due = "
        "?5, stored = ?6, checks = ?7, changes = ?8, history = ?9, status = "
        "?10, turn = ?11, url = ?12, etag = ?13, modified = ?14, digest = "
        "?15, note = ?16, place = ?17, type = ?18, size = ?19, depth = ?20, "
        "every = ?21 RETURNING id",
    [URL] = "SELECT url FROM fetched WHERE id = ?1",
    [START_ADD] = "INSERT OR IGNORE INTO starts (url) VALUES (?1)",
    [START_READ] = "SELECT id, url FROM starts ORDER BY id",
    [START_FIND] = "SELECT 1 FROM starts WHERE url = ?1",
    [ROBOTS_FIND] =
        "SELECT status, CASE WHEN length(body) <= ?3 THEN body END, "
        "until, length(body) > ?3 FROM robots WHERE origin = ?1 "
        "AND until > ?2",
    [ROBOTS_KEEP] = "INSERT INTO robots VALUES (?1, ?2, ?3, ?4) ON CONFLICT "
                    "(origin) DO UPDATE SET until = ?2, status = ?3, body = "
                    "?4",
    [COUNT_ADD] = "INSERT INTO counts VALUES (?1, ?2, ?3) ON CONFLICT (visit, "
                  "name) DO UPDATE SET n = n + ?3",
    [COUNT_READ] = "SELECT name, n FROM counts WHERE visit = ?1 ORDER BY name",
    [DUE_READ] =
        "SELECT id, url, depth, type, stored FROM fetched WHERE due <= ?1 "
        "ORDER BY due LIMIT ?2",
    [DUE_CLEAR] = "UPDATE fetched SET due = 9223372036854775807 WHERE id = ?1",
    [DUE_NEXT] = "SELECT coalesce(min(due), 9223372036854775807) FROM fetched",
    [TRAP_ADD] = "INSERT OR IGNORE INTO traps VALUES (?1, ?2)",
    [TRAP_FIND] = "SELECT reason FROM traps WHERE url = ?1",
    [RECOVERED] = "INSERT INTO recovered VALUES (?1, ?2)",
    [KNOWN_READ] = "SELECT id, url FROM fetched WHERE visit >= ?1 ORDER BY id",
    /* +due: not by its index, in the order of the ids. */
    [QUERIES_READ] = "SELECT id, url FROM fetched WHERE +due < "
                     "9223372036854775807 AND instr(url, '?') ORDER BY id",
    [COPIES_READ] = "SELECT id, url, depth, type, place, digest FROM fetched "
                    "WHERE id > ?1 AND visit < ?2 AND +due < "
                    "9223372036854775807 AND place <> '' ORDER BY id",
    [KNOWS] = "SELECT 1 FROM fetched WHERE key = ?1",
    [UNFETCHED_ADD] = "INSERT OR REPLACE INTO unfetched VALUES (?1, ?2)",
    [UNFETCHED_READ] = "SELECT key FROM unfetched WHERE visit = ?1",
    [UNFETCHED_FIND] = "SELECT 1 FROM unfetched WHERE key = ?1 AND visit = "
                       "?2",
};

static enum seen_code create(struct crawl_state *s, struct seen_error *why)
{
    enum seen_code code = sql_begin(s->db, why);

    if (code == SEEN_OK)
        code = frontier_create(s->db, why);
    if (code == SEEN_OK)
        code = sql_run(
            s->db,
            "PRAGMA user_version = 1;"
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
    return code == SEEN_OK ? sql_commit(s->db, why) : code;
}

/* --- open and close --- */

static enum seen_code read_version(struct crawl_state *s, int64_t *version,
                                   struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, s->db, "PRAGMA user_version", why);
    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    *version = row ? sql_number(st, 0) : 0;
    sql_reset(st);
    return SEEN_OK;
}

static enum seen_code read_position(struct crawl_state *s,
                                    struct seen_error *why)
{
    struct crawl_position *p = &s->position;
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, s->db,
                       "SELECT warc_file, warc, cdxj, pages, log, urls FROM "
                       "position",
                       why);
    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    if (!row)
        return seen_fail(why, SEEN_CORRUPT, 0, "the state has no position");
    p->warc_file = (unsigned)sql_number(st, 0);
    p->warc = (uint64_t)sql_number(st, 1);
    p->cdxj = (uint64_t)sql_number(st, 2);
    p->pages = (uint64_t)sql_number(st, 3);
    p->log = (uint64_t)sql_number(st, 4);
    p->urls = (uint64_t)sql_number(st, 5);
    sql_reset(st);
    return SEEN_OK;
}

static enum seen_code read_visit(struct crawl_state *s, struct seen_error *why)
{
    struct sql_statement *st = s->st[VISIT_LAST];
    struct seen_span name;
    enum seen_code code;
    bool row;

    code = sql_step(st, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    s->visit.id = sql_number(st, 0);
    name = sql_text(st, 1);
    snprintf(s->visit.name, sizeof s->visit.name, "%.*s", (int)name.len,
             name.text);
    s->visit.seed = (uint64_t)sql_number(st, 2);
    s->visit.began = sql_number(st, 3);
    s->visit.ended = sql_number(st, 4);
    s->visit.expected = sql_real(st, 5);
    sql_reset(st);
    return SEEN_OK;
}

static enum seen_code open_tables(struct crawl_state *s, bool make,
                                  struct seen_error *why)
{
    int64_t version = 0;
    enum seen_code code = read_version(s, &version, why);

    if (code == SEEN_OK && !version && make && s->bare)
        code = create(s, why);
    else if (code == SEEN_OK && !version && make)
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "state.db is empty, but the folder has other files "
                         "of a crawl");
    else if (code == SEEN_OK && !version)
        code = seen_fail(why, SEEN_MISMATCH, 0, "not the folder of a crawl");
    else if (code == SEEN_OK && version != CRAWL_VERSION)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "the state is of version %lld; this program reads "
                         "version %d",
                         (long long)version, CRAWL_VERSION);
    if (code == SEEN_OK)
        code = frontier_open(&s->frontier, s->db, why);
    for (int i = 0; code == SEEN_OK && i < STATEMENTS; i++)
        code = sql_prepare(&s->st[i], s->db, texts[i], why);
    if (code == SEEN_OK)
        code = read_position(s, why);
    return code == SEEN_OK ? read_visit(s, why) : code;
}

static enum seen_code open_state(struct crawl_state *s, const char *folder,
                                 enum sql_access access,
                                 struct seen_error *why)
{
    char *path;
    enum seen_code code;

    _Static_assert(STATEMENTS <= sizeof s->st / sizeof *s->st, "room");
    path = walk_path(folder, "state.db");
    if (!path)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    else
        code = sql_open(&s->db, path, access, CACHE, why);
    free(path);
    return code == SEEN_OK ? open_tables(s, access == SQL_CREATE, why) : code;
}

/*
 * A folder that has files, but no state, is somebody else's. A state without
 * tables is that of a crawl which was killed as it began, but not if there are
 * other files: it lost its contents, and a new crawl would cut the files to
 * nothing.
 */
static enum seen_code check_folder(const char *folder, bool *bare,
                                   struct seen_error *why)
{
    struct walk_names names = { .name = NULL };
    enum seen_code code = walk_folder(&names, folder, true, why);
    bool ours = code != SEEN_OK || !names.n;

    *bare = true;
    for (size_t i = 0; i < names.n; i++) {
        bool lock = !strcmp(names.name[i], "lock");

        ours |= !strcmp(names.name[i], "state.db") || (names.n == 1 && lock);
        *bare &= lock || !strncmp(names.name[i], "state.db", 8);
    }
    walk_clear(&names);
    if (!ours)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the folder has files, but is not that of a crawl");
    return code;
}

bool crawl_state_exists(const char *folder)
{
    char *path = walk_path(folder, "state.db");
    struct stat st;
    bool there = path && !lstat(path, &st);

    free(path);
    return there;
}

/* Make the folder, and lock it. A crawl that did not begin removes its folder
   again, perhaps between the two. */
static enum seen_code lock_folder(struct crawl_state *s, const char *folder,
                                  struct seen_error *why)
{
    enum { TRIES = 10 };
    char *path = walk_path(folder, "lock");
    enum seen_code code;
    struct seen_error detail;
    int tries = 0;

    if (!path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    do {
        s->made_folder = access(folder, F_OK) != 0;
        code = disk_make_folders(path, &detail);
        if (code == SEEN_OK)
            code = check_folder(folder, &s->bare, &detail);
        if (code == SEEN_OK)
            code = lock_take(&s->lock, path, "a crawl runs in this folder",
                             &detail);
    } while (code == SEEN_IO && detail.system == ENOENT && ++tries < TRIES);
    free(path);
    if (code != SEEN_OK && why)
        *why = detail;
    return code;
}

enum seen_code crawl_state_open(struct crawl_state *s, const char *folder,
                                struct seen_error *why)
{
    enum seen_code code;

    memset(s, 0, sizeof *s);
    s->lock = -1;
    s->folder = strdup(folder);
    if (!s->folder)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    code = lock_folder(s, folder, why);
    if (code == SEEN_OK) {
        s->made = !crawl_state_exists(folder);
        code = open_state(s, folder, SQL_CREATE, why);
    }
    if (code == SEEN_OK)
        code = crawl_prune_resume(s, why);
    if (code != SEEN_OK) {
        s->unwanted = s->made;
        crawl_state_close(s);
    }
    return code;
}

enum seen_code crawl_state_look(struct crawl_state *s, const char *folder,
                                struct seen_error *why)
{
    enum seen_code code;
    struct stat st;
    char *path;

    memset(s, 0, sizeof *s);
    s->lock = -1;
    s->folder = strdup(folder);
    path = walk_path(folder, "state.db");
    if (!s->folder || !path)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    else if (stat(path, &st))
        code = errno == ENOENT
                   ? seen_fail(why, SEEN_MISMATCH, 0,
                               "not the folder of a crawl: it has no state.db")
                   : seen_fail(why, SEEN_IO, 0, "state.db");
    else
        code = open_state(s, folder, SQL_READ, why);
    free(path);
    if (code != SEEN_OK)
        crawl_state_close(s);
    return code;
}

/* All but the lock, which keeps others out until the last of it is gone. */
static void remove_files(const struct crawl_state *s)
{
    static const char *const name[] = { "state.db", "state.db-wal",
                                        "state.db-shm" };
    int before = errno;
    char *path;

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        path = walk_path(s->folder, name[i]);
        if (path)
            unlink(path);
        free(path);
    }
    errno = before;
}

/* Whoever waits for the lock finds that it is of a file without a name, and
   begins again with the folder. */
static void give_up_folder(struct crawl_state *s)
{
    char *path = walk_path(s->folder, "lock");
    int before = errno;

    remove_files(s);
    if (path)
        unlink(path);
    if (s->made_folder)
        rmdir(s->folder);
    errno = before;
    free(path);
}

void crawl_state_close(struct crawl_state *s)
{
    crawl_left_forget(s);
    frontier_close(s->frontier);
    sql_close(s->db);
    if (s->unwanted && s->lock >= 0)
        give_up_folder(s);
    lock_release(s->lock, NULL);
    free(s->folder);
    memset(s, 0, sizeof *s);
    s->lock = -1;
}

char *crawl_state_path(const struct crawl_state *s, const char *name)
{
    return walk_path(s->folder, name);
}

/* --- values --- */

static char *copy_of(struct seen_span text)
{
    return strndup(text.text, text.len);
}

enum seen_code crawl_state_get(struct crawl_state *s, const char *name,
                               char **value, struct seen_error *why)
{
    struct sql_statement *st = s->st[GET];
    enum seen_code code;
    bool row;

    *value = NULL;
    sql_bind_text(st, 1, span_of(name));
    code = sql_step(st, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    *value = copy_of(sql_text(st, 0));
    sql_reset(st);
    return *value ? SEEN_OK
                  : seen_fail(why, SEEN_NOMEM, 0, "no memory for a setting");
}

enum seen_code crawl_state_set(struct crawl_state *s, const char *name,
                               const char *value, struct seen_error *why)
{
    sql_bind_text(s->st[SET], 1, span_of(name));
    sql_bind_text(s->st[SET], 2, span_of(value));
    return sql_do(s->st[SET], why);
}

/* --- the clock --- */

enum seen_code crawl_state_note_clock(struct crawl_state *s, int64_t now,
                                      struct seen_error *why)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)now);
    return crawl_state_set(s, "clock", text, why);
}

/* What is later than now, by so many ms. When a response was stored stays, as
   its date in the WARC file does. */
static enum seen_code move_times(struct crawl_state *s, int64_t now,
                                 int64_t back, struct seen_error *why)
{
    static const char *const moves[] = {
        "UPDATE hosts SET due = due - ?2 WHERE due > ?1",
        "UPDATE robots SET until = until - ?2 WHERE until > ?1",
        "UPDATE visits SET began = CASE WHEN began > ?1 THEN began - ?2 ELSE "
        "began END, ended = CASE WHEN ended > ?1 THEN ended - ?2 ELSE ended "
        "END WHERE began > ?1 OR ended > ?1",
        "UPDATE fetched SET due = CASE WHEN due = 9223372036854775807 THEN "
        "due ELSE due - ?2 END, first = CASE WHEN first > ?1 THEN first - ?2 "
        "ELSE first END, last = last - ?2 WHERE last > ?1",
    };
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i < sizeof moves / sizeof *moves;
         i++) {
        struct sql_statement *st;

        code = sql_prepare(&st, s->db, moves[i], why);
        if (code != SEEN_OK)
            break;
        sql_bind_number(st, 1, now);
        sql_bind_number(st, 2, back);
        code = sql_do(st, why);
    }
    return code;
}

enum seen_code crawl_state_set_back(struct crawl_state *s, int64_t now,
                                    int64_t *back, struct seen_error *why)
{
    enum seen_code code;
    char *noted;

    *back = 0;
    code = crawl_state_get(s, "clock", &noted, why);
    if (code != SEEN_OK || !noted)
        return code;
    *back = strtoll(noted, NULL, 10) - now;
    free(noted);
    if (*back <= 0) {
        *back = 0;
        return SEEN_OK;
    }
    code = sql_begin(s->db, why);
    if (code != SEEN_OK)
        return code;
    code = move_times(s, now, *back, why);
    if (code == SEEN_OK)
        code = crawl_state_note_clock(s, now, why);
    if (code == SEEN_OK)
        code = read_visit(s, why);
    if (code == SEEN_OK)
        return sql_commit(s->db, why);
    sql_rollback(s->db);
    return code;
}

/* --- visits --- */

enum seen_code crawl_state_begin_visit(struct crawl_state *s, uint64_t seed,
                                       int64_t now, struct seen_error *why)
{
    struct sql_statement *st = s->st[VISIT_ADD];
    char name[64];
    enum seen_code code;

    snprintf(name, sizeof name, "%lld@%lld", (long long)s->visit.id + 1,
             (long long)(now / 1000));
    sql_bind_text(st, 1, span_of(name));
    sql_bind_number(st, 2, (int64_t)seed);
    sql_bind_number(st, 3, now);
    code = sql_do(st, why);
    return code == SEEN_OK ? read_visit(s, why) : code;
}

enum seen_code crawl_state_end_visit(struct crawl_state *s, int64_t now,
                                     struct seen_error *why)
{
    sql_bind_number(s->st[VISIT_END], 1, s->visit.id);
    sql_bind_number(s->st[VISIT_END], 2, now);
    s->visit.ended = now;
    return sql_do(s->st[VISIT_END], why);
}

enum seen_code crawl_state_write(struct crawl_state *s, struct seen_error *why)
{
    const struct crawl_position *p = &s->position;
    struct sql_statement *st = s->st[WRITE];
    enum seen_code code;

    sql_bind_number(st, 1, p->warc_file);
    sql_bind_number(st, 2, (int64_t)p->warc);
    sql_bind_number(st, 3, (int64_t)p->cdxj);
    sql_bind_number(st, 4, (int64_t)p->pages);
    sql_bind_number(st, 5, (int64_t)p->log);
    sql_bind_number(st, 6, (int64_t)p->urls);
    code = sql_do(st, why);
    if (code != SEEN_OK)
        return code;
    sql_bind_number(s->st[EXPECTED], 1, s->visit.id);
    sql_bind_real(s->st[EXPECTED], 2, s->visit.expected);
    return sql_do(s->st[EXPECTED], why);
}

/* --- fetched pages --- */

static struct seen_span key_bytes(const struct seen_key *key, char bytes[16])
{
    little_put_64(bytes, key->lo);
    little_put_64(bytes + 8, key->hi);
    return (struct seen_span){ bytes, 16 };
}

enum seen_code crawl_state_find(struct crawl_state *s,
                                const struct seen_key *key, bool *found,
                                struct crawl_known *page,
                                struct seen_error *why)
{
    struct sql_statement *st = s->st[FIND];
    struct seen_span text[CRAWL_KNOWN_TEXTS];
    enum seen_code code;
    char bytes[16];
    bool taken;

    sql_bind_bytes(st, 1, key_bytes(key, bytes));
    code = sql_step(st, found, why);
    if (code != SEEN_OK || !*found)
        return code;
    *page = (struct crawl_known){
        .id = sql_number(st, 0),
        .visit = sql_number(st, 1),
        .first = sql_number(st, 2),
        .last = sql_number(st, 3),
        .due = sql_number(st, 4),
        .stored = sql_number(st, 5),
        .checks = sql_number(st, 6),
        .changes = sql_number(st, 7),
        .status = (int)sql_number(st, 9),
        .turn = (unsigned)sql_number(st, 10),
        .size = sql_number(st, 11 + CRAWL_KNOWN_TEXTS),
        .depth = (unsigned)sql_number(st, 12 + CRAWL_KNOWN_TEXTS),
        .every = sql_number(st, 13 + CRAWL_KNOWN_TEXTS),
    };
    crawl_known_read_history(page, sql_text(st, 8));
    for (int i = 0; i < CRAWL_KNOWN_TEXTS; i++)
        text[i] = sql_text(st, 11 + i);
    taken = crawl_known_take_texts(page, text);
    sql_reset(st);
    return taken ? SEEN_OK
                 : seen_fail(why, SEEN_NOMEM, 0, "no memory for a page");
}

/* One question per page: a sample of some thousand must not read all rows. */
enum seen_code crawl_state_histories(struct crawl_state *s, uint64_t most,
                                     crawl_state_take_history *take,
                                     void *owner, uint64_t *all,
                                     struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(
        &st, s->db, "SELECT coalesce(max(id), 0) FROM fetched", why);
    bool row;

    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    *all = (uint64_t)sql_number(st, 0);
    sql_reset(st);
    if (most > *all)
        most = *all;
    code = sql_prepare(
        &st, s->db,
        "SELECT history FROM fetched WHERE id >= ?1 ORDER BY id "
        "LIMIT 1",
        why);
    for (uint64_t i = 0; code == SEEN_OK && i < most; i++) {
        struct crawl_known page = { .id = 0 };

        sql_bind_number(
            st, 1, (int64_t)(1 + (double)*all / (double)most * (double)i));
        code = sql_step(st, &row, why);
        if (code != SEEN_OK || !row)
            continue;
        crawl_known_read_history(&page, sql_text(st, 0));
        sql_reset(st);
        code = take(owner, &page, why);
    }
    return code;
}

enum seen_code crawl_state_keep(struct crawl_state *s,
                                const struct seen_key *key,
                                struct crawl_known *page,
                                struct seen_error *why)
{
    struct sql_statement *st = s->st[KEEP];
    enum seen_code code;
    char bytes[16];
    bool row;

    sql_bind_bytes(st, 1, key_bytes(key, bytes));
    sql_bind_number(st, 2, page->visit);
    sql_bind_number(st, 3, page->first);
    sql_bind_number(st, 4, page->last);
    sql_bind_number(st, 5, page->due);
    sql_bind_number(st, 6, page->stored);
    sql_bind_number(st, 7, page->checks);
    sql_bind_number(st, 8, page->changes);
    sql_bind_bytes(st, 9,
                   (struct seen_span){ (const char *)page->history,
                                       4 * page->histories });
    sql_bind_number(st, 10, page->status);
    sql_bind_number(st, 11, page->turn);
    sql_bind_text(st, 12, span_of(page->url));
    sql_bind_text(st, 13, span_of(page->etag));
    sql_bind_text(st, 14, span_of(page->modified));
    sql_bind_text(st, 15, span_of(page->digest));
    sql_bind_text(st, 16, span_of(page->note));
    sql_bind_text(st, 17, span_of(page->place));
    sql_bind_text(st, 18, span_of(page->type));
    sql_bind_number(st, 19, page->size);
    sql_bind_number(st, 20, page->depth);
    sql_bind_number(st, 21, page->every);
    code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    page->id = sql_number(st, 0);
    sql_reset(st);
    return SEEN_OK;
}

char *crawl_state_url(struct crawl_state *s, int64_t id)
{
    struct sql_statement *st = s->st[URL];
    char *url;
    bool row;

    sql_bind_number(st, 1, id);
    if (sql_step(st, &row, NULL) != SEEN_OK || !row)
        return strdup("");
    url = copy_of(sql_text(st, 0));
    sql_reset(st);
    return url;
}

/* --- revisits --- */

enum seen_code crawl_state_due(struct crawl_state *s, int64_t now,
                               unsigned most, crawl_take_due *take,
                               void *owner, struct seen_error *why)
{
    struct sql_statement *st = s->st[DUE_READ];
    int64_t *id = malloc((most + 1) * sizeof *id);
    enum seen_code code = SEEN_OK;
    unsigned n = 0;
    bool row;

    if (!id)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for pages");
    sql_bind_number(st, 1, now);
    sql_bind_number(st, 2, most);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        const struct frontier_page page = {
            .via = sql_number(st, 0),
            .url = sql_text(st, 1),
            .depth = (unsigned)sql_number(st, 2),
            .type = sql_text(st, 3),
            .path = { "", 0 },
        };

        id[n++] = page.via;
        code = take(owner, &page, sql_number(st, 4), why);
        if (code != SEEN_OK)
            sql_reset(st);
    }
    for (unsigned i = 0; code == SEEN_OK && i < n; i++) {
        sql_bind_number(s->st[DUE_CLEAR], 1, id[i]);
        code = sql_do(s->st[DUE_CLEAR], why);
    }
    free(id);
    return code;
}

/* Some at a time: what SQLite needs to undo one statement is in memory, 230 MB
   for a million rows. */
enum seen_code crawl_state_due_anew(struct crawl_state *s,
                                    struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(
        &st, s->db,
        "UPDATE fetched SET due = 0 WHERE id IN (SELECT id FROM fetched "
        "WHERE due = 9223372036854775807 LIMIT 10000)",
        why);

    if (code == SEEN_OK)
        code = sql_do(st, why);
    while (code == SEEN_OK && sql_changes(s->db))
        code = sql_do(st, why);
    return code;
}

enum seen_code crawl_state_next_due(struct crawl_state *s, int64_t *due,
                                    struct seen_error *why)
{
    enum seen_code code;
    bool row;

    code = sql_step(s->st[DUE_NEXT], &row, why);
    if (code != SEEN_OK)
        return code;
    *due = sql_number(s->st[DUE_NEXT], 0);
    sql_reset(s->st[DUE_NEXT]);
    return SEEN_OK;
}

/* One row: its new due time. Only times that differ are written, since each is
   an entry of an index, too. */
static enum seen_code date(struct sql_statement *st, struct sql_statement *row,
                           crawl_due_of *due_of, void *owner,
                           struct seen_error *why)
{
    struct crawl_known page = { .id = sql_number(row, 0),
                                .last = sql_number(row, 1),
                                .due = sql_number(row, 2),
                                .every = sql_number(row, 3) };
    int64_t due;

    crawl_known_read_history(&page, sql_text(row, 4));
    due = due_of(owner, &page);
    if (due == page.due)
        return SEEN_OK;
    sql_bind_number(st, 1, page.id);
    sql_bind_number(st, 2, due);
    return sql_do(st, why);
}

enum seen_code crawl_state_date(struct crawl_state *s, crawl_due_of *due_of,
                                void *owner, struct seen_error *why)
{
    struct sql_statement *rows, *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&rows, s->db,
                       "SELECT id, last, due, every, history FROM fetched "
                       "WHERE +due < 9223372036854775807 ORDER BY id",
                       why);
    if (code == SEEN_OK)
        code = sql_prepare(&st, s->db,
                           "UPDATE fetched SET due = ?2 WHERE id = ?1", why);
    while (code == SEEN_OK && (code = sql_step(rows, &row, why)) == SEEN_OK &&
           row) {
        code = date(st, rows, due_of, owner, why);
        if (code != SEEN_OK)
            sql_reset(rows);
    }
    return code;
}

enum seen_code crawl_state_copies(struct crawl_state *s, int64_t after,
                                  crawl_take_copy *take, void *owner,
                                  struct seen_error *why)
{
    struct sql_statement *st = s->st[COPIES_READ];
    bool row, more = true;
    enum seen_code code;

    sql_bind_number(st, 1, after);
    sql_bind_number(st, 2, s->visit.id);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        const struct frontier_page page = {
            .via = sql_number(st, 0),
            .url = sql_text(st, 1),
            .depth = (unsigned)sql_number(st, 2),
            .type = sql_text(st, 3),
            .path = { "", 0 },
        };

        code = take(owner, &page, sql_text(st, 4), sql_text(st, 5), &more,
                    why);
        if (code != SEEN_OK || !more) {
            sql_reset(st);
            break;
        }
    }
    return code;
}

enum seen_code crawl_state_recovered(struct crawl_state *s, const char *url,
                                     struct seen_error *why)
{
    sql_bind_number(s->st[RECOVERED], 1, s->visit.id);
    sql_bind_text(s->st[RECOVERED], 2, span_of(url));
    return sql_do(s->st[RECOVERED], why);
}

enum seen_code crawl_state_each(struct crawl_state *s, int64_t visit,
                                frontier_take_url *take, void *owner,
                                struct seen_error *why)
{
    sql_bind_number(s->st[KNOWN_READ], 1, visit);
    return frontier_read_urls(s->st[KNOWN_READ], take, owner, why);
}

enum seen_code crawl_state_each_query(struct crawl_state *s,
                                      frontier_take_url *take, void *owner,
                                      struct seen_error *why)
{
    return frontier_read_urls(s->st[QUERIES_READ], take, owner, why);
}

enum seen_code crawl_state_knows(struct crawl_state *s,
                                 const struct seen_key *key, bool *found,
                                 struct seen_error *why)
{
    enum seen_code code;
    char bytes[16];

    sql_bind_bytes(s->st[KNOWS], 1, key_bytes(key, bytes));
    code = sql_step(s->st[KNOWS], found, why);
    if (code == SEEN_OK && *found)
        sql_reset(s->st[KNOWS]);
    return code;
}

enum seen_code crawl_state_unfetched(struct crawl_state *s,
                                     const struct seen_key *key,
                                     struct seen_error *why)
{
    char bytes[16];

    sql_bind_bytes(s->st[UNFETCHED_ADD], 1, key_bytes(key, bytes));
    sql_bind_number(s->st[UNFETCHED_ADD], 2, s->visit.id);
    return sql_do(s->st[UNFETCHED_ADD], why);
}

enum seen_code crawl_state_was_unfetched(struct crawl_state *s,
                                         const struct seen_key *key,
                                         bool *found, struct seen_error *why)
{
    struct sql_statement *st = s->st[UNFETCHED_FIND];
    enum seen_code code;
    char bytes[16];

    sql_bind_bytes(st, 1, key_bytes(key, bytes));
    sql_bind_number(st, 2, s->visit.id - 1);
    code = sql_step(st, found, why);
    if (code == SEEN_OK && *found)
        sql_reset(st);
    return code;
}

enum seen_code crawl_state_each_unfetched(struct crawl_state *s,
                                          crawl_take_key *take, void *owner,
                                          struct seen_error *why)
{
    struct sql_statement *st = s->st[UNFETCHED_READ];
    enum seen_code code;
    bool row;

    sql_bind_number(st, 1, s->visit.id);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct seen_span bytes = sql_text(st, 0);
        struct seen_key key = { .text = NULL };

        if (bytes.len != 16)
            continue;
        key.lo = little_64(bytes.text);
        key.hi = little_64(bytes.text + 8);
        code = take(owner, &key, why);
        if (code != SEEN_OK) {
            sql_reset(st);
            break;
        }
    }
    return code;
}

/* --- traps --- */

enum seen_code crawl_state_trap(struct crawl_state *s, struct seen_span url,
                                struct seen_span reason, int64_t n,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    char name[96];

    if (s->traps < TRAPS_MOST) {
        s->traps++;
        sql_bind_text(s->st[TRAP_ADD], 1, url);
        sql_bind_text(s->st[TRAP_ADD], 2, reason);
        code = sql_do(s->st[TRAP_ADD], why);
    }
    snprintf(name, sizeof name, CRAWL_TRAP "%.*s",
             (int)(reason.len < 80 ? reason.len : 80), reason.text);
    return code == SEEN_OK ? crawl_state_count(s, name, n, why) : code;
}

enum seen_code crawl_state_trap_find(struct crawl_state *s,
                                     struct seen_span url, char **reason,
                                     struct seen_error *why)
{
    struct sql_statement *st = s->st[TRAP_FIND];
    enum seen_code code;
    bool row;

    *reason = NULL;
    sql_bind_text(st, 1, url);
    code = sql_step(st, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    *reason = copy_of(sql_text(st, 0));
    sql_reset(st);
    return *reason ? SEEN_OK
                   : seen_fail(why, SEEN_NOMEM, 0, "no memory for a reason");
}

/* --- start URLs --- */

enum seen_code crawl_state_start(struct crawl_state *s, struct seen_span url,
                                 struct seen_error *why)
{
    sql_bind_text(s->st[START_ADD], 1, url);
    return sql_do(s->st[START_ADD], why);
}

enum seen_code crawl_state_starts(struct crawl_state *s,
                                  frontier_take_url *take, void *owner,
                                  struct seen_error *why)
{
    return frontier_read_urls(s->st[START_READ], take, owner, why);
}

enum seen_code crawl_state_is_start(struct crawl_state *s,
                                    struct seen_span url, bool *start,
                                    struct seen_error *why)
{
    enum seen_code code;

    sql_bind_text(s->st[START_FIND], 1, url);
    code = sql_step(s->st[START_FIND], start, why);
    sql_reset(s->st[START_FIND]);
    return code;
}

/* --- robots.txt --- */

enum seen_code crawl_state_robots(struct crawl_state *s,
                                  struct seen_span origin, int64_t now,
                                  size_t most, struct crawl_kept_robots *kept,
                                  struct seen_error *why)
{
    struct sql_statement *st = s->st[ROBOTS_FIND];
    bool too_long = false;
    enum seen_code code;

    *kept = (struct crawl_kept_robots){ .found = false };
    sql_bind_text(st, 1, origin);
    sql_bind_number(st, 2, now);
    sql_bind_number(st, 3, most < INT64_MAX ? (int64_t)most : INT64_MAX);
    code = sql_step(st, &kept->found, why);
    if (code != SEEN_OK || !kept->found)
        return code;
    kept->status = (int)sql_number(st, 0);
    kept->until = sql_number(st, 2);
    too_long = sql_number(st, 3);
    if (!too_long) {
        struct seen_span text = sql_text(st, 1);

        kept->len = text.len;
        kept->body = malloc(text.len + 1);
        if (kept->body && text.len)
            memcpy(kept->body, text.text, text.len);
    }
    sql_reset(st);
    return kept->body || too_long
               ? SEEN_OK
               : seen_fail(why, SEEN_NOMEM, 0, "no memory for robots.txt");
}

enum seen_code crawl_state_keep_robots(struct crawl_state *s,
                                       struct seen_span origin, int64_t until,
                                       int status, struct seen_span body,
                                       struct seen_error *why)
{
    struct sql_statement *st = s->st[ROBOTS_KEEP];

    sql_bind_text(st, 1, origin);
    sql_bind_number(st, 2, until);
    sql_bind_number(st, 3, status);
    sql_bind_bytes(st, 4, body);
    return sql_do(st, why);
}

/* --- counters --- */

enum seen_code crawl_state_count(struct crawl_state *s, const char *name,
                                 int64_t more, struct seen_error *why)
{
    struct sql_statement *st = s->st[COUNT_ADD];

    sql_bind_number(st, 1, s->visit.id);
    sql_bind_text(st, 2, span_of(name));
    sql_bind_number(st, 3, more);
    return sql_do(st, why);
}

enum seen_code crawl_state_counts(struct crawl_state *s,
                                  void (*take)(void *owner, const char *name,
                                               int64_t n),
                                  void *owner, struct seen_error *why)
{
    struct sql_statement *st = s->st[COUNT_READ];
    enum seen_code code;
    char name[100];
    bool row;

    sql_bind_number(st, 1, s->visit.id);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct seen_span text = sql_text(st, 0);

        snprintf(name, sizeof name, "%.*s", (int)text.len, text.text);
        take(owner, name, sql_number(st, 1));
    }
    return code;
}

enum seen_code crawl_state_has_index(struct crawl_state *s, bool *found,
                                     struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;

    code = sql_prepare(
        &st, s->db, "SELECT 1 FROM sqlite_master WHERE name = 'search'", why);
    if (code == SEEN_OK)
        code = sql_step(st, found, why);
    if (code == SEEN_OK && *found)
        sql_reset(st);
    return code;
}
