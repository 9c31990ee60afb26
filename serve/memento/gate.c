/*
 * gate.c - heads of TimeGates, one hop after the other.
 *
 *     begin ──> ask ──> judge ──┬──> FOUND, NONE, UNFIT, FAILED ──> done()
 *                ^              │
 *                └── a redirect ┘  whose target has no date yet
 *
 * A head is judged as soon as it is there. Its body is not read, but one that
 * is known to be short is waited for, so that the connection can be kept.
 */
#include "gate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seen/key.h>

#include "../../lib/text/percent.h"
#include "../../lib/text/span.h"
#include "../../web/header.h"
#include "../../web/timemap.h"
#include "client.h"
#include "memento_url.h"
#include "memento_write.h"

enum { BODY = 1 << 14, DAY = 86400 };

/* What a head says, apart from its links; empty spans where it says nothing. */
struct head {
    int status;
    struct seen_span text; /* all of it */
    struct seen_span location, datetime, place;
    bool varies; /* by Accept-Datetime: it is a TimeGate */
};

static void conclude(struct memento_gate *g, enum memento_gate_end end,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void conclude(struct memento_gate *g, enum memento_gate_end end,
                     const char *format, ...)
{
    va_list args;

    g->end = end;
    va_start(args, format);
    vsnprintf(g->why, sizeof g->why, format, args);
    va_end(args);
}

/* --- heads --- */

static bool lists(struct seen_span list, const char *word)
{
    struct seen_span one;

    while (span_cut(&list, ',', &one))
        if (span_like(span_trim(one), word))
            return true;
    return false;
}

static struct head read_head(int status, struct seen_span text)
{
    struct head h = { .status = status, .text = text };
    struct seen_span rest = text, name, value;

    while (web_header_next(&rest, &name, &value)) {
        if (span_like(name, "location"))
            h.location = value;
        else if (span_like(name, "memento-datetime"))
            h.datetime = value;
        else if (span_like(name, "content-location"))
            h.place = value;
        else if (span_like(name, "vary"))
            h.varies |= lists(value, "accept-datetime");
    }
    return h;
}

/* The next link of any Link header. Begin with both spans at the head and an
   empty one. One that has an anchor is a link of something else. */
static bool next_link(struct seen_span *head, struct seen_span *value,
                      struct web_header_link *link)
{
    struct seen_span name;

    for (;;) {
        while (web_header_link(value, link))
            if (!link->anchored)
                return true;
        do {
            if (!web_header_next(head, &name, value))
                return false;
        } while (!span_like(name, "link"));
    }
}

enum whose { OURS, UNNAMED, ANOTHERS };

/*
 * Is this an answer about the URL that was asked for? One of the TimeGate's own
 * host is, unless it says otherwise. On another host the original has to be
 * named.
 */
static enum whose whose_is(const struct memento_gate *g, const struct head *h)
{
    struct seen_span head = h->text, value = { "", 0 };
    struct web_header_link link;

    while (next_link(&head, &value, &link)) {
        if (!web_header_has_rel(&link, "original"))
            continue;
        return memento_url_same_page(link.url, span_of(g->original))
                   ? OURS
                   : ANOTHERS;
    }
    return memento_url_same_host(span_of(g->url), span_of(g->first)) ? OURS
                                                                     : UNNAMED;
}

/* --- mementos --- */

/* A link's URL, absolute and encoded; NULL if it is none. */
static char *encoded(const struct memento_gate *g, struct seen_span url)
{
    char room[SEEN_KEY_TEXT];
    struct buffer b = { .bytes = NULL };

    if (!memento_url_resolve(&url, g->url, room))
        return NULL;
    percent_encode(&b, url.text, url.len, PERCENT_LINK);
    return buffer_take(&b);
}

/* A memento; false if it is left out. */
static bool add(struct memento_gate *g, int64_t when, const char *url)
{
    if (when > (int64_t)time(NULL) + DAY) {
        g->report->future++;
        return false;
    }
    return memento_near_add(g->near, when, span_of(url));
}

/* What a link says of the mementos that are not named. */
static void note_relations(struct memento_near *n, int64_t when,
                           const struct web_header_link *link)
{
    n->names_first |= web_header_has_rel(link, "first");
    n->names_last |= web_header_has_rel(link, "last");
    if (web_header_has_rel(link, "prev")) {
        n->names_prev = true;
        n->prev = when;
    }
    if (web_header_has_rel(link, "next")) {
        n->names_next = true;
        n->next = when;
    }
}

/* All mementos of the Link headers. If the chosen one is among them, its time
   is known then. */
static void add_links(struct memento_gate *g, const struct head *h)
{
    struct seen_span head = h->text, value = { "", 0 };
    struct web_header_link link;
    int64_t when;
    char *url;

    while (next_link(&head, &value, &link)) {
        if (!web_header_has_rel(&link, "memento"))
            continue;
        url = encoded(g, link.url);
        if (!url || !web_timemap_date(link.datetime, &when)) {
            g->report->skipped++;
        } else if (add(g, when, url)) {
            note_relations(g->near, when, &link);
            if (g->chosen && !g->known && !strcmp(url, g->chosen)) {
                g->near->chosen = when;
                g->known = true;
            }
        }
        free(url);
    }
}

/*
 * The chosen memento is known. What was named as next to it is believed if it
 * stands on the right side. A TimeGate that names a closer memento than the one
 * it has chosen does not choose the closest: there may be others.
 */
static void settle(struct memento_gate *g)
{
    struct memento_near *n = g->near;

    n->partial = true;
    n->names_prev = n->names_prev && n->prev <= n->chosen;
    n->names_next = n->names_next && n->next >= n->chosen;
    conclude(g, MEMENTO_GATE_FOUND, "%s",
             memento_near_contradicts(n)
                 ? "its TimeGate has not chosen the closest memento that it "
                   "names"
                 : "");
}

/* The URL of a link whose memento has this time, or NULL. */
static char *link_of_time(const struct memento_gate *g, const struct head *h,
                          int64_t when)
{
    struct seen_span head = h->text, value = { "", 0 };
    struct web_header_link link;
    int64_t other;

    while (next_link(&head, &value, &link))
        if (web_header_has_rel(&link, "memento") &&
            web_timemap_date(link.datetime, &other) && other == when)
            return encoded(g, link.url);
    return NULL;
}

/* The answer is a memento. Where has it a URL of its own? */
static void judge_memento(struct memento_gate *g, const struct head *h)
{
    struct memento_near *n = g->near;
    const enum whose whose = whose_is(g, h);

    if (whose != OURS) {
        conclude(g, MEMENTO_GATE_UNFIT,
                 whose == UNNAMED
                     ? "its TimeGate leads to another host, which "
                       "does not say for which URL it answers"
                     : "its TimeGate answers for another URL");
        return;
    }
    free(g->chosen);
    g->chosen = NULL;
    g->known = web_timemap_date(h->datetime, &n->chosen);
    if (!g->known) {
        conclude(g, MEMENTO_GATE_UNFIT, "its Memento-Datetime is not a date");
        return;
    }
    if (g->hops && !h->varies)
        g->chosen = encoded(g, span_of(g->url));
    else if (h->place.len)
        g->chosen = encoded(g, h->place);
    else
        g->chosen = link_of_time(g, h, n->chosen);
    if (!g->chosen) {
        conclude(g, MEMENTO_GATE_UNFIT,
                 "its TimeGate names no URL of the memento");
    } else if (!add(g, n->chosen, g->chosen)) {
        conclude(g, MEMENTO_GATE_UNFIT,
                 "its TimeGate has chosen a memento of the future");
    } else {
        add_links(g, h);
        settle(g);
    }
}

static void judge_redirect(struct memento_gate *g, const struct head *h)
{
    char room[SEEN_KEY_TEXT];
    struct seen_span to = h->location;
    const enum whose whose = whose_is(g, h);
    const char *fault = NULL;

    free(g->chosen);
    g->chosen = NULL;
    if (!memento_url_resolve(&to, g->url, room))
        fault = "its TimeGate redirects to what is not a URL of http";
    else if (whose == ANOTHERS)
        fault = "its TimeGate answers for another URL";
    else if (memento_url_same_page(to, span_of(g->original)))
        fault = "its TimeGate redirects to the original";
    else if (!(g->chosen = encoded(g, h->location)) ||
             !(g->next = strndup(to.text, to.len)))
        fault = "no memory for a TimeGate";
    if (fault) {
        conclude(g, MEMENTO_GATE_UNFIT, "%s", fault);
        return;
    }
    if (whose == OURS)
        add_links(g, h);
    if (g->known)
        settle(g);
    else if (g->hops == MEMENTO_HOPS)
        conclude(g, MEMENTO_GATE_UNFIT,
                 "its TimeGate redirects more than %d times", MEMENTO_HOPS);
    else
        g->judged = false; /* the next head decides */
}

/* A redirect with a date may be a memento, the redirect of then; one that a
   TimeGate has sent may not, even if it bears the date of its target. */
static void judge(struct memento_gate *g, const struct head *h)
{
    const bool moved = h->location.len && h->status > 300 && h->status < 309 &&
                       h->status != 304;

    g->judged = true;
    if (h->datetime.len && (!moved || (g->hops && !h->varies)))
        judge_memento(g, h);
    else if (moved)
        judge_redirect(g, h);
    else if ((h->status == 404 || h->status == 410) && !g->hops)
        conclude(g, MEMENTO_GATE_NONE, "it has none");
    else if (h->status == 429 || h->status >= 500)
        conclude(g, MEMENTO_GATE_FAILED, "its TimeGate has status %d",
                 h->status);
    else
        conclude(g, MEMENTO_GATE_UNFIT,
                 "its TimeGate leads to status %d without a date", h->status);
}

/* --- hops --- */

static void hop(struct memento_gate *g);

static enum seen_code on_begin(void *owner,
                               const struct fetch_response *response,
                               struct seen_error *why)
{
    struct memento_gate *g = owner;
    const struct head h = read_head(response->status, response->head);

    judge(g, &h);
    return response->length <= BODY
               ? SEEN_OK
               : seen_fail(why, SEEN_UNABLE, 0, "the head is enough");
}

/* It ended before its head was whole. Without a connection a TimeMap will not
   come, either. */
static void note_fault(struct memento_gate *g, enum seen_code code,
                       const struct fetch_response *response,
                       const struct seen_error *why)
{
    const bool gone = code == SEEN_IO || code == SEEN_UNABLE;

    g->unreachable = response->outcome == FETCH_FAILED && code == SEEN_IO &&
                     !g->hops;
    conclude(g, gone && !g->hops ? MEMENTO_GATE_FAILED : MEMENTO_GATE_UNFIT,
             "its TimeGate: %s", why->text);
}

static void on_end(void *owner, enum seen_code code,
                   const struct fetch_response *response,
                   const struct seen_error *why)
{
    struct memento_gate *g = owner;

    g->running = false;
    if (!g->judged && !g->next)
        note_fault(g, code, response, why);
    else if (!g->judged && response->outcome == FETCH_CANCELLED)
        conclude(g, MEMENTO_GATE_FAILED, "cancelled");
    else if (!g->judged) {
        g->hops++;
        free(g->url);
        g->url = g->next;
        g->next = NULL;
        hop(g);
    }
    if (!g->running)
        g->done(g);
}

/* Ask this URL; a failure is concluded. */
static void hop(struct memento_gate *g)
{
    static const struct fetch_handler handler = { on_begin, NULL, on_end };
    struct buffer date = { .bytes = NULL };
    struct fetch_request request = { .url = g->url,
                                     .most = BODY,
                                     .raw = true,
                                     .per_host = true,
                                     .handler = &handler,
                                     .owner = g };
    struct seen_error why = { .text = "no memory" };

    memento_write_date(&date, g->near->when == MEMENTO_LATEST
                                  ? (int64_t)time(NULL)
                                  : g->near->when);
    buffer_byte(&date, '\0');
    request.datetime = date.bytes;
    g->running = !date.failed &&
                 fetch_start(g->client->web, &request, &why) == SEEN_OK;
    buffer_clear(&date);
    if (g->running)
        __atomic_add_fetch(&g->client->requests, 1, __ATOMIC_RELAXED);
    else
        conclude(g, MEMENTO_GATE_UNFIT, "its TimeGate: %s", why.text);
}

void memento_gate_begin(struct memento_gate *g, const char *url)
{
    g->url = strdup(url);
    g->first = strdup(url);
    if (g->url && g->first)
        hop(g);
    else
        conclude(g, MEMENTO_GATE_UNFIT, "no memory for a TimeGate");
    if (!g->running)
        g->done(g);
}

void memento_gate_stop(struct memento_gate *g)
{
    if (g->running)
        fetch_cancel(g->client->web, g);
}

void memento_gate_clear(struct memento_gate *g)
{
    free(g->url);
    free(g->first);
    free(g->next);
    free(g->chosen);
    g->url = g->first = g->next = g->chosen = NULL;
}
