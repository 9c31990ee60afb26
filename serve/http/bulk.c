/*
 * bulk.c - lists of URLs, answered while they arrive.
 *
 *     POST /haw    seen<TAB>URL, new<TAB>URL     as `seen check` prints
 *                  !<TAB>URL                     not a URL
 *     POST /agg    haw,ia<TAB>bl<TAB>URL         haw and ia may hold it, bl
 *                  -<TAB>-<TAB>URL               cannot answer; none and none
 *                  !<TAB>-<TAB>URL               not a URL
 *
 * or, if JSON was sent or is preferred, [{"url": ..., "seen": true}, ...] and
 * [{"url": ..., "archives": ["haw", "ia"], "unknown": ["bl"]}, ...], with null
 * if it is not a URL. The URL is the last column, since it may have tabs.
 * Answers have the order of the list. URLs are looked up ARCHIVE_BATCH at a
 * time: at once, or off the loop if the loop has done enough in this turn. In
 * that case the URLs of the piece that was read wait in `later`. Nothing is
 * read from a client that does not take its answers, so a list of any length
 * takes no more memory than a short one. Only proxies cannot do that: their
 * lists are read as a whole first (hold_body() in request.c).
 */
#include "request.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../lib/text/json.h"
#include "../question.h"
#include "http_list.h"

/* Bytes of URLs that are looked up at once, and that may wait for more. A
   batch of ordinary URLs has 20 kB. */
enum { MOST_TEXT = 1 << 15, WAITING_TEXT = 4096 };

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
    struct buffer later; /* URLs that come after those that are asked off the
                            loop: lengths and texts */
    size_t later_at;     /* bytes of `later` that are done */
    bool ended; /* the body is */
};

/* The answers of archives: columns of ARCHIVE_BATCH, and their names. */
struct http_columns {
    char *const *name;
    size_t archives;
    const unsigned char *answer;
};

static void bulk_free(struct http_exchange *x)
{
    struct http_bulk *b = (struct http_bulk *)x;

    http_list_clear(&b->list);
    buffer_clear(&b->text);
    buffer_clear(&b->later);
    free(b->archive);
    free(b);
}

/* A string of JSON may have tabs and line ends, which would look like other
   columns and lines. They are left out of text, as the profiles do. */
static void put_plain(struct buffer *o, struct seen_span url)
{
    const char *end = url.text + url.len, *from = url.text;

    for (const char *at = from; at < end; at++)
        if (*at == '\t' || *at == '\n' || *at == '\r') {
            buffer_bytes(o, from, (size_t)(at - from));
            from = at + 1;
        }
    buffer_bytes(o, from, (size_t)(end - from));
}

static void put_url(const struct http_bulk *b, struct buffer *o,
                    struct seen_span url)
{
    if (b->json) {
        buffer_json(o, url.text, url.len);
        return;
    }
    if (b->list.json)
        put_plain(o, url);
    else
        buffer_bytes(o, url.text, url.len);
    buffer_bytes(o, "\n", 1);
}

/* --- one archive --- */

static void put_one(struct http_bulk *b, struct buffer *o,
                    const unsigned char *answer)
{
    static const char *const json[] = { "false", "true", "null", "null" };
    static const char *const text[] = { "new\t", "seen\t", "!\t", "!\t" };

    for (size_t i = 0; i < b->n; i++)
        if (b->json) {
            buffer_text(o, b->some || i ? ",\n{\"url\": " : "{\"url\": ");
            put_url(b, o, b->lookup[i].url);
            buffer_format(o, ", \"seen\": %s}", json[answer[i]]);
        } else {
            buffer_text(o, text[answer[i]]);
            put_url(b, o, b->lookup[i].url);
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

/* The archives that gave this answer to lookup i; or, for ARCHIVE_SILENT,
   that gave none. */
static void put_names(struct http_bulk *b, struct buffer *o, size_t i,
                      const struct http_columns *all,
                      enum archive_answer wanted)
{
    bool any = false;

    for (size_t a = 0; a < all->archives; a++) {
        const enum archive_answer its = all->answer[a * ARCHIVE_BATCH + i];
        const char *name = all->name[a];

        if (wanted == ARCHIVE_SILENT ? !archive_unknown(its) : its != wanted)
            continue;
        if (any)
            buffer_bytes(o, ",", 1);
        any = true;
        if (b->json)
            buffer_json(o, name, strlen(name));
        else
            put_name(o, name);
    }
    if (!any && !b->json)
        buffer_bytes(o, "-", 1);
}

static void put_all(struct http_bulk *b, struct buffer *o,
                    const struct http_columns *all)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct archive_lookup *q = &b->lookup[i];

        if (b->json) {
            buffer_text(o, b->some || i ? ",\n{\"url\": " : "{\"url\": ");
            put_url(b, o, q->url);
        }
        if (q->bad) {
            buffer_text(o, b->json ? ", \"archives\": null, \"unknown\": null}"
                                   : "!\t-\t");
        } else {
            buffer_text(o, b->json ? ", \"archives\": [" : "");
            put_names(b, o, i, all, ARCHIVE_YES);
            buffer_text(o, b->json ? "], \"unknown\": [" : "\t");
            put_names(b, o, i, all, ARCHIVE_SILENT);
            buffer_text(o, b->json ? "]}" : "\t");
        }
        if (!b->json)
            put_url(b, o, q->url);
    }
}

