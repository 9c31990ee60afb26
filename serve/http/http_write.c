/*
 * http_write.c - adds and removals over HTTP.
 *
 *     PUT /NAME/<URL>       201 if it was new, 200 if not
 *     DELETE /NAME/<URL>    204; 404 if its count was 0
 *     POST /add/NAME        {"offered": 3, "new": 2, "bad": 0}
 *
 * They are answered when the journal has them, as --sync says. A list is
 * added in batches while it comes in; its answer is for the whole list.
 */
#include "request.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../change.h"
#include "http_list.h"

enum { BATCH = 256 }; /* URLs of a list that are worth a job */

static struct serve_change *change_new(
    struct conn *c, const struct archive *a, bool remove,
    void (*done)(struct pending *p, bool there), struct seen_error *why)
{
    struct serve_change *change = calloc(1, sizeof *change);

    if (!change) {
        seen_fail(why, SEEN_NOMEM, 0, "no memory for a change");
        return NULL;
    }
    change->pending.done = done;
    if (archive_change_begin(&change->change, c->loop->server->archives,
                             remove ? ARCHIVE_REMOVE : ARCHIVE_ADD, a,
                             span_of(a->name), NULL, why) == SEEN_OK)
        return change;
    free(change);
    return NULL;
}

static void change_free(struct serve_change *change)
{
    if (change)
        archive_change_clear(&change->change);
    free(change);
}

static int status_of(enum seen_code code)
{
    switch (code) {
    case SEEN_FULL: return 507;
    case SEEN_BUSY:
    case SEEN_CORRUPT: return 503;
    case SEEN_UNABLE: return 409;
    case SEEN_MISMATCH: return 400; /* not a list */
    default: return 500;
    }
}

/* --- one URL --- */

struct http_put {
    struct http_exchange exchange;
    struct serve_change *change; /* until it is started */
};

static void put_free(struct http_exchange *x)
{
    change_free(((struct http_put *)x)->change);
    free(x);
}

static void put_done(struct pending *p, bool there)
{
    struct serve_change *change = p->owner;
    const struct archive_change *m = &change->change;
    struct conn *c = p->conn;

    if (there) {
        const struct http_request *r = &c->http->request;
        const bool new = m->result[0] == ARCHIVE_NEW;

        if (m->code != SEEN_OK) {
            reply_error(c, r, status_of(m->code), NULL, "%s", m->why.text);
        } else if (m->kind == ARCHIVE_REMOVE && !new) {
            reply_error(c, r, 404, "no", "%s", m->why.text);
        } else if (m->kind == ARCHIVE_REMOVE) {
            reply_begin(c, r, 204);
            reply_end(c, r, NULL, 0);
        } else {
            reply_begin(c, r, new ? 201 : 200);
            buffer_format(conn_out(c), "Seen-Answer: %s\r\n",
                          new ? "new" : "seen");
            reply_end(c, r, NULL, 0);
        }
        http_go_on(c);
    }
    change_free(change);
}

static void put_end(struct http_exchange *x)
{
    struct http_put *put = (struct http_put *)x;

    if (serve_change_start(x->conn, put->change))
        put->change = NULL;
    else
        reply_error(x->conn, &x->request, 503, NULL,
                    "the server is too busy; try again");
}

void http_change(struct conn *c, const struct http_request *r,
                 const struct http_path *p)
{
    static const struct http_exchange_kind kind = { .end = put_end,
                                                    .free = put_free };
    struct http_put *put = calloc(1, sizeof *put);
    struct seen_error why = { .text = "no memory" };
    enum seen_code code = SEEN_NOMEM;

    if (put)
        put->change = change_new(c, p->archive, r->method == HTTP_DELETE,
                                 put_done, &why);
    if (put && put->change)
        code = archive_change_add(&put->change->change, p->url, ARCHIVE_URL,
                                  &why);
    if (code == SEEN_OK) {
        put->exchange.kind = &kind;
        http_exchange_start(c, r, &put->exchange);
        return;
    }
    http_refuse_body(c, r);
    if (code == SEEN_NOMEM)
        reply_error(c, r, 503, NULL, "%s", why.text);
    else
        reply_error(c, r, 400, "bad-url", "%s", why.text);
    if (put)
        put_free(&put->exchange);
}

/* --- a list --- */

/* The URLs of some of the body are added, in a job, before more is read. */
struct http_adds {
    struct http_exchange exchange;
    struct http_list list;
    char *archive;
    struct serve_change *change; /* that is being filled */
    bool ended;                  /* the body is */
    uint64_t offered, fresh, bad;
    enum seen_code code;
    struct seen_error why;
};

