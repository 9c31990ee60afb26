/*
 * queries.c - the counts of --max-queries, which are for all pages that are
 * known or wait, however many visits and runs that took: links to known pages
 * are not counted as they are found.
 *
 * To count anew reads the URLs of all pages. A visit does that when it begins,
 * and each commit keeps the counts that it changed, in a table of their own. So
 * a crawl goes on at once, however many pages wait. A state of an earlier
 * version has no table, and counts once.
 */
#include "inside.h"

static const char table[] =
    "CREATE TABLE IF NOT EXISTS queries (path INTEGER PRIMARY KEY, pages "
    "INTEGER NOT NULL)";

static enum seen_code count_url(void *owner, int64_t id, struct seen_span url,
                                struct seen_error *why)
{
    struct crawl *c = owner;

    (void)id;
    (void)why;
    crawl_queries_endless(&crawl_folder_of(c)->queries,
                          c->settings->max_queries, url);
    return SEEN_OK;
}

static enum seen_code count(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code;

    crawl_queries_clear(&f->queries);
    code = crawl_state_each_query(&f->state, count_url, c, why);
    return code == SEEN_OK
               ? frontier_each(f->state.frontier, count_url, c, why)
               : code;
}

static enum seen_code load(struct crawl_folder *f, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(&st, f->state.db,
                                      "SELECT path, pages FROM queries", why);
    bool row;

    crawl_queries_clear(&f->queries);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row)
        if (!crawl_queries_recall(&f->queries, (uint64_t)sql_number(st, 0),
                                  (uint64_t)sql_number(st, 1)))
            break; /* it is not counted, as if it were one path too many */
    if (code == SEEN_OK)
        sql_reset(st);
    return code;
}

enum seen_code crawl_folder_queries_open(struct crawl *c,
                                         struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    bool has;
    enum seen_code code = crawl_state_has_table(&f->state, "queries", &has,
                                                why);

    if (code != SEEN_OK)
        return code;
    return has ? load(f, why) : count(c, why);
}

static enum seen_code keep(void *owner, uint64_t path, uint64_t pages,
                           struct seen_error *why)
{
    struct crawl_folder *f = owner;

    SQL_NUMBERS(f->keep_query, 1, (int64_t)path, (int64_t)pages);
    return sql_do(f->keep_query, why);
}

enum seen_code crawl_folder_queries_keep(struct crawl *c,
                                         struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code = SEEN_OK;

    if (!f->keep_query) {
        code = sql_run(f->state.db, table, why);
        if (code == SEEN_OK)
            code = sql_prepare(&f->keep_query, f->state.db,
                               "INSERT OR REPLACE INTO queries VALUES (?1, "
                               "?2)",
                               why);
    }
    return code == SEEN_OK ? crawl_queries_changed(&f->queries, keep, f, why)
                           : code;
}

enum seen_code crawl_folder_queries_count(struct crawl *c,
                                          struct seen_error *why)
{
    struct sql *db = crawl_folder_of(c)->state.db;
    enum seen_code code = sql_run(db, table, why);

    if (code == SEEN_OK)
        code = sql_run(db, "DELETE FROM queries", why);
    if (code == SEEN_OK)
        code = count(c, why);
    return code == SEEN_OK ? crawl_folder_queries_keep(c, why) : code;
}
