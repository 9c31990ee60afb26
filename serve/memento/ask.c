/*
 * ask.c - ask a TimeGate, or fetch a TimeMap and the pages that it lists.
 *
 *     begin ──┬─> TimeGate ──> done()
 *             │      │ of no use
 *             └──────┴──> TimeMap ──> its pages ──> done()
 */
#include "ask.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seen/url.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/array.h"
#include "../../lib/text/percent.h"
#include "../../lib/text/span.h"
#include "../../web/timemap.h"
#include "memento_url.h"

enum { DAY = 86400, SMALL = 1 << 16 };

struct memento_found {
    int64_t when;
    size_t at;
    uint32_t len;
};

struct memento_page {
    struct memento_asking *asking;
    struct web_timemap reader;
    char *base; /* its URL after redirects; NULL: as it was asked for */
    bool running;
    char url[];
};

void memento_report_fail(struct memento_report *r, const char *format, ...)
{
    va_list args;

    if (r->failed)
        return;
    r->failed = true;
    va_start(args, format);
    vsnprintf(r->why, sizeof r->why, format, args);
    va_end(args);
}

/* --- links --- */

/* Count the memory again. */
static void count_memory(struct memento_asking *a)
{
    struct memento_client *c = a->client;
    const size_t holds = a->report->urls.room + a->room * sizeof *a->found +
                         memento_near_bytes(&a->near);

    c->held += holds - a->held;
    c->holders += (unsigned)(holds > SMALL) - (unsigned)(a->held > SMALL);
    a->held = holds;
}

/*
 * A TimeMap may be endless, and must not take the memory of the others. So one
 * archive may take a half, and share the other half with all that hold much. A
 * little of it is for everyone.
 */
static bool fits(const struct memento_asking *a)
{
    const struct memento_client *c = a->client;

    return a->held <= SMALL || c->held <= c->memory / 2 ||
           (c->held <= c->memory && a->held <= c->memory / 2 / c->holders);
}

/* Forget all but those around the date. */
static void thin_out(struct memento_asking *a)
{
    free(a->found);
    a->found = NULL;
    a->stored = a->room = 0;
    buffer_clear(&a->report->urls);
    a->sparse = true;
    count_memory(a);
}

/* False if there is too much of it. */
static bool measure(struct memento_asking *a)
{
    count_memory(a);
    if (!fits(a) && a->closest && !a->sparse)
        thin_out(a);
    if (!a->report->urls.failed && fits(a))
        return true;
    memento_report_fail(a->report, "no memory for all of its TimeMap");
    return false;
}

static bool store(struct memento_asking *a, struct seen_span url, int64_t when)
{
    struct buffer *urls = &a->report->urls;
    const size_t at = urls->len;
    struct memento_found *more;

    more = array_grow(a->found, &a->room, a->stored + 1, sizeof *more);
    if (more)
        a->found = more;
    percent_encode(urls, url.text, url.len, PERCENT_LINK);
    if (!more || urls->failed) {
        memento_report_fail(a->report, "no memory for all of its TimeMap");
        return false;
    }
    more[a->stored++] = (struct memento_found){ when, at,
                                                (uint32_t)(urls->len - at) };
    return true;
}

static bool add_memento(struct memento_asking *a, struct seen_span url,
                        int64_t when)
{
    if (!a->closest && a->client->most && a->count == a->client->most) {
        memento_report_fail(a->report, "it has more than %zu mementos",
                            a->client->most);
        return false;
    }
    a->count++;
    if (a->closest && !memento_near_add(&a->near, when, url)) {
        memento_report_fail(a->report, "no memory for its mementos");
        return false;
    }
    if (a->closest &&
        a->report->urls.len + a->room * sizeof *a->found > MEMENTO_FEW)
        thin_out(a);
    return a->sparse || store(a, url, when);
}

static bool was_seen(const struct memento_asking *a, struct seen_span url)
{
    for (unsigned i = 0; i < a->pages; i++)
        if (span_is(url, a->page[i]->url) ||
            (a->page[i]->base && span_is(url, a->page[i]->base)))
            return true;
    return false;
}

