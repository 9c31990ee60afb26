/*
 * frontier.c - pages and hosts as rows.
 *
 * Pages are packed (packs.h), many to a row, until something happens to one of
 * them other than that it is done: a page that is to be tried again, is parked
 * or suspected has a row of its own in the table `frontier`, under the number
 * that it had. So has every page of a state that an earlier version made. What
 * comes next at a host is the first of both, by priority and number.
 *
 * A host has a row with counts. To change it for every link would cost as much
 * as the link, so changes are collected in memory and written once per commit.
 * The same entries remember the ids of names. They are forgotten when there
 * are too many of them.
 */
#include "frontier.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/map.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "journal.h"
#include "packs.h"

enum { REMEMBERED = 1 << 16 }; /* hosts in memory */

struct entry {
    int64_t id;
    int64_t base;          /* links found to it, by its row */
    int64_t queued, found; /* changes since the last flush */
    struct entry *changed; /* the next one that changed */
    bool listed;
    size_t len;
    char name[];
};

enum {
    HOST_FIND,
    HOST_NAME,
    HOST_ADD,
    HOST_COUNT,
    HOST_SPEND,
    HOST_STOP,
    HOST_READ,
    HOST_PARK,
    ORIGIN_FIND,
    ORIGIN_KEEP,
    HOSTS_DUE,
    HOSTS_KNOWN,
    HOSTS_ALL,
    PAGE_ADD,
    PAGE_REMOVE,
    PAGE_PARK,
    PAGE_DEFER,
    PAGE_NEXT,
    PAGE_FIND,
    PAGE_EACH,
    COUNT,
    STATEMENTS
};

#define HOST_COLUMNS \
    "id, due, queued, found, fetched, requests, bytes, failures, name, " \
    "coalesce(stopped, '')"
#define PAGE_COLUMNS \
    "id, host, priority, via, depth, attempts, flags, url, path, type"

static const char *const texts[STATEMENTS] = {
    [HOST_FIND] = "SELECT id, found FROM hosts WHERE name = ?1",
    [HOST_NAME] = "SELECT name, found FROM hosts WHERE id = ?1",
    [HOST_ADD] = "INSERT INTO hosts (name) VALUES (?1)",
    [HOST_COUNT] = "UPDATE hosts SET queued = queued + ?2, found = found + ?3 "
                   "WHERE id = ?1",
    [HOST_SPEND] = "UPDATE hosts SET due = ?2, failures = ?3, "
                   "fetched = fetched + ?4, requests = requests + ?5, "
                   "bytes = bytes + ?6 WHERE id = ?1",
    [HOST_READ] = "SELECT " HOST_COLUMNS " FROM hosts WHERE id = ?1",
    [HOST_PARK] = "UPDATE hosts SET stopped = ?2 WHERE id = ?1 AND stopped IS "
                  "NULL",
    [ORIGIN_FIND] = "SELECT failures, coalesce(stopped, '') FROM hosts WHERE "
                    "name = ?1",
    [ORIGIN_KEEP] = "UPDATE hosts SET failures = ?2, stopped = coalesce(?3, "
                    "stopped) WHERE id = ?1",
    [HOST_STOP] = "UPDATE hosts SET stopped = ?2 WHERE id = ?1",
    [HOSTS_DUE] = "SELECT " HOST_COLUMNS " FROM hosts WHERE queued > 0 AND "
                  "stopped IS NULL ORDER BY due, id LIMIT ?1",
    [HOSTS_KNOWN] = "SELECT " HOST_COLUMNS " FROM hosts WHERE queued > 0 AND "
                    "stopped IS NULL AND fetched > 0 AND failures = 0 "
                    "ORDER BY due, id LIMIT ?1",
    [HOSTS_ALL] = "SELECT " HOST_COLUMNS " FROM hosts ORDER BY id",
    [PAGE_ADD] = "INSERT INTO frontier (" PAGE_COLUMNS ") VALUES (?1, ?2, ?3, "
                 "?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [PAGE_REMOVE] = "DELETE FROM frontier WHERE id = ?1",
    [PAGE_PARK] = "UPDATE frontier SET host = ?3 WHERE id = ?1 AND host = ?2",
    [PAGE_DEFER] = "UPDATE frontier SET priority = ?2, attempts = ?3, "
                   "flags = ?4 WHERE id = ?1",
    [PAGE_NEXT] = "SELECT " PAGE_COLUMNS " FROM frontier WHERE host = ?1 "
                  "ORDER BY priority, id LIMIT ?2",
    [PAGE_FIND] = "SELECT " PAGE_COLUMNS " FROM frontier WHERE url = ?1",
    [PAGE_EACH] = "SELECT id, url FROM frontier ORDER BY id",
    [COUNT] = "SELECT coalesce(sum(queued) FILTER (WHERE stopped IS NULL), "
              "0), coalesce(sum(queued), 0) FROM hosts WHERE queued > 0",
};

