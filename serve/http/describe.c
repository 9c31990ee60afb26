/* describe.c - what the server has, and how it is. */
#define _GNU_SOURCE
#include "request.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include <seen/kind.h>

static void put_text(struct out *o, const char *name, const char *value)
{
    out_format(o, ", \"%s\": ", name);
    if (value)
        out_json(o, value, strlen(value));
    else
        out_text(o, "null");
}

static void put_number(struct out *o, const char *name, double x)
{
    if (isfinite(x))
        out_format(o, ", \"%s\": %.10g", name, x);
    else
        out_format(o, ", \"%s\": null", name);
}

static void put_file(struct out *o, const struct archive *a)
{
    struct out path = { .bytes = NULL };

    out_text(&path, "files/");
    for (const char *at = a->name; *at; at++)
        out_format(&path,
                   *at > 0x20 && *at < 0x7f && *at != '%' && *at != '/' &&
                           *at != '?' && *at != '#'
                       ? "%c"
                       : "%%%02X",
                   (unsigned char)*at);
    out_text(&path, ".seen");
    out_text(o, ", \"file\": ");
    out_json(o, path.bytes, path.len);
    out_clear(&path);
}

/* Room is told for what has an end; what grows has none. */
static double room_of(const struct seen_filter *f, double entries)
{
    const struct seen_plan *p = seen_filter_plan(f);

    if (p->over || seen_filter_can(f, SEEN_CAN_GROW))
        return INFINITY;
    if (!seen_filter_can(f, SEEN_CAN_ADD))
        return 0;
    return fmax(0, (double)p->capacity - entries);
}

void describe_archive(struct out *o, struct archive *a, bool files)
{
    static const char *const state[] = { "ready", "checking", "withdrawn" };
    const struct seen_filter *f = a->filter;

    out_text(o, "{\"name\": ");
    out_json(o, a->name, strlen(a->name));
    put_text(o, "title", archive_meta(a, "title"));
    put_text(o, "holder", archive_meta(a, "holder"));
    put_text(o, "state", state[a->state]);
    if (!f) {
        put_text(o, "why", a->why.text);
    } else {
        const struct seen_plan *p = seen_filter_plan(f);
        double entries = seen_filter_entries(f);

        put_text(o, "profile", p->profile);
        put_text(o, "kind", p->kind);
        put_text(o, "as_of", a->as_of);
        put_number(o, "entries", round(entries));
        out_format(o, ", \"offered\": %" PRIu64, seen_filter_offered(f));
        out_format(o, ", \"capacity\": %" PRIu64, p->capacity);
        out_format(o, ", \"bytes\": %" PRIu64, seen_filter_bytes(f));
        put_number(o, "load",
                   (double)seen_filter_set(f) /
                       fmax(1, (double)seen_filter_cells(f)));
        put_number(o, "rate", seen_filter_rate(f));
        put_number(o, "planned_rate", seen_filter_planned(f));
        put_number(o, "room", round(room_of(f, entries)));
        out_format(o, ", \"writable\": %s", a->writer ? "true" : "false");
        put_text(o, "timemap", archive_meta(a, "timemap"));
        put_text(o, "timegate", archive_meta(a, "timegate"));
    }
    if (f && files)
        put_file(o, a);
    else
        put_text(o, "file", NULL);
    out_text(o, "}");
}

void describe_archives(struct conn *c, const struct http_request *r,
                       struct span rest)
{
    bool files = c->loop->server->how.files;
    struct out body = { .bytes = NULL };
    struct archive *a;

    (void)rest;
    out_text(&body, "{\"version\": \"" SEEN_VERSION "\", \"archives\": [");
    for (size_t i = 0; (a = shelf_at(c->loop->shelf, i)); i++) {
        out_text(&body, i ? ",\n " : "\n ");
        describe_archive(&body, a, files);
    }
    out_text(&body, "]}\n");
    reply_text(c, r, 200, "application/json", body.bytes, body.len);
    out_clear(&body);
}

void describe_info(struct conn *c, const struct http_request *r,
                   struct span rest)
{
    struct archive *a = web_archive(c, r, rest);
    struct out body = { .bytes = NULL };
    const char *name, *value;

    if (!a)
        return;
    describe_archive(&body, a, c->loop->server->how.files);
    body.len--; /* and its metadata, before the brace */
    out_text(&body, ", \"meta\": {");
    for (size_t i = 0;
         seen_meta_at(a->mapped ? a->mapped : a->filter, i, &name, &value);
         i++) {
        if (i)
            out_text(&body, ", ");
        out_json(&body, name, strlen(name));
        out_text(&body, ": ");
        out_json(&body, value, strlen(value));
    }
    out_text(&body, "}}\n");
    reply_text(c, r, 200, "application/json", body.bytes, body.len);
    out_clear(&body);
}

