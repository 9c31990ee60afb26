/*
 * sqlite.c - a SQLite file, in the form that sql.h promises.
 *
 * WAL with synchronous=FULL: a commit is one write and one flush of the log,
 * and readers (seen crawl status) never block the writer. FULL costs a flush
 * per commit, a few per second here, and spares an argument: a transaction
 * that was committed cannot vanish while a filter that was saved after it
 * stays.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "../lib/text/buffer.h"
#include "../lib/text/percent.h"
#include "excerpt.h"
#include "kind.h"

enum {
    BUSY = 10000, /* milliseconds to wait for another process */
    /* Pages of the log (16 MiB) before they are copied to the file, which
       takes two flushes. A queue writes the same few pages all the time. */
    CHECKPOINT = 4096,
    /* Instructions between two looks at the budget. */
    SPENT = 100
};

struct lite {
    struct sql sql;
    sqlite3 *db;
    sqlite3_stmt *begin, *commit; /* NULL: not yet prepared */
    const char *called; /* what messages begin with */
    uint64_t busy_since;
    char epoch[SQL_EPOCH];
    struct budget *budget; /* or NULL */
};

struct lite_statement {
    struct sql_statement statement;
    sqlite3_stmt *st;
};

static struct lite *lite(struct sql *db)
{
    return (struct lite *)db;
}

static sqlite3_stmt *stmt(struct sql_statement *st)
{
    return ((struct lite_statement *)st)->st;
}

static enum seen_code fail(struct lite *db, int code, struct seen_error *why)
{
    const char *words = db->db ? sqlite3_errmsg(db->db) : sqlite3_errstr(code);

    db->sql.fault = SQL_FOR_GOOD;
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for %s", db->called);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return seen_fail(why, SEEN_CORRUPT, 0, "%s is damaged: %s", db->called,
                         words);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        db->sql.fault = SQL_AGAIN;
        return seen_fail(why, SEEN_BUSY, 0, "another process writes to %s",
                         db->called);
    case SQLITE_FULL:
        return seen_fail(why, SEEN_FULL, 0, "no room on the disk for %s",
                         db->called);
    default:
        return seen_fail(why, SEEN_UNABLE, 0, "%s: %s", db->called, words);
    }
}

/*
 * Another process writes: wait, up to BUSY. SQLite's own handler sleeps for up
 * to 100 ms. With six processes that write all the time, the longest wait of
 * one was 0.4 to 1.6 s with it and is at most 0.14 s with these short ones,
 * at a third more transactions per second.
 */
static int wait_busy(void *owner, int times)
{
    struct lite *db = owner;
    uint64_t now = clock_ms();

    if (times == 0)
        db->busy_since = now;
    if (now - db->busy_since >= BUSY)
        return 0;
    usleep(times < 5 ? 1000 * ((useconds_t)times + 1) : 5000);
    return 1;
}

/* The machine of a test: its boot id, and by how much its clock is ahead. */
static struct {
    _Atomic int64_t ahead;
    const char *_Atomic epoch; /* NULL: that of the real one */
} machine;

void sql_imitate(const char *epoch, int64_t ahead)
{
    machine.ahead = ahead;
    machine.epoch = epoch;
}

/* {now}: a clock that nobody sets, and that goes on while the machine
   sleeps. */
static void now(sqlite3_context *context, int n, sqlite3_value **value)
{
    (void)n, (void)value;
    sqlite3_result_int64(context, clock_boot_ms() + machine.ahead);
}

/* A sandbox may hide the boot id, as ProcSubset=pid of systemd does. */
static void read_epoch(char *epoch)
{
    const char *imitated = machine.epoch;
    FILE *f = imitated ? NULL : fopen("/proc/sys/kernel/random/boot_id", "re");
    char text[SQL_EPOCH] = "";

    if (f && !fgets(text, sizeof text, f))
        *text = '\0';
    if (imitated)
        snprintf(text, sizeof text, "%s", imitated);
    text[strcspn(text, "\n")] = '\0';
    strcpy(epoch, *text ? text : SQL_EPOCH_UNKNOWN);
    if (f)
        fclose(f);
}

static enum seen_code lite_run(struct sql *db, const char *script,
                               struct seen_error *why)
{
    int result = sqlite3_exec(lite(db)->db, script, NULL, NULL, NULL);

    return result == SQLITE_OK ? SEEN_OK : fail(lite(db), result, why);
}

static void lite_close(struct sql *db)
{
    sqlite3_finalize(lite(db)->begin);
    sqlite3_finalize(lite(db)->commit);
    sqlite3_close(lite(db)->db);
    free(db->name);
    free(db);
}

