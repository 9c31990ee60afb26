/*
 * aggregate.c - TimeMaps and TimeGates of the aggregator: `--aggregate`.
 *
 *     GET /timemap/link|json|cdxj/<URL>             all mementos, in order
 *     GET /timegate/<URL>                           302 to the closest one
 *     GET /memento/<DATE>/<URL>                     the same, by its path
 *     GET /memento/link|json|cdxj/<DATE>/<URL>      what is around it
 *     GET /memento/proxy/<DATE>/<URL>               the closest one itself
 *     GET /api/json/<DATE>/<URL>                    the same
 *
 * A request goes through up to four stages, and its client waits:
 *
 *     the filters are asked       now, or off the loop (question.h)
 *     the archives whose filter says yes or cannot say
 *                                 by the aggregator's thread, as a message
 *                                 (mailbox.h): their TimeMaps, or, for the
 *                                 closest memento, their TimeGates
 *     a memento is fetched        by that thread, too
 *     a long answer is written    by a job
 *
 * So what a client asks for delays nobody else's lookups.
 */
#include "aggregate.h"

#include <stdlib.h>
#include <time.h>

#include "../../web/timemap.h"
#include "../mailbox.h"
#include "../memento/memento_url.h"
#include "../question.h"

enum { PATIENCE_MS = 10000 }; /* until a filter was not asked in time */

/*
 * What the aggregator is asked for one client: first for mementos, then maybe
 * for one of them. Its thread has it, as a message (mailbox.h), so it outlives
 * the exchange, which a client that goes away takes along.
 */
struct http_inquiry {
    struct memento_question question; /* first */
    struct memento_copy copy;         /* for /memento/proxy/ */
    struct serve_message message;
    struct pending pending;
    struct http_choice them;
    char *copy_url;
    bool back; /* the loop has it */
    char url[];
};

/* --- the archives --- */

static struct http_inquiry *inquiry_of(struct serve_message *m)
{
    return (struct http_inquiry *)((char *)m -
                                   offsetof(struct http_inquiry, message));
}

static void free_inquiry(struct serve_message *m)
{
    struct http_inquiry *i = inquiry_of(m);

    memento_timemap_release(i->question.timemap);
    memento_copy_clear(&i->copy);
    free(i->copy_url);
    http_choice_clear(&i->them);
    free(i);
}

/* In the aggregator's thread. */
static void answered(struct memento_question *q)
{
    serve_message_return(&((struct http_inquiry *)q)->message);
}

static void copied(struct memento_copy *copy)
{
    char *i = (char *)copy - offsetof(struct http_inquiry, copy);

    serve_message_return(&((struct http_inquiry *)i)->message);
}

/* Give it to that thread; what is refused returns at once. False if the loop
   stops. */
static bool ask_for_mementos(struct conn *c, struct http_inquiry *i)
{
    struct loop *l = c->loop;

    if (!serve_message_await(l->mail, &i->message, 0))
        return false;
    conn_wait_for(c, &i->pending);
    if (!memento_ask(l->server->memento, &i->question))
        answered(&i->question);
    return true;
}

static bool ask_for_copy(struct conn *c, struct http_inquiry *i)
{
    struct loop *l = c->loop;

    if (!serve_message_await(l->mail, &i->message, 0))
        return false;
    conn_wait_for(c, &i->pending);
    if (!memento_fetch(l->server->memento, &i->copy))
        copied(&i->copy);
    return true;
}

/* The TimeMap is there: fetch the closest memento. False if it cannot be. */
static bool fetch_closest(struct http_inquiry *i)
{
    const struct http_aggregation *a = (const struct http_aggregation *)
                                           i->pending.conn->http;
    const struct memento_timemap *t = i->question.timemap;
    const struct memento_capture *closest =
        &t->capture[memento_timemap_closest(t, a->when)];
    struct buffer raw = { .bytes = NULL };

    memento_url_raw(&raw, (struct seen_span){ closest->url, closest->len });
    i->copy_url = buffer_take(&raw);
    i->copy.url = i->copy_url;
    i->copy.done = copied;
    return i->copy_url && ask_for_copy(i->pending.conn, i);
}

/* Is there a memento to be passed on? */
static bool has_closest(const struct http_inquiry *i)
{
    const struct http_aggregation *a = (const struct http_aggregation *)
                                           i->pending.conn->http;

    return a->task == AGGREGATE_COPY && i->question.timemap &&
           i->question.timemap->captures;
}

/* Was there no time or memory to ask? */
static bool was_refused(const struct http_inquiry *i)
{
    return !i->question.timemap ||
           (has_closest(i) && !i->copy.status && !i->copy.why.text[0]);
}