struct frontier {
    struct sql *db;
    struct sql_statement *st[STATEMENTS];
    struct frontier_packs *packs;
    struct frontier_journal *journal;
    struct map names, ids;
    struct entry *changed;
    char closed[256]; /* why an origin is: what the last call returned */
};

enum seen_code frontier_create(struct sql *db, struct seen_error *why)
{
    enum seen_code code = sql_run(
        db,
        "CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT NOT NULL "
        "UNIQUE, due INTEGER NOT NULL DEFAULT 0, queued INTEGER NOT NULL "
        "DEFAULT 0, found INTEGER NOT NULL DEFAULT 0, fetched INTEGER NOT "
        "NULL DEFAULT 0, requests INTEGER NOT NULL DEFAULT 0, bytes INTEGER "
        "NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, stopped "
        "TEXT);"
        "CREATE INDEX hosts_due ON hosts (due, id) WHERE queued > 0 AND "
        "stopped IS NULL;"
        "CREATE TABLE frontier (id INTEGER PRIMARY KEY, host INTEGER NOT "
        "NULL, priority INTEGER NOT NULL, via INTEGER NOT NULL, depth INTEGER "
        "NOT NULL, attempts INTEGER NOT NULL, flags INTEGER NOT NULL, url "
        "TEXT NOT NULL, path TEXT NOT NULL, type TEXT NOT NULL);"
        "CREATE INDEX frontier_next ON frontier (host, priority, id);"
        "CREATE TABLE journal (id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT "
        "NOT NULL);",
        why);

    return code == SEEN_OK ? frontier_packs_create(db, 0, why) : code;
}

enum seen_code frontier_upgrade(struct sql *db, struct seen_error *why)
{
    struct sql_statement *st;
    int64_t last = 0;
    enum seen_code code = sql_prepare(
        &st, db, "SELECT coalesce(max(id), 0) FROM frontier", why);

    if (code == SEEN_OK)
        code = sql_first(st, &last, why);
    return code == SEEN_OK ? frontier_packs_create(db, last, why) : code;
}

enum seen_code frontier_open(struct frontier **out, struct sql *db,
                             struct seen_error *why)
{
    struct frontier *f = calloc(1, sizeof *f);
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (!f)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the frontier");
    f->db = db;
    for (int i = 0; code == SEEN_OK && i < STATEMENTS; i++)
        code = sql_prepare(&f->st[i], db, texts[i], why);
    if (code == SEEN_OK)
        code = frontier_packs_open(&f->packs, db, why);
    if (code == SEEN_OK)
        code = frontier_journal_open(&f->journal, db, why);
    if (code != SEEN_OK) {
        frontier_close(f);
        return code;
    }
    *out = f;
    return SEEN_OK;
}

static void forget(struct frontier *f)
{
    struct entry *e;

    for (size_t at = 0; (e = map_next(&f->names, &at));)
        free(e);
    map_clear(&f->names);
    map_clear(&f->ids);
}

void frontier_close(struct frontier *f)
{
    if (!f)
        return;
    forget(f);
    frontier_packs_close(f->packs);
    frontier_journal_close(f->journal);
    free(f);
}

/* --- hosts --- */

static enum seen_code remember(struct frontier *f, struct seen_span name,
                               int64_t id, int64_t found,
                               struct seen_error *why)
{
    struct entry *e = calloc(1, sizeof *e + name.len);

    if (!e)
        return no_memory_for(why, "a host");
    e->id = id;
    e->base = found;
    e->len = name.len;
    memcpy(e->name, name.text, name.len);
    if (!map_set(&f->names, e->name, e->len, e)) {
        free(e);
        return no_memory_for(why, "a host");
    }
    if (!map_set(&f->ids, &e->id, sizeof e->id, e)) {
        map_remove(&f->names, e->name, e->len);
        free(e);
        return no_memory_for(why, "a host");
    }
    return SEEN_OK;
}

