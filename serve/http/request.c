/*
 * request.c - requests, one after the other.
 *
 * Lookups are put off to the end of the turn, or until something else is to
 * be answered, and asked of the filter together: see struct lookups.
 */
#define _GNU_SOURCE
#include "request.h"

#include <stdlib.h>

#include <seen/kind.h>

#include "page.h"
#include "../percent.h"

/* --- lookups --- */

static void answer(struct loop *l, struct out *o, const struct out *head)
{
    out_bytes(o, head->bytes, head->len);
    out_bytes(o, l->date, l->date_len);
    out_bytes(o, "\r\n", 2);
}

/* Answers of the connection at work go before what it is answered next;
   those of others are on their way at once. */
static void give_answers(struct loop *l, const bool *seen)
{
    struct lookups *k = &l->lookups;
    struct archive *a = k->archive;

    for (size_t i = 0; i < k->keys.n; i++) {
        struct conn *c = k->conn[i];
        struct out *o = c == l->at_work ? &l->out : &k->out;

        answer(l, o, seen[i] ? &a->yes : &a->no);
        if (o == &k->out && (i + 1 == k->keys.n || k->conn[i + 1] != c))
            conn_send(c, o);
    }
}

static void give_errors(struct loop *l, const char *why)
{
    static const struct http_request plain = { .minor = 1 };
    struct lookups *k = &l->lookups;

    for (size_t i = 0; i < k->keys.n; i++) {
        struct conn *c = k->conn[i], *at_work = l->at_work;
        struct out mine = l->out;

        if (c != at_work)
            memset(&l->out, 0, sizeof l->out);
        reply_error(c, &plain, 503, "withdrawn", "%s: %s", k->archive->name,
                    why);
        if (c == at_work)
            continue;
        conn_send(c, &l->out);
        out_clear(&l->out);
        l->out = mine;
    }
}

void web_flush(struct loop *l)
{
    struct keys *k = &l->lookups.keys;
    struct seen_error why;
    uint64_t held = 0;

    if (!k->n)
        return;
    if (archive_ask(l->lookups.archive, k->key, k->n, k->seen, &why) !=
        SEEN_OK) {
        give_errors(l, why.text);
    } else {
        for (size_t i = 0; i < k->n; i++)
            held += k->seen[i];
        COUNT(l, requests[2], held);
        COUNT(l, requests[4], k->n - held);
        COUNT(l, asked, k->n);
        COUNT(l, held, held);
        give_answers(l, k->seen);
    }
    k->n = k->used = 0;
}

static void keep_log(struct conn *c, const struct http_request *r)
{
    struct sockaddr_storage who = { .ss_family = AF_UNSPEC };
    int len = sizeof who;

    if (c->loop->log.fd < 0)
        return;
    uv_tcp_getpeername(&c->tcp, (struct sockaddr *)&who, &len);
    log_request(&c->loop->log, &who, r, c->loop->status, c->loop->length);
}

/* One lookup, when there is more to it than the answer. */
static void lookup_alone(struct conn *c, const struct http_request *r,
                         struct archive *a, struct span url)
{
    struct loop *l = c->loop;
    struct keys *k = &l->keys;
    struct seen_error why;
    const struct out *head;

    k->n = k->used = 0;
    if (keys_add(k, url.text, url.len, &a->profile, &why) != SEEN_OK) {
        reply_error(c, r, 400, "bad-url", "%s", why.text);
        return;
    }
    k->n = k->used = 0;
    if (archive_ask(a, k->key, 1, k->seen, &why) != SEEN_OK) {
        reply_error(c, r, 503, "withdrawn", "%s: %s", a->name, why.text);
        return;
    }
    head = k->seen[0] ? &a->yes : &a->no;
    COUNT(l, asked, 1);
    COUNT(l, held, k->seen[0]);
    l->status = k->seen[0] ? 200 : 404;
    l->length = 0;
    COUNT(l, requests[l->status / 100], 1);
    out_bytes(conn_out(c), head->bytes, head->len);
    out_bytes(conn_out(c), l->date, l->date_len);
    if (r->close || c->last || l->draining) {
        c->last = true;
        out_text(conn_out(c), "Connection: close\r\n");
    } else if (!r->minor) {
        out_text(conn_out(c), "Connection: keep-alive\r\n");
    }
    out_text(conn_out(c), "\r\n");
}

static bool encoded(struct span s)
{
    return s.len > 7 && (!strncasecmp(s.text, "http%3a", 7) ||
                         (s.len > 8 && !strncasecmp(s.text, "https%3a", 8)));
}

