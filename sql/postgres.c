/*
 * postgres.c - a PostgreSQL server, in the form that sql.h promises.
 *
 * Parameters and results are binary, so that bytes are not written as hex and
 * numbers not as digits. A parameter's type is the type of what is bound:
 * left to guess, the server takes the 1 in "?1 + 1" for 32 bits. So a
 * statement is prepared when it is first stepped, and again if the type of a
 * parameter changes or the connection is a new one.
 */
#include "postgres.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/memory.h"

static void count(struct postgres *db, PGresult *result)
{
    int64_t changes = postgres_changed(result);

    if (changes >= 0)
        db->changes = changes;
}

static enum seen_code postgres_run(struct sql *db, const char *script,
                                   struct seen_error *why)
{
    enum seen_code code = postgres_ready(pg(db), why);
    PGresult *result = NULL;

    if (code == SEEN_OK)
        code = postgres_sent(pg(db), PQsendQuery(pg(db)->conn, script),
                             &result, why);
    if (code == SEEN_OK)
        count(pg(db), result);
    PQclear(result);
    return code;
}

/* --- statements --- */

static void postgres_finalize(struct sql_statement *statement)
{
    struct postgres_statement *st = pgst(statement);

    PQclear(st->result);
    for (unsigned i = 0; i < st->columns; i++)
        buffer_clear(&st->array[i]);
    free(st->text);
    free(st->parameter);
    free(st->value);
    free(st->len);
    free(st->format);
    free(st);
}

static enum seen_code postgres_prepare(struct sql_statement **out,
                                       struct sql *db, const char *text,
                                       const struct sql_parameters *parameters,
                                       struct seen_error *why)
{
    struct postgres_statement *st = calloc(1, sizeof *st);
    unsigned n = parameters->highest;

    (void)db;
    if (!st)
        return no_memory_for(why, "a statement");
    *out = &st->statement;
    st->text = strdup(text);
    st->parameters = n;
    st->columns = parameters->columns;
    memcpy(st->type, parameters->type, sizeof st->type);
    st->parameter = calloc(n + 1, sizeof *st->parameter);
    st->value = calloc(n + 1, sizeof *st->value);
    st->len = calloc(n + 1, sizeof *st->len);
    st->format = calloc(n + 1, sizeof *st->format);
    if (st->text && st->parameter && st->value && st->len && st->format)
        return SEEN_OK;
    postgres_finalize(&st->statement);
    *out = NULL;
    return no_memory_for(why, "a statement");
}

/* NULL if the statement has no such parameter; SQLite ignores it, too. */
static struct postgres_parameter *bound(struct sql_statement *statement,
                                        int at, Oid type)
{
    struct postgres_statement *st = pgst(statement);
    struct postgres_parameter *p;

    if (at < 1 || (unsigned)at > st->parameters)
        return NULL;
    p = &st->parameter[at - 1];
    if (p->type != type) {
        p->type = type;
        st->connection = 0;
    }
    return p;
}

static void bind_eight(struct postgres_parameter *p, uint64_t bits)
{
    for (int i = 0; i < 8; i++)
        p->number[i] = (unsigned char)(bits >> (56 - 8 * i));
    p->value = (const char *)p->number;
    p->len = 8;
}

static void postgres_bind_number(struct sql_statement *st, int at,
                                 int64_t value)
{
    struct postgres_parameter *p = bound(st, at, INT8);

    if (p)
        bind_eight(p, (uint64_t)value);
}

static void postgres_bind_real(struct sql_statement *st, int at, double value)
{
    struct postgres_parameter *p = bound(st, at, FLOAT8);
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (p)
        bind_eight(p, bits);
}

static void bind_span(struct postgres_parameter *p, struct seen_span s)
{
    if (!p)
        return;
    p->value = s.len ? s.text : "";
    p->len = s.len;
}

static void postgres_bind_text(struct sql_statement *st, int at,
                               struct seen_span text)
{
    bind_span(bound(st, at, TEXT), text);
}

static void postgres_bind_bytes(struct sql_statement *st, int at,
                                struct seen_span bytes)
{
    bind_span(bound(st, at, BYTEA), bytes);
}

/* NULL is of the type that the parameter had before. */
static void postgres_bind_null(struct sql_statement *st, int at)
{
    if (at >= 1 && (unsigned)at <= pgst(st)->parameters)
        pgst(st)->parameter[at - 1].value = NULL;
}

