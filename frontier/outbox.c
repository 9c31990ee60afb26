/*
 * outbox.c - links from one database of a frontier to hosts of another.
 *
 *     commit in A         pages done, links to hosts of A as rows, and the
 *                         others, per database and visit, as one row of A's
 *                         table `outbox`
 *     take in A           a worker marks rows as taken, for 10 s
 *     commit in B         it inserts the links, as any commit does
 *     drop in A           and deletes the rows
 *
 * Killed before the last step, the rows are delivered again. That inserts
 * nothing twice, since the unique index of B, visit and key, knows the links:
 * rows of pages stay until their visit has ended, and no visit ends before the
 * outbox has no row of it. So nobody needs to note what was delivered.
 *
 * Why a row of many links, and not a row per link? A link would be inserted,
 * updated and deleted in A before it is inserted in B. As a part of a row of
 * hundreds it costs its bytes.
 *
 * A link in the bytes of a row, numbers being little endian:
 *
 *      0  key, 16 bytes
 *     16  priority, via: 8 each
 *     32  depth, attempts, flags, wanted: 4 each
 *     48  bytes of host, URL, path, type: 4 each
 *     64  host, URL, path, type
 *
 * Points at which a process can be killed (shared.c): `collected` after the
 * rows are marked, `delivered` before they are deleted; and `closed`, when a
 * visit is over and one more database knows it (spread_visits.c).
 *
 * The first delivery of a visit brings its row, too, with the same id. So the
 * transaction that begins a visit sends a row without links to each database:
 * all of them are to look at the pages that they know.
 */
#include "outbox.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/little.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "shared_inside.h"

enum {
    HEAD = 64,          /* bytes of a link before its texts */
    ROW_MOST = 1 << 20, /* bytes of a row, unless one link has more */
    ROWS = 64,          /* that are taken at a time */
    TAKEN = 10000,      /* ms */
    LINKS = 4096        /* in one commit, about */
};

static const char tables[] =
    "CREATE TABLE outbox (id {serial}, target {number} NOT NULL, visit "
    "{number} NOT NULL, until {number} NOT NULL, links {bytes} NOT NULL);"
    "CREATE INDEX outbox_target ON outbox (target, id);"
    "CREATE INDEX outbox_visit ON outbox (visit);"
    "CREATE TABLE claims (name TEXT NOT NULL PRIMARY KEY, worker {number} NOT "
    "NULL);"
    "CREATE INDEX claims_worker ON claims (worker);"
    "ALTER TABLE visits ADD COLUMN sent {number} NOT NULL DEFAULT 0";

enum seen_code frontier_outbox_create(struct sql *db, struct seen_error *why)
{
    enum seen_code code = sql_run(db, tables, why);

    /* Compression would cost more than it spares: rows live for a second. */
    return code == SEEN_OK && !*sql_epoch(db)
               ? sql_run(db,
                         "ALTER TABLE outbox ALTER COLUMN links SET STORAGE "
                         "EXTERNAL",
                         why)
               : code;
}

/* --- links as bytes --- */

static void put_32(struct buffer *b, uint64_t number)
{
    char bytes[4];

    little_put_32(bytes, (uint32_t)number);
    buffer_bytes(b, bytes, sizeof bytes);
}

static void put_64(struct buffer *b, int64_t number)
{
    char bytes[8];

    little_put_64(bytes, (uint64_t)number);
    buffer_bytes(b, bytes, sizeof bytes);
}

static void put_link(struct buffer *b, const struct frontier_link *link)
{
    const struct frontier_page *page = &link->page;

    buffer_bytes(b, link->key, sizeof link->key);
    put_64(b, page->priority);
    put_64(b, page->via);
    put_32(b, page->depth);
    put_32(b, page->attempts);
    put_32(b, page->flags);
    put_32(b, link->wanted);
    put_32(b, link->host.len);
    put_32(b, page->url.len);
    put_32(b, page->path.len);
    put_32(b, page->type.len);
    buffer_span(b, link->host);
    buffer_span(b, page->url);
    buffer_span(b, page->path);
    buffer_span(b, page->type);
}