static enum seen_code lite_relax(struct sql *db, bool relaxed,
                                 struct seen_error *why)
{
    return lite_run(db,
                    relaxed ? "PRAGMA synchronous = NORMAL"
                            : "PRAGMA synchronous = FULL",
                    why);
}

static const char *lite_epoch(const struct sql *db)
{
    return ((const struct lite *)db)->epoch;
}

/* SQLite ends the statement if this is not zero. */
static int spend(void *owner)
{
    struct lite *db = owner;

    return !budget_spend(db->budget, SPENT);
}

static void lite_spend(struct sql *db, struct budget *budget)
{
    lite(db)->budget = budget;
    sqlite3_progress_handler(lite(db)->db, SPENT, budget ? spend : NULL, db);
}

static enum seen_code lite_excerpts(struct sql *db, struct seen_error *why)
{
    int result = sql_excerpt_add(lite(db)->db, &lite(db)->budget);

    return result == SQLITE_OK ? SEEN_OK : fail(lite(db), result, why);
}

static enum seen_code lite_prepare(struct sql_statement **out, struct sql *db,
                                   const char *text,
                                   const struct sql_parameters *parameters,
                                   struct seen_error *why)
{
    struct lite_statement *st = calloc(1, sizeof *st);
    int result;

    (void)parameters;
    if (!st)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a statement");
    result = sqlite3_prepare_v3(lite(db)->db, text, -1,
                                SQLITE_PREPARE_PERSISTENT, &st->st, NULL);
    if (result != SQLITE_OK) {
        free(st);
        return fail(lite(db), result, why);
    }
    *out = &st->statement;
    return SEEN_OK;
}

static void lite_finalize(struct sql_statement *st)
{
    sqlite3_finalize(stmt(st));
    free(st);
}

/* A failed bind, for lack of memory, shows when the statement is stepped:
   the parameter is NULL then, which every column that matters refuses. */
static void lite_bind_number(struct sql_statement *st, int at, int64_t value)
{
    sqlite3_bind_int64(stmt(st), at, value);
}

static void lite_bind_real(struct sql_statement *st, int at, double value)
{
    sqlite3_bind_double(stmt(st), at, value);
}

static void lite_bind_text(struct sql_statement *st, int at,
                           struct seen_span text)
{
    sqlite3_bind_text64(stmt(st), at, text.len ? text.text : "", text.len,
                        SQLITE_STATIC, SQLITE_UTF8);
}

static void lite_bind_bytes(struct sql_statement *st, int at,
                            struct seen_span bytes)
{
    sqlite3_bind_blob64(stmt(st), at, bytes.len ? bytes.text : "", bytes.len,
                        SQLITE_STATIC);
}

static void lite_bind_null(struct sql_statement *st, int at)
{
    sqlite3_bind_null(stmt(st), at);
}

static enum seen_code lite_step(struct sql_statement *st, bool *row,
                                struct seen_error *why)
{
    int result = sqlite3_step(stmt(st));
    enum seen_code code = SEEN_OK;

    *row = result == SQLITE_ROW;
    if (*row)
        return SEEN_OK;
    if (result != SQLITE_DONE)
        code = fail(lite(st->db), result, why);
    sqlite3_reset(stmt(st));
    return code;
}

/* Execute a statement without parameters, prepared when it is first used. */
static enum seen_code run_prepared(struct lite *db, sqlite3_stmt **st,
                                   const char *text, struct seen_error *why)
{
    int result = SQLITE_OK;
    enum seen_code code = SEEN_OK;

    if (!*st)
        result = sqlite3_prepare_v3(db->db, text, -1,
                                    SQLITE_PREPARE_PERSISTENT, st, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(*st);
    if (result != SQLITE_DONE)
        code = fail(db, result, why);
    sqlite3_reset(*st);
    return code;
}

static enum seen_code lite_begin(struct sql *db, struct seen_error *why)
{
    return run_prepared(lite(db), &lite(db)->begin, "BEGIN IMMEDIATE", why);
}

static enum seen_code lite_commit(struct sql *db, struct seen_error *why)
{
    return run_prepared(lite(db), &lite(db)->commit, "COMMIT", why);
}

static void lite_rollback(struct sql *db)
{
    sqlite3_exec(lite(db)->db, "ROLLBACK", NULL, NULL, NULL);
}

/* Outside of a transaction it is one, as on a server. */
static enum seen_code lite_do_many(struct sql_statement *st,
                                   sql_bind_row *bind, void *owner, size_t n,
                                   int64_t *changed, struct seen_error *why)
{
    struct lite *db = lite(st->db);
    bool alone = sqlite3_get_autocommit(db->db), row;
    enum seen_code code = alone ? lite_begin(&db->sql, why) : SEEN_OK;
    sqlite3_int64 before = sqlite3_total_changes64(db->db), after;

    if (code != SEEN_OK)
        return code;
    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        bind(owner, st, i);
        do
            code = lite_step(st, &row, why);
        while (code == SEEN_OK && row);
        after = sqlite3_total_changes64(db->db);
        if (changed)
            changed[i] = after - before;
        before = after;
        if (code != SEEN_OK && why)
            why->at = i;
    }
    if (code == SEEN_OK && alone)
        code = lite_commit(&db->sql, why);
    if (code != SEEN_OK && alone)
        lite_rollback(&db->sql);
    return code;
}

