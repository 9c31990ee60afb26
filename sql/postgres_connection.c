/*
 * postgres_connection.c - a connection to a PostgreSQL server: how it is made
 * and lost, questions and answers, and errors.
 *
 * Lost connections. Before a transaction, or a statement outside of one, is
 * sent, a connection that the server has closed is made again: nothing was
 * asked on it. What is lost later fails, and so does every statement until
 * the transaction is rolled back; sql_transact() repeats it. A server that is
 * gone without a word is noticed by TCP (keepalives, tcp_user_timeout); one
 * that is there and does not answer, by ANSWER.
 */
#include "postgres.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../lib/disk/clock.h"
#include "../lib/text/buffer.h"

enum {
    OLDEST = 13,    /* version of a server */
    ANSWER = 330000 /* ms to wait for an answer: above statement_timeout */
};

/* --- errors --- */

/* The first line of libpq's words, without what it says of the connection,
   which our own message begins with, and without the password. */
static void words_of(char *to, size_t room, const char *words,
                     const char *password)
{
    const char *from = strstr(words, " failed: ");
    size_t len, hidden = password ? strlen(password) : 0, at = 0;

    if (strncmp(words, "connection to server", 20) == 0 && from)
        words = from + 9;
    len = strcspn(words, "\n");
    for (size_t i = 0; i < len && at + 4 < room;) {
        if (hidden && strncmp(words + i, password, hidden) == 0) {
            memcpy(to + at, "***", 3);
            at += 3;
            i += hidden;
        } else {
            to[at++] = words[i++];
        }
    }
    to[at] = 0;
}

static bool begins(const char *state, const char *with)
{
    return strncmp(state, with, strlen(with)) == 0;
}

/* What an SQLSTATE means: its code of ours, and whether to try again. */
static enum seen_code meaning(const char *state, enum sql_fault *fault)
{
    static const struct {
        const char *state;
        enum seen_code code;
        enum sql_fault fault;
    } table[] = {
        { "40001", SEEN_BUSY, SQL_AGAIN }, /* serialisation failure */
        { "40P01", SEEN_BUSY, SQL_AGAIN }, /* deadlock */
        { "55P03", SEEN_BUSY, SQL_AGAIN }, /* lock_timeout */
        { "53300", SEEN_BUSY, SQL_AGAIN }, /* too many connections */
        { "57P01", SEEN_IO, SQL_LOST },    /* the server is shut down */
        { "57P02", SEEN_IO, SQL_LOST },    /* another process crashed */
        { "57P03", SEEN_IO, SQL_LOST },    /* the server is starting */
        { "57P05", SEEN_IO, SQL_LOST },    /* idle for too long */
        { "25P03", SEEN_IO, SQL_LOST },    /* idle in a transaction */
        { "25P04", SEEN_IO, SQL_LOST },    /* a transaction took too long */
        { "08", SEEN_IO, SQL_LOST },       /* of the connection */
        { "53100", SEEN_FULL, SQL_FOR_GOOD },
        { "53200", SEEN_NOMEM, SQL_FOR_GOOD },
        { "XX001", SEEN_CORRUPT, SQL_FOR_GOOD },
        { "XX002", SEEN_CORRUPT, SQL_FOR_GOOD },
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (begins(state, table[i].state)) {
            *fault = table[i].fault;
            return table[i].code;
        }
    *fault = SQL_FOR_GOOD;
    return SEEN_UNABLE;
}

static enum seen_code lost(struct postgres *db, const char *words,
                           struct seen_error *why)
{
    char text[160];

    words_of(text, sizeof text, words, PQpass(db->conn));
    db->sql.fault = SQL_LOST;
    errno = 0;
    return seen_fail(why, SEEN_IO, 0, "%s: %s", db->sql.name,
                     text[0] ? text : "the connection was lost");
}

enum seen_code postgres_fail(struct postgres *db, const PGresult *result,
                             struct seen_error *why)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE)
                               : NULL;
    const char *words = result ? PQresultErrorField(result,
                                                    PG_DIAG_MESSAGE_PRIMARY)
                               : NULL;
    enum seen_code code;
    char text[160];

    if (!state) {
        if (PQstatus(db->conn) == CONNECTION_BAD)
            return lost(db, PQerrorMessage(db->conn), why);
        state = "";
    }
    if (begins(state, "25P02")) /* after a fault that was not heeded */
        code = SEEN_UNABLE;
    else
        code = meaning(state, &db->sql.fault);
    words_of(text, sizeof text, words ? words : PQerrorMessage(db->conn),
             PQpass(db->conn));
    errno = 0;
    return seen_fail(why, code, 0, "%s: %s", db->sql.name, text);
}

