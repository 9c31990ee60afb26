/*
 * packs.c - rows of many pages each.
 *
 * Two trees take the inserts: the table, in the order of its numbers, and the
 * index (host, priority, number) with one entry for up to 64 pages. A link to a
 * host whose last row is in memory costs no statement at all.
 *
 * A page that is done is taken out of its pack, which is written again: up to
 * 1,300 bytes, in one page of the database. To unpack the rest into rows of
 * their own would write more.
 */
#include "packs.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/map.h"
#include "../lib/text/memory.h"
#include "pack.h"

enum { HELD = 16 << 20 }; /* bytes of last rows in memory */

/* The last row of a host and a priority. */
struct tail {
    int64_t of[2];  /* which */
    int64_t number; /* 0: it has no row yet */
    struct frontier_pack pack;
    size_t room;  /* bytes of memory, when they were counted */
    bool changed; /* it is in the array of those */
};

enum {
    PACK_ADD,
    PACK_CHANGE,
    PACK_DELETE,
    PACK_LAST,
    PACK_READ,
    PACK_HOST,
    PACK_EACH,
    PACK_FLAGGED,
    STATEMENTS
};

#define OF_HOSTS " FROM packed CROSS JOIN hosts ON hosts.id = host "
#define COLUMNS "packed.id, host, priority, pages, n, name"

static const char *const texts[STATEMENTS] = {
    [PACK_ADD] = "INSERT INTO packed (host, priority, flags, n, pages) VALUES "
                 "(?1, ?2, ?3, ?4, ?5)",
    [PACK_CHANGE] = "UPDATE packed SET flags = ?2, n = ?3, pages = ?4 WHERE "
                    "id = ?1",
    [PACK_DELETE] = "DELETE FROM packed WHERE id = ?1",
    [PACK_LAST] =
        "SELECT id, host, priority, pages, n FROM packed WHERE host = "
        "?1 AND priority = ?2 ORDER BY id DESC LIMIT 1",
    [PACK_READ] = "SELECT " COLUMNS OF_HOSTS "WHERE packed.id = ?1",
    [PACK_HOST] =
        "SELECT id, host, priority, pages, n FROM packed WHERE host = "
        "?1 ORDER BY priority, id",
    [PACK_EACH] = "SELECT " COLUMNS OF_HOSTS "ORDER BY packed.id",
    [PACK_FLAGGED] = "SELECT " COLUMNS OF_HOSTS
                     "WHERE flags & ?1 ORDER BY packed.id",
};

/* A row that was read, in memory of ours. */
struct packed_row {
    int64_t number, host, priority;
    int64_t n; /* pages */
    struct buffer pages, name;
};

struct frontier_packs {
    struct sql *db;
    bool there; /* the table */
    struct sql_statement *st[STATEMENTS];
    struct map tails;
    struct tail **changed;
    size_t changes, room;
    size_t held;
    struct packed_row row;                     /* what is taken from */
    struct frontier_pack rest;          /* and what remains */
    struct frontier_pack_reader reader; /* of that */
    struct buffer taken;
    struct frontier_pack_reader host; /* frontier_packs_next() */
    struct packed_row host_row;
    uint64_t unpacked;
};

static struct seen_span span_in(const struct buffer *b)
{
    return (struct seen_span){ b->len ? b->bytes : "", b->len };
}

static enum seen_code no_memory(struct seen_error *why)
{
    return no_memory_for(why, "pages that wait");
}

/* Why a reader ended, and whether that was after `n` pages, as many as its row
   should have: one that was cut short may end where a page does. */
static enum seen_code end_of(const struct frontier_pack_reader *r,
                             int64_t number, int64_t n, struct seen_error *why)
{
    if (r->damaged || (!r->no_memory && r->n != n))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "row %lld of the pages that wait is damaged",
                         (long long)number);
    return r->no_memory ? no_memory(why) : SEEN_OK;
}

static int64_t page_id(int64_t number, unsigned index)
{
    return number * FRONTIER_PACK_PAGES + index;
}

/* Of a row whose number is none, no page would be found again by its own. */
static void read_pack(struct frontier_pack_reader *r, int64_t number,
                      struct seen_span bytes, struct seen_span host)
{
    frontier_pack_read(r, bytes, host);
    r->damaged |= number < 1 || number > INT64_MAX / FRONTIER_PACK_PAGES;
}

/* --- open and close --- */

