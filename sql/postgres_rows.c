/*
 * postgres_rows.c - many rows in libpq's pipeline mode: all of them are sent,
 * and then the answers are read. So 1,000 rows take one round trip, and the
 * server works on the first ones while the last ones are written.
 */
#include "postgres.h"

enum {
    FLUSH = 64,   /* rows that are sent at a time */
    UNREAD = 4096 /* answers that may wait to be read */
};

/* How far a pipeline is. */
struct pipeline {
    struct postgres *db;
    struct postgres_statement *st;
    int64_t *changed;
    size_t sent, answered;
    bool synced; /* the server was told to answer, and has not said that it
                    has */
    enum seen_code code;
    struct seen_error *why;
};

/* The result of one question of a pipeline, which a NULL follows. */
static PGresult *piped(struct pipeline *p, uint64_t at)
{
    PGresult *result = postgres_result(p->db), *end;

    if (p->code == SEEN_OK && !postgres_is_good(result)) {
        p->code = postgres_fail(p->db, result, p->why);
        if (p->why)
            p->why->at = at;
    }
    end = result ? postgres_result(p->db) : NULL;
    PQclear(end);
    return result;
}

/*
 * Ask for all answers. A flush would do that, too, but the server would then
 * not count as idle when it has answered: a process that is stopped now would
 * keep its locks for ever, whatever idle_in_transaction_session_timeout says.
 */
static void sync_rows(struct pipeline *p)
{
    p->synced = PQpipelineSync(p->db->conn);
    if (!p->synced && p->code == SEEN_OK)
        p->code = postgres_fail(p->db, NULL, p->why);
}

/* Read up to the end of the answers, over those that are not wanted because of
   a fault. */
static void read_sync(struct pipeline *p)
{
    while (p->synced) {
        PGresult *result = postgres_result(p->db);

        p->synced = PQresultStatus(result) != PGRES_PIPELINE_SYNC;
        if (p->synced && p->code == SEEN_OK && result &&
            !postgres_is_good(result))
            p->code = postgres_fail(p->db, result, p->why);
        PQclear(result);
        if (PQstatus(p->db->conn) != CONNECTION_BAD)
            continue;
        p->synced = false;
        if (p->code == SEEN_OK)
            p->code = postgres_fail(p->db, NULL, p->why);
    }
}

/* Read the answers to all rows that were sent. */
static void read_rows(struct pipeline *p)
{
    PGresult *result;

    if (p->answered == p->sent)
        return;
    sync_rows(p);
    for (; p->answered < p->sent && p->code == SEEN_OK; p->answered++) {
        result = piped(p, p->answered);
        p->db->changes = result ? postgres_changed(result) : 0;
        if (p->changed)
            p->changed[p->answered] = p->db->changes;
        PQclear(result);
    }
    read_sync(p);
}

static void prepare_again(struct pipeline *p)
{
    read_rows(p);
    if (p->code == SEEN_OK)
        p->code = postgres_send_prepare(p->db, p->st, p->why);
    if (p->code == SEEN_OK)
        sync_rows(p);
    if (p->code == SEEN_OK)
        PQclear(piped(p, p->sent));
    read_sync(p);
    if (p->code == SEEN_OK)
        p->st->connection = p->db->connection;
}

/* After a fault, there may be rows that were sent without a sync. */
static void end_pipeline(struct pipeline *p)
{
    if (p->code != SEEN_OK && PQstatus(p->db->conn) != CONNECTION_BAD) {
        sync_rows(p);
        read_sync(p);
    }
    if (!PQexitPipelineMode(p->db->conn) && p->code == SEEN_OK)
        p->code = postgres_fail(p->db, NULL, p->why);
}

enum seen_code postgres_send_rows(struct sql_statement *st,
                                  sql_bind_row *bind_row, void *owner,
                                  size_t n, int64_t *changed,
                                  struct seen_error *why)
{
    struct pipeline p = {
        .db = pg(st->db), .st = pgst(st), .changed = changed, .why = why
    };

    p.code = postgres_ready(p.db, why);
    if (p.code != SEEN_OK)
        return p.code;
    if (!PQenterPipelineMode(p.db->conn))
        return postgres_fail(p.db, NULL, why);
    while (p.sent < n && p.code == SEEN_OK) {
        bind_row(owner, st, p.sent);
        p.code = postgres_lay_out(p.st, why);
        if (p.code == SEEN_OK && p.st->connection != p.db->connection)
            prepare_again(&p);
        if (p.code != SEEN_OK)
            break;
        if (!postgres_send_execute(p.db, p.st)) {
            p.code = postgres_fail(p.db, NULL, why);
            break;
        }
        p.sent++;
        if (p.sent % FLUSH == 0)
            postgres_flush(p.db);
        if (p.sent - p.answered == UNREAD)
            read_rows(&p);
    }
    if (p.code == SEEN_OK)
        read_rows(&p);
    end_pipeline(&p);
    return p.code;
}