/* --- questions and answers --- */

/*
 * Send what is not sent yet and, if `answer`, wait for the next result. False
 * if the server was silent for too long: the connection is useless then, since
 * its answer would be taken for that to the next question. Other faults of the
 * connection are true: the next result reports them.
 */
static bool wait_for(struct postgres *db, bool answer)
{
    uint64_t end = 0, now;
    struct pollfd at = { .fd = PQsocket(db->conn) };
    int unsent;

    for (;;) {
        unsent = PQflush(db->conn);
        if (unsent < 0 || (!unsent && !(answer && PQisBusy(db->conn))))
            return true;
        now = clock_ms();
        if (!end)
            end = now + ANSWER;
        if (now >= end)
            return false;
        at.events = (short)(POLLIN | (unsent ? POLLOUT : 0));
        if (poll(&at, 1, (int)(end - now)) > 0 && at.revents & ~POLLOUT &&
            !PQconsumeInput(db->conn))
            return true;
    }
}

void postgres_flush(struct postgres *db)
{
    if (!wait_for(db, false))
        shutdown(PQsocket(db->conn), SHUT_RDWR);
}

PGresult *postgres_result(struct postgres *db)
{
    if (!wait_for(db, true))
        shutdown(PQsocket(db->conn), SHUT_RDWR);
    return PQgetResult(db->conn);
}

bool postgres_is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
           status == PGRES_EMPTY_QUERY;
}

static enum seen_code read_all(struct postgres *db, PGresult **out,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    PGresult *result, *last = NULL;

    while ((result = postgres_result(db))) {
        if (code == SEEN_OK && !postgres_is_good(result))
            code = postgres_fail(db, result, why);
        PQclear(last);
        last = result;
    }
    if (code == SEEN_OK && !last)
        code = postgres_fail(db, NULL, why);
    if (code == SEEN_OK && out) {
        *out = last;
    } else {
        PQclear(last);
    }
    return code;
}

enum seen_code postgres_sent(struct postgres *db, int good, PGresult **out,
                             struct seen_error *why)
{
    return good ? read_all(db, out, why) : postgres_fail(db, NULL, why);
}

int64_t postgres_changed(PGresult *result)
{
    const char *tag = PQcmdStatus(result);

    return strncmp(tag, "SELECT", 6) == 0
               ? -1
               : strtoll(PQcmdTuples(result), NULL, 10);
}

/* --- the connection --- */

static void ignore(void *owner, const char *message)
{
    (void)owner, (void)message;
}

/* "PostgreSQL at db.example:5432/seen". A socket's folder has no port. */
static char *name_of(PGconn *conn)
{
    struct buffer b = { .bytes = NULL };
    const char *host = PQhost(conn), *port = PQport(conn), *name = PQdb(conn);

    buffer_text(&b, "PostgreSQL at ");
    buffer_text(&b, host && *host ? host : "the local socket");
    if (port && *port)
        buffer_format(&b, ":%s", port);
    if (name && *name)
        buffer_format(&b, "/%s", name);
    return buffer_take(&b);
}

/* Settings of the session, unless the URL, the role or the server has others.
   Locks are waited for as long as for a SQLite file. A process that was
   stopped in a transaction must not hold its locks for longer than others have
   patience. READ COMMITTED:
   a statement that waited for a lock sees what the other one has written. The
   statistics of a queue are those of another hour: if they say that it is
   short, a bitmap scan reads and sorts all of it for its first rows, where
   the scan of an index stops after them. */
static const char settings[] =
    "SELECT set_config(name, value, false) FROM (VALUES"
    " ('lock_timeout', '0', '10s'),"
    " ('statement_timeout', '0', '300s'),"
    " ('idle_in_transaction_session_timeout', '0', '20s'),"
    " ('synchronous_commit', 'off', 'on'),"
    " ('default_transaction_isolation', 'repeatable read', 'read committed'),"
    " ('default_transaction_isolation', 'serializable', 'read committed'),"
    " ('enable_bitmapscan', 'on', 'off'),"
    " ('jit', 'on', 'off')) AS wanted (name, other, value)"
    " WHERE current_setting(name) = other";

