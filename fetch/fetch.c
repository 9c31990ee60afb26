/*
 * fetch.c - the client: who waits, who runs, and whose end has come.
 *
 *     fetch_start ──> queue ──> running ──> end()
 *                       ^          │ 302
 *                       └──────────┘
 *     fetch_cancel ──> dying ──> end()
 *
 * Callers' functions are called from within libcurl's, which must not be
 * called again from there. So fetch_start() only queues, fetch_cancel() only
 * moves to a list, and a turn does the rest when libcurl has returned.
 */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "fetch.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange.h"

struct fetch {
    struct ways ways;
    struct turns turns;
    struct requests running, dying;
    unsigned busy; /* requests that run */
    size_t count;  /* requests that are not at their end */
    uint64_t ended;
    bool turning, closing;
    char *agent, *authorities;
};

/* --- new and free --- */

static CURLcode prepared;

static void prepare(void)
{
    prepared = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static unsigned or_else(unsigned value, unsigned usual, unsigned most)
{
    return !value ? usual : value > most ? most : value;
}

static enum seen_code set_rules(struct fetch *web,
                                const struct fetch_rules *rules,
                                struct seen_error *why)
{
    struct fetch_rules *ours = &web->ways.rules;
    const char *agent = rules->agent ? rules->agent : "seen/" SEEN_VERSION;

    if (!head_value(agent))
        return seen_fail(why, SEEN_RANGE, 0,
                         "the agent must be a line of text");
    if (rules->authorities && access(rules->authorities, R_OK))
        return seen_fail(why, SEEN_IO, 0, "the file of authorities");
    web->agent = strdup(agent);
    web->authorities = rules->authorities ? strdup(rules->authorities) : NULL;
    if (!web->agent || (rules->authorities && !web->authorities))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a client");
    *ours = *rules;
    ours->agent = web->agent;
    ours->authorities = web->authorities;
    ours->parallel = or_else(rules->parallel, 8, 1000);
    ours->per_host = or_else(rules->per_host, 4, ours->parallel);
    ours->redirects = or_else(rules->redirects, 5, 100);
    ours->connect = or_else(rules->connect, 15, 1000000);
    ours->stall = or_else(rules->stall, 30, 1000000);
    ours->whole = or_else(rules->whole, 0, 100000000);
    return places_read(&web->ways.allowed, rules->allow, why);
}

enum seen_code fetch_new(struct fetch **out, const struct fetch_rules *rules,
                         struct seen_error *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const struct fetch_rules usual = { 0 };
    struct fetch *web = calloc(1, sizeof *web);
    enum seen_code code;

    *out = NULL;
    pthread_once(&once, prepare);
    if (!web || prepared != CURLE_OK) {
        free(web);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a client");
    }
    code = set_rules(web, rules ? rules : &usual, why);
    if (code == SEEN_OK && !(web->ways.multi = curl_multi_init()))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a client");
    if (code != SEEN_OK) {
        fetch_free(web);
        return code;
    }
    web->turns.per_site = web->ways.rules.per_host;
    curl_multi_setopt(web->ways.multi, CURLMOPT_PIPELINING,
                      (long)CURLPIPE_NOTHING);
    curl_multi_setopt(web->ways.multi, CURLMOPT_MAXCONNECTS,
                      (long)web->ways.rules.parallel);
    *out = web;
    return SEEN_OK;
}

/* --- ends --- */

/* Words come from the other side, too, and may be shown on a terminal. */
static void tame(struct seen_error *why)
{
    for (char *p = why->text; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127)
            *p = '?';
    if (!*why->text)
        snprintf(why->text, sizeof why->text, "stopped");
}

/* r is in no list any more. Its end() may do whatever a caller may do. */
static void finish(struct fetch *web, struct request *r, enum seen_code code,
                   struct seen_error *why)
{
    struct exchange *x = r->exchange;
    struct head none;

    turns_leave(&web->turns, r);
    web->count--;
    web->ended++;
    head_init(&none);
    none.says.url = r->asks.url;
    if (code != SEEN_OK) {
        why->code = code;
        tame(why);
    }
    r->asks.taker->end(r->asks.owner, code, x ? &x->head.says : &none.says,
                       why);
    exchange_free(x);
    free(r);
}

static void stop_running(struct fetch *web, struct request *r)
{
    requests_remove(&web->running, r);
    web->busy--;
}

/* Those that were cancelled. */
static void bury(struct fetch *web)
{
    struct request *r;

    while ((r = web->dying.first)) {
        struct seen_error why;

        requests_remove(&web->dying, r);
        seen_fail(&why, SEEN_UNABLE, 0, "cancelled");
        finish(web, r, SEEN_UNABLE, &why);
    }
}

/* All requests of this owner, or of everyone. */
static void condemn(struct fetch *web, const void *owner, bool all)
{
    for (struct request *r = web->running.first, *after; r; r = after) {
        after = r->after;
        if (!all && r->asks.owner != owner)
            continue;
        stop_running(web, r);
        r->cancelled = true;
        requests_append(&web->dying, r);
    }
    turns_move(&web->turns, owner, all, &web->dying);
}

void fetch_cancel(struct fetch *web, const void *owner)
{
    condemn(web, owner, false);
    if (!web->turning)
        bury(web);
}

void fetch_free(struct fetch *web)
{
    if (!web)
        return;
    assert(!web->turning);
    web->closing = true;
    condemn(web, NULL, true);
    bury(web);
    turns_take(&web->turns); /* nobody's: sites go when their turn comes */
    curl_multi_cleanup(web->ways.multi);
    free(web->agent);
    free(web->authorities);
    free(web);
}

/* --- start --- */

static bool value_or_none(const char *text)
{
    return !text || head_value(text);
}

static char *copy(char **at, const char *text)
{
    size_t n = text ? strlen(text) + 1 : 0;
    char *to = *at;

    if (!text)
        return NULL;
    memcpy(to, text, n);
    *at += n;
    return to;
}

static struct request *request_new(const struct fetch_request *asks,
                                   const char *url)
{
    size_t n = strlen(url) + 1;
    struct request *r;
    char *at;

    n += asks->etag ? strlen(asks->etag) + 1 : 0;
    n += asks->modified ? strlen(asks->modified) + 1 : 0;
    r = calloc(1, sizeof *r + n);
    if (!r)
        return NULL;
    at = r->text;
    r->asks = *asks;
    r->asks.url = copy(&at, url);
    r->asks.etag = copy(&at, asks->etag);
    r->asks.modified = copy(&at, asks->modified);
    return r;
}

enum seen_code fetch_start(struct fetch *web,
                           const struct fetch_request *request,
                           struct seen_error *why)
{
    enum seen_code code;
    struct request *r;
    struct where where;

    if (web->closing)
        return seen_fail(why, SEEN_UNABLE, 0, "the client is at its end");
    if (!value_or_none(request->etag) || !value_or_none(request->modified))
        return seen_fail(why, SEEN_RANGE, 0,
                         "an ETag or date must be a line of text");
    if (request->from && request->unpack)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a part of something packed cannot be unpacked");
    code = where_init(&where, NULL, request->url, why);
    if (code != SEEN_OK)
        return code;
    r = request_new(request, where.url);
    if (r)
        code = turns_put(&web->turns, r, where.site, false, why);
    else
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory to queue a request");
    where_clear(&where);
    if (code == SEEN_OK)
        web->count++;
    else
        free(r);
    return code;
}

/* --- turns --- */

static void start_waiting(struct fetch *web)
{
    struct request *r;

    while (web->busy < web->ways.rules.parallel &&
           (r = turns_take(&web->turns))) {
        struct seen_error why;

        if (!r->exchange)
            r->exchange = exchange_new(&web->ways, r);
        if (!r->exchange) {
            seen_fail(&why, SEEN_NOMEM, 0, "no memory to fetch");
            finish(web, r, SEEN_NOMEM, &why);
        } else if (exchange_hop(r->exchange)) {
            requests_append(&web->running, r);
            web->busy++;
        } else {
            finish(web, r, r->exchange->code, &r->exchange->why);
        }
    }
}

/* A hop is over: the next one, or the end. */
static void settle(struct fetch *web, struct exchange *x, CURLcode result)
{
    struct request *r = x->request;

    if (r->cancelled) /* bury() sees to it */
        return;
    stop_running(web, r);
    if (!exchange_done(x, result)) {
        turns_leave(&web->turns, r);
        x->code = turns_put(&web->turns, r, x->where.site, true, &x->why);
        if (x->code == SEEN_OK)
            return;
    }
    finish(web, r, x->code, &x->why);
}

static void reap(struct fetch *web)
{
    struct CURLMsg *message;
    int more;

    while ((message = curl_multi_info_read(web->ways.multi, &more))) {
        struct exchange *x = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &x);
        settle(web, x, message->data.result);
    }
}

