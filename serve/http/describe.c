/*
 * describe.c - archives, health and metrics of the server.
 *
 *     GET /archives, /info/NAME    JSON
 *     GET /healthz                 JSON, or lines for people
 *     GET /metrics                 for Prometheus
 *
 * All of them are about the view of the loop that is asked, and about counters
 * of all loops. Of an archive that does not answer they say why, in the words
 * of the library.
 */
#include "request.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <seen/kind.h>
#include <seen/version.h>

#include "../../lib/text/json.h"
#include "../../lib/text/percent.h"
#include "../memento/gather.h"
#include "crawls.h"
#include "members.h"

static void put_number(struct buffer *o, const char *name, double x)
{
    http_member(o, name);
    if (isfinite(x))
        buffer_format(o, "%.10g", x);
    else
        buffer_text(o, "null");
}

static void put_file(struct buffer *o, const struct archive *a)
{
    struct buffer path = { .bytes = NULL };

    buffer_text(&path, "files/");
    percent_encode(&path, a->name, strlen(a->name), PERCENT_NAME);
    buffer_text(&path, ".seen");
    buffer_text(o, ", \"file\": ");
    buffer_json(o, path.bytes, path.len);
    o->failed |= path.failed;
    buffer_clear(&path);
}

/* Does it keep its keys, and cannot grow nevertheless? Only a writer knows. */
static bool is_stuck(const struct archive *a, struct seen_error *why)
{
    return a->writer && seen_store_keeps(a->filter) &&
           !seen_store_grows(a->filter, why);
}

/* How many more URLs fit; a filter that grows has no end. */
static double room_of(const struct archive *a, double entries)
{
    const struct seen_filter *f = a->filter;
    const struct seen_plan *p = seen_filter_plan(f);

    if (p->over || seen_filter_can(f, SEEN_CAN_GROW) ||
        (a->writer && seen_store_grows(f, NULL)))
        return INFINITY;
    if (!seen_filter_can(f, SEEN_CAN_ADD))
        return 0;
    return fmax(0, (double)p->capacity - entries);
}

/* Files can be once they have a writer. */
static bool is_writable(const struct archive *a)
{
    return a->writer || (a->remote && archive_view_writable(a->view) &&
                         seen_filter_can(a->filter, SEEN_CAN_ADD));
}

static void describe_archive(struct buffer *o, struct archive *a, bool files)
{
    const struct seen_filter *f = a->filter;

    buffer_text(o, "{\"name\": ");
    buffer_json(o, a->name, strlen(a->name));
    http_member_text(o, "title", archive_meta(a, "title"));
    http_member_text(o, "holder", archive_meta(a, "holder"));
    http_member_text(o, "state", archive_state_names[a->state]);
    if (!f) {
        http_member_text(o, "why", a->why.text);
    } else {
        const struct seen_plan *p = seen_filter_plan(f);
        double entries = seen_filter_entries(f);
        struct seen_error why;

        http_member_text(o, "profile", p->profile);
        http_member_text(o, "kind", p->kind);
        http_member_text(o, "as_of", a->as_of);
        put_number(o, "entries", round(entries));
        buffer_format(o, ", \"offered\": %" PRIu64, seen_filter_offered(f));
        buffer_format(o, ", \"capacity\": %" PRIu64, p->capacity);
        buffer_format(o, ", \"bytes\": %" PRIu64, seen_filter_bytes(f));
        put_number(o, "load",
                   (double)seen_filter_cells_set(f) /
                       fmax(1, (double)seen_filter_cells(f)));
        put_number(o, "rate", a->rate);
        put_number(o, "planned_rate", seen_filter_planned(f));
        put_number(o, "room", round(room_of(a, entries)));
        if (is_stuck(a, &why))
            http_member_text(o, "cannot_grow", why.text);
        buffer_format(o, ", \"writable\": %s",
                      is_writable(a) ? "true" : "false");
        if (a->remote)
            buffer_format(o, ", \"losses\": %" PRIu64,
                          archive_remote_losses(a->remote));
        http_member_text(o, "timemap", archive_meta(a, "timemap"));
        http_member_text(o, "timegate", archive_meta(a, "timegate"));
    }
    if (f && files && !a->remote)
        put_file(o, a);
    else
        http_member_text(o, "file", NULL);
    buffer_text(o, "}");
}

