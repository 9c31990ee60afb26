/*
 * postgres.h - what the files of a PostgreSQL connection share.
 *
 *     postgres.c              statements, transactions, the table of functions
 *     postgres_connection.c   the connection, questions and answers, errors
 *     postgres_rows.c         many rows in one go
 *     postgres_array.c        many rows as arrays
 *     postgres_cell.c         columns of a row
 */
#ifndef SEEN_SQL_POSTGRES_H
#define SEEN_SQL_POSTGRES_H

#include <libpq-fe.h>

#include "../lib/text/buffer.h"
#include "kind.h"

/* Object identifiers of types, as in pg_type.dat: they never change. */
enum {
    BOOL = 16,
    BYTEA = 17,
    INT8 = 20,
    INT2 = 21,
    INT4 = 23,
    TEXT = 25,
    FLOAT4 = 700,
    FLOAT8 = 701,
    NUMERIC = 1700
};

struct postgres {
    struct sql sql;
    PGconn *conn;
    char *url;
    enum sql_access access;
    uint64_t connection; /* counts them */
    uint64_t statements; /* names of prepared statements */
    int64_t changes;
    bool open; /* a transaction, which may be lost already */
};

struct postgres_parameter {
    Oid type; /* 0: it was NULL until now */
    const char *value;
    size_t len;
    unsigned char number[8];
};

struct postgres_statement {
    struct sql_statement statement;
    char *text;
    char name[24];
    uint64_t connection; /* on which it is prepared; 0: on none */
    PGresult *result;
    int row;
    unsigned parameters;
    struct postgres_parameter *parameter;
    unsigned columns; /* parameters that are arrays, for many rows */
    enum sql_type type[SQL_COLUMNS];
    struct buffer array[SQL_COLUMNS];
    const char **value; /* the parameters in the form of libpq */
    int *len, *format;
};

static inline struct postgres *pg(struct sql *db)
{
    return (struct postgres *)db;
}

static inline struct postgres_statement *pgst(struct sql_statement *st)
{
    return (struct postgres_statement *)st;
}

/* --- postgres_connection.c --- */

/* Is the URL one? The words never have its password. */
enum seen_code postgres_check_url(const char *url, struct seen_error *why);

/* Make the connection, or make it again. */
enum seen_code postgres_connect(struct postgres *db, struct seen_error *why);

/* Before a statement: outside of a transaction, a connection that was lost is
   made again. In a transaction the loss is a fault. */
enum seen_code postgres_ready(struct postgres *db, struct seen_error *why);

/* Send what is not sent yet. */
void postgres_flush(struct postgres *db);

/* The next result of a question; NULL after the last one. */
PGresult *postgres_result(struct postgres *db);
bool postgres_is_good(const PGresult *result);

/* How many rows a statement has changed; -1: it was a SELECT. */
int64_t postgres_changed(PGresult *result);

/* Read all results of a question, unless it was not sent. The first fault
   counts. The last result is given to the caller, unless `out` is NULL. */
enum seen_code postgres_sent(struct postgres *db, int good, PGresult **out,
                             struct seen_error *why);

/* Why a result is not what it should be. NULL: there is none. */
enum seen_code postgres_fail(struct postgres *db, const PGresult *result,
                             struct seen_error *why);

/* --- postgres.c --- */

/* The parameters as libpq wants them. */
enum seen_code postgres_lay_out(struct postgres_statement *st,
                                struct seen_error *why);
/* Ask the server to prepare the statement, under a new name. */
enum seen_code postgres_send_prepare(struct postgres *db,
                                     struct postgres_statement *st,
                                     struct seen_error *why);
/* Execute the statement, which gets st->result. */
enum seen_code postgres_execute(struct postgres *db,
                                struct postgres_statement *st,
                                struct seen_error *why);
int postgres_send_execute(struct postgres *db, struct postgres_statement *st);

/* --- postgres_rows.c --- */

/* sql_do_many(), in a transaction. */
enum seen_code postgres_send_rows(struct sql_statement *st,
                                  sql_bind_row *bind_row, void *owner,
                                  size_t n, int64_t *changed,
                                  struct seen_error *why);

/* --- postgres_array.c --- */

enum seen_code postgres_do_rows(struct sql_statement *st,
                                sql_bind_row *bind_row, void *owner, size_t n,
                                sql_take_row *take, struct seen_error *why);

/* --- postgres_cell.c --- */

bool postgres_is_null(struct sql_statement *st, int column);
int64_t postgres_number(struct sql_statement *st, int column);
double postgres_real(struct sql_statement *st, int column);
struct seen_span postgres_text(struct sql_statement *st, int column);

#endif
