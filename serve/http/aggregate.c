/*
 * aggregate.c - TimeMaps and TimeGates of the aggregator: `--aggregate`.
 *
 *     GET /timemap/link|json|cdxj/<URL>             all mementos, in order
 *     GET /timegate/<URL>                           302 to the closest one
 *     GET /memento/<DATE>/<URL>                     the same, by its path
 *     GET /memento/link|json|cdxj/<DATE>/<URL>      what is around it
 *     GET /api/json/<DATE>/<URL>                    the same
 *
 * A request goes through up to three stages, and its client waits:
 *
 *     the filters are asked       now, or off the loop (question.h)
 *     the archives whose filter says yes or cannot say
 *                                 by the aggregator's thread (memento/gather.h)
 *     a long answer is written    by a job
 *
 * So what a client asks for delays nobody else's lookups.
 */
#include "request.h"

#include <stdlib.h>
#include <time.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/json.h"
#include "../../lib/text/percent.h"
#include "../../web/timemap.h"
#include "../memento/gather.h"
#include "../memento/write.h"
#include "../question.h"

enum {
    PATIENCE_MS = 10000, /* until an archive's filter was not asked in time */
    LONG = 1000,         /* mementos that a loop does not write itself */
    LINK_BYTES = 4096,   /* of the Link header */
    NAMES_BYTES = 1024   /* of the header that names failed archives */
};

enum aggregate_task { TIMEMAP, TIMEGATE, REDIRECT, DESCRIPTION };

/* A request while it waits. */
struct http_aggregation {
    struct http_exchange exchange;
    enum aggregate_task task;
    enum memento_as as;
    int64_t when;
    struct archive_lookup lookup;
    struct serve_question *question; /* until it is started */
    size_t holds;                    /* bytes of an answer that is written */
    char url[];
};

/* A question to the archives. It outlives the exchange, which a client that
   goes away takes along. */
struct http_gathering {
    struct memento_question question;
    struct conn *conn;
    struct http_gathering *next; /* that are answered */
    struct http_gathering *after, **before; /* of all of the loop */
    size_t spared;
    struct buffer text; /* names and URLs of the archives */
    char url[];
};

/* A long answer. */
struct http_writing {
    struct job job;
    struct conn *conn;
    struct memento_timemap *timemap;
    struct memento_form form;
    struct buffer origin, body;
    bool cached;
    char url[];
};

/* --- answers --- */

static void put_names(struct buffer *o, const struct memento_timemap *t)
{
    const size_t begin = o->len;

    for (size_t i = 0; i < t->reports; i++) {
        const char *name = t->report[i].name;

        if (!t->report[i].failed || !name)
            continue;
        if (o->len - begin + 3 * strlen(name) > NAMES_BYTES) {
            buffer_text(o, ", ...");
            break;
        }
        buffer_text(o, o->len == begin ? "" : ", ");
        percent_encode(o, name, strlen(name), PERCENT_NAME);
    }
}

/* What every answer says, as headers. */
static void put_facts(struct buffer *o, const struct http_aggregation *a,
                      const struct memento_timemap *t, size_t spared,
                      bool cached)
{
    if (a->task == TIMEGATE)
        buffer_text(o, "Vary: accept-datetime\r\n");
    buffer_format(o,
                  "X-Memento-Count: %zu\r\nSeen-Asked: %zu\r\n"
                  "Seen-Spared: %zu\r\n",
                  t->captures, t->reports, spared);
    if (t->failed) {
        buffer_text(o, "Seen-Failed: ");
        put_names(o, t);
        buffer_text(o, "\r\n");
    }
    if (t->skipped)
        buffer_format(o, "Seen-Skipped: %llu\r\n",
                      (unsigned long long)t->skipped);
    if (cached)
        buffer_format(o, "Age: %llu\r\n",
                      (unsigned long long)(clock_ms() - t->made) / 1000);
}

/* An answer with a body, which is cleared. */
static void reply_facts_body(struct conn *c, const struct http_aggregation *a,
                             int status, const struct memento_timemap *t,
                             size_t spared, bool cached, const char *type,
                             struct buffer *body)
{
    struct buffer headers = { .bytes = NULL };
    char *text;

