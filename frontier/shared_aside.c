/*
 * shared_aside.c - pages that kill the worker that reads them:
 * crawl/engine/aside.h.
 *
 * Suspicion and deaths are bits in the flags of the page's row. They are
 * written by whoever finds that a worker died, which need not have the host of
 * the page: the flags of a row are nobody's count. If another worker has the
 * row in memory already, it reads the page as any other, and may die of it
 * once more.
 */
#include "shared_inside.h"

#include "../lib/text/span.h"

/* Of an earlier version of these tables, too, which need nothing else: so it is
   made when it is missing. */
static const char tables[] =
    "CREATE TABLE IF NOT EXISTS aside (key {bytes} NOT NULL PRIMARY KEY, visit "
    "{number} NOT NULL, url TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS suspect_robots (origin TEXT NOT NULL PRIMARY "
    "KEY, deaths {number} NOT NULL, noted {number} NOT NULL)";

enum seen_code frontier_shared_aside_create(struct sql *db,
                                            struct seen_error *why)
{
    /* Of two that make a table at once, PostgreSQL lets one fail. */
    return sql_run(db, tables, NULL) == SEEN_OK ? SEEN_OK
                                                : sql_run(db, tables, why);
}

/* --- suspects --- */

struct suspecting {
    struct frontier_shared *f;
    const struct frontier_suspect *suspect;
    size_t n;
};

static enum seen_code note_robots(struct frontier_shared *f,
                                  const struct frontier_suspect *suspect,
                                  struct seen_error *why)
{
    struct sql_statement *st = f->st[SHARED_ROBOTS_SUSPECT];
    enum seen_code code;

    sql_bind_text(st, 1, suspect->origin);
    sql_bind_number(st, 2, suspect->alone);
    code = sql_do(st, why);
    if (code != SEEN_OK)
        return code;
    st = f->st[SHARED_ROBOTS_ASIDE];
    sql_bind_bytes(
        st, 1,
        (struct seen_span){ (const char *)suspect->key, sizeof suspect->key });
    sql_bind_text(st, 2, suspect->origin);
    return sql_do(st, why);
}

static enum seen_code note_suspects(void *owner, struct sql *db,
                                    struct seen_error *why)
{
    const struct suspecting *s = owner;
    struct sql_statement *st = s->f->st[SHARED_PAGE_SUSPECT];
    enum seen_code code = SEEN_OK;

    (void)db;
    for (size_t i = 0; code == SEEN_OK && i < s->n; i++) {
        const struct frontier_suspect *suspect = &s->suspect[i];
        const char *key = (const char *)suspect->key;

        if (suspect->origin.len) {
            code = note_robots(s->f, suspect, why);
            continue;
        }
        SQL_NUMBERS(st, 1, suspect->id, suspect->visit);
        sql_bind_bytes(st, 3, (struct seen_span){ key, sizeof suspect->key });
        sql_bind_number(st, 4, suspect->alone);
        code = sql_do(st, why);
    }
    return code;
}

enum seen_code frontier_shared_suspect(struct frontier_shared *f,
                                       const struct frontier_suspect *suspect,
                                       size_t n, struct seen_error *why)
{
    struct suspecting s = { f, suspect, n };

    return frontier_shared_step(f, note_suspects, &s, why);
}

/* --- set aside --- */

enum seen_code frontier_shared_set_aside(struct frontier_shared *f,
                                         int64_t page, struct seen_error *why)
{
    struct sql_statement *st = f->st[SHARED_ASIDE_ADD];

    sql_bind_number(st, 1, page);
    return sql_do(st, why);
}

struct aside_reading {
    struct sql_statement *st;
    frontier_take_key *take;
    void *owner;
    bool done; /* by a run before, of which only the end was lost */
};

static enum seen_code read_aside(void *owner, struct sql *db,
                                 struct seen_error *why)
{
    struct aside_reading *r = owner;
    struct sql_statement *st = r->st;
    enum seen_code code;
    bool row;

    (void)db;
    if (r->done)
        return SEEN_OK;
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row)
        if (!r->take(r->owner, sql_text(st, 0))) {
            sql_reset(st);
            break;
        }
    r->done = code == SEEN_OK;
    return code;
}

enum seen_code frontier_shared_aside(struct frontier_shared *f,
                                     frontier_take_key *take, void *owner,
                                     struct seen_error *why)
{
    struct aside_reading r = { f->st[SHARED_ASIDE_READ], take, owner, false };

    return frontier_shared_read(f, read_aside, &r, why);
}

enum seen_code frontier_shared_suspects(struct frontier_shared *f,
                                        frontier_take_key *take, void *owner,
                                        struct seen_error *why)
{
    struct aside_reading r = { f->st[SHARED_ROBOTS_SUSPECTS], take, owner,
                               false };

    return frontier_shared_read(f, read_aside, &r, why);
}

static enum seen_code forget(void *owner, struct sql *db,
                             struct seen_error *why)
{
    struct frontier_shared *f = owner;

    enum seen_code code = sql_do(f->st[SHARED_ASIDE_FORGET], why);

    (void)db;
    return code == SEEN_OK ? sql_do(f->st[SHARED_ROBOTS_FORGET], why) : code;
}

enum seen_code frontier_shared_retry_aside(struct frontier_shared *f,
                                           struct seen_error *why)
{
    return frontier_shared_step(f, forget, f, why);
}