/* --- both --- */

static void reply_once(struct http_bulk *b)
{
    struct conn *c = b->exchange.conn;
    const struct http_request *r = &b->exchange.request;
    const struct archive *a;

    if (b->replied)
        return;
    b->replied = true;
    b->json = !http_prefers(r, "text/tab-separated-values",
                            "application/json") &&
              (b->list.json ||
               http_prefers(r, "application/json", "text/plain"));
    reply_begin(c, r, 200);
    if (!b->archive)
        reply_facts_all(c);
    else if ((a = archive_view_find(c->loop->view, span_of(b->archive))) &&
             a->filter)
        reply_facts(c, a);
    reply_end_chunked(c, r,
                      b->json ? "application/json"
                              : "text/tab-separated-values; charset=utf-8");
}

/* Write a chunk of answers; its length is known only afterwards. */
static void put_answers(struct http_bulk *b, const struct http_columns *all)
{
    const bool chunked = b->exchange.request.minor;
    struct buffer *o = conn_out(b->exchange.conn);
    char length[16];
    size_t before;

    reply_once(b);
    if (chunked)
        buffer_text(o, "00000000\r\n");
    before = o->len;
    if (b->json && !b->some)
        buffer_text(o, "[");
    if (b->archive)
        put_one(b, o, all->answer);
    else
        put_all(b, o, all);
    if (chunked && !o->failed) {
        snprintf(length, sizeof length, "%08zx", o->len - before);
        memcpy(o->bytes + before - 10, length, 8);
        buffer_text(o, "\r\n");
    }
    b->some = true;
    b->n = 0;
    b->text.len = 0;
}

/* --- asking --- */

static void bulk_go_on(struct http_bulk *b);

static void asked_aside(struct pending *p, bool there)
{
    struct serve_question *q = p->owner;
    const struct archive_question *it = &q->question;

    if (there) {
        struct conn *c = p->conn;
        struct http_bulk *b = (struct http_bulk *)c->http;

        if (it->code != SEEN_OK && !b->replied && b->ended) {
            reply_error(c, &b->exchange.request, 503, "unknown", "%s: %s",
                        b->archive ? b->archive : "agg", it->why.text);
        } else if (it->code != SEEN_OK) { /* meanwhile: the answer is cut */
            conn_drop(c);
        } else {
            put_answers(b, &(struct http_columns){ it->archive, it->archives,
                                                   it->answer });
            bulk_go_on(b);
        }
        if (c->pending) {
            conn_send(c, &c->loop->out);
        } else {
            if (b->ended)
                http_exchange_done(c);
            conn_go_on(c);
        }
    }
    serve_question_free(q);
}

static void ask_aside(struct http_bulk *b)
{
    struct conn *c = b->exchange.conn;
    struct serve_question *q = calloc(1, sizeof *q);

    if (q && b->archive)
        q->question.name = strdup(b->archive);
    if (q && (q->question.name || !b->archive)) {
        q->pending.done = asked_aside;
        q->question.lookup = b->lookup;
        q->question.n = b->n;
        if (serve_question_start(c, q))
            return;
    }
    serve_question_free(q);
    conn_drop(c);
}

static void ask_now(struct http_bulk *b, struct archive *const *archive,
                    size_t archives)
{
    struct conn *c = b->exchange.conn;
    struct archive_counts counts = { 0 };
    unsigned char *answer = malloc((archives + 1) * ARCHIVE_BATCH);
    char **name = malloc((archives + 1) * sizeof *name);

    if (answer && name) {
        for (size_t i = 0; i < archives; i++)
            name[i] = archive[i]->name;
        archive_lookup_all(archive, archives, &c->loop->keys, b->lookup, b->n,
                           answer, &counts);
        http_lookup_count(c->loop, &counts);
    }
    if (!answer || !name || (b->archive && answer[0] == ARCHIVE_SILENT))
        conn_drop(c); /* withdrawn meanwhile: the answer is cut */
    else
        put_answers(b, &(struct http_columns){ name, archives, answer });
    free(answer);
    free(name);
}

