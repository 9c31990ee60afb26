/*
 * shared_known.c - what is known of pages, and how it comes back into the next
 * visit of its name.
 *
 * A row is written in the commit that ends its page, while its host is locked.
 * So no two commits write one row, and one that is refused writes none.
 *
 * A visit of a million known pages cannot begin in one transaction: others
 * would wait for its locks for a minute. It begins with its start URLs, and
 * with `recalled` at the first key. Each batch moves that on, in the
 * transaction that inserts its pages:
 *
 *     known       read a batch, in the order of keys, behind `recalled`
 *     hosts       lock those of pages that are due
 *     visit       is `recalled` still there? Else somebody did this batch
 *     pages       insert; those that links led to already are there
 *     hosts       count
 *     visit       move `recalled`, if it is still there, and count
 *
 * Two workers with the same batch lock the same hosts, so the second one finds
 * it done, and if there is no page to insert the last step does. NULL is the
 * end of it, and a visit whose pages are all done by then is ending.
 */
#include "shared_inside.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/memory.h"
#include "../lib/text/span.h"

/* --- rows --- */

bool frontier_shared_read_known(struct sql_statement *st, int column,
                                struct frontier_known *known)
{
    if (sql_is_null(st, column))
        return false;
    *known = (struct frontier_known){
        .first = sql_number(st, column),
        .last = sql_number(st, column + 1),
        .due = sql_number(st, column + 2),
        .stored = sql_number(st, column + 3),
        .checks = sql_number(st, column + 4),
        .changes = sql_number(st, column + 5),
        .size = sql_number(st, column + 6),
        .terms = sql_number(st, column + 7),
        .links = sql_number(st, column + 8),
        .status = (int)sql_number(st, column + 9),
        .depth = (unsigned)sql_number(st, column + 10),
        .flags = (unsigned)sql_number(st, column + 11),
        .url = sql_text(st, column + 12),
        .type = sql_text(st, column + 13),
        .etag = sql_text(st, column + 14),
        .modified = sql_text(st, column + 15),
        .digest = sql_text(st, column + 16),
        .place = sql_text(st, column + 17),
        .history = sql_text(st, column + 18),
    };
    return true;
}

static void bind_known(void *owner, struct sql_statement *st, size_t i)
{
    const struct frontier_done *const *done = owner;
    const struct frontier_known *k = done[i]->known;
    const char *key = (const char *)k->key;

    sql_bind_number(st, 1, done[i]->visit);
    sql_bind_bytes(st, 2, (struct seen_span){ key, sizeof k->key });
    SQL_NUMBERS(st, 3, done[i]->page.host, k->first, k->last, k->due,
                k->stored, k->checks, k->changes, k->size, k->terms, k->links,
                k->status, k->depth, k->flags);
    sql_bind_text(st, 16, k->url);
    sql_bind_text(st, 17, k->type);
    sql_bind_bytes(st, 18, k->etag);
    sql_bind_bytes(st, 19, k->modified);
    sql_bind_text(st, 20, k->digest);
    sql_bind_text(st, 21, k->place);
    sql_bind_bytes(st, 22, k->history);
}

enum seen_code frontier_shared_keep(struct frontier_shared *f,
                                    const struct frontier_done **done,
                                    size_t n, struct seen_error *why)
{
    return sql_do_rows(f->st[SHARED_KNOWN_KEEP], bind_known, done, n, NULL,
                       why);
}

/* --- back into a visit --- */

enum recalled { WAITS, NOT_DUE, NOTHING };

struct recalling {
    struct frontier_shared *f;
    int64_t visit;
    frontier_weigh *weigh;
    void *owner;
    struct buffer texts;
    struct frontier_link link[SHARED_BATCH];
    struct frontier_insert insert[SHARED_BATCH];
    struct frontier_locked host[SHARED_BATCH];
    size_t links, hosts, rows;
    char from[16], to[16]; /* keys */
    size_t after;          /* bytes of the first: 0 at the start */
    int64_t not_due, queued, left;
    bool more, again;
};

/* *found: known pages are still to come. */
static enum seen_code read_place(struct recalling *r, char key[16],
                                 size_t *len, bool *found,
                                 struct seen_error *why)
{
    struct sql_statement *st = r->f->st[SHARED_RECALL_AT];
    enum seen_code code;
    bool row;

    *found = false;
    *len = 0;
    sql_bind_number(st, 1, r->visit);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct seen_span at = sql_text(st, 0);

        *found = true;
        *len = at.len == 16 ? 16 : 0;
        if (*len)
            memcpy(key, at.text, *len);
    }
    return code;
}

/* The texts may move until all of them are there. */
static void take_row(struct recalling *r, struct sql_statement *st,
                     struct seen_span key)
{
    struct seen_span url = sql_text(st, 2), type = sql_text(st, 3);
    struct frontier_link *link = &r->link[r->links];
    unsigned depth = (unsigned)sql_number(st, 4);

    *link = (struct frontier_link){
        .visit = r->visit,
        .page = { .host = sql_number(st, 1),
                  .priority = r->weigh(r->owner, url, depth),
                  .depth = depth,
                  .flags = (unsigned)sql_number(st, 5),
                  .url = { NULL, url.len },
                  .path = { "", 0 },
                  .type = { NULL, type.len } },
    };
    memcpy(link->key, key.text, sizeof link->key);
    buffer_span(&r->texts, url);
    buffer_span(&r->texts, type);
    r->links++;
}