/* Bodies that nobody wants, and that do not end. Returns the milliseconds
   until the next of them is due, or -1. */
static int leave_slow(struct fetch *web)
{
    uint64_t at = fetch_clock(), first = UINT64_MAX;
    struct request *r = web->running.first;

    while (r) {
        uint64_t until = r->exchange->until;

        if (until && until <= at) {
            settle(web, r->exchange, CURLE_WRITE_ERROR);
            r = web->running.first; /* its end() may have changed the list */
            continue;
        }
        if (until && until < first)
            first = until;
        r = r->after;
    }
    return first == UINT64_MAX ? -1 : (int)(first - at);
}

/* libcurl itself is at its wits' end. */
static void give_up(struct fetch *web, CURLMcode fault)
{
    struct request *r;

    while ((r = web->running.first)) {
        struct seen_error why;

        stop_running(web, r);
        errno = 0;
        seen_fail(&why, SEEN_IO, 0, "%s", curl_multi_strerror(fault));
        finish(web, r, SEEN_IO, &why);
    }
}

/* Returns as leave_slow() does. */
static int go_on(struct fetch *web)
{
    CURLMcode fault;
    int running, due;

    start_waiting(web);
    fault = curl_multi_perform(web->ways.multi, &running);
    if (fault != CURLM_OK)
        give_up(web, fault);
    reap(web);
    due = leave_slow(web);
    bury(web);
    return due;
}

size_t fetch_turn(struct fetch *web, int milliseconds)
{
    uint64_t before = web->ended;
    CURLMcode fault;
    int due;

    assert(!web->turning);
    web->turning = true;
    due = go_on(web);
    if (web->running.first && web->ended == before) {
        if (due >= 0 && due < milliseconds)
            milliseconds = due;
        if (web->busy < web->ways.rules.parallel && web->turns.first)
            milliseconds = 0;
        fault = curl_multi_poll(web->ways.multi, NULL, 0, milliseconds, NULL);
        if (fault != CURLM_OK)
            give_up(web, fault);
        go_on(web);
    }
    web->turning = false;
    return web->count;
}

uint64_t fetch_bytes(const struct fetch *web)
{
    return web->ways.bytes;
}

uint64_t fetch_refused(const struct fetch *web)
{
    return web->ways.refused;
}
