/*
 * sql.h - a thin layer over the databases that hold a crawl's state: a SQLite
 * file, or a PostgreSQL server.
 *
 * Statements are prepared once, bound by position, and stepped. The layer
 * adds what every caller needs: errors as seen_code with the database's own
 * words and its name, transactions, and the settings under which a commit
 * survives a power failure.
 *
 * The same statements are for both. Parameters are written ?1, and what the
 * two say differently is written in braces:
 *
 *     {id}       a column with the number of the row, given by the database
 *     {serial}   the same, with numbers that never come again: those of {id}
 *                may, on SQLite, after the row was deleted
 *     {number}   a column of 64 bits
 *     {real}     a column of a double
 *     {bytes}    a column of bytes
 *     {now}      the time in ms: PostgreSQL's own clock; for SQLite, which is
 *                on one machine, the time since this machine was started
 *     {lock}     at the end of a SELECT: lock its rows until the transaction
 *                ends
 *     {skip}     the same, without the rows that others have locked; {lock h}
 *                and {skip h} lock only the rows of the table h of a join
 *     {rows number text bytes real}
 *                in a FROM: a table `rows` with the columns column1, column2,
 *                ..., for sql_do_rows()
 *
 *     sql_prepare(&st, db, "SELECT url FROM frontier WHERE host = ?1", &why);
 *     sql_bind_number(st, 1, host);
 *     while ((code = sql_step(st, &row, &why)) == SEEN_OK && row)
 *         use(sql_text(st, 0));
 *
 * Nothing is replaced in 'texts', "names" and comments. SQLite has one writer
 * at a time and needs no locks of rows. {now} is read once per execution, not
 * once per row.
 *
 * A server checks a statement when it is first stepped, and returns all its
 * rows then: add a LIMIT. In a transaction in which a statement has failed, a
 * server lets no other succeed. It refuses texts that are not UTF-8 or have
 * zero bytes; {bytes} may hold anything.
 *
 * A statement that has returned its last row, or failed, is reset and can be
 * bound and stepped again. Texts that are bound must live until the statement
 * has been stepped to its end; texts that are returned live until its next
 * step.
 *
 * Threads: a database and its statements belong to one thread at a time.
 */
#ifndef SEEN_SQL_H
#define SEEN_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../lib/text/budget.h"

struct sql;
struct sql_statement;

enum sql_access {
    SQL_CREATE, /* made if it is missing; written to */
    SQL_WRITE,  /* must exist */
    SQL_READ    /* must exist; nothing is changed. If nobody has the SQLite
                   file open now, what others write later is not seen: for
                   short looks */
};

/*
 * Open a SQLite file in WAL mode. Commits are flushed to the disk. `cache` is
 * how many bytes of pages are kept in memory. SEEN_IO, SEEN_CORRUPT if it is
 * not a database, SEEN_RANGE if it is not a regular file, or one of those that
 * SQLite has beside it.
 */
enum seen_code sql_open(struct sql **out, const char *path,
                        enum sql_access access, size_t cache,
                        struct seen_error *why);

/*
 * Connect to "postgresql://..." (or "postgres://..."), or open "sqlite:FILE"
 * or a path. A password may be in the URL, in the environment (PGPASSWORD),
 * or in a file (PGPASSFILE, or passfile= in the URL). TLS is asked for by
 * sslmode= in the URL, as for every program that uses libpq. SEEN_IO if the
 * server cannot be reached or refuses, with its name and without the password;
 * SEEN_RANGE if the URL is not one, SEEN_MISMATCH if the server is older than
 * version 13.
 *
 * A connection that was lost outside of a transaction is made again by the
 * next statement.
 */
enum seen_code sql_connect(struct sql **out, const char *where,
                           enum sql_access access, struct seen_error *why);

/* Is this text the URL of a server? */
bool sql_is_url(const char *where);

/* What the database is called in messages: "PostgreSQL at db.example:5432/x",
   or the path of the file. */