enum seen_code postgres_lay_out(struct postgres_statement *st,
                                struct seen_error *why)
{
    for (unsigned i = 0; i < st->parameters; i++) {
        bool array = i < st->columns;
        size_t len = array ? st->array[i].len : st->parameter[i].len;

        if (len > INT32_MAX)
            return seen_fail(why, SEEN_RANGE, 0,
                             "a value has more than 2 GiB");
        st->value[i] = array ? st->array[i].bytes : st->parameter[i].value;
        st->len[i] = (int)len;
        st->format[i] = 1;
    }
    return SEEN_OK;
}

/* The types of parameters; those of arrays are in the text of the statement. */
static Oid *types_of(const struct postgres_statement *st)
{
    Oid *type = malloc((st->parameters + 1) * sizeof *type);

    for (unsigned i = 0; type && i < st->parameters; i++)
        type[i] = i < st->columns ? 0 : st->parameter[i].type;
    return type;
}

enum seen_code postgres_send_prepare(struct postgres *db,
                                     struct postgres_statement *st,
                                     struct seen_error *why)
{
    Oid *type = types_of(st);
    int good;

    if (!type)
        return no_memory_for(why, "a statement");
    snprintf(st->name, sizeof st->name, "s%" PRIu64, ++db->statements);
    good = PQsendPrepare(db->conn, st->name, st->text, (int)st->parameters,
                         type);
    free(type);
    return good ? SEEN_OK : postgres_fail(db, NULL, why);
}

int postgres_send_execute(struct postgres *db, struct postgres_statement *st)
{
    return PQsendQueryPrepared(db->conn, st->name, (int)st->parameters,
                               st->value, st->len, st->format, 1);
}

/* Without a name, see postgres_array.c. */
static enum seen_code execute_once(struct postgres *db,
                                   struct postgres_statement *st,
                                   struct seen_error *why)
{
    Oid *type = types_of(st);
    enum seen_code code;
    int good;

    if (!type)
        return no_memory_for(why, "a statement");
    good = PQsendQueryParams(db->conn, st->text, (int)st->parameters, type,
                             st->value, st->len, st->format, 1);
    free(type);
    code = postgres_sent(db, good, &st->result, why);
    if (code == SEEN_OK)
        count(db, st->result);
    return code;
}

enum seen_code postgres_execute(struct postgres *db,
                                struct postgres_statement *st,
                                struct seen_error *why)
{
    enum seen_code code = postgres_ready(db, why);

    if (code == SEEN_OK)
        code = postgres_lay_out(st, why);
    if (code == SEEN_OK && st->columns)
        return execute_once(db, st, why);
    if (code == SEEN_OK && st->connection != db->connection) {
        code = postgres_send_prepare(db, st, why);
        if (code == SEEN_OK)
            code = postgres_sent(db, 1, NULL, why);
        if (code == SEEN_OK)
            st->connection = db->connection;
    }
    if (code == SEEN_OK)
        code = postgres_sent(db, postgres_send_execute(db, st), &st->result,
                             why);
    if (code == SEEN_OK)
        count(db, st->result);
    return code;
}

static void postgres_reset(struct sql_statement *st)
{
    PQclear(pgst(st)->result);
    pgst(st)->result = NULL;
}

static enum seen_code postgres_step(struct sql_statement *statement, bool *row,
                                    struct seen_error *why)
{
    struct postgres_statement *st = pgst(statement);
    enum seen_code code;

    *row = false;
    if (st->result) {
        st->row++;
    } else {
        code = postgres_execute(pg(statement->db), st, why);
        if (code != SEEN_OK)
            return code;
        st->row = 0;
    }
    *row = st->row < PQntuples(st->result);
    if (!*row)
        postgres_reset(statement);
    return SEEN_OK;
}

static int64_t postgres_last_row(const struct sql *db)
{
    (void)db;
    return 0;
}

static int64_t postgres_changes(const struct sql *db)
{
    return ((const struct postgres *)db)->changes;
}

/* --- transactions --- */

static enum seen_code postgres_begin(struct sql *db, struct seen_error *why)
{
    enum seen_code code;