/* Every row is an execution: that takes no round trip here. */
static enum seen_code lite_do_rows(struct sql_statement *st,
                                   sql_bind_row *bind, void *owner, size_t n,
                                   sql_take_row *take, struct seen_error *why)
{
    struct lite *db = lite(st->db);
    bool alone = sqlite3_get_autocommit(db->db), row;
    enum seen_code code = alone ? lite_begin(&db->sql, why) : SEEN_OK;

    if (code != SEEN_OK)
        return code;
    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        bind(owner, st, i);
        while ((code = lite_step(st, &row, why)) == SEEN_OK && row)
            if (take)
                take(owner, st);
    }
    if (code == SEEN_OK && alone)
        code = lite_commit(&db->sql, why);
    if (code != SEEN_OK && alone)
        lite_rollback(&db->sql);
    return code;
}

static void lite_reset(struct sql_statement *st)
{
    sqlite3_reset(stmt(st));
}

static int64_t lite_number(struct sql_statement *st, int column)
{
    return sqlite3_column_int64(stmt(st), column);
}

static double lite_real(struct sql_statement *st, int column)
{
    return sqlite3_column_double(stmt(st), column);
}

static struct seen_span lite_text(struct sql_statement *st, int column)
{
    const void *bytes = sqlite3_column_blob(stmt(st), column);
    int len = sqlite3_column_bytes(stmt(st), column);

    return (struct seen_span){ bytes ? bytes : "", bytes ? (size_t)len : 0 };
}

static bool lite_is_null(struct sql_statement *st, int column)
{
    return sqlite3_column_type(stmt(st), column) == SQLITE_NULL;
}

static int64_t lite_last_row(const struct sql *db)
{
    return sqlite3_last_insert_rowid(((const struct lite *)db)->db);
}

static int64_t lite_changes(const struct sql *db)
{
    return sqlite3_changes64(((const struct lite *)db)->db);
}

static const struct sql_kind sqlite_kind = {
    .dialect = { .id = "INTEGER PRIMARY KEY",
                 .serial = "INTEGER PRIMARY KEY AUTOINCREMENT",
                 .number = "INTEGER",
                 .real = "REAL",
                 .bytes = "BLOB",
                 .now = "(SELECT seen_now())", /* once per statement */
                 .parameter = '?' },
    .close = lite_close,
    .relax = lite_relax,
    .epoch = lite_epoch,
    .spend = lite_spend,
    .excerpts = lite_excerpts,
    .run = lite_run,
    .prepare = lite_prepare,
    .finalize = lite_finalize,
    .bind_number = lite_bind_number,
    .bind_real = lite_bind_real,
    .bind_text = lite_bind_text,
    .bind_bytes = lite_bind_bytes,
    .bind_null = lite_bind_null,
    .step = lite_step,
    .do_many = lite_do_many,
    .do_rows = lite_do_rows,
    .reset = lite_reset,
    .number = lite_number,
    .real = lite_real,
    .text = lite_text,
    .is_null = lite_is_null,
    .last_row = lite_last_row,
    .changes = lite_changes,
    .begin = lite_begin,
    .commit = lite_commit,
    .rollback = lite_rollback,
};

/* What is at this path with this ending? */
enum found { NOTHING, A_FILE, NOT_A_FILE };

static enum found look(const char *path, const char *ending)
{
    char *name;
    struct stat it;
    enum found found = A_FILE;

    if (asprintf(&name, "%s%s", path, ending) < 0)
        return A_FILE;
    if (stat(name, &it)) /* other failures are for SQLite to report */
        found = errno == ENOENT ? NOTHING : A_FILE;
    else if (!S_ISREG(it.st_mode))
        found = NOT_A_FILE;
    free(name);
    return found;
}

