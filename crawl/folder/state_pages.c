/*
 * state_pages.c - pages that were fetched: what is known of each, when it is
 * due, and where its copy is. Also the keys of pages that a visit knows and did
 * not fetch, so that the next visit does not take them for lost.
 */
#include "state_inside.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/little.h"
#include "../../lib/text/span.h"

/* --- fetched pages --- */

static struct seen_span key_bytes(const struct seen_key *key, char bytes[16])
{
    little_put_64(bytes, key->lo);
    little_put_64(bytes + 8, key->hi);
    return (struct seen_span){ bytes, 16 };
}

enum seen_code crawl_state_find(struct crawl_state *s,
                                const struct seen_key *key, bool *found,
                                struct crawl_known *page,
                                struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_FIND];
    struct seen_span text[CRAWL_KNOWN_TEXTS];
    enum seen_code code;
    char bytes[16];
    bool taken;

    sql_bind_bytes(st, 1, key_bytes(key, bytes));
    code = sql_step(st, found, why);
    if (code != SEEN_OK || !*found)
        return code;
    *page = (struct crawl_known){
        .id = sql_number(st, 0),
        .visit = sql_number(st, 1),
        .first = sql_number(st, 2),
        .last = sql_number(st, 3),
        .due = sql_number(st, 4),
        .stored = sql_number(st, 5),
        .checks = sql_number(st, 6),
        .changes = sql_number(st, 7),
        .status = (int)sql_number(st, 9),
        .turn = (unsigned)sql_number(st, 10),
        .size = sql_number(st, 11 + CRAWL_KNOWN_TEXTS),
        .depth = (unsigned)sql_number(st, 12 + CRAWL_KNOWN_TEXTS),
        .every = sql_number(st, 13 + CRAWL_KNOWN_TEXTS),
    };
    crawl_known_read_history(page, sql_text(st, 8));
    for (int i = 0; i < CRAWL_KNOWN_TEXTS; i++)
        text[i] = sql_text(st, 11 + i);
    taken = crawl_known_take_texts(page, text);
    sql_reset(st);
    return taken ? SEEN_OK
                 : seen_fail(why, SEEN_NOMEM, 0, "no memory for a page");
}

/* One question per page: a sample of some thousand must not read all rows. */
enum seen_code crawl_state_histories(struct crawl_state *s, uint64_t most,
                                     crawl_state_take_history *take,
                                     void *owner, uint64_t *all,
                                     struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(
        &st, s->db, "SELECT coalesce(max(id), 0) FROM fetched", why);
    bool row;

    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    *all = (uint64_t)sql_number(st, 0);
    sql_reset(st);
    if (most > *all)
        most = *all;
    code = sql_prepare(
        &st, s->db,
        "SELECT history FROM fetched WHERE id >= ?1 ORDER BY id "
        "LIMIT 1",
        why);
    for (uint64_t i = 0; code == SEEN_OK && i < most; i++) {
        struct crawl_known page = { .id = 0 };

        sql_bind_number(
            st, 1, (int64_t)(1 + (double)*all / (double)most * (double)i));
        code = sql_step(st, &row, why);
        if (code != SEEN_OK || !row)
            continue;
        crawl_known_read_history(&page, sql_text(st, 0));
        sql_reset(st);
        code = take(owner, &page, why);
    }
    return code;
}