    put_facts(&headers, a, t, spared, cached);
    text = buffer_take(&headers);
    if (text && !body->failed) {
        reply_body(c, &a->exchange.request, status, text, type, body);
    } else {
        buffer_clear(body);
        reply_error(c, &a->exchange.request, 503, NULL, "no memory");
    }
    free(text);
}

/* No memento was found: 404 only if all archives have said so. */
static void reply_nothing(struct conn *c, const struct http_aggregation *a,
                          const struct memento_timemap *t, size_t spared,
                          bool cached)
{
    struct buffer body = { .bytes = NULL };
    const char *before = ", \"failed\": {";

    buffer_format(&body, "{\"error\": \"%s\"",
                  t->failed
                      ? "no memento was found, but not all archives that "
                        "may have one have answered"
                      : "no archive has a memento");
    for (size_t i = 0; i < t->reports; i++) {
        const struct memento_report *r = &t->report[i];

        if (!r->failed || !r->name)
            continue;
        buffer_text(&body, before);
        buffer_json(&body, r->name, strlen(r->name));
        buffer_text(&body, ": ");
        buffer_json(&body, r->why, strlen(r->why));
        before = ", ";
    }
    buffer_text(&body, *before == ',' && before[1] == ' ' && !before[2]
                           ? "}}\n"
                           : "}\n");
    reply_facts_body(c, a, t->failed ? 503 : 404, t, spared, cached,
                     "application/json", &body);
}

static void reply_redirect(struct conn *c, const struct http_aggregation *a,
                           const struct memento_form *form,
                           const struct memento_timemap *t, bool cached)
{
    const struct memento_capture *to = &t->capture[form->closest];
    const struct http_request *r = &a->exchange.request;
    struct buffer *o;

    reply_begin(c, r, 302);
    o = conn_out(c);
    put_facts(o, a, t, form->spared, cached);
    if (a->task == TIMEGATE) {
        buffer_text(o, "Link: ");
        memento_write_links(o, form, t, LINK_BYTES);
        buffer_text(o, "\r\n");
    }
    buffer_text(o, "Location: ");
    buffer_bytes(o, to->url, to->len);
    buffer_text(o, "\r\n");
    reply_end(c, r, NULL, 0);
}

/* --- a long answer, written by a job --- */

static void free_writing(struct http_writing *w)
{
    memento_timemap_release(w->timemap);
    buffer_clear(&w->origin);
    buffer_clear(&w->body);
    free(w);
}

static void write_body(struct job *j)
{
    struct http_writing *w = (struct http_writing *)j;

    memento_write(&w->body, &w->form, w->timemap);
}

static void body_written(struct job *j)
{
    struct http_writing *w = (struct http_writing *)j;
    struct conn *c = w->conn;

    if (conn_back(c)) {
        struct http_aggregation *a = (struct http_aggregation *)c->http;

        reply_facts_body(c, a, 200, w->timemap, w->form.spared, w->cached,
                         memento_type(w->form.as), &w->body);
        http_exchange_done(c);
        conn_go_on(c);
    }
    free_writing(w);
}

/* Room in the memory of all clients for so many bytes more? */
static bool has_room(struct conn *c, struct http_aggregation *a, size_t bytes)
{
    a->holds = bytes;
    if (conn_measure(c))
        return true;
    a->holds = 0;
    conn_measure(c);
    return false;
}

/* Start to write it; false if that cannot be. */
static bool write_aside(struct conn *c, struct http_aggregation *a,
                        const struct memento_form *form, struct buffer *origin,
                        struct memento_timemap *t, bool cached)
{
    struct http_writing *w = calloc(1, sizeof *w + form->url.len + 1);

