/*
 * left_out.c - a table of the links that were left out, and a memory of those
 * that were written last.
 *
 * Most links of a site are on each of its pages. The memory has a slot per key,
 * which the next key takes over, so that such a link costs a comparison and not
 * a question to the table.
 */
#include "left_out.h"

#include <stdlib.h>

#include "../../lib/text/span.h"

enum {
    ROWS_MOST = 1000000,
    RECENT = 1 << 14 /* slots of the memory; a power of two */
};

/* What was kept last: a slot per key, which the next one takes over. */
struct crawl_left_memory {
    struct sql_statement *keep;
    int64_t rows;
    uint64_t recent[RECENT];
};

static enum seen_code read_number(struct crawl_state *s, const char *query,
                                  int64_t *n, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(&st, s->db, query, why);

    *n = 0;
    return code == SEEN_OK ? sql_first(st, n, why) : code;
}

/* A folder of an earlier version gets the table with its first row. */
static enum seen_code begin(struct crawl_state *s, struct seen_error *why)
{
    struct crawl_left_memory *m;
    enum seen_code code = sql_run(
        s->db,
        "CREATE TABLE IF NOT EXISTS left_out (key INTEGER PRIMARY KEY, "
        "reason INTEGER NOT NULL, via INTEGER NOT NULL)",
        why);

    if (code != SEEN_OK)
        return code;
    m = calloc(1, sizeof *m);
    if (!m)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for links left out");
    code = sql_prepare(&m->keep, s->db,
                       "INSERT INTO left_out VALUES (?1, ?2, ?3) ON CONFLICT "
                       "(key) DO UPDATE SET reason = excluded.reason, via = "
                       "excluded.via WHERE reason <> excluded.reason",
                       why);
    if (code == SEEN_OK)
        code = read_number(s, "SELECT count(*) FROM left_out", &m->rows, why);
    if (code == SEEN_OK)
        s->left = m;
    else
        free(m);
    return code;
}

enum seen_code crawl_left_keep(struct crawl_state *s, uint64_t key,
                               enum crawl_left_reason reason, int64_t via,
                               struct seen_error *why)
{
    uint64_t mark = key ^ (uint64_t)reason << 56, *slot;
    enum seen_code code = s->left ? SEEN_OK : begin(s, why);

    if (code != SEEN_OK)
        return code;
    slot = &s->left->recent[key & (RECENT - 1)];
    if (*slot == mark || s->left->rows >= ROWS_MOST)
        return SEEN_OK;
    SQL_NUMBERS(s->left->keep, 1, (int64_t)key, reason, via);
    code = sql_do(s->left->keep, why);
    if (code == SEEN_OK) {
        s->left->rows += sql_changes(s->db);
        *slot = mark;
    }
    return code;
}

enum seen_code crawl_left_find(struct crawl_state *s, uint64_t key,
                               struct crawl_left *left, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool made;
    int64_t n;

    *left = (struct crawl_left){ .found = false };
    code = crawl_state_has_table(s, "left_out", &made, why);
    if (code != SEEN_OK || !made)
        return code;
    code = sql_prepare(&st, s->db,
                       "SELECT reason, via FROM left_out WHERE key = ?1", why);
    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, (int64_t)key);
    code = sql_step(st, &left->found, why);
    if (code == SEEN_OK && left->found) {
        left->reason = (enum crawl_left_reason)sql_number(st, 0);
        left->via = sql_number(st, 1);
        sql_reset(st);
        return SEEN_OK;
    }
    if (code == SEEN_OK)
        code = read_number(s, "SELECT count(*) FROM left_out", &n, why);
    left->full = n >= ROWS_MOST;
    return code;
}

void crawl_left_forget(struct crawl_state *s)
{
    free(s->left);
    s->left = NULL;
}
