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

/* Read the answers to all rows that were sent. */
static void read_rows(struct pipeline *p)
{
    PGresult *result;

    if (p->answered == p->sent)
        return;
    PQsendFlushRequest(p->db->conn);
    for (; p->answered < p->sent && p->code == SEEN_OK; p->answered++) {
        result = piped(p, p->answered);
        p->db->changes = result ? postgres_changed(result) : 0;
        if (p->changed)
            p->changed[p->answered] = p->db->changes;
        PQclear(result);
    }
}

static void prepare_again(struct pipeline *p)
{
    read_rows(p);
    if (p->code == SEEN_OK)
        p->code = postgres_send_prepare(p->db, p->st, p->why);
    if (p->code == SEEN_OK) {
        PQsendFlushRequest(p->db->conn);
        PQclear(piped(p, p->sent));
    }
    if (p->code == SEEN_OK)
        p->st->connection = p->db->connection;
}

/* The end of the pipeline is the end of a transaction, if none is open. Its
   answer comes after those that are not read because of a fault. */
static void end_pipeline(struct pipeline *p)
{
    PGresult *result;
    bool ended = !PQpipelineSync(p->db->conn), failed = false;

    while (!ended) {
        result = postgres_result(p->db);
        if (PQstatus(p->db->conn) == CONNECTION_BAD) {
            ended = failed = true;
        } else if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
            ended = true;
        } else if (result && !postgres_is_good(result) && p->code == SEEN_OK) {
            p->code = postgres_fail(p->db, result, p->why);
        }
        PQclear(result);
    }
    if (!PQexitPipelineMode(p->db->conn) || failed)
        if (p->code == SEEN_OK)
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