/* What its links are relative to. */
static const char *base_of(const struct memento_page *p)
{
    return p->base ? p->base : p->url;
}

static void start_page(struct memento_asking *a, struct seen_span url);

static void add_page(struct memento_page *p, struct seen_span url)
{
    struct memento_asking *a = p->asking;

    if (was_seen(a, url))
        return;
    if (!memento_url_same_host(span_of(base_of(p)), url)) {
        a->elsewhere = true;
        a->report->skipped++;
    } else if (a->pages == MEMENTO_PAGES) {
        memento_report_fail(a->report, "its TimeMap has more than %d pages",
                            MEMENTO_PAGES);
    } else {
        start_page(a, url);
    }
}

static bool on_link(void *owner, const struct web_timemap_link *link)
{
    struct memento_page *p = owner;
    struct seen_span url = link->url;
    char room[SEEN_KEY_TEXT];

    if (!memento_url_resolve(&url, base_of(p), room)) {
        p->asking->report->skipped++;
        return true;
    }
    if (!link->page)
        return add_memento(p->asking, url, link->when);
    add_page(p, url);
    return true;
}

/* --- pages --- */

static enum seen_code on_begin(void *owner,
                               const struct fetch_response *response,
                               struct seen_error *why)
{
    struct memento_page *p = owner;

    if (strcmp(response->url, p->url) && !p->base)
        p->base = strdup(response->url);
    return p->base || !strcmp(response->url, p->url)
               ? SEEN_OK
               : seen_fail(why, SEEN_NOMEM, 0, "no memory for a TimeMap");
}

static enum seen_code on_body(void *owner, const void *bytes, size_t n,
                              struct seen_error *why)
{
    struct memento_page *p = owner;
    struct memento_asking *a = p->asking;

    const uint64_t most = a->closest ? MEMENTO_BYTES : a->client->bytes;

    a->bytes += n;
    if (a->bytes > most)
        memento_report_fail(a->report, "its TimeMap has more than %llu bytes",
                            (unsigned long long)most);
    web_timemap_read(&p->reader, bytes, n, on_link, p);
    if (measure(a) && a->bytes <= most && !p->reader.stopped &&
        !p->reader.failed)
        return SEEN_OK;
    return seen_fail(why, SEEN_RANGE, 0, "its TimeMap is too long");
}

/* It was an answer, whatever its status. */
static void judge(struct memento_page *p, int status)
{
    struct memento_report *r = p->asking->report;
    const bool first = p == p->asking->page[0];

    if (status == 200) {
        web_timemap_end(&p->reader, on_link, p);
        if (!p->reader.links && p->reader.skipped)
            memento_report_fail(r, "its answer is not a TimeMap");
        else if (p->reader.cut)
            memento_report_fail(r, "its TimeMap ends within a link");
    } else if ((status != 404 && status != 410) || !first) {
        memento_report_fail(r, "status %d", status);
    }
}

static void on_end(void *owner, enum seen_code code,
                   const struct fetch_response *response,
                   const struct seen_error *why)
{
    struct memento_page *p = owner;
    struct memento_asking *a = p->asking;
    struct memento_report *r = a->report;

    if (code == SEEN_OK)
        judge(p, response->status);
    else if (!a->late)
        memento_report_fail(r, "%s", why->text);
    a->unreachable |= response->outcome == FETCH_FAILED && code == SEEN_IO &&
                      !response->status && p == a->page[0];
    r->skipped += p->reader.skipped;
    r->future += p->reader.future;
    measure(a);
    web_timemap_clear(&p->reader);
    p->running = false;
    r->ms = (unsigned)(clock_ms() - a->began);
    if (--a->running)
        return;
    if (a->elsewhere && !a->count)
        memento_report_fail(r, "its TimeMap lists only pages of other hosts");
    a->done(a);
}

