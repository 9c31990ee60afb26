/*
 * http_lookup.c - is a URL in an archive?
 *
 *     GET /haw/http://haw.nsk.hr/en     200: maybe; 404: no
 *     GET /prefix/haw/http://haw.nsk.hr/    is anything below it there?
 *
 * Lookups in one archive, of all connections of a loop, wait in a batch until
 * the turn ends or something else is to be answered (loop.h), and are asked of
 * the filter together: in a filter larger than the cache each lookup alone
 * would wait for memory, which took a tenth of the time of a request.
 */
#include "request.h"

#include <seen/kind.h>

/* --- together --- */

/* Answers of the active connection go before what it is answered next; those
   of others are sent at once. */
static void give_answers(struct loop *l, size_t n)
{
    struct http_loop *h = l->http;

    for (size_t i = 0; i < n; i++) {
        struct conn *c = h->conn[i];
        struct buffer *b = c == l->active ? &l->out : &h->out;

        buffer_append(b, &h->archive->head[h->keys.seen[i]]);
        buffer_bytes(b, l->date, l->date_len);
        buffer_bytes(b, "\r\n", 2);
        if (b == &h->out && (i + 1 == n || h->conn[i + 1] != c))
            conn_send(c, b);
    }
}

static void give_errors(struct loop *l, size_t n, const char *why)
{
    static const struct http_request plain = { .minor = 1 };
    struct http_loop *h = l->http;

    for (size_t i = 0; i < n; i++) {
        struct conn *c = h->conn[i], *active = l->active;
        struct buffer its = l->out;

        if (c != active)
            memset(&l->out, 0, sizeof l->out);
        reply_withdrawn(c, &plain, h->archive, why);
        if (c == active)
            continue;
        conn_send(c, &l->out);
        buffer_clear(&l->out);
        l->out = its;
    }
}

void http_lookup_flush(struct loop *l)
{
    struct archive_keys *k = &l->http->keys;
    const size_t n = k->n;
    struct seen_error why;
    uint64_t held = 0;

    if (!n)
        return;
    l->batched -= n; /* first: answers are written below */
    if (archive_has(l->http->archive, k->key, n, k->seen, &why) != SEEN_OK) {
        give_errors(l, n, why.text);
    } else {
        for (size_t i = 0; i < n; i++)
            held += k->seen[i];
        COUNT(l, requests[2], held);
        COUNT(l, requests[4], n - held);
        COUNT(l, asked, n);
        COUNT(l, held, held);
        give_answers(l, n);
    }
    archive_keys_clear(k);
}

/* Kinds that hash the text need it until the lookup; but the bytes of the next
   client overwrite it. */
static bool can_wait(const struct loop *l, const struct http_request *r,
                     const struct archive *a)
{
    return r->method == HTTP_GET && !r->close && r->minor && !l->log.file &&
           !l->draining && a->filter && a->cost <= LOOP_SMALL &&
           !seen_filter_can(a->filter, SEEN_READS_TEXT);
}

void http_lookup(struct conn *c, const struct http_request *r,
                 struct archive *a, struct seen_span rest)
{
    struct loop *l = c->loop;
    struct http_loop *h = l->http;
    struct http_path p = { .archive = a };
    char room[HTTP_TARGET];

    if (h->keys.n && (h->archive != a || archive_keys_full(&h->keys)))
        loop_flush(l);
    if (!a->filter) {
        reply_withdrawn(c, r, a, a->why.text);
    } else if (!http_url(rest, room, &p.url)) {
        reply_error(c, r, 400, "bad-url", "the URL is badly encoded");
    } else if (can_wait(l, r, a) &&
               archive_keys_add(&h->keys, p.url, ARCHIVE_URL, &a->profile,
                                NULL) == SEEN_OK) {
        h->archive = a;
        h->conn[h->keys.n - 1] = c;
        l->batched++;
        return;
    } else {
        http_lookup_alone(c, r, &p);
    }
    if (!c->http)
        http_log(c, r);
}

/* --- alone --- */

void http_lookup_count(struct loop *l, const struct archive_counts *counts)
{
    COUNT(l, asked, counts->asked);
    COUNT(l, held, counts->held);
}

/* The answers to one lookup that was asked off the loop; false if there is
   none, which is answered. */