enum seen_code crawl_state_keep(struct crawl_state *s,
                                const struct seen_key *key,
                                struct crawl_known *page,
                                struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_KEEP];
    enum seen_code code;
    char bytes[16];
    bool row;

    sql_bind_bytes(st, 1, key_bytes(key, bytes));
    SQL_NUMBERS(st, 2, page->visit, page->first, page->last, page->due,
                page->stored, page->checks, page->changes);
    sql_bind_bytes(st, 9,
                   (struct seen_span){ (const char *)page->history,
                                       4 * page->histories });
    SQL_NUMBERS(st, 10, page->status, page->turn);
    sql_bind_text(st, 12, span_of(page->url));
    sql_bind_text(st, 13, span_of(page->etag));
    sql_bind_text(st, 14, span_of(page->modified));
    sql_bind_text(st, 15, span_of(page->digest));
    sql_bind_text(st, 16, span_of(page->note));
    sql_bind_text(st, 17, span_of(page->place));
    sql_bind_text(st, 18, span_of(page->type));
    SQL_NUMBERS(st, 19, page->size, page->depth, page->every);
    code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    page->id = sql_number(st, 0);
    sql_reset(st);
    return SEEN_OK;
}

char *crawl_state_url(struct crawl_state *s, int64_t id)
{
    struct sql_statement *st = s->st[STATE_URL];
    char *url;
    bool row;

    sql_bind_number(st, 1, id);
    if (sql_step(st, &row, NULL) != SEEN_OK || !row)
        return strdup("");
    url = crawl_state_copy(st);
    sql_reset(st);
    return url;
}

/* --- revisits --- */

/* A page to be queued: id, url, depth, type. */
static struct frontier_page read_link(struct sql_statement *st)
{
    return (struct frontier_page){
        .via = sql_number(st, 0),
        .url = sql_text(st, 1),
        .depth = (unsigned)sql_number(st, 2),
        .type = sql_text(st, 3),
        .path = { "", 0 },
    };
}

enum seen_code crawl_state_due(struct crawl_state *s, int64_t now,
                               unsigned most, crawl_take_due *take,
                               void *owner, struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_DUE_READ];
    int64_t *id = malloc((most + 1) * sizeof *id);
    enum seen_code code = SEEN_OK;
    unsigned n = 0;
    bool row;

    if (!id)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for pages");
    SQL_NUMBERS(st, 1, now, most);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        const struct frontier_page page = read_link(st);

        id[n++] = page.via;
        code = take(owner, &page, sql_number(st, 4), why);
        if (code != SEEN_OK)
            sql_reset(st);
    }
    for (unsigned i = 0; code == SEEN_OK && i < n; i++) {
        sql_bind_number(s->st[STATE_DUE_CLEAR], 1, id[i]);
        code = sql_do(s->st[STATE_DUE_CLEAR], why);
    }
    free(id);
    return code;
}

/* Some at a time: what SQLite needs to undo one statement is in memory, 230 MB
   for a million rows. */
enum seen_code crawl_state_due_anew(struct crawl_state *s,
                                    struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(
        &st, s->db,
        "UPDATE fetched SET due = 0 WHERE id IN (SELECT id FROM fetched "
        "WHERE due = 9223372036854775807 LIMIT 10000)",
        why);

    if (code == SEEN_OK)
        code = sql_do(st, why);
    while (code == SEEN_OK && sql_changes(s->db))
        code = sql_do(st, why);
    return code;
}

enum seen_code crawl_state_next_due(struct crawl_state *s, int64_t *due,
                                    struct seen_error *why)
{
    return sql_first(s->st[STATE_DUE_NEXT], due, why);
}

/* One row: its new due time. Only times that differ are written, since each is
   an entry of an index, too. */
static enum seen_code date(struct sql_statement *st, struct sql_statement *row,
                           crawl_due_of *due_of, void *owner,
                           struct seen_error *why)
{
    struct crawl_known page = { .id = sql_number(row, 0),
                                .last = sql_number(row, 1),
                                .due = sql_number(row, 2),
                                .every = sql_number(row, 3) };
    int64_t due;

    crawl_known_read_history(&page, sql_text(row, 4));
    due = due_of(owner, &page);
    if (due == page.due)
        return SEEN_OK;
    SQL_NUMBERS(st, 1, page.id, due);
    return sql_do(st, why);
}