/*
 * SQLite opens a FIFO as it opens a file, and waits for a program at its other
 * end; a folder is a disk I/O error to it. The same goes for the files that it
 * has beside a database.
 */
static enum seen_code check_files(const char *path, const char *called,
                                  struct seen_error *why)
{
    static const char *const endings[] = { "", "-wal", "-shm", "-journal" };

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (look(path, endings[i]) == NOT_A_FILE)
            return seen_fail(why, SEEN_RANGE, 0,
                             "%s%s%s is not a regular file", called,
                             i ? ": its " : "", endings[i]);
    return SEEN_OK;
}

/*
 * Open a file to read it. SQLite makes two files beside a database in WAL mode
 * also for readers, and fails if it may not. As long as the log is missing
 * nobody has the database open, so it is read as a file that does not change:
 * nothing is made, and folders of other users and disks that are read-only
 * can be read.
 */
static int open_to_read(sqlite3 **db, const char *path)
{
    struct buffer uri = { .bytes = NULL };
    char *name;
    int result;

    if (look(path, "-wal") || look(path, "-journal"))
        return sqlite3_open_v2(
            path, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    buffer_text(&uri, "file:");
    percent_encode(&uri, path, strlen(path), PERCENT_SEGMENTS);
    buffer_text(&uri, "?immutable=1");
    name = buffer_take(&uri);
    if (!name)
        return SQLITE_NOMEM;
    result = sqlite3_open_v2(
        name, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
        NULL);
    free(name);
    return result;
}

/*
 * Of two processes that make a file, or find it not in WAL mode, at the same
 * time, one gets SQLITE_BUSY at once: to change the mode it would have to wait
 * with a lock on the file that the other one waits for, so SQLite does not ask
 * wait_busy(). Its lock is gone then, and it can try again.
 */
static enum seen_code set_up(struct lite *db, const char *settings,
                             struct seen_error *why)
{
    uint64_t began = clock_ms();
    enum seen_code code = lite_run(&db->sql, settings, why);

    while (code == SEEN_BUSY && clock_ms() - began < BUSY) {
        usleep(1000);
        code = lite_run(&db->sql, settings, why);
    }
    return code;
}

/* `real` is where `path` leads to: what SQLite has beside it is there. */
static enum seen_code open_file(struct sql **out, const char *path,
                                const char *real, const char *called,
                                enum sql_access access, size_t cache,
                                struct seen_error *why)
{
    int flags = access == SQL_WRITE
                    ? SQLITE_OPEN_READWRITE
                    : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    struct lite *db = calloc(1, sizeof *db);
    enum seen_code code = SEEN_OK;
    char settings[256];
    int result;

    if (!db || !(db->sql.name = strdup(path))) {
        free(db);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for %s", called);
    }
    db->sql.kind = &sqlite_kind;
    db->called = called == path ? db->sql.name : called;
    read_epoch(db->epoch);
    result = access == SQL_READ
                 ? open_to_read(&db->db, real)
                 : sqlite3_open_v2(path, &db->db, flags | SQLITE_OPEN_NOMUTEX,
                                   NULL);
    if (result == SQLITE_OK)
        result = sqlite3_create_function(db->db, "seen_now", 0,
                                         SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL,
                                         now, NULL, NULL);
    if (result != SQLITE_OK) {
        code = fail(db, result, why);
    } else {
        sqlite3_busy_handler(db->db, wait_busy, db);
        snprintf(
            settings, sizeof settings,
            "%sPRAGMA cache_size = -%zu; PRAGMA temp_store = MEMORY;"
            "PRAGMA cell_size_check = ON; PRAGMA wal_autocheckpoint = %d;",
            access == SQL_READ ? ""
                               : "PRAGMA journal_mode = WAL;"
                                 "PRAGMA synchronous = FULL;",
            cache / 1024 + 1, CHECKPOINT);
        code = set_up(db, settings, why);
    }
    if (code != SEEN_OK) {
        sql_close(&db->sql);
        return code;
    }
    *out = &db->sql;
    return SEEN_OK;
}

enum seen_code sql_sqlite_open(struct sql **out, const char *path,
                               const char *called, enum sql_access access,
                               size_t cache, struct seen_error *why)
{
    char *real = realpath(path, NULL); /* NULL: it is to be made */
    enum seen_code code = check_files(real ? real : path, called, why);

    *out = NULL;
    if (code == SEEN_OK)
        code = open_file(out, path, real ? real : path, called, access, cache,
                         why);
    free(real);
    return code;
}