static void answer_some(struct http_bulk *b)
{
    struct loop *l = b->exchange.conn->loop;
    struct archive *a;

    if (!b->n)
        return;
    for (size_t i = 0; i < b->n; i++)
        b->lookup[i].url.text = b->text.bytes + b->at[i];
    if (!b->archive) {
        if (loop_affords(l, b->n * archive_view_cost(l->view)))
            ask_now(b, archive_view_all(l->view), archive_view_count(l->view));
        else
            ask_aside(b);
        return;
    }
    a = archive_view_find(l->view, span_of(b->archive));
    if (!a || !a->filter)
        conn_drop(b->exchange.conn);
    else if (loop_affords(l, b->n * a->cost))
        ask_now(b, &a, 1);
    else
        ask_aside(b);
}

static void take_url(struct http_bulk *b, struct seen_span url)
{
    b->at[b->n] = b->text.len;
    b->lookup[b->n++].url.len = url.len;
    buffer_bytes(&b->text, url.text, url.len);
    if (b->text.failed)
        conn_drop(b->exchange.conn);
    else if (b->n == ARCHIVE_BATCH || b->text.len > MOST_TEXT)
        answer_some(b);
}

/* Are URLs asked off the loop? Then others wait in `later`. */
static bool is_asking(const struct http_bulk *b)
{
    return b->exchange.conn->pending;
}

static bool dropped(const struct http_bulk *b)
{
    return b->exchange.conn->state >= CONN_CLOSING;
}

static void add_url(void *to, struct seen_span url)
{
    struct http_bulk *b = to;

    if (dropped(b))
        return; /* in the middle of this piece */
    if (!is_asking(b)) {
        take_url(b, url);
        return;
    }
    buffer_bytes(&b->later, &url.len, sizeof url.len);
    buffer_bytes(&b->later, url.text, url.len);
    if (b->later.failed)
        conn_drop(b->exchange.conn);
}

/* Take what came while others were asked. */
static void take_later(struct http_bulk *b)
{
    while (b->later_at < b->later.len && !is_asking(b) && !dropped(b)) {
        const char *at = b->later.bytes + b->later_at;
        struct seen_span url;

        memcpy(&url.len, at, sizeof url.len);
        url.text = at + sizeof url.len;
        b->later_at += sizeof url.len + url.len;
        take_url(b, url);
    }
    if (b->later_at == b->later.len) {
        buffer_clear(&b->later);
        b->later_at = 0;
    }
}

/* After the last answer. */
static void put_end(struct http_bulk *b)
{
    struct conn *c = b->exchange.conn;
    const bool chunked = b->exchange.request.minor;

    if (b->list.fault && !b->replied) {
        reply_error(c, &b->exchange.request, 400, NULL, "%s", b->list.fault);
        return;
    }
    if (b->list.fault) {
        conn_drop(c); /* without the last chunk: it is not complete */
        return;
    }
    reply_once(b);
    if (b->json)
        buffer_text(conn_out(c), !chunked  ? (b->some ? "]\n" : "[]\n")
                                 : b->some ? "2\r\n]\n\r\n"
                                           : "3\r\n[]\n\r\n");
    if (chunked)
        buffer_text(conn_out(c), "0\r\n\r\n");
}

/* Answer what is there, as far as it can be answered now. */
static void bulk_go_on(struct http_bulk *b)
{
    take_later(b);
    if (is_asking(b) || dropped(b))
        return;
    if (b->ended && !b->list.fault)
        answer_some(b);
    else if (!b->exchange.whole && b->text.len > WAITING_TEXT)
        answer_some(b); /* the rest may take its time */
    if (is_asking(b) || dropped(b))
        return;
    if (!b->n)
        buffer_clear(&b->text);
    if (b->ended)
        put_end(b);
}

static void bulk_body(struct http_exchange *x, const char *bytes, size_t n)
{
    struct http_bulk *b = (struct http_bulk *)x;

    if (dropped(b))
        return;
    http_list_read(&b->list, bytes, n, add_url, b);
    bulk_go_on(b);
}

static void bulk_end(struct http_exchange *x)
{
    struct http_bulk *b = (struct http_bulk *)x;

    if (dropped(b))
        return;
    http_list_end(&b->list, add_url, b);
    b->ended = true;
    bulk_go_on(b);
}

static size_t bulk_memory(const struct http_exchange *x)
{
    const struct http_bulk *b = (const struct http_bulk *)x;

    return sizeof *b + b->text.room + b->later.room + b->list.part.room;
}

static void begin(struct conn *c, const struct http_request *r,
                  const char *archive)
{
    static const struct http_exchange_kind kind = { .body = bulk_body,
                                                    .end = bulk_end,
                                                    .free = bulk_free,
                                                    .memory = bulk_memory };
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
    b->exchange.early = true;
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