enum seen_code frontier_host_id(struct frontier *f, struct seen_span name,
                                int64_t *id, struct seen_error *why)
{
    struct entry *e = map_get(&f->names, name.text, name.len);
    struct sql_statement *st = f->st[HOST_FIND];
    enum seen_code code;
    int64_t found = 0;
    bool row;

    if (e) {
        *id = e->id;
        return SEEN_OK;
    }
    sql_bind_text(st, 1, name);
    code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    if (row) {
        *id = sql_number(st, 0);
        found = sql_number(st, 1);
        sql_reset(st);
    } else {
        sql_bind_text(f->st[HOST_ADD], 1, name);
        code = sql_do(f->st[HOST_ADD], why);
        *id = sql_last_row(f->db);
    }
    return code == SEEN_OK ? remember(f, name, *id, found, why) : code;
}

/* Its name, which lives until hosts are forgotten. */
static enum seen_code name_of(struct frontier *f, int64_t host,
                              struct seen_span *name, struct seen_error *why)
{
    struct entry *e = map_get(&f->ids, &host, sizeof host);
    struct sql_statement *st = f->st[HOST_NAME];
    enum seen_code code = SEEN_OK;
    bool row = true;

    if (!e) {
        sql_bind_number(st, 1, host);
        code = sql_step(st, &row, why);
    }
    if (code == SEEN_OK && !row)
        return seen_fail(why, SEEN_CORRUPT, 0, "host %lld has no row",
                         (long long)host);
    if (code == SEEN_OK && !e) {
        code = remember(f, sql_text(st, 0), host, sql_number(st, 1), why);
        sql_reset(st);
        e = map_get(&f->ids, &host, sizeof host);
    }
    if (code == SEEN_OK)
        *name = (struct seen_span){ e->name, e->len };
    return code;
}

int64_t frontier_found(struct frontier *f, int64_t host)
{
    const struct entry *e = map_get(&f->ids, &host, sizeof host);

    return e ? e->base + e->found : 0;
}

/* Change the counts of a host: in memory if it is there, else at once. */
static enum seen_code count(struct frontier *f, int64_t host, int64_t queued,
                            int64_t found, struct seen_error *why)
{
    struct entry *e = map_get(&f->ids, &host, sizeof host);

    if (!e) {
        SQL_NUMBERS(f->st[HOST_COUNT], 1, host, queued, found);
        return sql_do(f->st[HOST_COUNT], why);
    }
    e->queued += queued;
    e->found += found;
    if (!e->listed) {
        e->listed = true;
        e->changed = f->changed;
        f->changed = e;
    }
    return SEEN_OK;
}

enum seen_code frontier_flush(struct frontier *f, struct seen_error *why)
{
    struct sql_statement *st = f->st[HOST_COUNT];
    enum seen_code code = frontier_packs_write(f->packs, why);

    if (code == SEEN_OK)
        code = frontier_journal_write(f->journal, why);
    while (f->changed && code == SEEN_OK) {
        struct entry *e = f->changed;

        SQL_NUMBERS(st, 1, e->id, e->queued, e->found);
        code = sql_do(st, why);
        f->changed = e->changed;
        e->listed = false;
        e->base += e->found;
        e->queued = e->found = 0;
    }
    if (code == SEEN_OK && f->names.used > REMEMBERED)
        forget(f);
    return code;
}

enum seen_code frontier_stop_host(struct frontier *f, int64_t host,
                                  const char *reason, struct seen_error *why)
{
    struct sql_statement *st = f->st[HOST_STOP];

    sql_bind_number(st, 1, host);
    sql_bind_text(st, 2, span_of(reason));
    return sql_do(st, why);
}

enum seen_code frontier_spend(struct frontier *f,
                              const struct frontier_asked *asked, int64_t now,
                              struct seen_error *why)
{
    struct sql_statement *st = f->st[HOST_SPEND];
    enum seen_code code;