static bool was_answered(struct conn *c, const struct http_request *r,
                         const struct archive_question *q)
{
    const struct archive *a = archive_view_find(c->loop->view,
                                                span_of(q->name));

    if (q->code == SEEN_OK && a && a->filter && !archive_unknown(q->answer[0]))
        return true;
    if (q->code == SEEN_UNABLE)
        reply_error(c, r, 501, "unable", "%s", q->why.text);
    else if (q->code == SEEN_BAD_URL)
        reply_error(c, r, 400, "bad-url", "%s", q->why.text);
    else
        reply_error(c, r, 503,
                    q->code == SEEN_CORRUPT ? "withdrawn" : "unknown",
                    "%s: %s", q->name,
                    q->code == SEEN_OK ? "the archive was replaced or is gone"
                                       : q->why.text);
    return false;
}

static void lookup_answered(struct conn *c, const struct http_request *r,
                            const struct archive_question *q)
{
    if (was_answered(c, r, q))
        reply_lookup(c, r, archive_view_find(c->loop->view, span_of(q->name)),
                     q->answer[0] == ARCHIVE_YES);
}

void http_lookup_alone(struct conn *c, const struct http_request *r,
                       const struct http_path *p)
{
    struct archive *a = p->archive;
    char text[SEEN_KEY_TEXT];
    struct seen_error why;
    struct seen_key key;
    bool seen = false;

    if (archive_key(&key, text, p->url, ARCHIVE_URL, &a->profile, &why) !=
        SEEN_OK) {
        reply_error(c, r, 400, "bad-url", "%s", why.text);
    } else if (a->cost > LOOP_SMALL && !loop_affords(c->loop, a->cost)) {
        http_ask_aside(c, r, a->name, false, p->url, lookup_answered);
    } else if (archive_has(a, &key, 1, &seen, &why) != SEEN_OK) {
        reply_withdrawn(c, r, a, why.text);
    } else {
        http_lookup_count(c->loop, &(struct archive_counts){ 1, seen });
        reply_lookup(c, r, a, seen);
    }
}

static void reply_prefix(struct conn *c, const struct http_request *r,
                         const struct archive *a, bool seen)
{
    reply_begin(c, r, seen ? 200 : 404);
    buffer_format(conn_out(c), "Seen-Answer: %s\r\n", seen ? "maybe" : "no");
    reply_facts(c, a);
    reply_end(c, r, NULL, 0);
}

static void prefix_answered(struct conn *c, const struct http_request *r,
                            const struct archive_question *q)
{
    if (was_answered(c, r, q))
        reply_prefix(c, r, archive_view_find(c->loop->view, span_of(q->name)),
                     q->answer[0] == ARCHIVE_YES);
}

void http_prefix(struct conn *c, const struct http_request *r,
                 const struct http_path *p)
{
    struct seen_span rest = p->rest, name, url;
    char room[HTTP_TARGET], text[SEEN_KEY_TEXT];
    struct seen_error why;
    struct seen_key key;
    struct archive *a;
    enum seen_code code;
    bool seen = false;

    if (!memchr(rest.text, '/', rest.len)) {
        reply_error(c, r, 404, NULL, "the path is /prefix/NAME/<URL>");
        return;
    }
    span_cut(&rest, '/', &name);
    a = http_archive(c, r, name);
    if (!a)
        return;
    if (!http_url(rest, room, &url)) {
        reply_error(c, r, 400, "bad-url", "the URL is badly encoded");
        return;
    }
    if (a->remote) {
        reply_error(c, r, 501, "unable",
                    "an archive on another server has no prefixes");
        return;
    }
    if (!loop_affords(c->loop, a->cost_prefix)) {
        http_ask_aside(c, r, a->name, true, url, prefix_answered);
        return;
    }
    code = archive_key(&key, text, url, ARCHIVE_URL, &a->profile, &why);
    if (code == SEEN_OK)
        code = archive_has_under(a, &key, &seen, &why);
    if (code == SEEN_CORRUPT)
        reply_withdrawn(c, r, a, why.text);
    else if (code == SEEN_UNABLE)
        reply_error(c, r, 501, "unable", "%s", why.text);
    else if (code != SEEN_OK)
        reply_error(c, r, 400, "bad-url", "%s", why.text);
    else
        reply_prefix(c, r, a, seen);
}