static void reply_to(struct conn *c, struct http_inquiry *i)
{
    if (was_refused(i))
        reply_error(c, &c->http->request, 503, NULL,
                    "the server is too busy; try again");
    else
        http_aggregate_answer(c, i->question.timemap, i->them.spared,
                              i->question.cached, &i->copy);
    http_go_on(c);
}

static void inquiry_done(struct pending *p, bool there)
{
    struct http_inquiry *i = p->owner;

    if (!i->back)
        return; /* it is freed when it returns */
    if (there && has_closest(i) && !i->copy_url && fetch_closest(i))
        return;
    if (there)
        reply_to(p->conn, i);
    free_inquiry(&i->message);
}

/* Without `back` the loop stops, and has no clients any more. */
static void inquiry_arrived(struct serve_message *m, bool back)
{
    inquiry_of(m)->back = back;
    conn_answer(&inquiry_of(m)->pending);
}

/* The filters have answered: answer[i] is that of archive i of the view. */
static void inquire(struct conn *c, const unsigned char *answer)
{
    struct http_aggregation *a = (struct http_aggregation *)c->http;
    struct http_inquiry *i = calloc(1, sizeof *i + a->lookup.url.len + 1);

    if (!i || !http_choice_make(&i->them, c->loop, a->lookup.url, answer)) {
        free(i);
        reply_error(c, &a->exchange.request, 503, NULL, "no memory");
        return;
    }
    memcpy(i->url, a->lookup.url.text, a->lookup.url.len);
    i->question.url = i->url;
    i->question.source = i->them.source;
    i->question.sources = i->them.n;
    i->question.closest = a->task != AGGREGATE_TIMEMAP;
    i->question.when = a->when;
    i->question.done = answered;
    i->message.arrived = inquiry_arrived;
    i->message.free = free_inquiry;
    i->pending.done = inquiry_done;
    i->pending.owner = i;
    memento_spare(c->loop->server->memento, i->them.spared);
    if (ask_for_mementos(c, i))
        return;
    reply_error(c, &a->exchange.request, 503, NULL, "the server is stopping");
    free_inquiry(&i->message);
}

/* --- the filters --- */

static void aggregation_free(struct http_exchange *x)
{
    free(x);
}

static size_t aggregation_memory(const struct http_exchange *x)
{
    const struct http_aggregation *a = (const struct http_aggregation *)x;

    return sizeof *a + a->lookup.url.len + a->holds;
}

/* Archives may have come and gone since the question was asked. */
static void filters_asked(struct pending *p, bool there)
{
    struct serve_question *q = p->owner;

    if (there) {
        struct conn *c = p->conn;
        struct archive_view *v = c->loop->view;
        const size_t n = archive_view_count(v);
        unsigned char *answer = malloc(n + 1);

        for (size_t i = 0; i < n && answer; i++)
            answer[i] = (unsigned char)archive_question_answer(
                &q->question, archive_view_at(v, i)->name, 0);
        if (answer)
            inquire(c, answer);
        else
            reply_error(c, &c->http->request, 503, NULL, "no memory");
        free(answer);
        http_go_on(c);
    }
    serve_question_free(q);
}

static bool ask_aside(struct http_aggregation *a)
{
    struct serve_question *q = calloc(1, sizeof *q);

    if (!q)
        return false;
    q->pending.done = filters_asked;
    q->question.lookup = &a->lookup;
    q->question.n = 1;
    q->question.until = a->exchange.conn->loop->now + PATIENCE_MS;
    if (serve_question_start(a->exchange.conn, q))
        return true;
    serve_question_free(q);
    return false;
}

static void aggregation_end(struct http_exchange *x)
{
    struct http_aggregation *a = (struct http_aggregation *)x;
    struct loop *l = x->conn->loop;
    const size_t n = archive_view_count(l->view);
    struct archive_counts counts = { 0 };
    unsigned char *answer = NULL;

    if (!loop_affords(l, archive_view_cost(l->view))) {
        if (!ask_aside(a))
            reply_error(x->conn, &x->request, 503, NULL,
                        "the server is too busy; try again");
        return;
    }
    answer = malloc((n + 1) * ARCHIVE_BATCH);
    if (!answer) {
        reply_error(x->conn, &x->request, 503, NULL, "no memory");
        return;
    }
    archive_lookup_all(archive_view_all(l->view), n, &l->keys, &a->lookup, 1,
                       answer, &counts);
    http_lookup_count(l, &counts);
    for (size_t i = 1; i < n; i++)
        answer[i] = answer[i * ARCHIVE_BATCH];
    inquire(x->conn, answer);
    free(answer);
}

/* --- what is asked for --- */

struct aggregate_request {
    enum http_aggregate task;
    enum memento_as as;
    int64_t when;
    struct seen_span rest; /* with the URL */
};