static void adds_free(struct http_exchange *x)
{
    struct http_adds *a = (struct http_adds *)x;

    change_free(a->change);
    http_list_clear(&a->list);
    free(a->archive);
    free(a);
}

static void adds_done(struct pending *p, bool there);

static void add_url(void *to, struct seen_span url)
{
    struct http_adds *a = to;
    struct conn *c = a->exchange.conn;

    a->offered++;
    if (a->code != SEEN_OK)
        return;
    if (!a->change) {
        const struct archive *it = archive_view_find(c->loop->view,
                                                     span_of(a->archive));

        if (!it || !it->filter) {
            a->code = seen_fail(&a->why, SEEN_IO, 0, "the archive is gone");
            return;
        }
        a->change = change_new(c, it, false, adds_done, &a->why);
        if (!a->change) {
            a->code = SEEN_NOMEM;
            return;
        }
    }
    switch (
        archive_change_add(&a->change->change, url, ARCHIVE_URL, &a->why)) {
    case SEEN_OK: break;
    case SEEN_NOMEM: a->code = SEEN_NOMEM; break;
    default: a->bad++;
    }
}

static void adds_reply(struct http_adds *a)
{
    struct conn *c = a->exchange.conn;
    struct buffer body = { .bytes = NULL };

    if (a->code != SEEN_OK) {
        reply_error(c, &a->exchange.request, status_of(a->code), NULL,
                    "%s; %" PRIu64 " were new before", a->why.text, a->fresh);
        return;
    }
    buffer_format(&body,
                  "{\"offered\": %" PRIu64 ", \"new\": %" PRIu64
                  ", \"bad\": %" PRIu64 "}\n",
                  a->offered, a->fresh, a->bad);
    reply_body(c, &a->exchange.request, 200, NULL, "application/json", &body);
}

/* Add what was collected, if it is enough; false if there is nothing to wait
   for. */
static bool adds_start(struct http_adds *a)
{
    struct serve_change *change = a->change;

    if (!change || a->code != SEEN_OK ||
        change->change.n < (a->ended ? 1 : BATCH))
        return false;
    if (!serve_change_start(a->exchange.conn, change)) {
        a->code = seen_fail(&a->why, SEEN_BUSY, 0,
                            "the server is too busy; try again");
        return false;
    }
    a->change = NULL;
    return true;
}

static void adds_done(struct pending *p, bool there)
{
    struct serve_change *change = p->owner;
    const struct archive_change *m = &change->change;
    struct conn *c = p->conn;

    if (there) {
        struct http_adds *a = (struct http_adds *)c->http;

        for (size_t i = 0; i < m->n; i++)
            a->fresh += m->result[i] == ARCHIVE_NEW;
        if (a->code == SEEN_OK) { /* the list may have a fault of its own */
            a->code = m->code;
            a->why = m->why;
        }
        if (!a->ended || !adds_start(a)) {
            if (a->ended) {
                adds_reply(a);
                http_exchange_done(c);
            }
            conn_go_on(c);
        }
    }
    change_free(change);
}

static void adds_body(struct http_exchange *x, const char *bytes, size_t n)
{
    struct http_adds *a = (struct http_adds *)x;

    http_list_read(&a->list, bytes, n, add_url, a);
    adds_start(a);
}

static void adds_end(struct http_exchange *x)
{
    struct http_adds *a = (struct http_adds *)x;

    http_list_end(&a->list, add_url, a);
    if (a->list.fault && a->code == SEEN_OK)
        a->code = seen_fail(&a->why, SEEN_MISMATCH, 0, "%s", a->list.fault);
    a->ended = true;
    if (!x->conn->pending && !adds_start(a))
        adds_reply(a);
}

static size_t adds_memory(const struct http_exchange *x)
{
    const struct http_adds *a = (const struct http_adds *)x;
    size_t n = sizeof *a + a->list.part.room;

    if (a->change) {
        const struct archive_change *m = &a->change->change;

        n += sizeof *a->change + m->text.room + m->result_room +
             m->key_room * sizeof *m->key;
    }
    return n;
}

void http_add_list(struct conn *c, const struct http_request *r,
                   const struct http_path *p)
{
    static const struct http_exchange_kind kind = { .body = adds_body,
                                                    .end = adds_end,
                                                    .free = adds_free,
                                                    .memory = adds_memory };
    struct http_adds *a = calloc(1, sizeof *a);

    if (!a || !(a->archive = strdup(p->archive->name))) {
        free(a);
        http_refuse_body(c, r);
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    a->exchange.kind = &kind;
    http_exchange_start(c, r, &a->exchange);
}
