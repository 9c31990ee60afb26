/*
 * bulk.c - lists of URLs, answered while they come in.
 *
 *     POST /haw    seen<TAB>URL, new<TAB>URL          as `seen check` does
 *     POST /agg    haw,ia<TAB>URL, -<TAB>URL          who may hold it
 *     both         !<TAB>URL                          it is no URL
 *
 * or, when JSON was sent or is preferred, [{"url": ..., "seen": true}, ...]
 * and [{"url": ..., "archives": ["haw"]}, ...], null for what is no URL.
 * Answers are in the order of the list. URLs are asked LOOP_BATCH at a time;
 * a client that does not take answers is not read from, so a list of any
 * length takes no more memory than a short one.
 */
#define _GNU_SOURCE
#include "request.h"

#include <stdlib.h>

#include "ask.h"
#include "list.h"

struct bulk {
    struct exchange exchange;
    struct list list;
    char *archive;      /* NULL: all of them */
    bool json, replied; /* the head was sent */
    bool some;          /* answers, too */
    size_t n;           /* URLs that wait */
    struct question question[LOOP_BATCH];
    size_t at[LOOP_BATCH]; /* where they begin in: */
    struct out text;
};

static void bulk_free(struct exchange *x)
{
    struct bulk *b = (struct bulk *)x;

    list_clear(&b->list);
    out_clear(&b->text);
    free(b->archive);
    free(b);
}

static void put_url(struct out *o, bool json, struct span url)
{
    if (json) {
        out_json(o, url.text, url.len);
        return;
    }
    out_bytes(o, url.text, url.len);
    out_bytes(o, "\n", 1);
}

/* --- one archive --- */

static bool ask_one(struct bulk *b, bool *seen)
{
    struct loop *l = b->exchange.conn->loop;
    struct keys *k = &l->keys;
    struct archive *a = shelf_find(
        l->shelf, (struct span){ b->archive, strlen(b->archive) });
    size_t from = 0;
    uint64_t held = 0;

    while (a && a->filter && from < b->n) {
        size_t begin = from, j = 0;

        k->n = k->used = 0;
        for (; from < b->n && k->used <= LOOP_TEXT; from++) {
            struct question *q = &b->question[from];

            q->fault = keys_add(k, q->url.text, q->url.len, &a->profile,
                                NULL) == SEEN_OK
                           ? NULL
                           : "no URL";
        }
        if (archive_ask(a, k->key, k->n, k->seen, NULL) != SEEN_OK)
            break;
        for (size_t i = begin; i < from; i++)
            if (!b->question[i].fault) {
                seen[i] = k->seen[j++];
                held += seen[i];
            }
        COUNT(l, asked, k->n);
    }
    k->n = k->used = 0;
    COUNT(l, held, held);
    return from == b->n;
}

static void put_one(struct bulk *b, struct out *o, const bool *seen)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct question *q = &b->question[i];

        if (b->json) {
            out_text(o, b->some || i ? ",\n{\"url\": " : "{\"url\": ");
            put_url(o, true, q->url);
            out_text(o, q->fault  ? ", \"seen\": null}"
                        : seen[i] ? ", \"seen\": true}"
                                  : ", \"seen\": false}");
        } else {
            out_text(o, q->fault ? "!\t" : seen[i] ? "seen\t" : "new\t");
            put_url(o, false, q->url);
        }
    }
}

/* --- all of them --- */

/* A comma in a name must not look like one between names. */
static void put_name(struct out *o, const char *name)
{
    for (const char *comma; (comma = strchr(name, ',')); name = comma + 1) {
        out_bytes(o, name, (size_t)(comma - name));
        out_text(o, "%2C");
    }
    out_text(o, name);
}

static void put_names(struct bulk *b, struct out *o, size_t i, size_t archives,
                      const bool *held)
{
    struct shelf *s = b->exchange.conn->loop->shelf;
    bool any = false;

    for (size_t a = 0; a < archives; a++) {
        const struct archive *it = shelf_at(s, a);

        if (!held[a * LOOP_BATCH + i])
            continue;
        if (any)
            out_bytes(o, ",", 1);
        any = true;
        if (b->json)
            out_json(o, it->name, strlen(it->name));
        else
            put_name(o, it->name);
    }
    if (!any && !b->json)
        out_bytes(o, "-", 1);
}

