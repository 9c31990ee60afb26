/*
 * crawls.c - the page for operators, and the same for programs.
 *
 *     GET /crawls, /crawls/NAME              HTML, or JSON by Accept
 *     GET /crawls.json, /crawls/NAME.json    JSON
 *     GET /metrics                           with a few numbers per crawl
 *
 * If the last looks are fresh, the answer is written at once. Otherwise the
 * request waits as an exchange, and one job per loop waits for the threads
 * that look (watch/watch.h). All requests that came meanwhile are answered
 * when it is done, so that they never take more than one thread of the pool.
 */
#include "crawls.h"

#include <stdlib.h>

#include "../../lib/text/percent.h"
#include "html.h"
#include "request.h"

/* How the answer is written. `rest` is what follows "/crawls/". */
typedef void crawls_form(struct conn *c, const struct http_request *r,
                         struct seen_span rest, const struct watch_view *view);

struct http_watching {
    struct http_exchange exchange;
    crawls_form *form;
    size_t len;
    char rest[];
};

struct http_watch_job {
    struct job job;
    struct watch *watch;
};

/* --- waiting --- */

static void write_form(struct conn *c, const struct http_request *r,
                       struct seen_span rest, crawls_form *form)
{
    struct watch_view view;

    watch_see(c->loop->server->watch, &view);
    if (view.failed && !view.crawls)
        reply_error(c, r, 503, NULL, "no memory");
    else
        form(c, r, rest, &view);
    watch_forget(&view);
}

static void answer(struct conn *c)
{
    struct http_watching *w = (struct http_watching *)c->http;

    write_form(c, &w->exchange.request, (struct seen_span){ w->rest, w->len },
               w->form);
}

static void run(struct job *j)
{
    watch_wait(((struct http_watch_job *)j)->watch);
}

/* A request that waited. It is not a part of the exchange, which a client that
   goes away takes along. */
static void watched(struct pending *p, bool there)
{
    struct conn *c = p->conn;

    free(p);
    if (!there)
        return;
    answer(c);
    http_go_on(c);
}

static void done(struct job *j)
{
    struct http_loop *h = j->loop->http;
    struct pending *all = h->watchers, *next;

    free(j);
    h->watchers = NULL;
    for (; all; all = next) {
        next = all->next;
        conn_answer(all);
    }
}

static bool start_job(struct loop *l)
{
    struct http_watch_job *j = calloc(1, sizeof *j);

    if (!j)
        return false;
    j->watch = l->server->watch;
    j->job.run = run;
    j->job.done = done;
    if (loop_run(l, &j->job))
        return true;
    free(j);
    return false;
}

/* If it cannot wait, what was seen last has to do. */
static void watching_end(struct http_exchange *x)
{
    struct loop *l = x->conn->loop;
    struct pending *p = calloc(1, sizeof *p);

    if (!p || (!l->http->watchers && !start_job(l))) {
        free(p);
        answer(x->conn);
        return;
    }
    p->done = watched;
    p->next = l->http->watchers;
    l->http->watchers = p;
    conn_wait_for(x->conn, p);
}

static void watching_free(struct http_exchange *x)
{
    free(x);
}

static size_t watching_memory(const struct http_exchange *x)
{
    return sizeof(struct http_watching) +
           ((const struct http_watching *)x)->len;
}

/* Answer in this form, now or when the looks are there. */
static void show(struct conn *c, const struct http_request *r,
                 struct seen_span rest, crawls_form *form)
{
    static const struct http_exchange_kind kind = {
        .end = watching_end, .free = watching_free, .memory = watching_memory
    };
    struct watch *watch = c->loop->server->watch;
    struct http_watching *w;

    if (watch_is_fresh(watch)) {
        write_form(c, r, rest, form);
        return;
    }
    w = calloc(1, sizeof *w + rest.len + 1);
    if (!w) {
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    w->exchange.kind = &kind;
    w->form = form;
    w->len = rest.len;
    memcpy(w->rest, rest.text, rest.len);
    http_exchange_bare(c, r, &w->exchange);
}

/* --- what is asked for --- */

bool crawls_wanted(const struct crawls_hosts *hosts,
                   const struct watch_host *host)
{
    return !*hosts->host || strcasestr(host->name, hosts->host);
}

static size_t number(struct seen_span text, size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.text[i] < '0' || text.text[i] > '9')
            return 0;
        n = n * 10 + (size_t)(text.text[i] - '0');
        if (n > most)
            return most;
    }
    return n;
}

