/*
 * kind.h - what a database must be able to do to be one of sql.h: a table of
 * functions. For the files of this folder only.
 *
 * The functions of a table are those of sql.h, without the words that are the
 * same for all: sql.c expands the dialect, keeps the list of statements and
 * repeats transactions.
 */
#ifndef SEEN_SQL_KIND_H
#define SEEN_SQL_KIND_H

#include "sql.h"

/* What the last failure means for the transaction. */
enum sql_fault {
    SQL_FOR_GOOD, /* the same statements would fail again */
    SQL_AGAIN,    /* another transaction was in the way */
    SQL_LOST      /* the connection is gone, or could not be made */
};

/* Beginnings of the structs of each kind. */
struct sql {
    const struct sql_kind *kind;
    struct sql_statement *first;
    char *name; /* sql_name() */
    enum sql_fault fault;
};

struct sql_statement {
    const struct sql_kind *kind;
    struct sql *db;
    struct sql_statement *next;
};

/* The parameters of a statement: the highest number, and the types of those
   that are the columns of {rows ...}: ?1 to ?columns. */
enum { SQL_COLUMNS = 24 };
enum sql_type { SQL_NUMBER, SQL_REAL, SQL_TEXT, SQL_BYTES };
struct sql_parameters {
    unsigned highest, columns;
    enum sql_type type[SQL_COLUMNS];
};

/* What the words in braces mean. */
struct sql_dialect {
    const char *id, *serial, *number, *real, *bytes, *now;
    const char *lock, *skip; /* NULL: there are no locks of rows */
    bool arrays;             /* a parameter may be a column of many rows */
    char parameter;          /* '?' or '$' */
};

struct sql_kind {
    struct sql_dialect dialect;
    void (*close)(struct sql *db);
    enum seen_code (*relax)(struct sql *db, bool relaxed,
                            struct seen_error *why);
    const char *(*epoch)(const struct sql *db);
    void (*spend)(struct sql *db, struct budget *budget); /* or NULL */
    enum seen_code (*excerpts)(struct sql *db, struct seen_error *why);
    enum seen_code (*run)(struct sql *db, const char *script,
                          struct seen_error *why);
    /* The text is copied. */
    enum seen_code (*prepare)(struct sql_statement **out, struct sql *db,
                              const char *text,
                              const struct sql_parameters *parameters,
                              struct seen_error *why);
    void (*finalize)(struct sql_statement *st);
    void (*bind_number)(struct sql_statement *st, int at, int64_t value);
    void (*bind_real)(struct sql_statement *st, int at, double value);
    void (*bind_text)(struct sql_statement *st, int at, struct seen_span text);
    void (*bind_bytes)(struct sql_statement *st, int at,
                       struct seen_span bytes);
    void (*bind_null)(struct sql_statement *st, int at);
    enum seen_code (*step)(struct sql_statement *st, bool *row,
                           struct seen_error *why);
    enum seen_code (*do_many)(struct sql_statement *st, sql_bind_row *bind,
                              void *owner, size_t n, int64_t *changed,
                              struct seen_error *why);
    enum seen_code (*do_rows)(struct sql_statement *st, sql_bind_row *bind,
                              void *owner, size_t n, sql_take_row *take,
                              struct seen_error *why);
    void (*reset)(struct sql_statement *st);
    int64_t (*number)(struct sql_statement *st, int column);
    double (*real)(struct sql_statement *st, int column);
    struct seen_span (*text)(struct sql_statement *st, int column);
    bool (*is_null)(struct sql_statement *st, int column);
    int64_t (*last_row)(const struct sql *db);
    int64_t (*changes)(const struct sql *db);
    enum seen_code (*begin)(struct sql *db, struct seen_error *why);
    enum seen_code (*commit)(struct sql *db, struct seen_error *why);
    void (*rollback)(struct sql *db);
};

/*
 * The statement in a dialect, for the caller to free(): words in braces and
 * parameters are replaced, but not in 'texts', "names" and comments. NULL for
 * lack of memory, SEEN_NOMEM, or because a word is not known, SEEN_RANGE.
 */
char *sql_expand(const struct sql_dialect *dialect, const char *text,
                 struct sql_parameters *parameters, struct seen_error *why);

/* sql_connect() to a server. */
enum seen_code sql_postgres_open(struct sql **out, const char *url,
                                 enum sql_access access,
                                 struct seen_error *why);

/* sql_open(), with the name that its messages begin with. */
enum seen_code sql_sqlite_open(struct sql **out, const char *path,
                               const char *called, enum sql_access access,
                               size_t cache, struct seen_error *why);

#endif