enum seen_code crawl_state_date(struct crawl_state *s, crawl_due_of *due_of,
                                void *owner, struct seen_error *why)
{
    struct sql_statement *rows, *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&rows, s->db,
                       "SELECT id, last, due, every, history FROM fetched "
                       "WHERE +due < 9223372036854775807 ORDER BY id",
                       why);
    if (code == SEEN_OK)
        code = sql_prepare(&st, s->db,
                           "UPDATE fetched SET due = ?2 WHERE id = ?1", why);
    while (code == SEEN_OK && (code = sql_step(rows, &row, why)) == SEEN_OK &&
           row) {
        code = date(st, rows, due_of, owner, why);
        if (code != SEEN_OK)
            sql_reset(rows);
    }
    return code;
}

enum seen_code crawl_state_copies(struct crawl_state *s, int64_t after,
                                  crawl_take_copy *take, void *owner,
                                  struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_COPIES_READ];
    bool row, more = true;
    enum seen_code code;

    SQL_NUMBERS(st, 1, after, s->visit.id);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        const struct frontier_page page = read_link(st);

        code = take(owner, &page, sql_text(st, 4), sql_text(st, 5), &more,
                    why);
        if (code != SEEN_OK || !more) {
            sql_reset(st);
            break;
        }
    }
    return code;
}

enum seen_code crawl_state_recovered(struct crawl_state *s, const char *url,
                                     struct seen_error *why)
{
    sql_bind_number(s->st[STATE_RECOVERED], 1, s->visit.id);
    sql_bind_text(s->st[STATE_RECOVERED], 2, span_of(url));
    return sql_do(s->st[STATE_RECOVERED], why);
}

enum seen_code crawl_state_each(struct crawl_state *s, int64_t visit,
                                frontier_take_url *take, void *owner,
                                struct seen_error *why)
{
    sql_bind_number(s->st[STATE_KNOWN_READ], 1, visit);
    return frontier_read_urls(s->st[STATE_KNOWN_READ], take, owner, why);
}

enum seen_code crawl_state_each_query(struct crawl_state *s,
                                      frontier_take_url *take, void *owner,
                                      struct seen_error *why)
{
    return frontier_read_urls(s->st[STATE_QUERIES_READ], take, owner, why);
}

enum seen_code crawl_state_knows(struct crawl_state *s,
                                 const struct seen_key *key, bool *found,
                                 struct seen_error *why)
{
    char bytes[16];

    sql_bind_bytes(s->st[STATE_KNOWS], 1, key_bytes(key, bytes));
    return sql_has(s->st[STATE_KNOWS], found, why);
}

enum seen_code crawl_state_unfetched(struct crawl_state *s,
                                     const struct seen_key *key,
                                     struct seen_error *why)
{
    char bytes[16];

    sql_bind_bytes(s->st[STATE_UNFETCHED_ADD], 1, key_bytes(key, bytes));
    sql_bind_number(s->st[STATE_UNFETCHED_ADD], 2, s->visit.id);
    return sql_do(s->st[STATE_UNFETCHED_ADD], why);
}

enum seen_code crawl_state_was_unfetched(struct crawl_state *s,
                                         const struct seen_key *key,
                                         bool *found, struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_UNFETCHED_FIND];
    char bytes[16];

    sql_bind_bytes(st, 1, key_bytes(key, bytes));
    sql_bind_number(st, 2, s->visit.id - 1);
    return sql_has(st, found, why);
}

enum seen_code crawl_state_each_unfetched(struct crawl_state *s,
                                          crawl_take_key *take, void *owner,
                                          struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_UNFETCHED_READ];
    enum seen_code code;
    bool row;

    sql_bind_number(st, 1, s->visit.id);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct seen_span bytes = sql_text(st, 0);
        struct seen_key key = { .text = NULL };

        if (bytes.len != 16)
            continue;
        key.lo = little_64(bytes.text);
        key.hi = little_64(bytes.text + 8);
        code = take(owner, &key, why);
        if (code != SEEN_OK) {
            sql_reset(st);
            break;
        }
    }
    return code;
}
