/*
 * sql.c - the door to the databases: which one it is, statements in its
 * dialect, and transactions that are repeated.
 */
#include "sql.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/disk/clock.h"
#include "../lib/text/random.h"
#include "../lib/text/span.h"
#include "kind.h"

enum {
    CACHE = 32 << 20, /* bytes of pages of a SQLite file */
    PAUSE = 10,       /* ms before a transaction is repeated; doubles */
    PAUSE_MOST = 1000
};

bool sql_is_url(const char *where)
{
    return strncmp(where, "postgresql://", 13) == 0 ||
           strncmp(where, "postgres://", 11) == 0;
}

enum seen_code sql_open(struct sql **out, const char *path,
                        enum sql_access access, size_t cache,
                        struct seen_error *why)
{
    return sql_sqlite_open(out, path, "the state", access, cache, why);
}

/* An address that is not a path would be made as a file, with the password in
   its name. */
static bool may_be_file(const char *where)
{
    return !strstr(where, "://") && !strstr(where, "password=");
}

enum seen_code sql_connect(struct sql **out, const char *where,
                           enum sql_access access, struct seen_error *why)
{
    if (sql_is_url(where))
        return sql_postgres_open(out, where, access, why);
    *out = NULL;
    if (strncmp(where, "sqlite:", 7) == 0)
        where += 7;
    else if (!may_be_file(where))
        return seen_fail(why, SEEN_RANGE, 0,
                         "not the address of a database: sqlite:FILE or "
                         "postgresql://HOST/DATABASE");
    return sql_sqlite_open(out, where, where, access, CACHE, why);
}

const char *sql_name(const struct sql *db)
{
    return db->name;
}

enum seen_code sql_relax(struct sql *db, bool relaxed, struct seen_error *why)
{
    return db->kind->relax(db, relaxed, why);
}

const char *sql_epoch(const struct sql *db)
{
    return db->kind->epoch(db);
}

void sql_spend(struct sql *db, struct budget *budget)
{
    assert(db->kind->spend);
    db->kind->spend(db, budget);
}

enum seen_code sql_excerpts(struct sql *db, struct seen_error *why)
{
    assert(db->kind->excerpts);
    return db->kind->excerpts(db, why);
}

enum sql_start sql_start_of(const struct sql *db, struct seen_span noted)
{
    const char *epoch = sql_epoch(db);

    if (!*epoch)
        return SQL_START_SAME;
    if (!strcmp(epoch, SQL_EPOCH_UNKNOWN) || span_is(noted, SQL_EPOCH_UNKNOWN))
        return SQL_START_UNKNOWN;
    return span_is(noted, epoch) ? SQL_START_SAME : SQL_START_ANOTHER;
}

void sql_close(struct sql *db)
{
    struct sql_statement *next;

    if (!db)
        return;
    for (struct sql_statement *st = db->first; st; st = next) {
        next = st->next;
        st->kind->finalize(st);
    }
    db->kind->close(db);
}

enum seen_code sql_run(struct sql *db, const char *script,
                       struct seen_error *why)
{
    struct sql_parameters parameters;
    char *text = sql_expand(&db->kind->dialect, script, &parameters, why);
    enum seen_code code;

    db->fault = SQL_FOR_GOOD;
    if (!text)
        return why ? why->code : SEEN_RANGE;
    code = db->kind->run(db, text, why);
    free(text);
    return code;
}

enum seen_code sql_prepare(struct sql_statement **out, struct sql *db,
                           const char *text, struct seen_error *why)
{
    struct sql_parameters parameters;
    char *expanded = sql_expand(&db->kind->dialect, text, &parameters, why);
    struct sql_statement *st = NULL;
    enum seen_code code;

    *out = NULL;
    db->fault = SQL_FOR_GOOD;
    if (!expanded)
        return why ? why->code : SEEN_RANGE;
    code = db->kind->prepare(&st, db, expanded, &parameters, why);
    free(expanded);
    if (code != SEEN_OK)
        return code;
    st->kind = db->kind;
    st->db = db;
    st->next = db->first;
    db->first = st;
    *out = st;
    return SEEN_OK;
}

void sql_bind_number(struct sql_statement *st, int at, int64_t value)
{
    st->kind->bind_number(st, at, value);
}

void sql_bind_numbers(struct sql_statement *st, int at, const int64_t *value,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        st->kind->bind_number(st, at + (int)i, value[i]);
}

void sql_bind_real(struct sql_statement *st, int at, double value)
{
    st->kind->bind_real(st, at, value);
}