bool web_url(struct span rest, char *room, struct span *url)
{
    size_t n;

    *url = rest;
    if (!encoded(rest))
        return true;
    if (!percent_decode(room, &n, rest.text, rest.len))
        return false;
    *url = (struct span){ room, n };
    return true;
}

/* Kinds that hash the text need it until they are asked; but it is in memory
   that the next client's bytes come to. */
static bool can_wait(const struct loop *l, const struct http_request *r,
                     const struct archive *a)
{
    return r->method == HTTP_GET && !r->close && r->minor && l->log.fd < 0 &&
           !l->draining && a->filter &&
           !seen_filter_can(a->filter, SEEN_READS_TEXT);
}

static void lookup(struct conn *c, const struct http_request *r,
                   struct archive *a, struct span rest)
{
    struct loop *l = c->loop;
    struct lookups *k = &l->lookups;
    char room[HTTP_TARGET];
    struct span url;

    if (k->archive != a || k->keys.n == LOOP_BATCH || k->keys.used > LOOP_TEXT)
        web_flush(l);
    if (can_wait(l, r, a) && web_url(rest, room, &url) &&
        keys_add(&k->keys, url.text, url.len, &a->profile, NULL) == SEEN_OK) {
        k->archive = a;
        k->conn[k->keys.n - 1] = c;
        return;
    }
    web_flush(l);
    if (!a->filter)
        reply_error(c, r, 503, "withdrawn", "%s: %s", a->name, a->why.text);
    else if (!web_url(rest, room, &url))
        reply_error(c, r, 400, "bad-url", "the URL is badly encoded");
    else
        lookup_alone(c, r, a, url);
    keep_log(c, r);
}

/* --- requests that go on --- */

void web_forget(struct conn *c)
{
    struct web *w = c->web;

    if (!w)
        return;
    c->web = NULL;
    if (w->exchange)
        w->exchange->kind->free(w->exchange);
    free(w->head);
    free(w);
}

bool web_exchange(struct conn *c, const struct http_request *r,
                  struct exchange *x)
{
    struct span head = c->loop->head;
    struct web *w = calloc(1, sizeof *w);
    size_t used;

    x->conn = c;
    if (!w || !(w->head = malloc(head.len))) {
        free(w);
        x->kind->free(x);
        web_unwanted(c, r);
        reply_error(c, r, 503, NULL, "no memory");
        return false;
    }
    memcpy(w->head, head.text, head.len);
    http_parse(&w->request, w->head, head.len, &used); /* it was good */
    w->exchange = x;
    w->status = c->loop->status; /* a file's head is there already */
    w->length = c->loop->length;
    w->left = r->length;
    w->whole = !r->chunked && !r->length;
    c->web = w;
    if (r->waits && !w->whole)
        out_text(conn_out(c), "HTTP/1.1 100 Continue\r\n\r\n");
    return true;
}

void web_done(struct conn *c)
{
    if (!c->web)
        return;
    c->loop->status = c->web->status;
    c->loop->length = c->web->length;
    keep_log(c, &c->web->request);
    c->last |= c->web->closes;
    web_forget(c);
}

void web_unwanted(struct conn *c, const struct http_request *r)
{
    if (r->chunked || r->length)
        c->last = true;
}

/* The body is none, or too much of one. An answer that has begun is cut. */
static void refuse_body(struct conn *c, int status)
{
    if (c->web->answered) {
        conn_drop(c);
        return;
    }
    web_forget(c);
    reply_refusal(c, status);
}

/* Give the exchange some of its body; how much was used. */
static size_t take_body(struct conn *c, const char *text, size_t len)
{
    struct web *w = c->web;
    struct exchange *x = w->exchange;
    struct span data = { text, len };
    size_t used = len;

    if (w->request.chunked) {
        int status = http_chunks(&w->chunks, text, len, &used, &data);

        if (status > HTTP_WHOLE) {
            refuse_body(c, status);
            return len;
        }
        w->whole = status == HTTP_WHOLE;
    } else {
        if (used > w->left)
            used = data.len = (size_t)w->left;
        w->left -= used;
        w->whole = !w->left;
    }
    w->got += data.len;
    if (w->got > c->loop->server->how.body) {
        refuse_body(c, 413);
        return len;
    }
    if (data.len)
        x->kind->body(x, data.text, data.len);
    return used;
}

static void end_body(struct conn *c)
{
    struct exchange *x = c->web->exchange;

    x->kind->end(x);
    if (!c->waiting)
        web_done(c);
}

/* --- whom, and whether --- */

