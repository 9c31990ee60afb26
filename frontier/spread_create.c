/*
 * spread_create.c - which databases make a frontier, in which order.
 *
 * Each has one row of `frontier_databases`: its number, how many there are, and
 * the identity of the frontier, 32 random hexadecimal digits, which also are
 * the secret of the hash. They are written from the first to the last, and
 * `complete` in the first one at the end. So a creation that was interrupted
 * goes on, and a database that was lost, and made again empty, is noticed.
 *
 * The ids of hosts, pages and workers begin at the number of the database
 * times 2^48, so that no two databases give the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/hex.h"
#include "../lib/text/memory.h"
#include "../lib/text/random.h"
#include "../lib/text/span.h"
#include "shared_inside.h"
#include "spread_inside.h"

static const char table[] =
    "CREATE TABLE frontier_databases (number {number} NOT NULL PRIMARY KEY, "
    "count {number} NOT NULL, identity TEXT NOT NULL, complete {number} NOT "
    "NULL)";

/* --- lists --- */

static bool begins_place(const char *text)
{
    return sql_is_url(text) || !strncmp(text, "sqlite:", 7);
}

/* Of the first name of a list. */
static const char *end_of(const char *from)
{
    const char *end = from + strcspn(from, ",");

    while (*end && !begins_place(end + 1))
        end += 1 + strcspn(end + 1, ",");
    return end;
}

/* Is this name one of those before it? */
static bool is_among(char *const *where, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(where[i], where[n]))
            return true;
    return false;
}

enum seen_code frontier_spread_split(const char *list,
                                     char *where[FRONTIER_DATABASES],
                                     unsigned *n, struct seen_error *why)
{
    const char *from = list, *end;
    enum seen_code code = SEEN_OK;

    *n = 0;
    do {
        end = end_of(from);
        if (*n == FRONTIER_DATABASES)
            code = seen_fail(why, SEEN_RANGE, 0,
                             "a frontier has at most %d databases",
                             FRONTIER_DATABASES);
        else if (!(where[*n] = strndup(from, (size_t)(end - from))))
            code = no_memory_for(why, "the frontier");
        else if (is_among(where, (*n)++))
            code = seen_fail(why, SEEN_MISMATCH, 0,
                             "database %u of the frontier is named twice", *n);
        else if (end == from && *end) /* SQLite would make one and drop it */
            code = seen_fail(why, SEEN_MISMATCH, 0,
                             "database %u of the frontier has no name", *n);
        from = end + 1;
    } while (code == SEEN_OK && *end);
    while (code != SEEN_OK && *n)
        free(where[--*n]);
    return code;
}

/* --- the row --- */

struct spread_member {
    bool tables, found; /* there is a frontier; and it is one of several */
    unsigned number, count;
    bool complete;
    char identity[FRONTIER_IDENTITY];
};

static bool is_missing(enum seen_code code)
{
    return code != SEEN_OK && code != SEEN_IO && code != SEEN_NOMEM &&
           code != SEEN_BUSY && code != SEEN_CORRUPT;
}

static enum seen_code has_tables(struct sql *db, bool *tables,
                                 struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(
        &st, db, "SELECT version FROM frontier_version", why);

    if (code == SEEN_OK)
        code = sql_has(st, tables, why);
    if (!is_missing(code))
        return code;
    *tables = false;
    return SEEN_OK;
}

static enum seen_code read_member(struct sql *db, struct spread_member *m,
                                  struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row = false;

    *m = (struct spread_member){ .tables = false };
    code = has_tables(db, &m->tables, why);
    if (code != SEEN_OK || !m->tables)
        return code;
    code = sql_prepare(&st, db,
                       "SELECT number, count, identity, complete FROM "
                       "frontier_databases",
                       why);
    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (is_missing(code))
        return SEEN_OK;
    if (code != SEEN_OK || !row)
        return code;
    m->found = true;
    m->number = (unsigned)sql_number(st, 0);
    m->count = (unsigned)sql_number(st, 1);
    snprintf(m->identity, sizeof m->identity, "%.*s", (int)sql_text(st, 2).len,
             sql_text(st, 2).text);
    m->complete = sql_number(st, 3);
    sql_reset(st);
    return SEEN_OK;
}

/* What a user calls number 0 is the first. */
static enum seen_code judge_member(struct sql *db,
                                   const struct spread_member *m, unsigned at,
                                   unsigned n, const char *identity,
                                   struct seen_error *why)
{
    const char *name = sql_name(db);

    if (!m->found && n == 1)
        return SEEN_OK;
    if (!m->found)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         m->tables
                             ? "%.90s has a frontier of one database; one of "
                               "several begins with empty databases"
                             : "%.90s has no tables of this frontier: it is "
                               "another database, or an empty one",
                         name);
    if (m->count != n)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "%.90s is number %u of the %u databases of a "
                         "frontier: name all of them, in their order; another "
                         "number begins with empty databases",
                         name, m->number + 1, m->count);
    if (*identity && strcmp(identity, m->identity) != 0)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "%.90s is a database of another frontier than the "
                         "first one",
                         name);
    if (m->number != at)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "%.90s is number %u of the databases of this "
                         "frontier, and named as number %u",
                         name, m->number + 1, at + 1);
    return SEEN_OK;
}