enum seen_code frontier_packs_create(struct sql *db, int64_t above,
                                     struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_run(
        db,
        "CREATE TABLE packed (id INTEGER PRIMARY KEY AUTOINCREMENT, host "
        "INTEGER NOT NULL, priority INTEGER NOT NULL, flags INTEGER NOT NULL, "
        "n INTEGER NOT NULL, pages BLOB NOT NULL);"
        "CREATE INDEX packed_next ON packed (host, priority, id);",
        why);

    if (code == SEEN_OK)
        code = sql_prepare(
            &st, db, "INSERT INTO sqlite_sequence VALUES ('packed', ?1)", why);
    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, above / FRONTIER_PACK_PAGES);
    return sql_do(st, why);
}

enum seen_code frontier_packs_open(struct frontier_packs **out, struct sql *db,
                                   struct seen_error *why)
{
    struct frontier_packs *p = calloc(1, sizeof *p);
    struct sql_statement *st;
    enum seen_code code;

    *out = NULL;
    if (!p)
        return no_memory(why);
    p->db = db;
    code = sql_prepare(
        &st, db, "SELECT 1 FROM sqlite_master WHERE name = 'packed'", why);
    if (code == SEEN_OK)
        code = sql_has(st, &p->there, why);
    for (int i = 0; code == SEEN_OK && p->there && i < STATEMENTS; i++)
        code = sql_prepare(&p->st[i], db, texts[i], why);
    if (code == SEEN_OK)
        *out = p;
    else
        frontier_packs_close(p);
    return code;
}

static void free_tail(struct tail *tail)
{
    frontier_pack_clear(&tail->pack);
    free(tail);
}

/* All that is in memory, whether it was written or not. */
static void forget(struct frontier_packs *p)
{
    struct tail *tail;

    for (size_t at = 0; (tail = map_next(&p->tails, &at));)
        free_tail(tail);
    map_clear(&p->tails);
    p->changes = p->held = 0;
}

static void clear_row(struct packed_row *row)
{
    buffer_clear(&row->pages);
    buffer_clear(&row->name);
}

void frontier_packs_close(struct frontier_packs *p)
{
    if (!p)
        return;
    forget(p);
    free(p->changed);
    clear_row(&p->row);
    clear_row(&p->host_row);
    frontier_pack_clear(&p->rest);
    frontier_pack_reader_clear(&p->reader);
    frontier_pack_reader_clear(&p->host);
    buffer_clear(&p->taken);
    free(p);
}

/* --- rows --- */

/* The row that a statement is at. */
static bool copy_row(struct packed_row *row, struct sql_statement *st,
                     bool named)
{
    row->number = sql_number(st, 0);
    row->host = sql_number(st, 1);
    row->priority = sql_number(st, 2);
    row->pages.len = 0;
    buffer_span(&row->pages, sql_text(st, 3));
    row->n = sql_number(st, 4);
    if (named) {
        row->name.len = 0;
        buffer_span(&row->name, sql_text(st, 5));
    }
    return !row->pages.failed && !row->name.failed;
}

/* The one row of a statement that was bound. */
static enum seen_code read_row(struct packed_row *row,
                               struct sql_statement *st, bool named,
                               bool *found, struct seen_error *why)
{
    enum seen_code code = sql_step(st, found, why);

    if (code != SEEN_OK || !*found)
        return code;
    if (!copy_row(row, st, named))
        code = no_memory(why);
    sql_reset(st);
    return code;
}

/* Write a pack to its row; a row without pages goes. */
static enum seen_code change_row(struct frontier_packs *p, int64_t number,
                                 const struct frontier_pack *pack,
                                 struct seen_error *why)
{
    struct sql_statement *st = p->st[pack->n ? PACK_CHANGE : PACK_DELETE];

    sql_bind_number(st, 1, number);
    if (pack->n) {
        SQL_NUMBERS(st, 2, pack->flags, pack->n);
        sql_bind_bytes(st, 4, span_in(&pack->bytes));
    }
    return sql_do(st, why);
}

static enum seen_code write_tail(struct frontier_packs *p, struct tail *tail,
                                 struct seen_error *why)
{
    struct sql_statement *st = p->st[PACK_ADD];
    enum seen_code code;

    if (tail->number)
        return change_row(p, tail->number, &tail->pack, why);
    if (!tail->pack.n)
        return SEEN_OK;
    SQL_NUMBERS(st, 1, tail->of[0], tail->of[1], tail->pack.flags,
                tail->pack.n);
    sql_bind_bytes(st, 5, span_in(&tail->pack.bytes));
    code = sql_do(st, why);
    tail->number = sql_last_row(p->db);
    return code;
}