void http_archives(struct conn *c, const struct http_request *r,
                   const struct http_path *p)
{
    bool files = c->loop->server->options.files;
    struct buffer body = { .bytes = NULL };
    struct archive *a;

    (void)p;
    buffer_format(&body,
                  "{\"version\": \"" SEEN_VERSION "\", \"crawls\": %s, "
                  "\"search\": %s, \"archives\": [",
                  c->loop->server->watch ? "true" : "false",
                  c->loop->server->search ? "true" : "false");
    for (size_t i = 0; (a = archive_view_at(c->loop->view, i)); i++) {
        buffer_text(&body, i ? ",\n " : "\n ");
        describe_archive(&body, a, files);
    }
    buffer_text(&body, "]}\n");
    reply_body(c, r, 200, NULL, "application/json", &body);
}

void http_info(struct conn *c, const struct http_request *r,
               const struct http_path *p)
{
    struct archive *a = p->archive;
    struct buffer body = { .bytes = NULL };
    const char *name, *value;

    describe_archive(&body, a, c->loop->server->options.files);
    body.len--; /* and its metadata, before the brace */
    buffer_text(&body, ", \"meta\": {");
    for (size_t i = 0;
         seen_meta_at(a->mapped ? a->mapped : a->filter, i, &name, &value);
         i++) {
        if (i)
            buffer_text(&body, ", ");
        buffer_json(&body, name, strlen(name));
        buffer_text(&body, ": ");
        buffer_json(&body, value, strlen(value));
    }
    buffer_text(&body, "}}\n");
    reply_body(c, r, 200, NULL, "application/json", &body);
}

/* --- health --- */

enum { TROUBLES = 100 }; /* archives that are named, at most */

/* How the server is, by its archives. An empty one is well if archives can be
   made, or if it has other things to do; else its folder is not mounted, or
   the like. */
static const char *health_of(const struct loop *l, const size_t *count,
                             size_t stuck)
{
    const struct server *s = l->server;
    const size_t good = count[ARCHIVE_READY] + count[ARCHIVE_CHECKING];
    const size_t bad = count[ARCHIVE_WITHDRAWN] + count[ARCHIVE_AWAY];

    if (l->draining)
        return "stopping";
    if (!good && !s->watch && !s->search && !s->memento &&
        (bad || !archive_set_writable(s->archives)))
        return "failing";
    if (bad || stuck || __atomic_load_n(&s->log_error, __ATOMIC_RELAXED))
        return "degraded";
    return "ok";
}

/* One thing that is not well, as JSON or as a line. */
static void put_trouble(struct buffer *o, bool text, bool first,
                        const char *what, const char *state, const char *why)
{
    if (text) {
        buffer_format(o, "%s: ", state);
        percent_encode(o, what, strlen(what), PERCENT_SPACE);
        buffer_format(o, ": %s\n", why);
        return;
    }
    buffer_text(o, first ? "\n {\"name\": " : ",\n {\"name\": ");
    buffer_json(o, what, strlen(what));
    http_member_text(o, "state", state);
    http_member_text(o, "why", why);
    buffer_byte(o, '}');
}

static void put_troubles(struct conn *c, struct buffer *o, bool text)
{
    const struct server *s = c->loop->server;
    const int error = __atomic_load_n(&s->log_error, __ATOMIC_RELAXED);
    struct archive *a;
    size_t n = 0;

    for (size_t i = 0; (a = archive_view_at(c->loop->view, i)); i++) {
        struct seen_error why = a->why;
        const bool full = a->filter && is_stuck(a, &why);

        if ((!a->filter || full) && n < TROUBLES)
            put_trouble(o, text, !n++, a->name,
                        full ? "cannot grow" : archive_state_names[a->state],
                        why.text);
    }
    if (error)
        put_trouble(o, text, !n, "access log", "lost", strerror(error));
}

