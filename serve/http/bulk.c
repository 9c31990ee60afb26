/*
 * bulk.c - lists of URLs, answered while they arrive.
 *
 *     POST /haw    seen<TAB>URL, new<TAB>URL          as `seen check` prints
 *     POST /agg    haw,ia<TAB>URL, -<TAB>URL          archives that may hold it
 *     both         !<TAB>URL                          not a URL
 *
 * or, if JSON was sent or is preferred, [{"url": ..., "seen": true}, ...] and
 * [{"url": ..., "archives": ["haw"]}, ...], with null if it is not a URL.
 * Answers have the order of the list. URLs are looked up ARCHIVE_BATCH at a
 * time. Nothing is read from a client that does not take its answers, so a
 * list of any length takes no more memory than a short one.
 */
#include "request.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../lib/text/json.h"
#include "list.h"

struct http_bulk {
    struct http_exchange exchange;
    struct http_list list;
    char *archive;      /* NULL: all of them */
    bool json, replied; /* the head was sent */
    bool some;          /* answers, too */
    size_t n;           /* URLs that wait */
    struct archive_lookup lookup[ARCHIVE_BATCH];
    size_t at[ARCHIVE_BATCH]; /* where they begin in: */
    struct buffer text;
};

static void bulk_free(struct http_exchange *x)
{
    struct http_bulk *b = (struct http_bulk *)x;

    http_list_clear(&b->list);
    buffer_clear(&b->text);
    free(b->archive);
    free(b);
}

static void put_url(struct buffer *o, bool json, struct seen_span url)
{
    if (json) {
        buffer_json(o, url.text, url.len);
        return;
    }
    buffer_bytes(o, url.text, url.len);
    buffer_bytes(o, "\n", 1);
}

/* --- one archive --- */

static bool ask_one(struct http_bulk *b, bool *seen)
{
    struct loop *l = b->exchange.conn->loop;
    struct archive *a = archive_view_find(l->view, span_of(b->archive));
    struct archive_counts counts = { 0 };
    bool good = a && a->filter &&
                archive_lookup(a, &l->keys, b->lookup, b->n, seen, &counts) ==
                    SEEN_OK;

    http_lookup_count(l, &counts);
    return good;
}

static void put_one(struct http_bulk *b, struct buffer *o, const bool *seen)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct archive_lookup *q = &b->lookup[i];

        if (b->json) {
            buffer_text(o, b->some || i ? ",\n{\"url\": " : "{\"url\": ");
            put_url(o, true, q->url);
            buffer_text(o, q->bad    ? ", \"seen\": null}"
                           : seen[i] ? ", \"seen\": true}"
                                     : ", \"seen\": false}");
        } else {
            buffer_text(o, q->bad ? "!\t" : seen[i] ? "seen\t" : "new\t");
            put_url(o, false, q->url);
        }
    }
}

/* --- all of them --- */

/* A comma in a name must not look like one between names. */
static void put_name(struct buffer *o, const char *name)
{
    for (const char *comma; (comma = strchr(name, ',')); name = comma + 1) {
        buffer_bytes(o, name, (size_t)(comma - name));
        buffer_text(o, "%2C");
    }
    buffer_text(o, name);
}

static void put_names(struct http_bulk *b, struct buffer *o, size_t i,
                      size_t archives, const bool *held)
{
    struct archive_view *v = b->exchange.conn->loop->view;
    bool any = false;

    for (size_t a = 0; a < archives; a++) {
        const struct archive *it = archive_view_at(v, a);

        if (!held[a * ARCHIVE_BATCH + i])
            continue;
        if (any)
            buffer_bytes(o, ",", 1);
        any = true;
        if (b->json)
            buffer_json(o, it->name, strlen(it->name));
        else
            put_name(o, it->name);
    }
    if (!any && !b->json)
        buffer_bytes(o, "-", 1);
}

static void put_all(struct http_bulk *b, struct buffer *o, size_t archives,
                    const bool *held)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct archive_lookup *q = &b->lookup[i];

        if (b->json) {
            buffer_text(o, b->some || i ? ",\n{\"url\": " : "{\"url\": ");
            put_url(o, true, q->url);
            buffer_text(o,
                        q->bad ? ", \"archives\": null" : ", \"archives\": [");
            if (!q->bad)
                put_names(b, o, i, archives, held);
            buffer_text(o, q->bad ? "}" : "]}");
        } else {
            if (q->bad)
                buffer_bytes(o, "!", 1);
            else
                put_names(b, o, i, archives, held);
            buffer_bytes(o, "\t", 1);
            put_url(o, false, q->url);
        }
    }
}

/* --- both --- */

