/*
 * crawls_json.c - crawls for programs: JSON, and metrics for Prometheus.
 *
 * JSON has null for everything that is not known; metrics have no such value. A
 * crawl may have had many thousand visits, so only those that go on have
 * series, or else the last one, and at most VISITS of a crawl.
 */
#include "crawls.h"

#include <inttypes.h>

#include <seen/version.h>

#include "../../lib/text/json.h"
#include "../../lib/text/xml.h"
#include "members.h"

static const char *const visit_states[] = { "running", "stopped", "ending",
                                            "ended", "coalesced" };
static const char *const kinds[] = { "folder", "workers", "queues" };

/* --- JSON --- */

static void put_count(struct buffer *o, const char *name, int64_t n)
{
    http_member(o, name);
    if (n >= 0)
        buffer_format(o, "%" PRId64, n);
    else
        buffer_text(o, "null");
}

static void put_number(struct buffer *o, const char *name, double x)
{
    http_member(o, name);
    if (x >= 0)
        buffer_format(o, "%.6g", x);
    else
        buffer_text(o, "null");
}

/* Unix time with its thousandths; null for none. */
static void put_time(struct buffer *o, const char *name, int64_t ms)
{
    http_member(o, name);
    if (ms > 0)
        buffer_format(o, "%" PRId64 ".%03d", ms / 1000, (int)(ms % 1000));
    else
        buffer_text(o, "null");
}

static void put_seconds(struct buffer *o, const char *name, int64_t ms)
{
    http_member(o, name);
    buffer_format(o, "%.3f", (double)ms / 1000);
}

static void put_visit(struct buffer *o, const struct watch_visit *v)
{
    buffer_text(o, "{\"visit\": ");
    buffer_json(o, v->name, strlen(v->name));
    http_member_text(o, "state", visit_states[v->state]);
    put_time(o, "began", v->began);
    put_time(o, "ended", v->ended);
    put_count(o, "pages", v->pages);
    put_count(o, "failed", v->failed);
    put_count(o, "excluded", v->excluded);
    put_count(o, "waiting", v->waiting);
    put_count(o, "left", v->left);
    put_count(o, "not_due", v->not_due);
    put_count(o, "links", v->links);
    put_count(o, "bytes", v->bytes);
    put_count(o, "records", v->records);
    put_count(o, "most", v->most ? v->most : -1);
    put_number(o, "rate", v->rate);
    put_number(o, "mean_rate", v->mean);
    buffer_byte(o, '}');
}

static void put_queues(struct buffer *o, const struct watch_crawl *c)
{
    http_member(o, "queues");
    buffer_byte(o, '[');
    for (size_t i = 0; i < c->queues; i++) {
        const struct watch_queue *q = &c->queue[i];

        buffer_text(o, i ? ", {\"queue\": " : "{\"queue\": ");
        buffer_json(o, q->name, strlen(q->name));
        put_count(o, "ready", q->ready);
        put_count(o, "taken", q->taken);
        put_count(o, "later", q->later);
        put_count(o, "dead", q->dead);
        if (q->oldest >= 0)
            put_seconds(o, "oldest", q->oldest);
        else
            http_member_text(o, "oldest", NULL);
        put_number(o, "rate", q->rate);
        buffer_byte(o, '}');
    }
    buffer_byte(o, ']');
}

static void put_workers(struct buffer *o, const struct watch_crawl *c)
{
    http_member(o, "workers");
    buffer_byte(o, '[');
    for (size_t i = 0; i < c->workers; i++) {
        const struct watch_worker *w = &c->worker[i];

        buffer_text(o, i ? ", {\"worker\": " : "{\"worker\": ");
        buffer_json(o, w->name, strlen(w->name));
        put_count(o, "number", w->number);
        put_seconds(o, "lease_ends_in", w->ends_in);
        put_count(o, "hosts", w->hosts);
        put_count(o, "pages", w->pages);
        put_number(o, "rate", w->rate);
        put_number(o, "mean_rate", w->mean);
        buffer_byte(o, '}');
    }
    buffer_byte(o, ']');
}

/* The beginning of an object, which the caller closes. */
static void put_crawl(struct buffer *o, const struct watch_seen *seen)
{
    const struct watch_crawl *c = seen->crawl;

    buffer_text(o, "{\"crawl\": ");
    buffer_json(o, seen->name, strlen(seen->name));
    http_member_text(o, "kind", kinds[c->kind]);
    http_member_text(o, "where", c->where);
    http_member_text(o, "error", c->why);
    http_member(o, "running");
    buffer_text(o, c->runs ? "true" : "false");
    put_time(o, "as_of", seen->unix_ms);
    put_seconds(o, "late", (int64_t)seen->late);
    put_count(o, "pages", c->pages);
    put_count(o, "failed", c->failed);
    put_count(o, "waiting", c->waiting);
    put_count(o, "left", c->left);
    put_count(o, "aside", c->aside);
    put_number(o, "rate", c->rate);
    put_number(o, "mean_rate", c->mean);
    http_member(o, "hosts");
    for (int i = 0; i < FRONTIER_WAITS; i++)
        buffer_format(o, "%s\"%s\": %" PRId64, i ? ", " : "{",
                      frontier_wait_names[i], c->hosts[i]);
    buffer_byte(o, '}');
    put_count(o, "failing_hosts", c->failing);
    put_count(o, "live_workers", c->kind == WATCH_SHARED ? c->live : -1);
}