void http_health(struct conn *c, const struct http_request *r,
                 const struct http_path *p)
{
    const bool text = http_prefers(r, "text/plain", "application/json");
    struct buffer body = { .bytes = NULL };
    size_t count[ARCHIVE_STATES] = { 0 }, stuck = 0;
    const char *health;
    struct archive *a;
    bool good;

    (void)p;
    for (size_t i = 0; (a = archive_view_at(c->loop->view, i)); i++) {
        count[a->state]++;
        stuck += a->filter && is_stuck(a, NULL);
    }
    health = health_of(c->loop, count, stuck);
    good = !strcmp(health, "ok") || !strcmp(health, "degraded");
    buffer_format(&body,
                  text ? "%s: %zu ready, %zu checking, %zu withdrawn, %zu "
                         "away\n"
                       : "{\"status\": \"%s\", \"ready\": %zu, \"checking\": "
                         "%zu, \"withdrawn\": %zu, \"away\": %zu, "
                         "\"troubles\": [",
                  health, count[ARCHIVE_READY], count[ARCHIVE_CHECKING],
                  count[ARCHIVE_WITHDRAWN], count[ARCHIVE_AWAY]);
    put_troubles(c, &body, text);
    if (!text)
        buffer_text(&body, "]}\n");
    reply_body(c, r, good ? 200 : 503,
               "Cache-Control: no-store\r\nVary: Accept\r\n",
               text ? "text/plain" : "application/json", &body);
}

/* --- for Prometheus --- */

static void metric(struct buffer *o, const char *name, const char *type,
                   const char *help, double x)
{
    http_metric(o, name, type, help);
    buffer_format(o, "seen_%s %.17g\n", name, x);
}

static void process_metric(struct buffer *o, const char *name,
                           const char *type, const char *help, double x)
{
    buffer_format(o, "# HELP process_%s %s\n# TYPE process_%s %s\n", name,
                  help, name, type);
    buffer_format(o, "process_%s %.17g\n", name, x);
}

/* Names may be any bytes; labels are UTF-8. */
static void label(struct buffer *o, const char *text)
{
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            buffer_format(o, "\\%c", *text);
        else if ((unsigned char)*text < 0x80)
            buffer_bytes(o, text, 1);
        else
            buffer_format(o, "%%%02X", (unsigned char)*text);
}

/* printf() writes "inf". */
static void put_value(struct buffer *o, double x)
{
    if (isfinite(x))
        buffer_format(o, "%.10g\n", x);
    else
        buffer_text(o, x > 0 ? "+Inf\n" : "NaN\n");
}

static void archive_metric(struct buffer *o, struct archive_view *v,
                           const char *name, const char *help,
                           double (*of)(const struct archive *a))
{
    struct archive *a;

    http_metric(o, name, "gauge", help);
    for (size_t i = 0; (a = archive_view_at(v, i)); i++) {
        buffer_format(o, "seen_%s{archive=\"", name);
        label(o, a->name);
        buffer_text(o, "\"} ");
        put_value(o, of(a));
    }
}

static double up(const struct archive *a)
{
    return a->filter != NULL;
}

static double entries(const struct archive *a)
{
    return a->filter ? seen_filter_entries(a->filter) : 0;
}

static double rate(const struct archive *a)
{
    return a->filter ? a->rate : 0;
}

static double bytes(const struct archive *a)
{
    return a->filter ? (double)seen_filter_bytes(a->filter) : 0;
}

static double capacity(const struct archive *a)
{
    return a->filter ? (double)seen_filter_plan(a->filter)->capacity : 0;
}

static double room(const struct archive *a)
{
    return a->filter ? room_of(a, seen_filter_entries(a->filter)) : 0;
}

static double stuck(const struct archive *a)
{
    return a->filter && is_stuck(a, NULL);
}

static double losses(const struct archive *a)
{
    return a->remote ? (double)archive_remote_losses(a->remote) : 0;
}