    if (!w)
        return false;
    memcpy(w->url, form->url.text, form->url.len);
    w->form = *form;
    w->form.url.text = w->url;
    w->origin = *origin;
    *origin = (struct buffer){ .bytes = NULL };
    w->conn = c;
    w->cached = cached;
    w->timemap = memento_timemap_keep(t);
    w->job.run = write_body;
    w->job.done = body_written;
    if (has_room(c, a, memento_write_size(form, t)) &&
        loop_run(c->loop, &w->job)) {
        conn_hold(c);
        return true;
    }
    free_writing(w);
    return false;
}

/* Answer with what was found. The connection waits on if a job writes it. */
static void answer(struct conn *c, struct memento_timemap *t, size_t spared,
                   bool cached)
{
    struct http_aggregation *a = (struct http_aggregation *)c->http;
    const struct http_request *r = &a->exchange.request;
    struct buffer origin = { .bytes = NULL }, body = { .bytes = NULL };
    struct memento_form form = { .as = a->as,
                                 .url = a->lookup.url,
                                 .closest = MEMENTO_ALL,
                                 .spared = spared };

    http_origin(c, r, &origin);
    form.origin = (struct seen_span){ origin.bytes, origin.len };
    if (t->captures && a->task != TIMEMAP)
        form.closest = memento_timemap_closest(t, a->when);
    if (!t->captures) {
        reply_nothing(c, a, t, spared, cached);
    } else if (a->task == TIMEGATE || a->task == REDIRECT) {
        reply_redirect(c, a, &form, t, cached);
    } else if (a->task == DESCRIPTION || t->captures <= LONG) {
        memento_write(&body, &form, t);
        body.failed |= origin.failed;
        reply_facts_body(c, a, 200, t, spared, cached, memento_type(a->as),
                         &body);
    } else if (origin.failed ||
               !write_aside(c, a, &form, &origin, t, cached)) {
        reply_error(c, r, 503, NULL, "the server is too busy; try again");
    }
    buffer_clear(&origin);
}

/* --- the archives --- */

static void free_gathering(struct http_gathering *g)
{
    *g->before = g->after;
    if (g->after)
        g->after->before = g->before;
    memento_timemap_release(g->question.timemap);
    free((void *)(uintptr_t)g->question.source);
    buffer_clear(&g->text);
    free(g);
}