    SQL_NUMBERS(st, 1, asked->host, now + asked->due_in, asked->failures,
                asked->fetched, asked->requests, asked->bytes);
    code = sql_do(st, why);
    return code == SEEN_OK && asked->stopped
               ? frontier_stop_host(f, asked->host, asked->stopped, why)
               : code;
}

/* --- origins --- */

bool frontier_is_origin(struct seen_span name)
{
    return memmem(name.text, name.len, "://", 3) != NULL;
}

enum seen_code frontier_origin_find(struct frontier *f,
                                    struct frontier_origin *origin,
                                    struct seen_error *why)
{
    struct sql_statement *st = f->st[ORIGIN_FIND];
    enum seen_code code;
    bool row;

    origin->failures = 0;
    origin->closed = (struct seen_span){ "", 0 };
    sql_bind_text(st, 1, origin->name);
    code = sql_step(st, &row, why);
    if (code == SEEN_OK && row) {
        struct seen_span closed = sql_text(st, 1);

        origin->failures = (unsigned)sql_number(st, 0);
        origin->closed.text = f->closed;
        origin->closed.len = closed.len < sizeof f->closed ? closed.len
                                                           : sizeof f->closed;
        memcpy(f->closed, closed.text, origin->closed.len);
        sql_reset(st);
    }
    return code;
}

enum seen_code frontier_origin_keep(struct frontier *f,
                                    const struct frontier_origin *origin,
                                    struct seen_error *why)
{
    struct sql_statement *st = f->st[ORIGIN_KEEP];
    int64_t id;
    enum seen_code code = frontier_host_id(f, origin->name, &id, why);

    if (code != SEEN_OK)
        return code;
    SQL_NUMBERS(st, 1, id, origin->failures);
    sql_bind_null(st, 3);
    if (origin->closed.len)
        sql_bind_text(st, 3, origin->closed);
    return sql_do(st, why);
}

static enum seen_code add_row(struct frontier *f,
                              const struct frontier_page *page,
                              struct seen_error *why)
{
    struct sql_statement *st = f->st[PAGE_ADD];

    SQL_NUMBERS(st, 1, page->id, page->host, page->priority, page->via,
                page->depth, page->attempts, page->flags);
    sql_bind_text(st, 8, page->url);
    sql_bind_text(st, 9, page->path);
    sql_bind_text(st, 10, page->type);
    return sql_do(st, why);
}

enum seen_code frontier_unpack(struct frontier *f, int64_t id,
                               struct seen_error *why)
{
    struct frontier_page page;
    enum seen_code code;
    bool packed;

    code = frontier_packs_take(f->packs, id, &packed, &page, why);
    return code == SEEN_OK && packed ? add_row(f, &page, why) : code;
}

enum seen_code frontier_park(struct frontier *f, int64_t host, int64_t id,
                             const struct frontier_origin *at,
                             struct seen_error *why)
{
    int64_t to;
    enum seen_code code = frontier_host_id(f, at->name, &to, why);

    if (code != SEEN_OK)
        return code;
    sql_bind_number(f->st[HOST_PARK], 1, to);
    sql_bind_text(f->st[HOST_PARK], 2, at->closed);
    code = sql_do(f->st[HOST_PARK], why);
    if (code == SEEN_OK)
        code = frontier_unpack(f, id, why);
    if (code != SEEN_OK)
        return code;
    SQL_NUMBERS(f->st[PAGE_PARK], 1, id, host, to);
    code = sql_do(f->st[PAGE_PARK], why);
    if (code != SEEN_OK || sql_changes(f->db) != 1)
        return code;
    code = count(f, host, -1, 0, why);
    return code == SEEN_OK ? count(f, to, 1, 0, why) : code;
}

/* The host of an origin: what is between "://" and a port. */
static struct seen_span host_of(struct seen_span origin)
{
    const char *end = origin.text + origin.len;
    const char *begin = (const char *)memmem(origin.text, origin.len, "://",
                                             3) +
                        3;
    const char *port = memrchr(begin, ':', (size_t)(end - begin));

    if (port && !memchr(port, ']', (size_t)(end - port)))
        end = port;
    return (struct seen_span){ begin, (size_t)(end - begin) };
}

struct parked {
    int64_t id, host;
};

