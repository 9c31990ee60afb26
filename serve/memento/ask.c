/* ask.c - fetch a TimeMap, and the pages that it lists. */
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

/* Count the memory again; false if there is too much of it. A little of it is
   for every archive, whatever the others hold. */
static bool measure(struct memento_asking *a)
{
    const size_t holds = a->report->urls.room + a->room * sizeof *a->found;
    bool good;

    a->client->held += holds - a->held;
    a->held = holds;
    good = !a->report->urls.failed &&
           (holds <= SMALL || a->client->held <= a->client->memory);
    if (!good)
        memento_report_fail(a->report, "no memory for all of its TimeMap");
    return good;
}

static bool is_absolute(struct seen_span url)
{
    return (url.len > 7 && !strncasecmp(url.text, "http://", 7)) ||
           (url.len > 8 && !strncasecmp(url.text, "https://", 8));
}

/* The URL of a link, absolute; false if it has none of http or https. Room is
   SEEN_KEY_TEXT bytes. */
static bool resolve(const struct memento_page *p, struct seen_span *url,
                    char *room)
{
    const char *base = p->base ? p->base : p->url, *out;
    size_t len;

    if (is_absolute(*url))
        return true;
    if (seen_url_whatwg(&out, &len, room, url->text, url->len, base,
                        strlen(base), NULL) != SEEN_OK)
        return false;
    *url = (struct seen_span){ out, len };
    return is_absolute(*url);
}

static bool add_memento(struct memento_asking *a, struct seen_span url,
                        int64_t when)
{
    struct buffer *urls = &a->report->urls;
    const size_t at = urls->len;
    struct memento_found *more;

    if (a->count == a->client->most) {
        memento_report_fail(a->report, "it has more than %zu mementos",
                            a->client->most);
        return false;
    }
    more = array_grow(a->found, &a->room, a->count + 1, sizeof *more);
    if (more)
        a->found = more;
    percent_encode(urls, url.text, url.len, PERCENT_LINK);
    if (!more || urls->failed) {
        memento_report_fail(a->report, "no memory for all of its TimeMap");
        return false;
    }
    more[a->count++] = (struct memento_found){ when, at,
                                               (uint32_t)(urls->len - at) };
    return true;
}

/* "a.example:80" of "http://a.example:80/b" */
static struct seen_span authority(struct seen_span url)
{
    const char *slashes = memchr(url.text, '/', url.len);
    struct seen_span s = { slashes + 2, 0 };

    while (s.text + s.len < url.text + url.len &&
           !strchr("/?#", s.text[s.len]))
        s.len++;
    return s;
}

static bool was_seen(const struct memento_asking *a, struct seen_span url)
{
    for (unsigned i = 0; i < a->pages; i++)
        if (span_is(url, a->page[i]->url) ||
            (a->page[i]->base && span_is(url, a->page[i]->base)))
            return true;
    return false;
}

static void start_page(struct memento_asking *a, struct seen_span url);

static void add_page(struct memento_page *p, struct seen_span url)
{
    struct memento_asking *a = p->asking;
    struct seen_span here = span_of(p->base ? p->base : p->url);
    struct seen_span there = authority(url);

    here = authority(here);
    if (was_seen(a, url))
        return;
    if (here.len != there.len ||
        strncasecmp(here.text, there.text, here.len)) {
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

    if (!resolve(p, &url, room)) {
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

    a->bytes += n;
    if (a->bytes > a->client->bytes)
        memento_report_fail(a->report, "its TimeMap has more than %llu bytes",
                            (unsigned long long)a->client->bytes);
    web_timemap_read(&p->reader, bytes, n, on_link, p);
    if (measure(a) && a->bytes <= a->client->bytes && !p->reader.stopped &&
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

void memento_ask_begin(struct memento_asking *a, const char *url)
{
    a->began = clock_ms();
    start_page(a, span_of(url));
    if (!a->running)
        a->done(a);
}

void memento_ask_stop(struct memento_asking *a, const char *why)
{
    if (!a->running)
        return;
    a->late = true;
    memento_report_fail(a->report, "%s", why);
    for (unsigned i = 0; i < a->pages && a->running; i++)
        if (a->page[i]->running)
            fetch_cancel(a->client->web, a->page[i]);
}

void memento_ask_captures(const struct memento_asking *a, uint32_t archive,
                          struct memento_capture *to)
{
    for (size_t i = 0; i < a->count; i++)
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
    for (unsigned i = 0; i < a->pages; i++) {
        free(a->page[i]->base);
        free(a->page[i]);
    }
    free(a->found);
    a->found = NULL;
    a->pages = 0;
    a->held = 0;
}