void sql_bind_text(struct sql_statement *st, int at, struct seen_span text)
{
    st->kind->bind_text(st, at, text);
}

void sql_bind_bytes(struct sql_statement *st, int at, struct seen_span bytes)
{
    st->kind->bind_bytes(st, at, bytes);
}

void sql_bind_null(struct sql_statement *st, int at)
{
    st->kind->bind_null(st, at);
}

enum seen_code sql_step(struct sql_statement *st, bool *row,
                        struct seen_error *why)
{
    return st->kind->step(st, row, why);
}

enum seen_code sql_has(struct sql_statement *st, bool *row,
                       struct seen_error *why)
{
    enum seen_code code = st->kind->step(st, row, why);

    if (code == SEEN_OK && *row)
        st->kind->reset(st);
    return code;
}

enum seen_code sql_first(struct sql_statement *st, int64_t *number,
                         struct seen_error *why)
{
    bool row;
    enum seen_code code = st->kind->step(st, &row, why);

    if (code != SEEN_OK || !row)
        return code;
    *number = st->kind->number(st, 0);
    st->kind->reset(st);
    return SEEN_OK;
}

enum seen_code sql_do(struct sql_statement *st, struct seen_error *why)
{
    enum seen_code code;
    bool row;

    do
        code = st->kind->step(st, &row, why);
    while (code == SEEN_OK && row);
    return code;
}

enum seen_code sql_do_many(struct sql_statement *st, sql_bind_row *bind,
                           void *owner, size_t n, int64_t *changed,
                           struct seen_error *why)
{
    return n ? st->kind->do_many(st, bind, owner, n, changed, why) : SEEN_OK;
}

enum seen_code sql_do_rows(struct sql_statement *st, sql_bind_row *bind,
                           void *owner, size_t n, sql_take_row *take,
                           struct seen_error *why)
{
    return n ? st->kind->do_rows(st, bind, owner, n, take, why) : SEEN_OK;
}

void sql_reset(struct sql_statement *st)
{
    st->kind->reset(st);
}

int64_t sql_number(struct sql_statement *st, int column)
{
    return st->kind->number(st, column);
}

double sql_real(struct sql_statement *st, int column)
{
    return st->kind->real(st, column);
}

struct seen_span sql_text(struct sql_statement *st, int column)
{
    return st->kind->text(st, column);
}

bool sql_is_null(struct sql_statement *st, int column)
{
    return st->kind->is_null(st, column);
}

int64_t sql_last_row(const struct sql *db)
{
    return db->kind->last_row(db);
}

int64_t sql_changes(const struct sql *db)
{
    return db->kind->changes(db);
}

enum seen_code sql_begin(struct sql *db, struct seen_error *why)
{
    db->fault = SQL_FOR_GOOD;
    return db->kind->begin(db, why);
}

enum seen_code sql_commit(struct sql *db, struct seen_error *why)
{
    return db->kind->commit(db, why);
}

void sql_rollback(struct sql *db)
{
    db->kind->rollback(db);
}

enum seen_code sql_end(struct sql *db, enum seen_code code,
                       struct seen_error *why)
{
    if (code == SEEN_OK)
        return sql_commit(db, why);
    sql_rollback(db);
    return code;
}

/* Half of the pause and up to as much again, so that two that were in each
   other's way do not meet again. */
static void pause_for(unsigned ms)
{
    struct timespec time;
    uint32_t random;

    random_fill(&random, sizeof random);
    ms = ms / 2 + random % (ms / 2 + 1);
    time = (struct timespec){ ms / 1000, (long)(ms % 1000) * 1000000 };
    nanosleep(&time, NULL);
}

enum seen_code sql_transact(struct sql *db, sql_work *work, void *owner,
                            unsigned patience, struct seen_error *why)
{
    uint64_t failed = 0, spent;
    unsigned pause = PAUSE;
    enum seen_code code;

    for (;;) {
        code = sql_begin(db, why);
        if (code == SEEN_OK) {
            code = work(owner, db, why);
            if (code == SEEN_OK)
                code = sql_commit(db, why);
            if (code != SEEN_OK)
                sql_rollback(db);
        }
        if (code == SEEN_OK || db->fault == SQL_FOR_GOOD)
            return code;
        if (!failed)
            failed = clock_ms();
        spent = clock_ms() - failed;
        if (spent >= patience)
            return code;
        pause_for(pause < patience - spent ? pause
                                           : (unsigned)(patience - spent));
        pause = pause * 2 < PAUSE_MOST ? pause * 2 : PAUSE_MOST;
    }
}