/* All origins, each with the id of its host. */
static enum seen_code read_origins(struct frontier *f, struct parked **out,
                                   size_t *n, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    size_t room = 0;
    bool row;

    *out = NULL;
    *n = 0;
    code = sql_prepare(&st, f->db,
                       "SELECT id, name FROM hosts WHERE instr(name, '://')",
                       why);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        struct parked *more = array_grow(*out, &room, *n + 1, sizeof *more);

        if (!more) {
            sql_reset(st);
            return no_memory_for(why, "a host");
        }
        *out = more;
        more[*n].id = sql_number(st, 0);
        code = frontier_host_id(f, host_of(sql_text(st, 1)), &more[*n].host,
                                why);
        (*n)++;
    }
    return code;
}

/* The pages of all origins go back to their hosts. */
static enum seen_code return_parked(struct frontier *f, struct seen_error *why)
{
    struct sql_statement *page, *host;
    struct parked *parked;
    enum seen_code code;
    size_t n;

    code = read_origins(f, &parked, &n, why);
    if (code == SEEN_OK && n)
        code = sql_prepare(&page, f->db,
                           "UPDATE frontier SET host = ?2 WHERE host = ?1",
                           why);
    if (code == SEEN_OK && n)
        code = sql_prepare(&host, f->db,
                           "UPDATE hosts SET queued = queued + ?2 WHERE id = "
                           "?1",
                           why);
    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        SQL_NUMBERS(page, 1, parked[i].id, parked[i].host);
        code = sql_do(page, why);
        if (code != SEEN_OK)
            break;
        SQL_NUMBERS(host, 1, parked[i].host, sql_changes(f->db));
        code = sql_do(host, why);
    }
    free(parked);
    forget(f);
    return code == SEEN_OK
               ? sql_run(f->db, "DELETE FROM hosts WHERE instr(name, '://')",
                         why)
               : code;
}

static enum seen_code read_hosts(struct sql_statement *st,
                                 frontier_take_host *take, void *owner,
                                 struct seen_error *why)
{
    enum seen_code code;
    bool row;

    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        const struct frontier_host host = {
            .id = sql_number(st, 0),
            .due = sql_number(st, 1),
            .queued = sql_number(st, 2),
            .found = sql_number(st, 3),
            .fetched = sql_number(st, 4),
            .requests = sql_number(st, 5),
            .bytes = sql_number(st, 6),
            .failures = (unsigned)sql_number(st, 7),
            .name = sql_text(st, 8),
            .stopped = sql_text(st, 9),
        };

        if (!take(owner, &host)) {
            sql_reset(st);
            break;
        }
    }
    return code;
}

enum seen_code frontier_hosts(struct frontier *f, bool known, unsigned most,
                              frontier_take_host *take, void *owner,
                              struct seen_error *why)
{
    struct sql_statement *st = f->st[known ? HOSTS_KNOWN : HOSTS_DUE];

    sql_bind_number(st, 1, most);
    return read_hosts(st, take, owner, why);
}

enum seen_code frontier_host_named(struct frontier *f, struct seen_span name,
                                   frontier_take_host *take, void *owner,
                                   struct seen_error *why)
{
    struct sql_statement *st = f->st[HOST_READ];
    enum seen_code code;
    int64_t id;

    code = frontier_host_id(f, name, &id, why);
    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, id);
    return read_hosts(st, take, owner, why);
}

enum seen_code frontier_all_hosts(struct frontier *f, frontier_take_host *take,
                                  void *owner, struct seen_error *why)
{
    return read_hosts(f->st[HOSTS_ALL], take, owner, why);
}

/* --- pages --- */

enum seen_code frontier_add(struct frontier *f,
                            const struct frontier_page *page, int64_t *id,
                            struct seen_error *why)
{
    struct seen_span name;
    enum seen_code code = name_of(f, page->host, &name, why);

    if (code == SEEN_OK)
        code = frontier_packs_add(f->packs, page, name, why);
    if (code == SEEN_OK && id)
        code = frontier_journal_add(f->journal, page->url, id, why);
    return code == SEEN_OK ? count(f, page->host, 1, 1, why) : code;
}

enum seen_code frontier_remove(struct frontier *f, int64_t host, int64_t id,
                               struct seen_error *why)
{
    struct frontier_page page;
    enum seen_code code;
    bool there;