/* The next text of a link. False: it is not there. */
static bool get_text(struct seen_span *rest, const char *len,
                     struct seen_span *text)
{
    *text = (struct seen_span){ rest->text, little_32(len) };
    if (text->len > rest->len)
        return false;
    rest->text += text->len;
    rest->len -= text->len;
    return true;
}

static bool get_link(struct seen_span *rest, struct frontier_link *link)
{
    const char *at = rest->text;

    if (rest->len < HEAD)
        return false;
    *link = (struct frontier_link){
        .wanted = little_32(at + 44),
        .page = { .priority = (int64_t)little_64(at + 16),
                  .via = (int64_t)little_64(at + 24),
                  .depth = little_32(at + 32),
                  .attempts = little_32(at + 36),
                  .flags = little_32(at + 40) },
    };
    memcpy(link->key, at, sizeof link->key);
    rest->text += HEAD;
    rest->len -= HEAD;
    return get_text(rest, at + 48, &link->host) &&
           get_text(rest, at + 52, &link->page.url) &&
           get_text(rest, at + 56, &link->page.path) &&
           get_text(rest, at + 60, &link->page.type);
}

/* --- sending --- */

static enum seen_code add_row(struct frontier_shared *f, unsigned target,
                              int64_t visit, const struct buffer *links,
                              struct seen_error *why)
{
    struct sql_statement *st = f->st[SHARED_OUTBOX_ADD];

    if (links->failed)
        return no_memory_for(why, "the frontier");
    f->sent_to |= UINT64_C(1) << target;
    SQL_NUMBERS(st, 1, target, visit);
    sql_bind_bytes(
        st, 3,
        (struct seen_span){ links->len ? links->bytes : "", links->len });
    return sql_do(st, why);
}

struct sending {
    const struct frontier_link *link;
    unsigned target;
};

static int by_target(const void *a, const void *b)
{
    const struct sending *x = a, *y = b;
    int64_t v = x->link->visit, w = y->link->visit;
    int order = (x->target > y->target) - (x->target < y->target);

    return order ? order : (v > w) - (v < w);
}

enum seen_code frontier_outbox_send(struct frontier_shared *f,
                                    const struct frontier_link **link,
                                    size_t n, struct seen_error *why)
{
    struct sending *s = calloc(n + 1, sizeof *s);
    struct buffer links = { .bytes = NULL };
    enum seen_code code = s ? SEEN_OK : no_memory_for(why, "the frontier");

    for (size_t i = 0; s && i < n; i++)
        s[i] = (struct sending){ link[i],
                                 frontier_shared_database(f, link[i]->host) };
    if (s && n)
        qsort(s, n, sizeof *s, by_target);
    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        put_link(&links, s[i].link);
        if (i + 1 < n && !by_target(&s[i], &s[i + 1]) && links.len < ROW_MOST)
            continue;
        code = add_row(f, s[i].target, s[i].link->visit, &links, why);
        links.len = 0;
    }
    buffer_clear(&links);
    free(s);
    return code;
}

enum seen_code frontier_outbox_announce(struct frontier_shared *f,
                                        int64_t visit, struct seen_error *why)
{
    const struct buffer none = { .bytes = NULL };
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++)
        if (i != f->database)
            code = add_row(f, i, visit, &none, why);
    return code;
}

/* --- visits of another database --- */

struct copying {
    struct frontier_shared *from, *to;
    int64_t visit;
    struct buffer texts;
    size_t visit_len, name_len, job_len;
    int64_t number[7]; /* seed, shards, most, due, terms, thorough, state */
    bool found;
};