const char *sql_name(const struct sql *db);

/* Commits survive a crash of the process, and after a power failure the last
   ones may be missing: for queues that can repeat them. SQLite only. false:
   commits are flushed again, and those before them, too. Not in a
   transaction. */
enum seen_code sql_relax(struct sql *db, bool relaxed, struct seen_error *why);

/*
 * Which start of the machine {now} counts from: the boot id, a text that
 * changes when the machine is started again. "" for a server, whose clock goes
 * on. SQL_EPOCH_UNKNOWN where the boot id cannot be read.
 */
#define SQL_EPOCH_UNKNOWN "unknown"
enum { SQL_EPOCH = 40 }; /* bytes, the zero included */
const char *sql_epoch(const struct sql *db);

/*
 * Were times that were noted in this epoch counted from the same start? What
 * is not known is neither the same nor another: such times may be of an
 * earlier start, and those of processes that live now may be among them.
 *
 * A program that notes times writes its own epoch first where the noted one is
 * not the same, SQL_EPOCH_UNKNOWN included. So where two known ones differ,
 * nobody who lives has noted a time.
 */
enum sql_start { SQL_START_SAME, SQL_START_ANOTHER, SQL_START_UNKNOWN };
enum sql_start sql_start_of(const struct sql *db, struct seen_span noted);

/* For tests: files that are opened from now on are on a machine with this boot
   id ("": it cannot be read; NULL: the real one), which must live as long, and
   {now} is ahead of this machine's clock by so many ms. */
void sql_imitate(const char *epoch, int64_t ahead);

/* Finalizes all statements. NULL is welcome. */
void sql_close(struct sql *db);

/* Run statements without parameters, separated by semicolons. */
enum seen_code sql_run(struct sql *db, const char *script,
                       struct seen_error *why);

/*
 * SQLite only. From now on all statements pay from this budget, which must
 * live as long as the database or until another one takes its place; NULL: none
 * does. An instruction of SQLite's machine is a step, of about 0.1 us; it also
 * is what reading a page of an index costs, some at a time. When nothing is
 * left the statement fails with SEEN_UNABLE, and budget_empty() tells why.
 */
void sql_spend(struct sql *db, struct budget *budget);

/*
 * SQLite only. Let statements that ask a table of FTS5 use
 *
 *     seen_excerpt(table, column, tokens)
 *
 * which is a piece of the column's text, of at most 64 tokens and about 320
 * bytes, with what was found between SQL_EXCERPT_BEGIN and SQL_EXCERPT_END.
 * Its cost is linear in the text. If the budget cannot pay for it, it is the
 * beginning of the text, and nothing is marked.
 */
#define SQL_EXCERPT_BEGIN '\1'
#define SQL_EXCERPT_END '\2'
enum seen_code sql_excerpts(struct sql *db, struct seen_error *why);

/* The statement belongs to the database, which frees it. */
enum seen_code sql_prepare(struct sql_statement **out, struct sql *db,
                           const char *text, struct seen_error *why);

/* Parameters are numbered from 1. Those that are not bound are NULL. */
void sql_bind_number(struct sql_statement *st, int at, int64_t value);
void sql_bind_real(struct sql_statement *st, int at, double value);
void sql_bind_text(struct sql_statement *st, int at, struct seen_span text);
void sql_bind_bytes(struct sql_statement *st, int at, struct seen_span bytes);
void sql_bind_null(struct sql_statement *st, int at);

/* Bind several numbers, from this parameter on: SQL_NUMBERS(st, 1, a, b, c). */
#define SQL_NUMBERS(st, at, ...) \
    sql_bind_numbers(st, at, (const int64_t[]){ __VA_ARGS__ }, \
                     sizeof(const int64_t[]){ __VA_ARGS__ } / \
                         sizeof(int64_t))
void sql_bind_numbers(struct sql_statement *st, int at, const int64_t *value,
                      size_t n);