    code = frontier_packs_take(f->packs, id, &there, &page, why);
    if (code == SEEN_OK && !there) {
        sql_bind_number(f->st[PAGE_REMOVE], 1, id);
        code = sql_do(f->st[PAGE_REMOVE], why);
        there = sql_changes(f->db) == 1;
    }
    return code == SEEN_OK && there ? count(f, host, -1, 0, why) : code;
}

enum seen_code frontier_defer(struct frontier *f,
                              const struct frontier_page *page,
                              struct seen_error *why)
{
    struct sql_statement *st = f->st[PAGE_DEFER];
    enum seen_code code = frontier_unpack(f, page->id, why);

    if (code != SEEN_OK)
        return code;
    SQL_NUMBERS(st, 1, page->id, page->priority, page->attempts, page->flags);
    return sql_do(st, why);
}

static void read_page(struct sql_statement *st, struct frontier_page *page)
{
    *page = (struct frontier_page){
        .id = sql_number(st, 0),
        .host = sql_number(st, 1),
        .priority = sql_number(st, 2),
        .via = sql_number(st, 3),
        .depth = (unsigned)sql_number(st, 4),
        .attempts = (unsigned)sql_number(st, 5),
        .flags = (unsigned)sql_number(st, 6),
        .url = sql_text(st, 7),
        .path = sql_text(st, 8),
        .type = sql_text(st, 9),
    };
}

static enum seen_code next_row(struct sql_statement *st, bool *more,
                               struct frontier_page *page,
                               struct seen_error *why)
{
    enum seen_code code = sql_step(st, more, why);

    if (code == SEEN_OK && *more)
        read_page(st, page);
    return code;
}

static bool is_before(const struct frontier_page *a,
                      const struct frontier_page *b)
{
    return a->priority != b->priority ? a->priority < b->priority
                                      : a->id < b->id;
}

/* Rows of their own, and packed pages: the first of both. */
static enum seen_code merge(struct frontier *f, struct sql_statement *rows,
                            unsigned most, frontier_take_page *take,
                            void *owner, struct seen_error *why)
{
    struct frontier_page row, packed;
    bool has_row, has_packed = false, goes_on = true;
    enum seen_code code = next_row(rows, &has_row, &row, why);

    if (code == SEEN_OK)
        code = frontier_packs_next(f->packs, &has_packed, &packed, why);
    while (code == SEEN_OK && goes_on && most-- && (has_row || has_packed)) {
        if (has_row && (!has_packed || is_before(&row, &packed))) {
            goes_on = take(owner, &row);
            if (goes_on && most)
                code = next_row(rows, &has_row, &row, why);
        } else {
            goes_on = take(owner, &packed);
            if (goes_on && most)
                code = frontier_packs_next(f->packs, &has_packed, &packed,
                                           why);
        }
    }
    return code;
}

enum seen_code frontier_next(struct frontier *f, int64_t host, unsigned most,
                             frontier_take_page *take, void *owner,
                             struct seen_error *why)
{
    struct sql_statement *rows = f->st[PAGE_NEXT];
    struct seen_span name;
    enum seen_code code = name_of(f, host, &name, why);

    if (code == SEEN_OK)
        code = frontier_packs_host(f->packs, host, name, why);
    if (code != SEEN_OK)
        return code;
    SQL_NUMBERS(rows, 1, host, most);
    code = merge(f, rows, most, take, owner, why);
    sql_reset(rows);
    frontier_packs_stop(f->packs);
    return code;
}

static enum seen_code find_packed(struct frontier *f, int64_t host,
                                  struct seen_span name, struct seen_span url,
                                  bool *found, struct frontier_page *page,
                                  struct seen_error *why)
{
    enum seen_code code = frontier_packs_host(f->packs, host, name, why);
    bool more = true;

    while (code == SEEN_OK && more && !*found) {
        code = frontier_packs_next(f->packs, &more, page, why);
        *found = code == SEEN_OK && more && span_equal(page->url, url);
    }
    frontier_packs_stop(f->packs);
    return code;
}

enum seen_code frontier_find(struct frontier *f, struct seen_span host,
                             struct seen_span url, bool *found,
                             struct frontier_page *page,
                             struct seen_error *why)
{
    struct sql_statement *st = f->st[PAGE_FIND], *name = f->st[HOST_FIND];
    enum seen_code code;
    int64_t id = 0;