enum seen_code frontier_spread_check(struct sql *db, unsigned at, unsigned n,
                                     char identity[FRONTIER_IDENTITY],
                                     struct seen_error *why)
{
    struct spread_member m;
    enum seen_code code = read_member(db, &m, why);

    /* Whether one without tables is a frontier, the caller knows. */
    if (code == SEEN_OK && (m.tables || n > 1))
        code = judge_member(db, &m, at, n, identity, why);
    if (code == SEEN_OK && m.found)
        memcpy(identity, m.identity, FRONTIER_IDENTITY);
    return code;
}

/* --- the tables --- */

struct spread_making {
    unsigned number, count;
    const char *identity;
};

/* The last one for SQLite is a host that nobody asks: the ids of others follow
   the highest. */
static enum seen_code set_ids(struct sql *db, unsigned number,
                              struct seen_error *why)
{
    const long long base = (int64_t)number << FRONTIER_DATABASE_SHIFT;
    char text[400];

    if (!number)
        return SEEN_OK;
    if (*sql_epoch(db))
        snprintf(text, sizeof text,
                 "INSERT INTO sqlite_sequence (name, seq) VALUES ('pages', "
                 "%lld), ('workers', %lld); INSERT INTO hosts (id, name) "
                 "VALUES (%lld, '://')",
                 base, base, base);
    else
        snprintf(
            text, sizeof text,
            "ALTER TABLE pages ALTER COLUMN id RESTART WITH %lld; ALTER "
            "TABLE workers ALTER COLUMN id RESTART WITH %lld; ALTER TABLE "
            "hosts ALTER COLUMN id RESTART WITH %lld",
            base + 1, base + 1, base + 1);
    return sql_run(db, text, why);
}

static enum seen_code make_tables(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    const struct spread_making *m = owner;
    struct sql_statement *st;
    enum seen_code code = frontier_shared_tables(db, why);

    if (code == SEEN_OK)
        code = frontier_outbox_create(db, why);
    if (code == SEEN_OK)
        code = sql_run(db, table, why);
    if (code == SEEN_OK)
        code = set_ids(db, m->number, why);
    if (code == SEEN_OK)
        code = sql_prepare(
            &st, db, "INSERT INTO frontier_databases VALUES (?1, ?2, ?3, 0)",
            why);
    if (code != SEEN_OK)
        return code;
    SQL_NUMBERS(st, 1, m->number, m->count);
    sql_bind_text(st, 3, span_of(m->identity));
    return sql_do(st, why);
}

static void make_identity(char identity[FRONTIER_IDENTITY])
{
    unsigned char bytes[SIP_SECRET];

    random_fill(bytes, sizeof bytes);
    hex_write(identity, bytes, sizeof bytes);
}

/* Others may do the same now: what is there then counts. */
static enum seen_code make_member(struct frontier_spread *f, unsigned at,
                                  struct spread_member *m,
                                  struct seen_error *why)
{
    struct sql *db = f->database[at].db;
    char fresh[FRONTIER_IDENTITY] = "";
    struct spread_making making = { at, f->databases, f->identity };
    struct seen_error first;
    enum seen_code code;

    if (!*f->identity) {
        make_identity(fresh);
        making.identity = fresh;
    }
    code = sql_transact(db, make_tables, &making, f->patience, &first);
    if (read_member(db, m, why) == SEEN_OK && m->found)
        return SEEN_OK;
    return code == SEEN_OK
               ? seen_fail(why, SEEN_CORRUPT, 0, "%s: the tables are gone",
                           sql_name(db))
               : seen_fail(why, code, 0, "cannot make the tables: %s",
                           first.text);
}

/* Nothing is made before all that is there fits. Those that are missing were
   not made yet, if the first one does not say otherwise. */
static enum seen_code look(const struct frontier_spread *f,
                           struct spread_member *m, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool any = false;

    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++) {
        code = read_member(f->database[i].db, &m[i], why);
        any |= m[i].tables;
    }
    for (unsigned i = 0; code == SEEN_OK && any && i < f->databases; i++)
        if (m[i].tables || !m[0].found || m[0].complete)
            code = judge_member(f->database[i].db, &m[i], i, f->databases,
                                m[0].identity, why);
    return code;
}

enum seen_code frontier_spread_create(struct frontier_spread *f,
                                      struct seen_error *why)
{
    struct spread_member m[FRONTIER_DATABASES];
    enum seen_code code = look(f, m, why);

    if (code == SEEN_MISMATCH) /* another worker may be making them */
        code = look(f, m, why);
    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++) {
        if (!m[i].found)
            code = make_member(f, i, &m[i], why);
        if (code == SEEN_OK)
            code = judge_member(f->database[i].db, &m[i], i, f->databases,
                                f->identity, why);
        if (code == SEEN_OK && !i)
            memcpy(f->identity, m[0].identity, sizeof f->identity);
        if (code == SEEN_OK)
            code = frontier_shared_create(f->database[i].db, why);
    }
    if (code == SEEN_OK && !m[0].complete)
        code = sql_run(f->database[0].db,
                       "UPDATE frontier_databases SET complete = 1", why);
    if (code == SEEN_OK &&
        !hex_read(f->secret, sizeof f->secret, f->identity, true))
        code = seen_fail(why, SEEN_CORRUPT, 0, "%s: no identity",
                         sql_name(f->database[0].db));
    return code;
}