static void start_page(struct memento_asking *a, struct seen_span url)
{
    static const struct fetch_handler handler = { on_begin, on_body, on_end };
    struct memento_page *p = calloc(1, sizeof *p + url.len + 1);
    /* The client would refuse a page whose Content-Length is too large;
       on_body() takes as much of it as it may have. */
    struct fetch_request request = { .most = UINT64_MAX >> 1,
                                     .unpack = true,
                                     .handler = &handler,
                                     .owner = p };
    struct seen_error why = { .text = "no memory for a TimeMap" };

    if (!p) {
        memento_report_fail(a->report, "%s", why.text);
        return;
    }
    memcpy(p->url, url.text, url.len);
    p->asking = a;
    p->reader.latest = (int64_t)time(NULL) + DAY;
    request.url = p->url;
    a->page[a->pages++] = p;
    a->report->pages = a->pages;
    if (fetch_start(a->client->web, &request, &why) != SEEN_OK) {
        memento_report_fail(a->report, "%s", why.text);
        return;
    }
    __atomic_add_fetch(&a->client->requests, 1, __ATOMIC_RELAXED);
    p->running = true;
    a->running++;
}

/* --- an archive --- */

static void ask_timemap(struct memento_asking *a)
{
    start_page(a, span_of(a->timemap));
    if (!a->running)
        a->done(a);
}

static void gate_answered(struct memento_gate *g)
{
    struct memento_asking *a = g->owner;

    a->report->ms = (unsigned)(clock_ms() - a->began);
    if (g->end == MEMENTO_GATE_UNFIT && a->timemap && !a->late) {
        ask_timemap(a);
        return;
    }
    a->report->gate = a->near.partial = true;
    a->unreachable = g->unreachable;
    a->count = a->near.added;
    a->sparse = true;
    if (g->end != MEMENTO_GATE_NONE && *g->why)
        memento_report_fail(a->report, "%s", g->why);
    measure(a);
    a->done(a);
}

void memento_ask_begin(struct memento_asking *a,
                       const struct memento_source *source)
{
    a->began = clock_ms();
    a->timemap = source->url;
    if (!a->closest || !source->gate) {
        ask_timemap(a);
        return;
    }
    a->gate = (struct memento_gate){ .client = a->client,
                                     .original = a->original,
                                     .near = &a->near,
                                     .report = a->report,
                                     .done = gate_answered,
                                     .owner = a };
    memento_gate_begin(&a->gate, source->gate);
}

void memento_ask_stop(struct memento_asking *a, const char *why)
{
    if (!a->running && !a->gate.running)
        return;
    a->late = true;
    if (!a->gate.running ||
        !a->gate.judged) /* else only its body is missing */
        memento_report_fail(a->report, "%s", why);
    memento_gate_stop(&a->gate);
    for (unsigned i = 0; i < a->pages && a->running; i++)
        if (a->page[i]->running)
            fetch_cancel(a->client->web, a->page[i]);
}

/* A TimeGate that was of no use may have named more than a TimeMap that failed
   behind it. */
void memento_ask_settle(struct memento_asking *a)
{
    if (!a->sparse && a->report->failed && a->near.added > a->count) {
        thin_out(a);
        a->near.partial = true;
    }
    if (!a->sparse)
        return;
    for (unsigned i = 0; i < MEMENTO_KEPT; i++) {
        const struct memento_kept *k = &a->near.kept[i];

        if (k->there &&
            !store(a, (struct seen_span){ k->url.bytes, k->url.len }, k->when))
            return;
    }
}

void memento_ask_captures(const struct memento_asking *a, uint32_t archive,
                          struct memento_capture *to)
{
    for (size_t i = 0; i < a->stored; i++)
        to[i] = (struct memento_capture){
            .when = a->found[i].when,
            .url = a->report->urls.bytes + a->found[i].at,
            .len = a->found[i].len,
            .archive = archive,
        };
}

void memento_ask_clear(struct memento_asking *a)
{
    a->client->held -= a->held;
    a->client->holders -= a->held > SMALL;
    for (unsigned i = 0; i < a->pages; i++) {
        free(a->page[i]->base);
        free(a->page[i]);
    }
    memento_gate_clear(&a->gate);
    memento_near_clear(&a->near);
    free(a->found);
    a->found = NULL;
    a->pages = 0;
    a->held = 0;
}