static bool is_web(struct seen_span url)
{
    return (url.len > 7 && !strncasecmp(url.text, "http://", 7)) ||
           (url.len > 8 && !strncasecmp(url.text, "https://", 8));
}

/* "ftp://a.example/", but not "a.example/?to=ftp://b.example/" */
static bool has_scheme(struct seen_span url)
{
    size_t n = 0;

    while (n < url.len && !strchr(":/?", url.text[n]))
        n++;
    return n && n + 2 < url.len && !memcmp(url.text + n, "://", 3);
}

/* A URL without a scheme is given http://, as MemGator does. */
static void start(struct conn *c, const struct http_request *r,
                  const struct aggregate_request *asks)
{
    static const struct http_exchange_kind kind = {
        .end = aggregation_end,
        .free = aggregation_free,
        .memory = aggregation_memory
    };
    static const char scheme[] = "http://";
    char room[HTTP_TARGET + 8], text[SEEN_KEY_TEXT];
    struct seen_error why = { .text = "the URL is badly encoded" };
    struct http_aggregation *a;
    struct seen_span url, whole;
    struct seen_key key;
    const char *hash;

    if (!http_url(asks->rest, room, &url)) {
        reply_error(c, r, 400, "bad-url", "%s", why.text);
        return;
    }
    hash = url.len ? memchr(url.text, '#', url.len) : NULL;
    if (hash)
        url.len = (size_t)(hash - url.text);
    if (!is_web(url) && has_scheme(url)) {
        reply_error(c, r, 400, "bad-url",
                    "archives hold URLs of http and https only");
        return;
    }
    a = calloc(1, sizeof *a + sizeof scheme + url.len);
    if (!a) {
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    whole = (struct seen_span){ a->url, url.len };
    if (!is_web(url)) {
        memcpy(a->url, scheme, sizeof scheme - 1);
        whole.len += sizeof scheme - 1;
    }
    memcpy(a->url + whole.len - url.len, url.text, url.len);
    if (seen_key_make(&key, text, whole.text, whole.len, "surt", &why) !=
        SEEN_OK) {
        free(a);
        reply_error(c, r, 400, "bad-url", "%s", why.text);
        return;
    }
    a->exchange.kind = &kind;
    a->task = asks->task;
    a->as = asks->as;
    a->when = asks->when < (int64_t)time(NULL) ? asks->when : MEMENTO_LATEST;
    a->lookup.url = whole;
    http_exchange_bare(c, r, &a->exchange);
}

/* --- the paths --- */

void http_aggregate_timemap(struct conn *c, const struct http_request *r,
                            struct seen_span rest)
{
    struct aggregate_request asks = { .task = AGGREGATE_TIMEMAP };
    struct seen_span word = { "", 0 };

    if (!span_cut(&rest, '/', &word) || !memento_as_read(word, &asks.as)) {
        reply_error(c, r, 400, NULL,
                    "the path is /timemap/link|json|cdxj/<URL>");
        return;
    }
    asks.rest = rest;
    start(c, r, &asks);
}

void http_aggregate_timegate(struct conn *c, const struct http_request *r,
                             struct seen_span rest)
{
    struct aggregate_request asks = { .task = AGGREGATE_TIMEGATE,
                                      .when = (int64_t)time(NULL),
                                      .rest = rest };
    struct seen_span given;

    if (http_find(r, "Accept-Datetime", &given) &&
        !web_timemap_date(given, &asks.when)) {
        reply_error(c, r, 400, NULL,
                    "Accept-Datetime is not a date such as Thu, 31 May 2007 "
                    "20:35:00 GMT");
        return;
    }
    start(c, r, &asks);
}

void http_memento(struct conn *c, const struct http_request *r,
                  const struct http_path *p)
{
    struct aggregate_request asks = { .task = AGGREGATE_REDIRECT };
    struct seen_span rest = p->rest, word = { "", 0 };

    if (!c->loop->server->memento) {
        reply_error(c, r, 404, NULL,
                    "this server aggregates no mementos; see its option "
                    "--aggregate");
        return;
    }
    if (!span_cut(&rest, '/', &word))
        word.len = 0;
    if (span_is(word, "proxy"))
        asks.task = AGGREGATE_COPY;
    else if (memento_as_read(word, &asks.as))
        asks.task = AGGREGATE_DESCRIPTION;
    if (asks.task != AGGREGATE_REDIRECT) {
        if (!span_cut(&rest, '/', &word))
            word.len = 0;
    }
    if (!memento_stamp_read(word, &asks.when) || !rest.len) {
        reply_error(c, r, 400, NULL,
                    "the path is /memento[/link|json|cdxj|proxy]/"
                    "YYYY[MM[DD[hh[mm[ss]]]]]/<URL>");
        return;
    }
    asks.rest = rest;
    start(c, r, &asks);
}