/* The next row: *row is false after the last one. */
enum seen_code sql_step(struct sql_statement *st, bool *row,
                        struct seen_error *why);

/* Of a statement that returns one row at most: is there one? And the number in
   its first column; without a row, *number stays what it was. */
enum seen_code sql_has(struct sql_statement *st, bool *row,
                       struct seen_error *why);
enum seen_code sql_first(struct sql_statement *st, int64_t *number,
                         struct seen_error *why);

/* Execute a statement that returns no rows. */
enum seen_code sql_do(struct sql_statement *st, struct seen_error *why);

/*
 * Execute a statement that returns no rows `n` times, each time with the
 * parameters that bind() gives it. A server gets all of them in one go, at
 * 70,000 rows per second. changed[i] becomes how many rows the i-th one
 * changed; it may be NULL. Outside of a transaction it is one: all or none.
 * why->at is the i that failed.
 */
typedef void sql_bind_row(void *owner, struct sql_statement *st, size_t i);
enum seen_code sql_do_many(struct sql_statement *st, sql_bind_row *bind,
                           void *owner, size_t n, int64_t *changed,
                           struct seen_error *why);

/*
 * Execute a statement that has {rows ...} for `n` rows. bind() gives row i the
 * values of its columns, as ?1, ?2, ...; parameters with higher numbers are
 * the same for all. take() gets every row that the statement returns; it may
 * be NULL. A server gets each column as an array and executes the statement
 * once, not once per row as sql_do_many(): the frontier takes a fifth to a
 * third more links per second by it (seen bench frontier). So a row that several of the rows change is changed once on a server and
 * several times on SQLite: they should differ. Texts that are bound need only
 * live until bind() is called again. Outside of a transaction it is one.
 */
typedef void sql_take_row(void *owner, struct sql_statement *st);
enum seen_code sql_do_rows(struct sql_statement *st, sql_bind_row *bind,
                           void *owner, size_t n, sql_take_row *take,
                           struct seen_error *why);

/* Before the last row: forget the rest. */
void sql_reset(struct sql_statement *st);

/* Columns of the current row are numbered from 0. */
int64_t sql_number(struct sql_statement *st, int column);
double sql_real(struct sql_statement *st, int column);
struct seen_span sql_text(struct sql_statement *st, int column);
bool sql_is_null(struct sql_statement *st, int column);

/* How many rows the last statement changed that was not a SELECT. */
int64_t sql_changes(const struct sql *db);
/* The number of the row that was inserted last. SQLite only: a statement for
   both databases ends with RETURNING. */
int64_t sql_last_row(const struct sql *db);

/* On SQLite a transaction takes the right to write at once, so that it does
   not fail half way because somebody else has it. On a server it is READ
   COMMITTED, and locks are waited for as long as for a SQLite file: 10 s. */
enum seen_code sql_begin(struct sql *db, struct seen_error *why);
enum seen_code sql_commit(struct sql *db, struct seen_error *why);
void sql_rollback(struct sql *db);

/* The transaction is done with this code: commit it if that is SEEN_OK, and
   otherwise roll it back. */
enum seen_code sql_end(struct sql *db, enum seen_code code,
                       struct seen_error *why);

/*
 * Run work() in a transaction. It is run again after a deadlock, a
 * serialisation failure or a lost connection, which is made again, for at most
 * `patience` ms after the first of them: a process that was stopped in work()
 * for minutes finds its connection lost, and goes on. A connection that is lost during the commit leaves open
 * whether it was committed: work() is run again then, too, so it must be a
 * step that changes nothing when it is repeated. Any other fault rolls back.
 */
typedef enum seen_code sql_work(void *owner, struct sql *db,
                                struct seen_error *why);
enum seen_code sql_transact(struct sql *db, sql_work *work, void *owner,
                            unsigned patience, struct seen_error *why);

#endif