    sql_reset(st);
    sql_bind_text(st, 1, url);
    code = sql_step(st, found, why);
    if (code == SEEN_OK && *found)
        read_page(st, page);
    if (code != SEEN_OK || *found)
        return code;
    sql_bind_text(name, 1, host);
    code = sql_first(name, &id, why);
    return code == SEEN_OK && id
               ? find_packed(f, id, host, url, found, page, why)
               : code;
}

uint64_t frontier_unpacked(const struct frontier *f)
{
    return frontier_packs_unpacked(f->packs);
}

enum seen_code frontier_count(struct frontier *f, int64_t *waiting,
                              int64_t *all, struct seen_error *why)
{
    struct sql_statement *st = f->st[COUNT];
    enum seen_code code;
    bool row;

    code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    *waiting = sql_number(st, 0);
    *all = sql_number(st, 1);
    sql_reset(st);
    return SEEN_OK;
}

enum seen_code frontier_resume(struct frontier *f, struct seen_error *why)
{
    enum seen_code code = return_parked(f, why);

    return code == SEEN_OK
               ? sql_run(f->db,
                         "UPDATE hosts SET stopped = NULL, failures = 0 WHERE "
                         "stopped IS NOT NULL AND queued > 0",
                         why)
               : code;
}

enum seen_code frontier_reset(struct frontier *f, struct seen_error *why)
{
    enum seen_code code;

    forget(f);
    f->changed = NULL;
    code = frontier_packs_empty(f->packs, why);
    if (code == SEEN_OK)
        code = frontier_journal_empty(f->journal, why);
    return code == SEEN_OK
               ? sql_run(f->db,
                         "DELETE FROM frontier; UPDATE hosts SET queued = 0, "
                         "fetched = 0, requests = 0, bytes = 0, failures = 0, "
                         "stopped = NULL; DELETE FROM hosts WHERE instr(name, "
                         "'://')",
                         why)
               : code;
}

/* At once, and counted anew: one by one, a million pages take 20 s. */
static enum seen_code drop_flagged(struct frontier *f, unsigned flags,
                                   struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(
        &st, f->db, "DELETE FROM frontier WHERE flags & ?1", why);

    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, flags);
    code = sql_do(st, why);
    if (code == SEEN_OK)
        code = frontier_packs_drop(f->packs, flags, why);
    return code == SEEN_OK
               ? sql_run(
                     f->db,
                     "UPDATE hosts SET queued = (SELECT count(*) FROM "
                     "frontier WHERE host = hosts.id) + " FRONTIER_PACKED_PAGES
                     " WHERE queued > 0",
                     why)
               : code;
}

enum seen_code frontier_renew(struct frontier *f, unsigned except,
                              struct seen_error *why)
{
    enum seen_code code;

    forget(f);
    f->changed = NULL;
    code = return_parked(f, why);
    if (code == SEEN_OK && except)
        code = drop_flagged(f, except, why);
    if (code == SEEN_OK)
        code = frontier_journal_empty(f->journal, why);
    return code == SEEN_OK
               ? sql_run(f->db,
                         "UPDATE hosts SET fetched = 0, requests = 0, bytes = "
                         "0, failures = 0, stopped = NULL",
                         why)
               : code;
}

/* --- the journal --- */

enum seen_code frontier_read_urls(struct sql_statement *st,
                                  frontier_take_url *take, void *owner,
                                  struct seen_error *why)
{
    enum seen_code code;
    bool row;

    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        code = take(owner, sql_number(st, 0), sql_text(st, 1), why);
        if (code != SEEN_OK) {
            sql_reset(st);
            break;
        }
    }
    return code;
}

enum seen_code frontier_journal(struct frontier *f, int64_t after,
                                frontier_take_url *take, void *owner,
                                struct seen_error *why)
{
    return frontier_journal_read(f->journal, after, take, owner, why);
}

enum seen_code frontier_each(struct frontier *f, frontier_take_url *take,
                             void *owner, struct seen_error *why)
{
    enum seen_code code = frontier_read_urls(f->st[PAGE_EACH], take, owner,
                                             why);

    return code == SEEN_OK ? frontier_packs_each(f->packs, take, owner, why)
                           : code;
}

enum seen_code frontier_journal_cut(struct frontier *f, int64_t upto,
                                    struct seen_error *why)
{
    return frontier_journal_drop(f->journal, upto, why);
}