static enum seen_code read_visit(void *owner, struct sql *db,
                                 struct seen_error *why)
{
    static const int column[] = { 3, 4, 5, 6, 7, 8, 9 };
    struct copying *c = owner;
    struct sql_statement *st = c->from->st[SHARED_VISIT_COPIED];
    enum seen_code code;
    bool row;

    (void)db;
    c->found = false;
    c->texts.len = 0;
    sql_bind_number(st, 1, c->visit);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        c->found = true;
        c->visit_len = sql_text(st, 0).len;
        c->name_len = sql_text(st, 1).len;
        c->job_len = sql_text(st, 2).len;
        for (int i = 0; i < 3; i++)
            buffer_span(&c->texts, sql_text(st, i));
        for (int i = 0; i < 7; i++)
            c->number[i] = sql_number(st, column[i]);
    }
    return code == SEEN_OK && c->texts.failed
               ? no_memory_for(why, "the frontier")
               : code;
}

static enum seen_code write_visit(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    struct copying *c = owner;
    struct sql_statement *st = c->to->st[SHARED_VISIT_COPY];
    const int64_t *n = c->number;
    const char *at = c->texts.bytes;

    (void)db;
    sql_bind_number(st, 1, c->visit);
    sql_bind_text(st, 2, (struct seen_span){ at, c->visit_len });
    at += c->visit_len;
    sql_bind_text(st, 3, (struct seen_span){ at, c->name_len });
    at += c->name_len;
    sql_bind_bytes(st, 4, (struct seen_span){ at, c->job_len });
    SQL_NUMBERS(st, 5, n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
    sql_bind_bytes(st, 12, (struct seen_span){ "", 0 });
    return sql_do(st, why);
}

static bool is_there(void *owner, const struct frontier_visit *visit)
{
    (void)visit;
    *(bool *)owner = true;
    return true;
}

/* The row of a visit, where links of it are to be inserted. */
static enum seen_code bring_visit(struct frontier_shared *from,
                                  struct frontier_shared *to, int64_t visit,
                                  struct seen_error *why)
{
    struct copying c = { .from = from, .to = to, .visit = visit };
    bool there = false;
    enum seen_code code = frontier_shared_visit(to, visit, is_there, &there,
                                                why);

    if (code != SEEN_ABSENT)
        return code;
    code = frontier_shared_read(from, read_visit, &c, why);
    if (code == SEEN_OK && !c.found)
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "%s has links of visit %lld, and no such visit",
                         sql_name(from->db), (long long)visit);
    if (code == SEEN_OK)
        code = frontier_shared_step(to, write_visit, &c, why);
    buffer_clear(&c.texts);
    if (code == SEEN_OK) /* another one of its name may not have ended yet */
        code = frontier_shared_visit(to, visit, is_there, &there, why);
    return code == SEEN_ABSENT
               ? seen_fail(why, SEEN_CORRUPT, 0,
                           "%s: an earlier visit has not ended",
                           sql_name(to->db))
               : code;
}

/* --- delivering --- */

struct outbox_row {
    int64_t id, visit;
    size_t at, len; /* in the bytes */
};

struct outbox_delivery {
    struct frontier_shared *from, *to;
    struct buffer bytes;
    struct outbox_row parcel[ROWS];
    size_t parcels;
    struct frontier_link *link;
    size_t links, room;
};

/* Not in a transaction, which one statement does not need. */
static enum seen_code take_parcels(void *owner, struct sql *db,
                                   struct seen_error *why)
{
    struct outbox_delivery *d = owner;
    struct sql_statement *st = d->from->st[SHARED_OUTBOX_TAKE];
    enum seen_code code;
    bool row;

    (void)db;
    d->parcels = d->bytes.len = 0;
    SQL_NUMBERS(st, 1, d->to->database, ROWS, TAKEN);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct seen_span links = sql_text(st, 2);

