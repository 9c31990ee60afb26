/* shared_pages.c - pages of the shared frontier, and robots.txt. */
#include "shared_inside.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/memory.h"
#include "../lib/text/span.h"

static int by_key(const void *a, const void *b)
{
    const struct frontier_insert *x = a, *y = b;
    int order = (x->visit > y->visit) - (x->visit < y->visit);

    if (!order)
        order = memcmp(x->link->key, y->link->key, sizeof x->link->key);
    return order ? order : (x->i > y->i) - (x->i < y->i);
}

struct inserting {
    struct frontier_insert *insert;
    size_t n;
};

static void bind_page(void *owner, struct sql_statement *st, size_t i)
{
    const struct inserting *t = owner;
    const struct frontier_insert *in = &t->insert[i];
    const struct frontier_page *page = &in->link->page;
    const char *key = (const char *)in->link->key;

    SQL_NUMBERS(st, 1, in->visit, in->host, in->state, page->priority,
                page->via, page->depth, page->attempts, page->flags);
    sql_bind_bytes(st, 9, (struct seen_span){ key, sizeof in->link->key });
    sql_bind_text(st, 10, page->url);
    sql_bind_text(st, 11, page->path);
    sql_bind_text(st, 12, page->type);
    sql_bind_number(st, 13, in->wanted);
}

/* A row is new: the first one of the rows that have its visit and key. */
static void mark_fresh(void *owner, struct sql_statement *st)
{
    struct inserting *t = owner;
    struct seen_span key = sql_text(st, 1);
    struct frontier_link link = { .visit = 0 };
    struct frontier_insert wanted = { .link = &link,
                                      .visit = sql_number(st, 0) };
    size_t low = 0, high = t->n;

    if (key.len != sizeof link.key)
        return;
    memcpy(link.key, key.text, key.len);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (by_key(&t->insert[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < t->n && t->insert[low].visit == wanted.visit &&
        !memcmp(t->insert[low].link->key, link.key, sizeof link.key))
        t->insert[low].fresh = true;
}

enum seen_code frontier_shared_insert(struct frontier_shared *f,
                                      struct frontier_insert *insert, size_t n,
                                      struct seen_error *why)
{
    struct inserting t = { .insert = insert };
    enum seen_code code = SEEN_OK;

    if (n)
        qsort(insert, n, sizeof *insert, by_key);
    for (size_t i = 0; i < n; i++)
        insert[i].fresh = false;
    for (; code == SEEN_OK && n; t.insert += t.n, n -= t.n) {
        t.n = n < SHARED_ROWS ? n : SHARED_ROWS;
        code = sql_do_rows(f->st[SHARED_PAGE_ADD], bind_page, &t, t.n,
                           mark_fresh, why);
    }
    return code;
}

struct page_reading {
    struct frontier_shared *f;
    int64_t host;
    unsigned most;
    frontier_take_shared *take;
    void *owner;
    bool done; /* by a run before, of which only the end was lost */
};

static enum seen_code read_pages(void *owner, struct sql *db,
                                 struct seen_error *why)
{
    struct page_reading *r = owner;
    struct sql_statement *st = r->f->st[SHARED_PAGE_NEXT];
    enum seen_code code;
    bool row;

    (void)db;
    if (r->done)
        return SEEN_OK;
    SQL_NUMBERS(st, 1, r->host, r->most);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct frontier_shared_page page = {
            .page = { .id = sql_number(st, 0),
                      .host = sql_number(st, 1),
                      .priority = sql_number(st, 2),
                      .via = sql_number(st, 3),
                      .depth = (unsigned)sql_number(st, 4),
                      .attempts = (unsigned)sql_number(st, 5),
                      .flags = (unsigned)sql_number(st, 6),
                      .url = sql_text(st, 7),
                      .path = sql_text(st, 8),
                      .type = sql_text(st, 9) },
            .visit = sql_number(st, 10),
        };
        struct seen_span key = sql_text(st, 11);
        struct frontier_known known;

        if (key.len == sizeof page.key)
            memcpy(page.key, key.text, key.len);
        if (frontier_shared_read_known(st, 12, &known)) {
            memcpy(known.key, page.key, sizeof page.key);
            page.known = &known;
        }
        if (!r->take(r->owner, &page)) {
            sql_reset(st);
            break;
        }
    }
    r->done = code == SEEN_OK;
    return code;
}

enum seen_code frontier_shared_next(struct frontier_shared *f, int64_t host,
                                    unsigned most, frontier_take_shared *take,
                                    void *owner, struct seen_error *why)
{
    struct page_reading r = {
        .f = f, .host = host, .most = most, .take = take, .owner = owner
    };

    return frontier_shared_read(f, read_pages, &r, why);
}

struct origin_reading {
    struct frontier_shared *f;
    struct frontier_origin *origin;
};

static enum seen_code read_origin(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    struct origin_reading *r = owner;
    struct sql_statement *st = r->f->st[SHARED_ORIGIN_FIND];
    struct buffer *text = &r->f->text;
    enum seen_code code;
    bool row;

    (void)db;
    sql_bind_text(st, 1, r->origin->name);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        text->len = 0;
        buffer_span(text, sql_text(st, 2));
        r->origin->failures = (unsigned)sql_number(st, 0);
        r->origin->barred = sql_number(st, 1);
        r->origin->closed = (struct seen_span){ text->len ? text->bytes : "",
                                                text->len };
    }
    return code == SEEN_OK && text->failed ? no_memory_for(why, "the frontier")
                                           : code;
}

enum seen_code frontier_shared_origin(struct frontier_shared *f,
                                      struct frontier_origin *origin,
                                      struct seen_error *why)
{
    struct origin_reading r = { .f = f, .origin = origin };

    origin->failures = 0;
    origin->barred = 0;
    origin->closed = (struct seen_span){ "", 0 };
    return frontier_shared_read(f, read_origin, &r, why);
}

struct robots_reading {
    struct frontier_shared *f;
    struct frontier_robots *robots;
    bool found;
};

static enum seen_code read_robots(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    struct robots_reading *r = owner;
    struct sql_statement *st = r->f->st[SHARED_ROBOTS_FIND];
    struct buffer *text = &r->f->text;
    enum seen_code code;
    bool row;

    (void)db;
    r->found = false;
    sql_bind_text(st, 1, r->robots->origin);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        text->len = 0;
        buffer_span(text, sql_text(st, 2));
        r->robots->status = (int)sql_number(st, 0);
        r->robots->until_in = sql_number(st, 1);
        r->robots->body = (struct seen_span){ text->len ? text->bytes : "",
                                              text->len };
        r->found = true;
    }
    return code == SEEN_OK && text->failed ? no_memory_for(why, "the frontier")
                                           : code;
}

enum seen_code frontier_shared_robots(struct frontier_shared *f,
                                      struct seen_span origin,
                                      struct frontier_robots *robots,
                                      struct seen_error *why)
{
    struct robots_reading r = { .f = f, .robots = robots };
    enum seen_code code;

    *robots = (struct frontier_robots){ .origin = origin };
    code = frontier_shared_read(f, read_robots, &r, why);
    if (code == SEEN_OK && !r.found)
        code = seen_fail(why, SEEN_ABSENT, 0, "no robots.txt is known");
    return code;
}