    if (PQstatus(pg(db)->conn) != CONNECTION_OK)
        pg(db)->open = false; /* what was lost needs no ROLLBACK */
    code = postgres_run(db, "BEGIN", why);
    if (code == SEEN_OK)
        pg(db)->open = true;
    return code;
}

/* COMMIT succeeds in a transaction that has failed, and rolls it back. */
static enum seen_code postgres_commit(struct sql *db, struct seen_error *why)
{
    bool failed = PQtransactionStatus(pg(db)->conn) == PQTRANS_INERROR;
    enum seen_code code;

    if (failed)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%s: the transaction has failed before", db->name);
    code = postgres_run(db, "COMMIT", why);
    if (code == SEEN_OK)
        pg(db)->open = false;
    return code;
}

static void postgres_rollback(struct sql *db)
{
    enum sql_fault fault = db->fault;

    if (pg(db)->open && PQstatus(pg(db)->conn) == CONNECTION_OK &&
        PQtransactionStatus(pg(db)->conn) != PQTRANS_IDLE)
        postgres_run(db, "ROLLBACK", NULL);
    pg(db)->open = false;
    db->fault = fault; /* the one that led here */
}

/* Outside of a transaction it is one, so that a fault on this side undoes the
   rows, too, that were sent before it. */
static enum seen_code postgres_do_many(struct sql_statement *st,
                                       sql_bind_row *bind_row, void *owner,
                                       size_t n, int64_t *changed,
                                       struct seen_error *why)
{
    bool alone = !pg(st->db)->open;
    enum seen_code code = alone ? postgres_begin(st->db, why) : SEEN_OK;

    if (code == SEEN_OK)
        code = postgres_send_rows(st, bind_row, owner, n, changed, why);
    if (code == SEEN_OK && alone)
        code = postgres_commit(st->db, why);
    if (code != SEEN_OK && alone)
        postgres_rollback(st->db);
    return code;
}

/* --- the door --- */

static void postgres_close(struct sql *db)
{
    PQfinish(pg(db)->conn);
    free(pg(db)->url);
    free(db->name);
    free(db);
}

static enum seen_code postgres_relax(struct sql *db, bool relaxed,
                                     struct seen_error *why)
{
    (void)db, (void)relaxed, (void)why;
    return SEEN_OK;
}

static const char *postgres_epoch(const struct sql *db)
{
    (void)db;
    return "";
}

/* {now} is a subquery so that it is asked once per statement: an index could
   not be used for a condition on a function that changes from row to row. */
static const struct sql_kind postgres_kind = {
    .dialect = { .id = "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
                 .serial =
                     "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
                 .number = "bigint",
                 .real = "double precision",
                 .bytes = "bytea",
                 .now = "(SELECT (extract(epoch FROM clock_timestamp())"
                        " * 1000)::bigint)",
                 .lock = " FOR UPDATE",
                 .skip = " SKIP LOCKED",
                 .arrays = true,
                 .parameter = '$' },
    .close = postgres_close,
    .relax = postgres_relax,
    .epoch = postgres_epoch,
    .run = postgres_run,
    .prepare = postgres_prepare,
    .finalize = postgres_finalize,
    .bind_number = postgres_bind_number,
    .bind_real = postgres_bind_real,
    .bind_text = postgres_bind_text,
    .bind_bytes = postgres_bind_bytes,
    .bind_null = postgres_bind_null,
    .step = postgres_step,
    .do_many = postgres_do_many,
    .do_rows = postgres_do_rows,
    .reset = postgres_reset,
    .number = postgres_number,
    .real = postgres_real,
    .text = postgres_text,
    .is_null = postgres_is_null,
    .last_row = postgres_last_row,
    .changes = postgres_changes,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .rollback = postgres_rollback,
};

enum seen_code sql_postgres_open(struct sql **out, const char *url,
                                 enum sql_access access,
                                 struct seen_error *why)
{
    struct postgres *db;
    enum seen_code code = postgres_check_url(url, why);

    *out = NULL;
    if (code != SEEN_OK)
        return code;
    db = calloc(1, sizeof *db);
    if (!db || !(db->url = strdup(url))) {
        free(db);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a connection");
    }
    db->sql.kind = &postgres_kind;
    db->access = access;
    code = postgres_connect(db, why);
    if (code != SEEN_OK) {
        sql_close(&db->sql);
        return code;
    }
    *out = &db->sql;
    return SEEN_OK;
}