/* Those with rows first, in the order of the table; then new ones, hosts by
   hosts. */
static int by_place(const void *a, const void *b)
{
    const struct tail *x = *(struct tail *const *)a;
    const struct tail *y = *(struct tail *const *)b;

    if (!x->number != !y->number)
        return x->number ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (x->of[i] != y->of[i])
            return x->of[i] < y->of[i] ? -1 : 1;
    return 0;
}

enum seen_code frontier_packs_write(struct frontier_packs *p,
                                    struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!p->changes)
        return SEEN_OK;
    qsort(p->changed, p->changes, sizeof *p->changed, by_place);
    for (size_t i = 0; code == SEEN_OK && i < p->changes; i++) {
        struct tail *tail = p->changed[i];

        code = write_tail(p, tail, why);
        tail->changed = false;
        if (code == SEEN_OK && !tail->pack.n) {
            map_remove(&p->tails, tail->of, sizeof tail->of);
            free_tail(tail);
        }
    }
    p->changes = 0;
    if (p->held > HELD)
        forget(p);
    return code;
}

/* --- the last row of a host and a priority --- */

/* A pack is what its bytes say, and goes on where they end. */
static enum seen_code resume(struct frontier_packs *p, struct tail *tail,
                             struct seen_span host, struct seen_error *why)
{
    struct frontier_pack *pack = &tail->pack;
    struct frontier_pack_reader *r = &p->reader;
    struct frontier_pack_last before = pack->last;
    enum seen_code code;

    read_pack(r, p->row.number, span_in(&p->row.pages), host);
    while (frontier_pack_next(r)) {
        pack->flags |= r->page.flags;
        pack->n++;
    }
    code = end_of(r, p->row.number, p->row.n, why);
    if (code != SEEN_OK)
        return code;
    pack->bytes.len = 0;
    buffer_append(&pack->bytes, &p->row.pages);
    pack->last = r->last;
    r->last = before;
    tail->number = p->row.number;
    return pack->bytes.failed ? no_memory(why) : SEEN_OK;
}

static enum seen_code load_tail(struct frontier_packs *p, struct tail *tail,
                                struct seen_span host, struct seen_error *why)
{
    struct sql_statement *st = p->st[PACK_LAST];
    enum seen_code code;
    bool found;

    SQL_NUMBERS(st, 1, tail->of[0], tail->of[1]);
    code = read_row(&p->row, st, false, &found, why);
    if (code == SEEN_OK && found)
        return resume(p, tail, host, why);
    if (code == SEEN_OK && !frontier_pack_begin(&tail->pack, host, 0))
        return no_memory(why);
    return code;
}

static enum seen_code find_tail(struct frontier_packs *p, struct tail **out,
                                const struct frontier_page *page,
                                struct seen_span host, struct seen_error *why)
{
    const int64_t of[2] = { page->host, page->priority };
    struct tail *tail = map_get(&p->tails, of, sizeof of);
    enum seen_code code;

    *out = tail;
    if (tail)
        return SEEN_OK;
    tail = calloc(1, sizeof *tail);
    if (!tail)
        return no_memory(why);
    memcpy(tail->of, of, sizeof of);
    code = load_tail(p, tail, host, why);
    if (code == SEEN_OK && !map_set(&p->tails, tail->of, sizeof of, tail))
        code = no_memory(why);
    if (code != SEEN_OK) {
        free_tail(tail);
        return code;
    }
    p->held += sizeof *tail;
    *out = tail;
    return SEEN_OK;
}

static enum seen_code note_change(struct frontier_packs *p, struct tail *tail,
                                  struct seen_error *why)
{
    struct tail **more;

    if (tail->changed)
        return SEEN_OK;
    more = array_grow(p->changed, &p->room, p->changes + 1, sizeof *more);
    if (!more)
        return no_memory(why);
    p->changed = more;
    more[p->changes++] = tail;
    tail->changed = true;
    return SEEN_OK;
}

static size_t room_of(const struct frontier_pack *pack)
{
    return pack->bytes.room + pack->last.url.room + pack->last.path.room +
           pack->last.type.room;
}