/* Does the list of all crawls show the visit? Those that go on, or else the
   last one. */
static bool is_current(const struct watch_crawl *c, size_t i)
{
    return c->visit[i].state <= WATCH_ENDING ||
           (!i && c->visit[0].state > WATCH_ENDING);
}

static void put_visits(struct buffer *o, const struct watch_crawl *c, bool all)
{
    const char *between = "\n   ";

    http_member(o, "visits");
    buffer_byte(o, '[');
    for (size_t i = 0; i < c->visits; i++) {
        if (!all && !is_current(c, i))
            continue;
        buffer_text(o, between);
        put_visit(o, &c->visit[i]);
        between = ",\n   ";
    }
    buffer_byte(o, ']');
}

void crawls_json(struct buffer *o, const struct watch_view *view)
{
    buffer_text(o, "{\"version\": \"" SEEN_VERSION "\", \"crawls\": [");
    for (size_t i = 0; i < view->crawls; i++) {
        const struct watch_seen *seen = &view->crawl[i];

        buffer_text(o, i ? ",\n " : "\n ");
        put_crawl(o, seen);
        put_visits(o, seen->crawl, false);
        put_queues(o, seen->crawl);
        buffer_byte(o, '}');
    }
    buffer_text(o, "]}\n");
}

static void put_host(struct buffer *o, const struct watch_host *h)
{
    buffer_text(o, "{\"host\": ");
    buffer_json(o, h->name, strlen(h->name));
    http_member_text(o, "waits_for", frontier_wait_names[h->wait]);
    put_seconds(o, "wait_in", h->wait_in);
    put_seconds(o, "due_in", h->due_in);
    http_member_text(o, "note", *h->note ? h->note : NULL);
    http_member_text(o, "worker", *h->by ? h->by : NULL);
    http_member_text(o, "address", *h->address ? h->address : NULL);
    put_count(o, "waiting", h->waiting);
    put_count(o, "pages", h->pages);
    put_count(o, "requests", h->requests);
    put_count(o, "bytes", h->bytes);
    put_count(o, "failures", h->failures);
    buffer_byte(o, '}');
}

void crawls_json_one(struct buffer *o, const struct watch_seen *seen,
                     const struct crawls_hosts *hosts)
{
    const struct watch_crawl *c = seen->crawl;
    size_t found = 0, written = 0;

    put_crawl(o, seen);
    put_visits(o, c, true);
    put_workers(o, c);
    put_queues(o, c);
    http_member(o, "errors");
    buffer_byte(o, '[');
    for (size_t i = 0; i < c->errors; i++) {
        buffer_text(o, i ? ",\n   {\"url\": " : "\n   {\"url\": ");
        buffer_json(o, c->error[i].url, strlen(c->error[i].url));
        http_member_text(o, "error", c->error[i].text);
        put_time(o, "at", c->error[i].at);
        buffer_byte(o, '}');
    }
    buffer_format(o, "], \"host_from\": %zu, \"host_list\": [", hosts->from);
    for (size_t i = 0; i < c->listed; i++) {
        if (!crawls_wanted(hosts, &c->host[i]) || found++ < hosts->from ||
            written == hosts->most)
            continue;
        buffer_text(o, written++ ? ",\n   " : "\n   ");
        put_host(o, &c->host[i]);
    }
    buffer_format(o, "], \"host_count\": %zu}\n", found);
}

/* --- metrics --- */

enum { VISITS = 20 }; /* per crawl that have a series */

/* Control bytes and what is not UTF-8 become "?". */
static void label(struct buffer *o, const char *text)
{
    size_t len = strlen(text), n;

    for (; len; text += n, len -= n) {
        n = xml_char(text, len);
        if (*text == '"' || *text == '\\')
            buffer_format(o, "\\%c", *text);
        else if (!n)
            buffer_byte(o, '?');
        else
            buffer_bytes(o, text, n);
        n = n ? n : 1;
    }
}