static void state_metrics(struct buffer *o, struct archive_view *v)
{
    size_t count[ARCHIVE_STATES] = { 0 };
    struct archive *a;

    for (size_t i = 0; (a = archive_view_at(v, i)); i++)
        count[a->state]++;
    http_metric(o, "archives", "gauge", "Archives by state.");
    for (size_t i = 0; i < ARCHIVE_STATES; i++)
        buffer_format(o, "seen_archives{state=\"%s\"} %zu\n",
                      archive_state_names[i], count[i]);
}

/* What all libraries of Prometheus report, under the same names. */
static void process_metrics(struct buffer *o, const struct server *s)
{
    unsigned long pages = 0, resident = 0;
    char text[128];
    ssize_t n = pread(s->statm, text, sizeof text - 1, 0);
    struct rusage used;

    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%lu %lu", &pages, &resident) != 2)
        resident = 0;
    getrusage(RUSAGE_SELF, &used);
    process_metric(
        o, "cpu_seconds_total", "counter", "CPU time used.",
        (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
            (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    process_metric(o, "start_time_seconds", "gauge",
                   "When the server started, in seconds since 1970.",
                   (double)s->started);
    process_metric(o, "resident_memory_bytes", "gauge",
                   "Resident memory, with the pages of filters.",
                   (double)resident * (double)sysconf(_SC_PAGESIZE));
}

static void aggregate_metrics(struct buffer *o, const struct memento *m)
{
    const struct memento_counts n = memento_count(m);

    metric(o, "memento_questions_total", "counter",
           "TimeMaps and TimeGates that the aggregator was asked for.",
           (double)n.questions);
    metric(o, "memento_cached_total", "counter",
           "Of these, answered from its cache.", (double)n.cached);
    metric(o, "memento_shared_total", "counter",
           "Of these, answered together with another one.", (double)n.shared);
    metric(o, "memento_requests_total", "counter",
           "Requests to archives for TimeMaps and their pages.",
           (double)n.requests);
    metric(o, "memento_spared_total", "counter",
           "Archives that were not asked, since their filters say no.",
           (double)n.spared);
    metric(o, "memento_failed_total", "counter",
           "Archives that did not answer, or not in full.", (double)n.failed);
}

static void search_metrics(struct buffer *o, struct search_set *s)
{
    const struct search_counts n = search_count(s);

    metric(o, "search_questions_total", "counter",
           "Questions to the indexes of crawls.", (double)n.questions);
    metric(o, "search_refused_total", "counter",
           "Of these, refused since too many waited.", (double)n.refused);
    metric(o, "search_thorough_total", "counter",
           "Of these, asked with more work than most need.",
           (double)n.thorough);
    metric(o, "search_incomplete_total", "counter",
           "Of these, answered from a part of the pages.",
           (double)n.incomplete);
}

void http_metrics_of(struct conn *c, const struct http_request *r,
                     const struct watch_view *view)
{
    struct server *s = c->loop->server;
    const struct counts sum = server_counts(s);
    const char *type = "text/plain; version=0.0.4; charset=utf-8";
    struct buffer body = { .bytes = NULL }, *o = &body;
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    http_metric(o, "requests_total", "counter", "HTTP requests by status.");
    for (int i = 2; i < 6; i++)
        buffer_format(o, "seen_requests_total{status=\"%dxx\"} %" PRIu64 "\n",
                      i, sum.requests[i]);
    metric(o, "commands_total", "counter", "Commands of the Redis protocol.",
           (double)sum.commands);
    metric(o, "command_errors_total", "counter",
           "Commands answered with an error.", (double)sum.errors);
    metric(o, "asked_total", "counter", "URLs looked up.", (double)sum.asked);
    metric(o, "held_total", "counter", "URLs looked up that may be held.",
           (double)sum.held);
    metric(o, "added_total", "counter", "URLs added.", (double)sum.added);
    metric(o, "removed_total", "counter", "URLs removed.",
           (double)sum.removed);
    metric(o, "connections_total", "counter", "Connections accepted.",
           (double)sum.connections);
    metric(o, "connections_refused_total", "counter",
           "Connections refused beyond the limit.", (double)sum.refused);
    metric(o, "overloads_total", "counter",
           "Requests refused because clients hold too much memory.",
           (double)sum.overloads);
    metric(o, "client_bytes", "gauge", "Memory held for clients.",
           (double)__atomic_load_n(&s->memory, __ATOMIC_RELAXED));
    metric(o, "connections", "gauge", "Open connections.", (double)sum.open);
    metric(o, "received_bytes_total", "counter",
           "Bytes received from clients.", (double)sum.bytes_in);
    metric(o, "sent_bytes_total", "counter", "Bytes sent to clients.",
           (double)sum.bytes_out);
    metric(o, "cpu_seconds_total", "counter", "CPU time used.",
           (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    metric(o, "resident_bytes_max", "gauge", "Peak resident memory.",
           (double)used.ru_maxrss * 1024);
    metric(o, "uptime_seconds", "gauge", "Seconds since the server started.",
           (double)((uint64_t)time(NULL) - s->started));
    metric(o, "reloads_total", "counter", "Reloads by SIGHUP.",
           (double)__atomic_load_n(&s->reloads, __ATOMIC_RELAXED));
    metric(o, "log_lost_total", "counter",
           "Lines of the access log that could not be written.",
           (double)__atomic_load_n(&s->log.lost, __ATOMIC_RELAXED));
    metric(o, "connections_max", "gauge", "Connections that may be open.",
           (double)s->most);
    http_metric(o, "build_info", "gauge", "The version, as a label.");
    buffer_text(o, "seen_build_info{version=\"" SEEN_VERSION "\"} 1\n");
    process_metrics(o, s);
    state_metrics(o, c->loop->view);
    archive_metric(o, c->loop->view, "archive_up",
                   "Whether the archive answers.", up);
    archive_metric(o, c->loop->view, "archive_entries",
                   "Estimated number of URLs.", entries);
    archive_metric(o, c->loop->view, "archive_capacity",
                   "URLs that the archive is planned for.", capacity);
    archive_metric(o, c->loop->view, "archive_room",
                   "URLs that fit until it is full; +Inf if it grows.", room);
    archive_metric(o, c->loop->view, "archive_stuck",
                   "Whether it is written to, keeps its keys to grow, and "
                   "cannot: /info/NAME says why.",
                   stuck);
    archive_metric(o, c->loop->view, "archive_rate",
                   "Current false-positive rate.", rate);
    archive_metric(o, c->loop->view, "archive_bytes", "Size of the cells.",
                   bytes);
    archive_metric(o, c->loop->view, "archive_losses",
                   "Times that another server may have lost acknowledged "
                   "adds.",
                   losses);
    if (s->memento)
        aggregate_metrics(o, s->memento);
    if (s->search)
        search_metrics(o, s->search);
    if (view) {
        crawls_metrics(o, view);
        reply_private(c, r, 200, NULL, type, &body);
    } else {
        reply_body(c, r, 200, NULL, type, &body);
    }
}

void http_robots(struct conn *c, const struct http_request *r,
                 const struct http_path *p)
{
    const char *base = c->loop->server->options.base;
    struct buffer body = { .bytes = NULL };

    (void)p;
    buffer_format(&body, "User-agent: *\nDisallow: %s/agg/\n", base);
    if (c->loop->server->memento) /* other archives would be asked */
        buffer_format(&body,
                      "Disallow: %s/timemap/\nDisallow: %s/timegate/\n"
                      "Disallow: %s/memento/\nDisallow: %s/api/\n",
                      base, base, base, base);
    if (c->loop->server->search)
        buffer_format(&body, "Disallow: %s/search\n", base);
    buffer_text(&body, "Sitemap: ");
    http_origin(c, r, &body);
    buffer_text(&body, "/sitemap.xml\n");
    reply_body(c, r, 200, NULL, "text/plain", &body);
}