/* It is written, and the next row begins. */
static enum seen_code begin_next(struct frontier_packs *p, struct tail *tail,
                                 struct seen_span host, struct seen_error *why)
{
    enum seen_code code = tail->changed ? write_tail(p, tail, why) : SEEN_OK;

    tail->number = 0;
    return code == SEEN_OK && !frontier_pack_begin(&tail->pack, host, 0)
               ? no_memory(why)
               : code;
}

enum seen_code frontier_packs_add(struct frontier_packs *p,
                                  const struct frontier_page *page,
                                  struct seen_span host,
                                  struct seen_error *why)
{
    struct tail *tail;
    enum seen_code code = find_tail(p, &tail, page, host, why);

    if (code != SEEN_OK)
        return code;
    if (!frontier_pack_has_room(&tail->pack, page))
        code = begin_next(p, tail, host, why);
    if (code == SEEN_OK)
        code = note_change(p, tail, why);
    if (code == SEEN_OK &&
        !frontier_pack_add(&tail->pack, frontier_pack_next_index(&tail->pack),
                           page))
        code = no_memory(why);
    p->held += room_of(&tail->pack) - tail->room;
    tail->room = room_of(&tail->pack);
    return code == SEEN_OK && p->held > HELD ? frontier_packs_write(p, why)
                                             : code;
}

/* --- pages that are taken out --- */

/* All pages of p->row but one, or but those with flags, into p->rest; the one
   that goes into `page`, if that is asked for. */
static enum seen_code leave_out(struct frontier_packs *p,
                                struct seen_span bytes, int64_t n,
                                unsigned index, unsigned flags,
                                struct frontier_page *page, bool *found,
                                struct seen_error *why)
{
    struct frontier_pack_reader *r = &p->reader;
    struct seen_span name = span_in(&p->row.name);

    *found = false;
    read_pack(r, p->row.number, bytes, name);
    if (r->damaged)
        return end_of(r, p->row.number, n, why);
    if (!frontier_pack_begin(&p->rest, name, r->next))
        return no_memory(why);
    while (frontier_pack_next(r)) {
        p->unpacked++;
        if (r->index != index && !(r->page.flags & flags)) {
            if (!frontier_pack_add(&p->rest, r->index, &r->page))
                return no_memory(why);
            continue;
        }
        *found = true;
        if (!page)
            continue;
        *page = r->page;
        p->taken.len = 0;
        buffer_span(&p->taken, page->url);
        buffer_span(&p->taken, page->path);
        buffer_span(&p->taken, page->type);
        if (p->taken.failed)
            return no_memory(why);
    }
    return end_of(r, p->row.number, n, why);
}

/* What remains of p->row: in memory, if the row is there, or in its row. */
static enum seen_code keep_rest(struct frontier_packs *p, struct tail *tail,
                                struct seen_error *why)
{
    struct frontier_pack pack;

    if (!tail)
        return change_row(p, p->row.number, &p->rest, why);
    pack = tail->pack;
    tail->pack = p->rest;
    p->rest = pack;
    return note_change(p, tail, why);
}

/* The last row of its host and priority may be in memory, changed. */
static struct tail *tail_of_row(const struct frontier_packs *p)
{
    const int64_t of[2] = { p->row.host, p->row.priority };
    struct tail *tail = map_get(&p->tails, of, sizeof of);

    return tail && tail->number == p->row.number ? tail : NULL;
}

enum seen_code frontier_packs_take(struct frontier_packs *p, int64_t id,
                                   bool *found, struct frontier_page *page,
                                   struct seen_error *why)
{
    enum seen_code code;
    struct tail *tail;
    const char *text;

    *found = false;
    if (!p->there)
        return SEEN_OK;
    sql_bind_number(p->st[PACK_READ], 1, id / FRONTIER_PACK_PAGES);
    code = read_row(&p->row, p->st[PACK_READ], true, found, why);
    if (code != SEEN_OK || !*found)
        return code;
    tail = tail_of_row(p);
    code = leave_out(p, span_in(tail ? &tail->pack.bytes : &p->row.pages),
                     tail ? tail->pack.n : p->row.n,
                     (unsigned)(id % FRONTIER_PACK_PAGES), 0, page, found,
                     why);
    if (code != SEEN_OK || !*found)
        return code;
    text = p->taken.bytes;
    page->id = id;
    page->host = p->row.host;
    page->priority = p->row.priority;
    page->url.text = text;
    page->path.text = text + page->url.len;
    page->type.text = page->path.text + page->path.len;
    return keep_rest(p, tail, why);
}