void describe_health(struct conn *c, const struct http_request *r,
                     struct span rest)
{
    struct out body = { .bytes = NULL };
    size_t count[3] = { 0 };
    struct archive *a;

    (void)rest;
    for (size_t i = 0; (a = shelf_at(c->loop->shelf, i)); i++)
        count[a->state]++;
    out_format(&body,
               "{\"status\": \"%s\", \"ready\": %zu, \"checking\": %zu, "
               "\"withdrawn\": %zu}\n",
               c->loop->draining ? "stopping" : "ok", count[0], count[1],
               count[2]);
    reply_text(c, r, c->loop->draining ? 503 : 200, "application/json",
               body.bytes, body.len);
    out_clear(&body);
}

/* --- for Prometheus --- */

static void add_counts(struct counts *sum, const struct counts *from)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *at = (const uint64_t *)from;

    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += __atomic_load_n(&at[i], __ATOMIC_RELAXED);
}

static void metric(struct out *o, const char *name, const char *type,
                   const char *help, double x)
{
    out_format(o, "# HELP seen_%s %s\n# TYPE seen_%s %s\nseen_%s %.17g\n",
               name, help, name, type, name, x);
}

/* Names may be any bytes; a label is UTF-8. */
static void label(struct out *o, const char *text)
{
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            out_format(o, "\\%c", *text);
        else if ((unsigned char)*text < 0x80)
            out_bytes(o, text, 1);
        else
            out_format(o, "%%%02X", (unsigned char)*text);
}

static void archive_metric(struct out *o, struct shelf *s, const char *name,
                           const char *help,
                           double (*of)(const struct archive *a))
{
    struct archive *a;

    out_format(o, "# HELP seen_archive_%s %s\n# TYPE seen_archive_%s gauge\n",
               name, help, name);
    for (size_t i = 0; (a = shelf_at(s, i)); i++) {
        out_format(o, "seen_archive_%s{archive=\"", name);
        label(o, a->name);
        out_format(o, "\"} %.10g\n", of(a));
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
    return a->filter ? seen_filter_rate(a->filter) : 0;
}

static double bytes(const struct archive *a)
{
    return a->filter ? (double)seen_filter_bytes(a->filter) : 0;
}

void describe_metrics(struct conn *c, const struct http_request *r,
                      struct span rest)
{
    struct server *s = c->loop->server;
    struct counts sum = { .open = 0 };
    struct out body = { .bytes = NULL }, *o = &body;
    struct rusage used;

    (void)rest;
    for (unsigned i = 0; i < s->threads; i++)
        add_counts(&sum, &s->loop[i].counts);
    getrusage(RUSAGE_SELF, &used);
    out_text(o, "# HELP seen_requests_total Requests of HTTP, by status.\n"
                "# TYPE seen_requests_total counter\n");
    for (int i = 2; i < 6; i++)
        out_format(o, "seen_requests_total{status=\"%dxx\"} %" PRIu64 "\n", i,
                   sum.requests[i]);
    metric(o, "commands_total", "counter", "Commands of the Redis protocol.",
           (double)sum.commands);
    metric(o, "command_errors_total", "counter",
           "Commands that were answered with an error.", (double)sum.errors);
    metric(o, "asked_total", "counter", "URLs that were asked for.",
           (double)sum.asked);
    metric(o, "held_total", "counter", "Of these, URLs that may be held.",
           (double)sum.held);
    metric(o, "added_total", "counter", "URLs that were added.",
           (double)sum.added);
    metric(o, "removed_total", "counter", "URLs that were removed.",
           (double)sum.removed);
    metric(o, "connections_total", "counter", "Clients that connected.",
           (double)sum.connections);
    metric(o, "connections_refused_total", "counter",
           "Clients that were one too many.", (double)sum.refused);
    metric(o, "connections", "gauge", "Clients that are connected.",
           (double)sum.open);
    metric(o, "received_bytes_total", "counter", "Bytes that clients sent.",
           (double)sum.bytes_in);
    metric(o, "sent_bytes_total", "counter", "Bytes sent to clients.",
           (double)sum.bytes_out);
    metric(o, "cpu_seconds_total", "counter", "Processor time used.",
           (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    metric(o, "resident_bytes_max", "gauge", "Memory at its most.",
           (double)used.ru_maxrss * 1024);
    metric(o, "uptime_seconds", "gauge", "Since the server started.",
           (double)((uint64_t)time(NULL) - s->started));
    archive_metric(o, c->loop->shelf, "up", "Whether the archive answers.",
                   up);
    archive_metric(o, c->loop->shelf, "entries", "URLs held, about.", entries);
    archive_metric(o, c->loop->shelf, "rate", "Rate of false positives now.",
                   rate);
    archive_metric(o, c->loop->shelf, "bytes", "Size of the cells.", bytes);
    reply_text(c, r, 200, "text/plain; version=0.0.4; charset=utf-8",
               body.bytes, body.len);
    out_clear(&body);
}