static void put_all(struct bulk *b, struct out *o, size_t archives,
                    const bool *held)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct question *q = &b->question[i];

        if (b->json) {
            out_text(o, b->some || i ? ",\n{\"url\": " : "{\"url\": ");
            put_url(o, true, q->url);
            out_text(o,
                     q->fault ? ", \"archives\": null" : ", \"archives\": [");
            if (!q->fault)
                put_names(b, o, i, archives, held);
            out_text(o, q->fault ? "}" : "]}");
        } else {
            if (q->fault)
                out_bytes(o, "!", 1);
            else
                put_names(b, o, i, archives, held);
            out_bytes(o, "\t", 1);
            put_url(o, false, q->url);
        }
    }
}

/* --- both --- */

static void reply_once(struct bulk *b)
{
    struct conn *c = b->exchange.conn;
    const struct http_request *r = &c->web->request;

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

/* A chunk around what put() writes; its length is known only afterwards. */
static void answer_some(struct bulk *b)
{
    struct conn *c = b->exchange.conn;
    struct out *o = conn_out(c);
    bool chunked = c->web->request.minor, seen[LOOP_BATCH], *held = NULL;
    size_t before, archives = 0;
    char length[16];

    if (!b->n)
        return;
    for (size_t i = 0; i < b->n; i++)
        b->question[i].url.text = b->text.bytes + b->at[i];
    if (b->archive) {
        if (!ask_one(b, seen)) {
            c->last = true; /* withdrawn meanwhile: the answer is cut */
            conn_drop(c);
            return;
        }
    } else {
        while (shelf_at(c->loop->shelf, archives))
            archives++;
        held = malloc((archives + 1) * LOOP_BATCH);
        if (!held) {
            conn_drop(c);
            return;
        }
        ask_all(c->loop, b->question, b->n, archives, held);
    }
    reply_once(b);
    if (chunked)
        out_text(o, "00000000\r\n");
    before = o->len;
    if (b->json && !b->some)
        out_text(o, "[");
    if (b->archive)
        put_one(b, o, seen);
    else
        put_all(b, o, archives, held);
    free(held);
    if (chunked && !o->failed) {
        snprintf(length, sizeof length, "%08zx", o->len - before);
        memcpy(o->bytes + before - 10, length, 8);
        out_text(o, "\r\n");
    }
    b->some = true;
    b->n = 0;
    b->text.len = 0;
}

static void take_url(void *to, struct span url)
{
    struct bulk *b = to;

    if (b->exchange.conn->closing)
        return; /* it was dropped in the middle of this piece */
    b->at[b->n] = b->text.len;
    b->question[b->n++].url.len = url.len;
    out_bytes(&b->text, url.text, url.len);
    if (b->text.failed)
        conn_drop(b->exchange.conn);
    else if (b->n == LOOP_BATCH || b->text.len > LOOP_TEXT)
        answer_some(b);
}

static void bulk_body(struct exchange *x, const char *bytes, size_t n)
{
    struct bulk *b = (struct bulk *)x;

    if (!x->conn->closing)
        list_take(&b->list, bytes, n, take_url, b);
}

static void bulk_end(struct exchange *x)
{
    struct bulk *b = (struct bulk *)x;
    struct conn *c = x->conn;
    bool chunked = c->web->request.minor;

    if (c->closing)
        return;
    list_end(&b->list, take_url, b);
    if (b->list.fault && !b->replied) {
        reply_error(c, &c->web->request, 400, NULL, "%s", b->list.fault);
        return;
    }
    if (b->list.fault) {
        conn_drop(c); /* the end is missing, so that nobody takes it for all */
        return;
    }
    answer_some(b);
    reply_once(b);
    if (b->json)
        out_text(conn_out(c), !chunked  ? (b->some ? "]\n" : "[]\n")
                              : b->some ? "2\r\n]\n\r\n"
                                        : "3\r\n[]\n\r\n");
    if (chunked)
        out_text(conn_out(c), "0\r\n\r\n");
}

static void begin(struct conn *c, const struct http_request *r,
                  const char *archive)
{
    static const struct exchange_kind kind = { bulk_body, bulk_end,
                                               bulk_free };
    struct bulk *b;

    if (r->sized && r->length > c->loop->server->how.body) {
        web_unwanted(c, r);
        reply_error(c, r, 413, NULL, "the list is too long");
        return;
    }
    b = calloc(1, sizeof *b);
    if (!b || (archive && !(b->archive = strdup(archive)))) {
        free(b);
        web_unwanted(c, r);
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    b->exchange.kind = &kind;
    web_exchange(c, r, &b->exchange);
}

void bulk_agg(struct conn *c, const struct http_request *r, struct span rest)
{
    (void)rest;
    begin(c, r, NULL);
}

void bulk_archive(struct conn *c, const struct http_request *r,
                  struct archive *a)
{
    begin(c, r, a->name);
}