static void reply_once(struct http_bulk *b)
{
    struct conn *c = b->exchange.conn;
    const struct http_request *r = &b->exchange.request;

    if (b->replied)
        return;
    b->replied = true;
    b->json = !http_prefers(r, "text/tab-separated-values",
                            "application/json") &&
              (b->list.json ||
               http_prefers(r, "application/json", "text/plain"));
    reply_begin(c, r, 200);
    reply_end_chunked(c, r,
                      b->json ? "application/json"
                              : "text/tab-separated-values; charset=utf-8");
}

/* Write a chunk of answers; its length is known only afterwards. */
static void answer_some(struct http_bulk *b)
{
    struct conn *c = b->exchange.conn;
    struct buffer *o = conn_out(c);
    bool chunked = b->exchange.request.minor, seen[ARCHIVE_BATCH],
         *held = NULL;
    size_t before, archives = 0;
    char length[16];

    if (!b->n)
        return;
    for (size_t i = 0; i < b->n; i++)
        b->lookup[i].url.text = b->text.bytes + b->at[i];
    if (b->archive) {
        if (!ask_one(b, seen)) {
            conn_drop(c); /* withdrawn meanwhile: the answer is cut */
            return;
        }
    } else {
        struct archive_counts counts = { 0 };

        archives = archive_view_count(c->loop->view);
        held = malloc((archives + 1) * ARCHIVE_BATCH);
        if (!held) {
            conn_drop(c);
            return;
        }
        archive_lookup_all(c->loop->view, &c->loop->keys, b->lookup, b->n,
                           archives, held, &counts);
        http_lookup_count(c->loop, &counts);
    }
    reply_once(b);
    if (chunked)
        buffer_text(o, "00000000\r\n");
    before = o->len;
    if (b->json && !b->some)
        buffer_text(o, "[");
    if (b->archive)
        put_one(b, o, seen);
    else
        put_all(b, o, archives, held);
    free(held);
    if (chunked && !o->failed) {
        snprintf(length, sizeof length, "%08zx", o->len - before);
        memcpy(o->bytes + before - 10, length, 8);
        buffer_text(o, "\r\n");
    }
    b->some = true;
    b->n = 0;
    b->text.len = 0;
}

static void add_url(void *to, struct seen_span url)
{
    struct http_bulk *b = to;

    if (b->exchange.conn->state >= CONN_CLOSING)
        return; /* it was dropped in the middle of this piece */
    b->at[b->n] = b->text.len;
    b->lookup[b->n++].url.len = url.len;
    buffer_bytes(&b->text, url.text, url.len);
    if (b->text.failed)
        conn_drop(b->exchange.conn);
    else if (b->n == ARCHIVE_BATCH || b->text.len > ARCHIVE_TEXT)
        answer_some(b);
}

static void bulk_body(struct http_exchange *x, const char *bytes, size_t n)
{
    struct http_bulk *b = (struct http_bulk *)x;

    if (x->conn->state < CONN_CLOSING)
        http_list_read(&b->list, bytes, n, add_url, b);
}

static void bulk_end(struct http_exchange *x)
{
    struct http_bulk *b = (struct http_bulk *)x;
    struct conn *c = x->conn;
    bool chunked = b->exchange.request.minor;

    if (c->state >= CONN_CLOSING)
        return;
    http_list_end(&b->list, add_url, b);
    if (b->list.fault && !b->replied) {
        reply_error(c, &x->request, 400, NULL, "%s", b->list.fault);
        return;
    }
    if (b->list.fault) {
        conn_drop(c); /* without the last chunk: it is not complete */
        return;
    }
    answer_some(b);
    reply_once(b);
    if (b->json)
        buffer_text(conn_out(c), !chunked  ? (b->some ? "]\n" : "[]\n")
                                 : b->some ? "2\r\n]\n\r\n"
                                           : "3\r\n[]\n\r\n");
    if (chunked)
        buffer_text(conn_out(c), "0\r\n\r\n");
}

static void begin(struct conn *c, const struct http_request *r,
                  const char *archive)
{
    static const struct http_exchange_kind kind = { bulk_body, bulk_end,
                                                    bulk_free };
    struct http_bulk *b;

    if (r->sized && r->length > c->loop->server->options.body) {
        http_refuse_body(c, r);
        reply_error(c, r, 413, NULL, "the list is too long");
        return;
    }
    b = calloc(1, sizeof *b);
    if (!b || (archive && !(b->archive = strdup(archive)))) {
        free(b);
        http_refuse_body(c, r);
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    b->exchange.kind = &kind;
    http_exchange_start(c, r, &b->exchange);
}

void http_bulk_all(struct conn *c, const struct http_request *r,
                   const struct http_path *p)
{
    (void)p;
    begin(c, r, NULL);
}

void http_bulk(struct conn *c, const struct http_request *r,
               const struct http_path *p)
{
    begin(c, r, p->archive->name);
}