/* In the aggregator's thread. */
static void gathered(struct memento_question *q)
{
    struct http_gathering *g = (struct http_gathering *)q;
    struct loop *l = g->conn->loop;
    struct http_gathering **all = &l->http->gathered;

    g->next = __atomic_load_n(all, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(all, &g->next, g, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    uv_async_send(&l->wake);
}

static void finish_gathering(struct http_gathering *g)
{
    struct conn *c = g->conn;

    if (conn_back(c)) {
        if (g->question.timemap)
            answer(c, g->question.timemap, g->spared, g->question.cached);
        else
            reply_error(c, &c->http->request, 503, NULL,
                        "the server is too busy; try again");
        if (!c->jobs) { /* no job writes the answer */
            http_exchange_done(c);
            conn_go_on(c);
        }
    }
    free_gathering(g);
}

void http_aggregate_wake(struct loop *l)
{
    struct http_gathering *g, *next;

    g = __atomic_exchange_n(&l->http->gathered, NULL, __ATOMIC_ACQUIRE);
    for (; g; g = next) {
        next = g->next;
        finish_gathering(g);
    }
}

/* The loop has ended, and so has the aggregator: nobody waits any more. */
void http_aggregate_stop(struct loop *l)
{
    struct http_gathering *g;

    while ((g = l->http->gathering)) {
        conn_back(g->conn);
        free_gathering(g);
    }
}

/* --- which archives --- */

/* Texts are gathered in a buffer that moves: until it is whole, sources have
   their positions in it. */
struct http_choice {
    struct memento_source *source;
    size_t (*at)[2]; /* of the name and the URL; 0 is none */
    size_t n, spared;
    struct buffer text;
    struct seen_span url;
};

static size_t put_text(struct buffer *b, const char *text)
{
    const size_t at = b->len;

    buffer_bytes(b, text, strlen(text) + 1);
    return at;
}

static void choose(struct http_choice *them, const char *name,
                   const char *template, const char *fault)
{
    const size_t i = them->n++;

    them->source[i].fault = fault;
    them->at[i][0] = put_text(&them->text, name);
    them->at[i][1] = 0;
    if (!template || !*template)
        return;
    them->at[i][1] = them->text.len;
    memento_template_fill(&them->text, template, them->url);
    buffer_byte(&them->text, '\0');
}

/* An archive with a filter: asked unless that says no. */
static void choose_filtered(struct http_choice *them, const struct archive *a,
                            enum archive_answer answer,
                            const struct memento_archive *entry)
{
    const char *template = entry ? entry->timemap : archive_meta(a, "timemap");

    if (entry && entry->ignore)
        return;
    if (answer == ARCHIVE_NO)
        them->spared++;
    else
        choose(them, a->name, template,
               answer == ARCHIVE_YES
                   ? "it may have it, but its TimeMap is not known"
                   : "its filter cannot answer, and its TimeMap is not known");
}

static void choose_all(struct http_choice *them, struct loop *l,
                       const unsigned char *answer, bool *listed)
{
    const struct memento_list *list = memento_archives(l->server->memento);
    struct archive *a;
    size_t entry;

    for (size_t i = 0; (a = archive_view_at(l->view, i)); i++) {
        entry = memento_list_find(list, a->name);
        if (entry < list->n)
            listed[entry] = true;
        choose_filtered(them, a, answer[i],
                        entry < list->n ? &list->archive[entry] : NULL);
    }
    for (size_t i = 0; i < list->n; i++)
        if (!listed[i] && !list->archive[i].ignore)
            choose(them, memento_archive_name(&list->archive[i]),
                   list->archive[i].timemap, NULL);
}

static void place_texts(struct http_choice *them)
{
    for (size_t i = 0; i < them->n; i++) {
        them->source[i].name = them->text.bytes + them->at[i][0];
        them->source[i].url = them->at[i][1]
                                  ? them->text.bytes + them->at[i][1]
                                  : NULL;
    }
}

static void gather_from(struct conn *c, struct http_aggregation *a,
                        struct http_choice *them)
{
    struct http_gathering *g = calloc(1, sizeof *g + a->lookup.url.len + 1);
    struct http_loop *h = c->loop->http;
    struct memento *m = c->loop->server->memento;

    if (!g || them->text.failed) {
        free(g);
        reply_error(c, &a->exchange.request, 503, NULL, "no memory");
        return;
    }
    place_texts(them);
    memcpy(g->url, a->lookup.url.text, a->lookup.url.len);
    g->question.url = g->url;
    g->question.source = them->source;
    g->question.sources = them->n;
    g->question.done = gathered;
    g->conn = c;
    g->spared = them->spared;
    g->text = them->text;
    them->source = NULL;
    them->text = (struct buffer){ .bytes = NULL };
    g->before = &h->gathering;
    g->after = h->gathering;
    if (g->after)
        g->after->before = &g->after;
    h->gathering = g;
    memento_spare(m, g->spared);
    if (memento_ask(m, &g->question)) {
        conn_hold(c);
        return;
    }
    reply_error(c, &a->exchange.request, 503, NULL,
                "the server is too busy; try again");
    free_gathering(g);
}

/* The filters have answered: answer[i] is that of archive i of the view. */
static void gather(struct conn *c, const unsigned char *answer)
{
    struct http_aggregation *a = (struct http_aggregation *)c->http;
    struct loop *l = c->loop;
    const size_t entries = memento_archives(l->server->memento)->n;
    const size_t most = archive_view_count(l->view) + entries + 1;
    struct http_choice them = { .source = calloc(most, sizeof *them.source),
                                .at = calloc(most, sizeof *them.at),
                                .url = a->lookup.url };
    bool *listed = calloc(entries + 1, sizeof *listed);

    if (them.source && them.at && listed) {
        choose_all(&them, l, answer, listed);
        gather_from(c, a, &them);
    } else {
        reply_error(c, &a->exchange.request, 503, NULL, "no memory");
    }
    free(them.source);
    free(them.at);
    free(listed);
    buffer_clear(&them.text);
}

/* --- the filters --- */

static void aggregation_free(struct http_exchange *x)
{
    serve_question_free(((struct http_aggregation *)x)->question);
    free(x);
}

static void aggregation_body(struct http_exchange *x, const char *bytes,
                             size_t n)
{
    (void)x, (void)bytes, (void)n;
}

static size_t aggregation_memory(const struct http_exchange *x)
{
    const struct http_aggregation *a = (const struct http_aggregation *)x;

    return sizeof *a + a->lookup.url.len + a->holds;
}

/* Archives may have come and gone since the question was asked. */
static void filters_asked(struct serve_question *q, bool there)
{
    if (there) {
        struct conn *c = q->conn;
        struct archive_view *v = c->loop->view;
        const size_t n = archive_view_count(v);
        unsigned char *answer = malloc(n + 1);

        for (size_t i = 0; i < n && answer; i++)
            answer[i] = (unsigned char)archive_question_answer(
                &q->question, archive_view_at(v, i)->name, 0);
        if (answer)
            gather(c, answer);
        else
            reply_error(c, &c->http->request, 503, NULL, "no memory");
        free(answer);
        if (!c->jobs) {
            http_exchange_done(c);
            conn_go_on(c);
        }
    }
    serve_question_free(q);
}

static bool ask_aside(struct http_aggregation *a)
{
    struct serve_question *q = calloc(1, sizeof *q);

    if (!q)
        return false;
    q->done = filters_asked;
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
    gather(x->conn, answer);
    free(answer);
}

/* --- what is asked for --- */

struct aggregate_request {
    enum aggregate_task task;
    enum memento_as as;
    int64_t when;
    struct seen_span rest; /* with the URL */
};

static bool is_web(struct seen_span url)
{
    return (url.len > 7 && !strncasecmp(url.text, "http://", 7)) ||
           (url.len > 8 && !strncasecmp(url.text, "https://", 8));
}

/* A URL without http:// or https:// is given the first, as MemGator does. */
static void start(struct conn *c, const struct http_request *r,
                  const struct aggregate_request *asks)
{
    static const struct http_exchange_kind kind = {
        aggregation_body, aggregation_end, aggregation_free, aggregation_memory
    };
    static const char scheme[] = "http://";
    char room[HTTP_TARGET + 8], text[SEEN_KEY_TEXT];
    struct seen_error why = { .text = "the URL is badly encoded" };
    struct http_request bare = *r; /* a body, if it has one, is not read */
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
    a->when = asks->when;
    a->lookup.url = whole;
    bare.length = 0;
    bare.chunked = bare.waits = false;
    http_exchange_start(c, &bare, &a->exchange);
}

/* --- the paths --- */

void http_aggregate_timemap(struct conn *c, const struct http_request *r,
                            struct seen_span rest)
{
    struct aggregate_request asks = { .task = TIMEMAP };
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
    struct aggregate_request asks = { .task = TIMEGATE,
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
    struct aggregate_request asks = { .task = REDIRECT };
    struct seen_span rest = p->rest, word = { "", 0 };

    if (!c->loop->server->memento) {
        reply_error(c, r, 404, NULL,
                    "this server aggregates no mementos; see its option "
                    "--aggregate");
        return;
    }
    if (!span_cut(&rest, '/', &word))
        word.len = 0;
    if (span_is(word, "proxy")) {
        reply_error(c, r, 501, NULL,
                    "mementos are not passed on; ask /memento/<DATE>/<URL> "
                    "where they are");
        return;
    }
    if (memento_as_read(word, &asks.as)) {
        asks.task = DESCRIPTION;
        if (!span_cut(&rest, '/', &word))
            word.len = 0;
    }
    if (!memento_stamp_read(word, &asks.when) || !rest.len) {
        reply_error(c, r, 400, NULL,
                    "the path is /memento[/link|json|cdxj]/"
                    "YYYY[MM[DD[hh[mm[ss]]]]]/<URL>");
        return;
    }
    asks.rest = rest;
    start(c, r, &asks);
}