/* What is not understood is ignored. */
static void read_query(struct seen_span query, struct crawls_hosts *hosts)
{
    struct seen_span field, name;

    *hosts = (struct crawls_hosts){ .most = CRAWLS_HOSTS };
    while (span_cut(&query, '&', &field)) {
        if (!span_cut(&field, '=', &name))
            continue;
        if (span_is(name, "from"))
            hosts->from = number(field, WATCH_HOSTS);
        else if (span_is(name, "most"))
            hosts->most = number(field, CRAWLS_HOSTS_MOST);
        else if (span_is(name, "host") && field.len < sizeof hosts->host) {
            size_t n;

            for (size_t i = 0; i < field.len; i++)
                hosts->host[i] = field.text[i] == '+' ? ' ' : field.text[i];
            n = percent_decode_lenient(hosts->host, hosts->host, field.len);
            hosts->host[n] = '\0';
        }
    }
    if (!hosts->most)
        hosts->most = CRAWLS_HOSTS;
}

/* --- the forms --- */

static void reply_json(struct conn *c, const struct http_request *r,
                       struct buffer *body)
{
    reply_private(c, r, 200, "Vary: Accept\r\nCache-Control: no-store\r\n",
                  "application/json", body);
}

static void all_as_json(struct conn *c, const struct http_request *r,
                        struct seen_span rest, const struct watch_view *view)
{
    struct buffer body = { .bytes = NULL };

    (void)rest;
    crawls_json(&body, view);
    reply_json(c, r, &body);
}

static void all_as_accepted(struct conn *c, const struct http_request *r,
                            struct seen_span rest,
                            const struct watch_view *view)
{
    struct buffer body = { .bytes = NULL };

    if (http_prefers(r, "application/json", "text/html")) {
        all_as_json(c, r, rest, view);
        return;
    }
    crawls_html(&body, view, c->loop->server->search != NULL);
    html_reply(c, r, 200, &body);
}

/* "site?from=50", "site.json" */
static void one_as_accepted(struct conn *c, const struct http_request *r,
                            struct seen_span rest,
                            const struct watch_view *view)
{
    const char *mark = rest.len ? memchr(rest.text, '?', rest.len) : NULL;
    const size_t path = mark ? (size_t)(mark - rest.text) : rest.len;
    struct seen_span query = { "", 0 }, name;
    struct buffer body = { .bytes = NULL };
    const struct watch_seen *seen;
    struct crawls_hosts hosts;
    char room[HTTP_TARGET];
    bool json = false;

    if (mark)
        query = (struct seen_span){ mark + 1, rest.len - path - 1 };
    read_query(query, &hosts);
    name.text = room;
    name.len = percent_decode_lenient(room, rest.text, path);
    seen = watch_find(view, name);
    if (!seen && span_ends(name, ".json")) {
        name.len -= strlen(".json");
        json = true;
        seen = watch_find(view, name);
    }
    if (!seen) {
        reply_error(c, r, 404, NULL,
                    "there is no crawl of this name; /crawls lists them");
        return;
    }
    if (json || http_prefers(r, "application/json", "text/html")) {
        crawls_json_one(&body, seen, &hosts);
        reply_json(c, r, &body);
    } else {
        crawls_html_one(&body, seen, &hosts, c->loop->server->search != NULL);
        html_reply(c, r, 200, &body);
    }
}

static void as_metrics(struct conn *c, const struct http_request *r,
                       struct seen_span rest, const struct watch_view *view)
{
    (void)rest;
    http_metrics_of(c, r, view);
}

/* --- the paths --- */

/* Are there places to watch? If not, that is answered. */
static bool watches(struct conn *c, const struct http_request *r)
{
    if (c->loop->server->watch)
        return true;
    reply_error(c, r, 404, NULL,
                "this server watches no crawls; see its option --crawls");
    return false;
}

void http_crawls(struct conn *c, const struct http_request *r,
                 const struct http_path *p)
{
    if (watches(c, r))
        show(c, r, p->rest,
             span_is(p->name, "crawls") ? all_as_accepted : all_as_json);
}

void http_crawl(struct conn *c, const struct http_request *r,
                const struct http_path *p)
{
    if (watches(c, r))
        show(c, r, p->rest, p->rest.len ? one_as_accepted : all_as_accepted);
}

void http_metrics(struct conn *c, const struct http_request *r,
                  const struct http_path *p)
{
    if (c->loop->server->watch)
        show(c, r, p->rest, as_metrics);
    else
        http_metrics_of(c, r, NULL);
}