static enum seen_code read_batch(struct recalling *r, struct seen_error *why)
{
    struct sql_statement *st = r->f->st[SHARED_RECALL];
    enum seen_code code;
    bool row;

    r->texts.len = r->links = r->rows = 0;
    r->not_due = r->queued = r->left = 0;
    sql_bind_number(st, 1, r->visit);
    sql_bind_bytes(st, 2, (struct seen_span){ r->from, r->after });
    sql_bind_number(st, 3, SHARED_BATCH);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct seen_span key = sql_text(st, 0);
        int64_t what = sql_number(st, 6);

        r->rows++;
        if (key.len != sizeof r->to)
            continue;
        memcpy(r->to, key.text, key.len);
        r->not_due += what == NOT_DUE;
        if (what == WAITS)
            take_row(r, st, key);
    }
    return code == SEEN_OK && r->texts.failed
               ? no_memory_for(why, "the frontier")
               : code;
}

static enum seen_code lock_batch(struct recalling *r, struct seen_error *why)
{
    const char *at = r->texts.bytes;

    for (size_t i = 0; i < r->links; i++) {
        struct frontier_page *page = &r->link[i].page;

        page->url.text = at;
        page->type.text = at += page->url.len;
        at += page->type.len;
        r->host[i] = (struct frontier_locked){ .id = page->host };
    }
    r->hosts = frontier_shared_sort(r->host, r->links);
    return frontier_shared_lock(r->f, r->host, r->hosts, why);
}

/* A host that is not asked any more is not asked now, as in a commit. */
static enum seen_code insert_batch(struct recalling *r, struct seen_error *why)
{
    enum seen_code code;

    for (size_t i = 0; i < r->links; i++) {
        const struct frontier_locked *h = frontier_shared_find(
            r->host, r->hosts, r->link[i].page.host);

        r->insert[i] = (struct frontier_insert){
            .link = &r->link[i],
            .visit = r->visit,
            .host = h->id,
            .state = h->barred >= r->visit ? FRONTIER_LEFT + 1 : 0,
            .wanted = true,
        };
    }
    code = frontier_shared_insert(r->f, r->insert, r->links, why);
    for (size_t i = 0; code == SEEN_OK && i < r->links; i++) {
        const struct frontier_insert *in = &r->insert[i];

        if (!in->fresh)
            continue;
        r->left += in->state != 0;
        r->queued += in->state == 0;
        frontier_shared_find(r->host, r->hosts, in->host)->queued +=
            in->state == 0;
    }
    return code == SEEN_OK
               ? frontier_shared_count(r->f, r->host, r->hosts, why)
               : code;
}

static enum seen_code move_on(struct recalling *r, struct seen_error *why)
{
    struct sql_statement *st = r->f->st[SHARED_RECALLED];
    enum seen_code code;

    r->more = r->rows == SHARED_BATCH;
    SQL_NUMBERS(st, 1, r->visit, r->queued, r->left, r->not_due);
    if (r->more)
        sql_bind_bytes(st, 5, (struct seen_span){ r->to, sizeof r->to });
    else
        sql_bind_null(st, 5);
    sql_bind_number(st, 6, !r->more && !frontier_shared_is_spread(r->f));
    sql_bind_bytes(st, 7, (struct seen_span){ r->from, r->after });
    code = sql_do(st, why);
    if (code != SEEN_OK || sql_changes(r->f->db) == 1)
        return code;
    r->again = true;
    return seen_fail(why, SEEN_BUSY, 0, "another worker did this");
}

static enum seen_code recall(void *owner, struct sql *db,
                             struct seen_error *why)
{
    struct recalling *r = owner;
    char now[16];
    size_t len;
    bool found;
    enum seen_code code;

    (void)db;
    r->more = r->again = false;
    code = read_place(r, r->from, &r->after, &found, why);
    if (code != SEEN_OK || !found)
        return code;
    code = read_batch(r, why);
    if (code == SEEN_OK && r->links)
        code = lock_batch(r, why);
    if (code == SEEN_OK)
        code = read_place(r, now, &len, &found, why);
    if (code != SEEN_OK)
        return code;
    if (!found || len != r->after || memcmp(now, r->from, len)) {
        r->more = found;
        return SEEN_OK;
    }
    if (r->links)
        code = insert_batch(r, why);
    if (code == SEEN_OK)
        code = move_on(r, why);
    frontier_shared_reach(r->f, "recalling");
    return code;
}

enum seen_code frontier_shared_recall(struct frontier_shared *f, int64_t visit,
                                      frontier_weigh *weigh, void *owner,
                                      bool *more, struct seen_error *why)
{
    struct recalling *r = calloc(1, sizeof *r);
    enum seen_code code;

    *more = false;
    if (!r)
        return no_memory_for(why, "the frontier");
    r->f = f;
    r->visit = visit;
    r->weigh = weigh;
    r->owner = owner;
    code = frontier_shared_step(f, recall, r, why);
    if (code == SEEN_BUSY && r->again) {
        code = SEEN_OK;
        r->more = true;
    }
    if (code == SEEN_OK) {
        frontier_shared_reach(f, "recalled");
        *more = r->more;
    }
    buffer_clear(&r->texts);
    free(r);
    return code;
}