bool web_allowed(struct conn *c, const struct http_request *r)
{
    struct server *s = c->loop->server;
    struct span given = { "", 0 };

    if (!s->how.token || !library_writable(s->library)) {
        web_unwanted(c, r);
        reply_error(c, r, 403, NULL, "this server is read-only");
        return false;
    }
    if (http_find(r, "Authorization", &given) && given.len > 7 &&
        !strncasecmp(given.text, "Bearer ", 7)) {
        given.text += 7;
        given.len -= 7;
        if (server_knows(s, given))
            return true;
    }
    web_unwanted(c, r);
    reply_error(c, r, 401, NULL, "a bearer token is needed");
    return false;
}

void web_origin(struct conn *c, const struct http_request *r, struct out *to)
{
    const struct serve_how *how = &c->loop->server->how;

    if (how->url) {
        out_text(to, how->url);
    } else {
        out_text(to, "http://");
        out_bytes(to, r->host.text, r->host.len);
    }
    out_text(to, how->base);
}

struct archive *web_archive(struct conn *c, const struct http_request *r,
                            struct span name)
{
    struct archive *a = shelf_find(c->loop->shelf, name);

    if (a && a->filter)
        return a;
    web_unwanted(c, r);
    if (!a)
        reply_error(c, r, 404, "unknown-archive",
                    "there is no archive %.*s here; /archives lists them",
                    (int)(name.len < 200 ? name.len : 200), name.text);
    else
        reply_error(c, r, 503, "withdrawn", "%s: %s", a->name, a->why.text);
    return NULL;
}

/* --- paths --- */

static void show_page(struct conn *c, const struct http_request *r,
                      const struct page_file *page)
{
    struct span tag;
    int status = http_find(r, "If-None-Match", &tag) &&
                         memmem(tag.text, tag.len, page->etag,
                                strlen(page->etag))
                     ? 304
                     : 200;

    reply_begin(c, r, status);
    out_format(conn_out(c),
               "ETag: %s\r\nCache-Control: no-cache\r\n"
               "Content-Security-Policy: " PAGE_POLICY "\r\n"
               "X-Content-Type-Options: nosniff\r\n"
               "Referrer-Policy: no-referrer\r\n",
               page->etag);
    if (status == 304) {
        reply_end(c, r, NULL, 0);
        return;
    }
    reply_end(c, r, page->type, page->len);
    if (r->method != HTTP_HEAD_ONLY)
        out_bytes(conn_out(c), page->bytes, page->len);
}

static void robots(struct conn *c, const struct http_request *r,
                   struct span rest)
{
    struct out body = { .bytes = NULL };

    (void)rest;
    out_format(&body, "User-agent: *\nDisallow: %s/agg/\nSitemap: ",
               c->loop->server->how.base);
    web_origin(c, r, &body);
    out_text(&body, "/sitemap.xml\n");
    reply_text(c, r, 200, "text/plain", body.bytes, body.len);
    out_clear(&body);
}

struct path {
    const char *name;
    bool deeper; /* something follows the name */
    web_handler *get, *post;
};

static const struct path paths[] = {
    { "agg", true, agg_get, NULL },
    { "agg", false, NULL, bulk_agg },
    { "timemap", true, agg_timemap, NULL },
    { "timegate", true, agg_timegate, NULL },
    { "prefix", true, lookup_prefix, NULL },
    { "archives", false, describe_archives, NULL },
    { "info", true, describe_info, NULL },
    { "add", true, NULL, write_list },
    { "files", true, files_get, NULL },
    { "sitemap.xml", false, files_sitemap, NULL },
    { ".well-known", true, files_known, NULL },
    { "robots.txt", false, robots, NULL },
    { "metrics", false, describe_metrics, NULL },
    { "healthz", false, describe_health, NULL },
    { .name = NULL }
};

/* Preflight: reading is for everyone; writing from a page is not. */
static void options(struct conn *c, const struct http_request *r)
{
    web_unwanted(c, r);
    reply_begin(c, r, 204);
    out_text(conn_out(c),
             "Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS\r\n"
             "Access-Control-Allow-Methods: GET, HEAD, POST\r\n"
             "Access-Control-Allow-Headers: Content-Type, Accept\r\n"
             "Access-Control-Max-Age: 86400\r\n");
    reply_end(c, r, NULL, 0);
}

static void not_allowed(struct conn *c, const struct http_request *r,
                        const char *allow)
{
    web_unwanted(c, r);
    reply_begin(c, r, 405);
    out_format(conn_out(c), "Allow: %s\r\n", allow);
    reply_end(c, r, NULL, 0);
}

static void known_path(struct conn *c, const struct http_request *r,
                       const struct path *p, struct span rest)
{
    bool get = r->method == HTTP_GET || r->method == HTTP_HEAD_ONLY;

    if (get && p->get) {
        web_unwanted(c, r);
        p->get(c, r, rest);
    } else if (r->method == HTTP_POST && p->post) {
        p->post(c, r, rest);
    } else {
        not_allowed(c, r, p->get ? "GET, HEAD, OPTIONS" : "POST, OPTIONS");
    }
}