        d->parcel[d->parcels++] = (struct outbox_row){
            sql_number(st, 0), sql_number(st, 1), d->bytes.len, links.len
        };
        buffer_span(&d->bytes, links);
    }
    return code == SEEN_OK && d->bytes.failed
               ? no_memory_for(why, "the frontier")
               : code;
}

static enum seen_code read_parcel(struct outbox_delivery *d,
                                  const struct outbox_row *p,
                                  struct seen_error *why)
{
    struct seen_span rest = { p->len ? d->bytes.bytes + p->at : "", p->len };

    while (rest.len) {
        struct frontier_link *more = array_grow(d->link, &d->room,
                                                d->links + 1, sizeof *more);

        if (!more)
            return no_memory_for(why, "the frontier");
        d->link = more;
        if (!get_link(&rest, &more[d->links]))
            return seen_fail(why, SEEN_CORRUPT, 0,
                             "%s: row %lld of the outbox is not one",
                             sql_name(d->from->db), (long long)p->id);
        more[d->links++].visit = p->visit;
    }
    return SEEN_OK;
}

static enum seen_code insert_links(struct outbox_delivery *d,
                                   struct seen_error *why)
{
    struct frontier_group g = { .link = d->link, .links = d->links };
    enum seen_code code;

    if (!d->links)
        return SEEN_OK;
    g.from = malloc(d->links * sizeof *g.from);
    g.fresh = calloc(d->links, sizeof *g.fresh);
    if (g.from && g.fresh) {
        for (size_t i = 0; i < d->links; i++)
            g.from[i] = SIZE_MAX;
        code = frontier_shared_commit(d->to, &g, why);
    } else {
        code = no_memory_for(why, "the frontier");
    }
    free(g.fresh);
    free(g.from);
    return code;
}

struct dropping {
    struct outbox_delivery *d;
    size_t first, end;
};

static void bind_drop(void *owner, struct sql_statement *st, size_t i)
{
    const struct dropping *p = owner;

    sql_bind_number(st, 1, p->d->parcel[p->first + i].id);
}

static enum seen_code drop(void *owner, struct sql *db, struct seen_error *why)
{
    struct dropping *p = owner;

    (void)db;
    return sql_do_many(p->d->from->st[SHARED_OUTBOX_DROP], bind_drop, p,
                       p->end - p->first, NULL, why);
}

/* Some of the parcels, from the first: as many as make a commit. */
static enum seen_code deliver_some(struct outbox_delivery *d, size_t *first,
                                   struct seen_error *why)
{
    struct dropping p = { d, *first, *first };
    enum seen_code code = SEEN_OK;

    d->links = 0;
    while (code == SEEN_OK && p.end < d->parcels && d->links < LINKS) {
        const struct outbox_row *parcel = &d->parcel[p.end];

        if (p.end == p.first || parcel->visit != parcel[-1].visit)
            code = bring_visit(d->from, d->to, parcel->visit, why);
        if (code == SEEN_OK)
            code = read_parcel(d, parcel, why);
        p.end++;
    }
    if (code == SEEN_OK)
        code = insert_links(d, why);
    if (code != SEEN_OK)
        return code;
    frontier_shared_reach(d->to, "delivered");
    *first = p.end;
    return frontier_shared_step(d->from, drop, &p, why);
}

enum seen_code frontier_outbox_deliver(struct frontier_shared *from,
                                       struct frontier_shared *to, bool *more,
                                       bool *to_failed, struct seen_error *why)
{
    struct outbox_delivery d = { .from = from, .to = to };
    enum seen_code code = frontier_shared_read(from, take_parcels, &d, why);
    size_t at = 0;

    *to_failed = false;
    frontier_shared_reach(from, "collected");
    while (code == SEEN_OK && at < d.parcels) {
        size_t first = at;

        code = deliver_some(&d, &at, why);
        *to_failed = at == first;
    }
    *more = d.parcels == ROWS;
    free(d.link);
    buffer_clear(&d.bytes);
    return code;
}