/* seen_NAME{crawl="site",KEY="value"} x */
static void series(struct buffer *o, const char *name,
                   const struct watch_seen *seen, const char *key,
                   const char *value, const char *state, double x)
{
    buffer_format(o, "seen_%s{crawl=\"", name);
    label(o, seen->name);
    if (key) {
        buffer_format(o, "\",%s=\"", key);
        label(o, value);
    }
    if (state)
        buffer_format(o, "\",state=\"%s", state);
    buffer_format(o, "\"} %.17g\n", x);
}

static void crawl_metric(struct buffer *o, const struct watch_view *view,
                         const char *name, const char *help,
                         double (*of)(const struct watch_seen *seen))
{
    http_metric(o, name, "gauge", help);
    for (size_t i = 0; i < view->crawls; i++)
        series(o, name, &view->crawl[i], NULL, NULL, NULL,
               of(&view->crawl[i]));
}

static double up(const struct watch_seen *seen)
{
    return !seen->crawl->why && !seen->late;
}

static double running(const struct watch_seen *seen)
{
    return seen->crawl->runs;
}

static double age(const struct watch_seen *seen)
{
    return (double)seen->age / 1000;
}

static double live_workers(const struct watch_seen *seen)
{
    return (double)seen->crawl->live;
}

static double failing(const struct watch_seen *seen)
{
    return (double)seen->crawl->failing;
}

static double aside(const struct watch_seen *seen)
{
    return (double)seen->crawl->aside;
}

static double waiting_of(const struct watch_visit *v)
{
    return (double)v->waiting;
}

static double left_of(const struct watch_visit *v)
{
    return v->left > 0 ? (double)v->left : 0;
}

static double pages_of(const struct watch_visit *v)
{
    return (double)v->pages;
}

static double failed_of(const struct watch_visit *v)
{
    return (double)v->failed;
}

/* Visits that go on, or the last one; the first VISITS of a crawl. */
static void visit_metric(struct buffer *o, const struct watch_view *view,
                         const char *name, const char *type, const char *help,
                         double (*of)(const struct watch_visit *v))
{
    http_metric(o, name, type, help);
    for (size_t i = 0; i < view->crawls; i++) {
        const struct watch_crawl *c = view->crawl[i].crawl;
        unsigned n = 0;

        for (size_t k = 0; k < c->visits && n < VISITS; k++) {
            if (!is_current(c, k))
                continue;
            n++;
            series(o, name, &view->crawl[i], "visit", c->visit[k].name, NULL,
                   of(&c->visit[k]));
        }
    }
}

static void host_metric(struct buffer *o, const struct watch_view *view)
{
    http_metric(o, "crawl_hosts", "gauge", "Hosts by what they wait for.");
    for (size_t i = 0; i < view->crawls; i++)
        for (int k = 0; k < FRONTIER_WAITS; k++)
            series(o, "crawl_hosts", &view->crawl[i], NULL, NULL,
                   frontier_wait_names[k],
                   (double)view->crawl[i].crawl->hosts[k]);
}

static void queue_metric(struct buffer *o, const struct watch_view *view)
{
    static const char *const states[] = { "ready", "taken", "later", "dead" };

    http_metric(o, "queue_messages", "gauge", "Messages of a queue by state.");
    for (size_t i = 0; i < view->crawls; i++) {
        const struct watch_crawl *c = view->crawl[i].crawl;

        for (size_t k = 0; k < c->queues; k++) {
            const struct watch_queue *q = &c->queue[k];
            const int64_t n[] = { q->ready, q->taken, q->later, q->dead };

            for (int s = 0; s < 4; s++)
                if (n[s] >= 0)
                    series(o, "queue_messages", &view->crawl[i], "queue",
                           q->name, states[s], (double)n[s]);
        }
    }
}

void crawls_metrics(struct buffer *o, const struct watch_view *view)
{
    crawl_metric(o, view, "crawl_up", "Whether the crawl can be read.", up);
    crawl_metric(o, view, "crawl_running", "Whether a visit goes on.",
                 running);
    crawl_metric(o, view, "crawl_age_seconds",
                 "Seconds since these numbers were read.", age);
    crawl_metric(o, view, "crawl_workers", "Workers with a lease.",
                 live_workers);
    crawl_metric(o, view, "crawl_hosts_failing",
                 "Hosts whose last request had no answer.", failing);
    crawl_metric(o, view, "crawl_pages_aside",
                 "Pages that are not read any more, since they killed the "
                 "process each time.",
                 aside);
    host_metric(o, view);
    visit_metric(o, view, "visit_pages_total", "counter",
                 "Pages that were answered.", pages_of);
    visit_metric(o, view, "visit_failed_total", "counter",
                 "Pages without an answer.", failed_of);
    visit_metric(o, view, "visit_waiting", "gauge", "Pages that wait.",
                 waiting_of);
    visit_metric(o, view, "visit_left", "gauge",
                 "Pages of hosts that are not asked any more.", left_of);
    queue_metric(o, view);
}