static void archive_path(struct conn *c, const struct http_request *r,
                         struct span name, bool deeper, struct span rest)
{
    char room[HTTP_TARGET];
    struct archive *a;
    struct span url;

    a = web_archive(c, r, name);
    if (!a)
        return;
    if (deeper && (r->method == HTTP_GET || r->method == HTTP_HEAD_ONLY)) {
        web_unwanted(c, r); /* a question with a body that means nothing */
        if (web_url(rest, room, &url))
            lookup_alone(c, r, a, url);
        else
            reply_error(c, r, 400, "bad-url", "the URL is badly encoded");
    } else if (!deeper && r->method == HTTP_POST) {
        bulk_archive(c, r, a);
    } else if (deeper && (r->method == HTTP_PUT || r->method == HTTP_DELETE)) {
        if (!web_allowed(c, r))
            return;
        if (web_url(rest, room, &url))
            write_one(c, r, a, url);
        else
            reply_error(c, r, 400, "bad-url", "the URL is badly encoded");
    } else if (!deeper) {
        not_allowed(c, r, "POST, OPTIONS");
    } else {
        not_allowed(c, r, "GET, HEAD, PUT, DELETE, OPTIONS");
    }
}

static void route(struct conn *c, const struct http_request *r,
                  struct span target)
{
    struct span name = target, rest = { "", 0 }, path;
    const struct page_file *page;
    const char *slash = memchr(target.text, '/', target.len);
    const char *ask;

    if (slash) {
        name.len = (size_t)(slash - target.text);
        rest = (struct span){ slash + 1, target.len - name.len - 1 };
    }
    if (r->method == HTTP_OPTIONS) {
        options(c, r);
        return;
    }
    path = name;
    ask = memchr(name.text, '?', name.len);
    if (ask)
        path.len = (size_t)(ask - name.text);
    if (!slash || ask) {
        page = page_find((struct span){ path.text - 1, path.len + 1 });
        if (page && (r->method == HTTP_GET || r->method == HTTP_HEAD_ONLY)) {
            web_unwanted(c, r);
            show_page(c, r, page);
            return;
        }
        if (page) {
            not_allowed(c, r, "GET, HEAD, OPTIONS");
            return;
        }
        rest = (struct span){ "", 0 };
        slash = NULL;
    }
    for (const struct path *p = paths; p->name; p++)
        if (p->deeper == (slash != NULL) && span_is(path, p->name)) {
            known_path(c, r, p, rest);
            return;
        }
    archive_path(c, r, path, slash != NULL, rest);
}

static void request(struct conn *c, const struct http_request *r)
{
    const char *base = c->loop->server->how.base;
    struct span target = r->target;
    const char *slash;

    if (!span_begins(target, base) || target.len <= strlen(base) ||
        target.text[strlen(base)] != '/') {
        web_flush(c->loop);
        if (r->method == HTTP_OPTIONS)
            options(c, r);
        else {
            web_unwanted(c, r);
            reply_error(c, r, 404, NULL, "there is nothing here");
        }
        keep_log(c, r);
        return;
    }
    target.text += strlen(base) + 1;
    target.len -= strlen(base) + 1;
    slash = memchr(target.text, '/', target.len);
    if (slash && (r->method == HTTP_GET || r->method == HTTP_HEAD_ONLY) &&
        !r->length && !r->chunked) {
        struct span name = { target.text, (size_t)(slash - target.text) };
        struct archive *a = shelf_find(c->loop->shelf, name);

        if (a) {
            lookup(c, r, a,
                   (struct span){ slash + 1, target.len - name.len - 1 });
            return;
        }
    }
    web_flush(c->loop);
    route(c, r, target);
    if (c->web && c->web->whole)
        end_body(c);
    else if (!c->web)
        keep_log(c, r);
}

size_t web_drive(struct conn *c, char *text, size_t len)
{
    struct http_request r;
    size_t used = 0, n;
    int status;

    while (used < len && !c->waiting && !c->last && !conn_full(c)) {
        if (c->web) {
            used += take_body(c, text + used, len - used);
            if (c->web && c->web->whole)
                end_body(c);
            continue;
        }
        status = http_parse(&r, text + used, len - used, &n);
        if (status == HTTP_PARTIAL)
            break;
        if (status != HTTP_WHOLE) {
            web_flush(c->loop);
            reply_refusal(c, status);
            used = len;
            break;
        }
        c->loop->head = (struct span){ text + used, n };
        used += n;
        request(c, &r);
    }
    return used;
}