static enum seen_code refuse(struct postgres *db, struct seen_error *why)
{
    int version = PQserverVersion(db->conn) / 10000;

    if (version >= OLDEST)
        return SEEN_OK;
    db->sql.fault = SQL_FOR_GOOD;
    return seen_fail(why, SEEN_MISMATCH, 0,
                     "%s: the server has version %d; %d or newer is needed",
                     db->sql.name, version, OLDEST);
}

static enum seen_code set_up(struct postgres *db, struct seen_error *why)
{
    enum seen_code code = refuse(db, why);

    PQsetNoticeProcessor(db->conn, ignore, NULL);
    PQsetnonblocking(db->conn, 1);
    if (code == SEEN_OK)
        code = postgres_sent(db, PQsendQuery(db->conn, settings), NULL, why);
    if (code == SEEN_OK && db->access == SQL_READ)
        code = postgres_sent(
            db,
            PQsendQuery(db->conn, "SET default_transaction_read_only = on"),
            NULL, why);
    return code;
}

static void drop(struct postgres *db)
{
    PQfinish(db->conn);
    db->conn = NULL;
}

/* The name stays that of the first connection: callers may have it. */
enum seen_code postgres_connect(struct postgres *db, struct seen_error *why)
{
    /* What comes before dbname gives way to what the URL says. */
    static const char *const names[] = {
        "connect_timeout",  "keepalives_idle",           "keepalives_interval",
        "keepalives_count", "tcp_user_timeout",          "dbname",
        "client_encoding",  "fallback_application_name", NULL
    };
    const char *const values[] = { "10",    "15",   "5",    "3", "30000",
                                   db->url, "UTF8", "seen", NULL };
    enum seen_code code;

    drop(db);
    db->connection++;
    db->conn = PQconnectdbParams(names, values, 1);
    if (db->conn && !db->sql.name)
        db->sql.name = name_of(db->conn);
    if (!db->conn || !db->sql.name)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a connection");
    if (PQstatus(db->conn) != CONNECTION_OK)
        return lost(db, PQerrorMessage(db->conn), why);
    code = set_up(db, why);
    if (code != SEEN_OK)
        drop(db); /* it must not be used without its settings */
    return code;
}

/* Has the server closed a connection on which nothing was asked? It has said
   why, then, or the connection has ended. */
static bool is_gone(PGconn *conn)
{
    struct pollfd at = { .fd = PQsocket(conn), .events = POLLIN };

    if (PQstatus(conn) != CONNECTION_OK)
        return true;
    return poll(&at, 1, 0) > 0 &&
           (!PQconsumeInput(conn) || PQstatus(conn) != CONNECTION_OK ||
            poll(&at, 1, 0) > 0);
}

enum seen_code postgres_ready(struct postgres *db, struct seen_error *why)
{
    if (db->open) {
        if (PQstatus(db->conn) == CONNECTION_OK)
            return SEEN_OK;
        return lost(db, "the connection was lost", why);
    }
    return is_gone(db->conn) ? postgres_connect(db, why) : SEEN_OK;
}

/* "me:se/cret@host" is for libpq the host "me" with the port "se", and it would
   repeat the rest as the name of the database. */
static bool has_port(const PQconninfoOption *o)
{
    for (; o->keyword; o++)
        if (!strcmp(o->keyword, "port") && o->val &&
            o->val[strspn(o->val, "0123456789,")])
            return false;
    return true;
}

/* Is the URL one? libpq's words quote it, with its password: only what is
   before the quote is repeated. */
enum seen_code postgres_check_url(const char *url, struct seen_error *why)
{
    char *words = NULL, *quote;
    PQconninfoOption *options = PQconninfoParse(url, &words);

    if (options) {
        bool good = has_port(options);

        PQconninfoFree(options);
        return good ? SEEN_OK
                    : seen_fail(why, SEEN_RANGE, 0,
                                "not the URL of a PostgreSQL server: its port "
                                "is not a number; in a password / is %%2F and "
                                "? is %%3F");
    }
    quote = words ? strstr(words, ": \"") : NULL;
    if (quote)
        *quote = 0;
    seen_fail(why, SEEN_RANGE, 0, "not the URL of a PostgreSQL server: %.100s",
              words && quote ? words : "it has a mistake");
    PQfreemem(words);
    return SEEN_RANGE;
}