enum seen_code frontier_packs_drop(struct frontier_packs *p, unsigned flags,
                                   struct seen_error *why)
{
    struct sql_statement *st = p->st[PACK_FLAGGED];
    enum seen_code code;
    bool row, found;

    if (!p->there)
        return SEEN_OK;
    code = frontier_packs_write(p, why);
    forget(p);
    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, flags);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        code = copy_row(&p->row, st, true) ? SEEN_OK : no_memory(why);
        if (code == SEEN_OK)
            code = leave_out(p, span_in(&p->row.pages), p->row.n,
                             FRONTIER_PACK_PAGES, flags, NULL, &found, why);
        if (code == SEEN_OK && found)
            code = keep_rest(p, NULL, why);
        if (code != SEEN_OK) {
            sql_reset(st);
            break;
        }
    }
    return code;
}

enum seen_code frontier_packs_empty(struct frontier_packs *p,
                                    struct seen_error *why)
{
    forget(p);
    return p->there ? sql_run(p->db, "DELETE FROM packed", why) : SEEN_OK;
}

/* --- pages of a host --- */

enum seen_code frontier_packs_host(struct frontier_packs *p, int64_t host,
                                   struct seen_span name,
                                   struct seen_error *why)
{
    enum seen_code code = frontier_packs_write(p, why);
    struct buffer *to = &p->host_row.name;

    to->len = 0;
    buffer_span(to, name);
    p->host.at = p->host.end = NULL;
    p->host.n = 0;
    p->host_row.n = 0;
    p->host.damaged = p->host.no_memory = false;
    if (p->there)
        sql_bind_number(p->st[PACK_HOST], 1, host);
    return code == SEEN_OK && to->failed ? no_memory(why) : code;
}

enum seen_code frontier_packs_next(struct frontier_packs *p, bool *more,
                                   struct frontier_page *page,
                                   struct seen_error *why)
{
    struct frontier_pack_reader *r = &p->host;
    enum seen_code code = SEEN_OK;
    struct packed_row *row = &p->host_row;

    *more = p->there;
    while (*more && !frontier_pack_next(r)) {
        code = end_of(r, row->number, row->n, why);
        if (code == SEEN_OK)
            code = sql_step(p->st[PACK_HOST], more, why);
        if (code == SEEN_OK && *more &&
            !copy_row(row, p->st[PACK_HOST], false))
            code = no_memory(why);
        if (code != SEEN_OK)
            break;
        if (*more)
            read_pack(r, row->number, span_in(&row->pages),
                      span_in(&row->name));
    }
    if (code != SEEN_OK || !*more)
        return code;
    p->unpacked++;
    *page = r->page;
    page->id = page_id(row->number, r->index);
    page->host = row->host;
    page->priority = row->priority;
    return SEEN_OK;
}

void frontier_packs_stop(struct frontier_packs *p)
{
    if (p->there)
        sql_reset(p->st[PACK_HOST]);
}

uint64_t frontier_packs_unpacked(const struct frontier_packs *p)
{
    return p->unpacked;
}

/* --- all pages --- */

static enum seen_code each_of(struct frontier_pack_reader *r,
                              const struct packed_row *row,
                              frontier_take_url *take, void *owner,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    read_pack(r, row->number, span_in(&row->pages), span_in(&row->name));
    while (code == SEEN_OK && frontier_pack_next(r))
        code = take(owner, page_id(row->number, r->index), r->page.url, why);
    return code == SEEN_OK ? end_of(r, row->number, row->n, why) : code;
}

enum seen_code frontier_packs_each(struct frontier_packs *p,
                                   frontier_take_url *take, void *owner,
                                   struct seen_error *why)
{
    struct frontier_pack_reader r = { .index = 0 };
    struct packed_row at = { .number = 0 };
    enum seen_code code;
    bool row;

    if (!p->there)
        return SEEN_OK;
    code = frontier_packs_write(p, why);
    while (code == SEEN_OK &&
           (code = sql_step(p->st[PACK_EACH], &row, why)) == SEEN_OK && row) {
        code = copy_row(&at, p->st[PACK_EACH], true)
                   ? each_of(&r, &at, take, owner, why)
                   : no_memory(why);
        if (code != SEEN_OK)
            sql_reset(p->st[PACK_EACH]);
    }
    frontier_pack_reader_clear(&r);
    clear_row(&at);
    return code;
}
