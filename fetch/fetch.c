/*
 * fetch.c - the client: requests that wait, run and end.
 *
 *     fetch_start ──┬─> host queue ──> running ──> end()
 *                   │        ^            │ 302
 *                   │        └────────────┘
 *                   └─> direct, if raw ──> running ──> end()
 *     fetch_cancel ──> cancelled ──> end()
 *
 * The handlers' functions are called from within libcurl's, which must not be
 * called again from there. So fetch_start() only queues, fetch_cancel() only
 * moves to a list, and fetch_poll() does the rest when libcurl has returned.
 */
#include "fetch.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/version.h>

#include "../lib/disk/clock.h"
#include "exchange.h"

struct fetch {
    struct fetch_shared shared;
    struct fetch_host_queue queue;
    struct fetch_list direct, running, cancelled;
    size_t count; /* requests that have not ended */
    uint64_t ended;
    bool polling, closing;
    char *agent, *authorities;
};

/* --- new and free --- */

static CURLcode libcurl_ready;

static void prepare(void)
{
    libcurl_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static unsigned or_else(unsigned value, unsigned usual, unsigned most)
{
    return !value ? usual : value > most ? most : value;
}

static enum seen_code set_options(struct fetch *web,
                                  const struct fetch_options *options,
                                  struct seen_error *why)
{
    struct fetch_options *ours = &web->shared.options;
    const char *agent = options->agent ? options->agent : "seen/" SEEN_VERSION;

    if (!fetch_head_value(agent))
        return seen_fail(why, SEEN_RANGE, 0,
                         "the agent must be a line of text");
    if (options->authorities && access(options->authorities, R_OK))
        return seen_fail(why, SEEN_IO, 0,
                         "the CA certificates cannot be read");
    web->agent = strdup(agent);
    web->authorities = options->authorities ? strdup(options->authorities)
                                            : NULL;
    if (!web->agent || (options->authorities && !web->authorities))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a client");
    *ours = *options;
    ours->agent = web->agent;
    ours->authorities = web->authorities;
    ours->parallel = or_else(options->parallel, 8, 1000);
    ours->per_host = or_else(options->per_host, 4, ours->parallel);
    ours->redirects = or_else(options->redirects, 5, 100);
    ours->connect = or_else(options->connect, 15, 1000000);
    ours->stall = or_else(options->stall, 30, 1000000);
    ours->slow = or_else(options->slow, 0, 1000000);
    ours->timeout = or_else(options->timeout, 0, 100000000);
    web->queue.parallel = ours->parallel;
    web->queue.per_host = ours->per_host;
    return fetch_places_read(&web->shared.allowed, options->allow, why);
}

/* Is the file of certificates there that libcurl was built to read? */
static bool has_bundle(void)
{
    const curl_version_info_data *libcurl = curl_version_info(CURLVERSION_NOW);

    return libcurl->age >= CURLVERSION_SEVENTH && libcurl->cainfo &&
           !access(libcurl->cainfo, R_OK);
}

/* Connections that wait for the next request of their host take descriptors
   that others need: no more than half of those that sockets may have. */
static long kept_connections(const struct fetch *web)
{
    long most = (long)web->shared.options.parallel;
    long room = fetch_socket_room(web->shared.loop.epoll) / 2;

    return room < 1 ? 1 : room < most ? room : most;
}

enum seen_code fetch_new(struct fetch **out,
                         const struct fetch_options *options,
                         struct seen_error *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const struct fetch_options usual = { 0 };
    struct fetch *web = calloc(1, sizeof *web);
    enum seen_code code;

    *out = NULL;
    pthread_once(&once, prepare);
    if (!web || libcurl_ready != CURLE_OK) {
        free(web);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a client");
    }
    code = set_options(web, options ? options : &usual, why);
    web->shared.loop.epoll = web->shared.loop.wakes = -1;
    web->shared.look = UINT64_MAX;
    web->shared.bundled = has_bundle();
    if (code == SEEN_OK && !(web->shared.multi = curl_multi_init()))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a client");
    if (code == SEEN_OK)
        code = fetch_loop_open(&web->shared.loop, web->shared.multi, why);
    if (code != SEEN_OK) {
        fetch_free(web);
        return code;
    }
    curl_multi_setopt(web->shared.multi, CURLMOPT_PIPELINING,
                      (long)CURLPIPE_NOTHING);
    curl_multi_setopt(web->shared.multi, CURLMOPT_MAXCONNECTS,
                      kept_connections(web));
    *out = web;
    return SEEN_OK;
}

/* --- ends --- */

/* Words may come from the server, and may be shown on a terminal. */
static void make_printable(struct seen_error *why)
{
    for (char *p = why->text; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127)
            *p = '?';
    if (!*why->text)
        snprintf(why->text, sizeof why->text, "stopped");
}

/* Does it know no hosts? */
static bool is_direct(const struct fetch_pending *r)
{
    return r->asks.raw && !r->asks.per_host;
}

/* r is in no list. Its end() may do anything that a caller may do. */
static void finish(struct fetch *web, struct fetch_pending *r,
                   enum fetch_outcome outcome, enum seen_code code,
                   struct seen_error *why)
{
    struct fetch_exchange *x = r->exchange;
    struct fetch_head none;
    struct fetch_response *response = x ? &x->head.says : &none.says;

    if (is_direct(r))
        web->queue.active -= r->queued.active;
    else
        fetch_host_queue_remove(&web->queue, &r->queued);
    web->count--;
    web->ended++;
    if (!x) {
        fetch_head_init(&none);
        none.says.url = r->asks.url;
    }
    if (code != SEEN_OK) {
        why->code = code;
        make_printable(why);
    }
    response->outcome = code == SEEN_OK ? FETCH_DONE : outcome;
    response->shortage = x && code == SEEN_IO && x->shortage;
    r->asks.handler->end(r->asks.owner, code, response, why);
    fetch_exchange_release(x);
    free(r);
}

static void finish_exchange(struct fetch *web, struct fetch_exchange *x)
{
    finish(web, x->request, x->outcome, x->code, &x->why);
}

static void fail(struct fetch *web, struct fetch_pending *r,
                 enum seen_code code, const char *text)
{
    struct seen_error why;

    errno = 0;
    seen_fail(&why, code, 0, "%s", text);
    finish(web, r, code == SEEN_UNABLE ? FETCH_CANCELLED : FETCH_FAILED, code,
           &why);
}

static struct fetch_pending *first_of(const struct fetch_list *l)
{
    return (struct fetch_pending *)l->first;
}

static void end_cancelled(struct fetch *web)
{
    struct fetch_pending *r;

    while ((r = first_of(&web->cancelled))) {
        fetch_list_remove(&web->cancelled, &r->queued);
        fail(web, r, SEEN_UNABLE, "cancelled");
    }
}

/* NULL: everyone's. */
static bool is_of(const struct fetch_queued *e, const void *owner)
{
    return !owner || ((const struct fetch_pending *)e)->asks.owner == owner;
}

static void cancel_in(struct fetch *web, struct fetch_list *list,
                      const void *owner)
{
    for (struct fetch_queued *e = list->first, *after; e; e = after) {
        after = e->after;
        if (is_of(e, owner)) {
            fetch_list_remove(list, e);
            fetch_list_insert(&web->cancelled, e, web->cancelled.last);
        }
    }
}

static void cancel(struct fetch *web, const void *owner)
{
    cancel_in(web, &web->running, owner);
    cancel_in(web, &web->direct, owner);
    fetch_host_queue_move(&web->queue, is_of, owner, &web->cancelled);
    for (struct fetch_queued *e = web->cancelled.first; e; e = e->after)
        ((struct fetch_pending *)e)->cancelled = true;
}

void fetch_cancel(struct fetch *web, const void *owner)
{
    cancel(web, owner);
    if (!web->polling)
        end_cancelled(web);
}

void fetch_free(struct fetch *web)
{
    if (!web)
        return;
    assert(!web->polling);
    web->closing = true;
    cancel(web, NULL);
    end_cancelled(web);
    fetch_host_queue_clear(&web->queue);
    fetch_exchange_free_idle(&web->shared);
    curl_multi_cleanup(web->shared.multi);
    fetch_loop_close(&web->shared.loop);
    fetch_sockets_clear(&web->shared.sockets);
    free(web->agent);
    free(web->authorities);
    free(web);
}

/* --- start --- */

static bool value_or_none(const char *text)
{
    return !text || fetch_head_value(text);
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

static struct fetch_pending *pending_new(const struct fetch_request *asks,
                                         const struct fetch_target *target)
{
    size_t n = strlen(target->url) + 1 + strlen(target->host) + 1;
    struct fetch_pending *r;
    char *at;

    n += asks->etag ? strlen(asks->etag) + 1 : 0;
    n += asks->modified ? strlen(asks->modified) + 1 : 0;
    n += asks->datetime ? strlen(asks->datetime) + 1 : 0;
    r = calloc(1, sizeof *r + n);
    if (!r)
        return NULL;
    at = r->text;
    r->asks = *asks;
    r->asks.url = copy(&at, target->url);
    r->host = copy(&at, target->host);
    r->asks.etag = copy(&at, asks->etag);
    r->asks.modified = copy(&at, asks->modified);
    r->asks.datetime = copy(&at, asks->datetime);
    return r;
}

static enum seen_code check(const struct fetch_request *request,
                            struct seen_error *why)
{
    const bool part = request->from || request->to;

    if (!value_or_none(request->etag) || !value_or_none(request->modified) ||
        !value_or_none(request->datetime))
        return seen_fail(why, SEEN_RANGE, 0,
                         "an ETag or date must be a line of text");
    if (request->to && request->to <= request->from)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a part must end behind its first byte");
    if (part && request->unpack)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a part of a packed file cannot be unpacked");
    if (request->raw && (part || request->unpack || request->due))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a raw request is for all of a file as it is, now");
    if (request->post.len && (part || request->raw))
        return seen_fail(why, SEEN_RANGE, 0,
                         "lines are posted for a whole answer, not a raw one");
    return SEEN_OK;
}

/* False if there is no memory. */
static bool queue(struct fetch *web, struct fetch_pending *r)
{
    if (!is_direct(r))
        return fetch_host_queue_add(&web->queue, &r->queued, r->host,
                                    r->asks.due);
    fetch_list_insert(&web->direct, &r->queued, web->direct.last);
    return true;
}

enum seen_code fetch_start(struct fetch *web,
                           const struct fetch_request *request,
                           struct seen_error *why)
{
    enum seen_code code;
    struct fetch_pending *r;
    struct fetch_target target;

    if (web->closing)
        return seen_fail(why, SEEN_UNABLE, 0, "the client is being freed");
    code = check(request, why);
    if (code == SEEN_OK)
        code = fetch_target_init(&target, NULL, request->url, why);
    if (code != SEEN_OK)
        return code;
    r = pending_new(request, &target);
    if (!r || !queue(web, r)) {
        free(r);
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory to queue a request");
    }
    fetch_target_clear(&target);
    web->count += code == SEEN_OK;
    return code;
}

/* --- polls --- */

/* The next request that may run, which is active from now on. */
static struct fetch_pending *next_waiting(struct fetch *web)
{
    struct fetch_pending *r = first_of(&web->direct);

    if (!r)
        return (struct fetch_pending *)fetch_host_queue_next(&web->queue);
    if (web->queue.active >= web->queue.parallel)
        return NULL;
    fetch_list_remove(&web->direct, &r->queued);
    r->queued.active = true;
    web->queue.active++;
    return r;
}

static void start_waiting(struct fetch *web)
{
    struct fetch_pending *r;

    while ((r = next_waiting(web))) {
        if (!r->exchange)
            r->exchange = fetch_exchange_new(&web->shared, r);
        if (!r->exchange)
            fail(web, r, SEEN_NOMEM, "no memory to fetch");
        else if (fetch_exchange_hop(r->exchange))
            fetch_list_insert(&web->running, &r->queued, web->running.last);
        else
            finish_exchange(web, r->exchange);
    }
}

/* Let a request wait for its next hop. */
static bool wait_again(struct fetch *web, struct fetch_pending *r)
{
    if (!is_direct(r))
        return fetch_host_queue_redirect(&web->queue, &r->queued,
                                         r->exchange->target.host);
    web->queue.active--;
    r->queued.active = false;
    fetch_list_insert(&web->direct, &r->queued, NULL);
    return true;
}

/* A hop is over: the next one, or the end. */
static void end_hop(struct fetch *web, struct fetch_exchange *x,
                    CURLcode result)
{
    struct fetch_pending *r = x->request;

    if (r->cancelled) /* end_cancelled() ends it */
        return;
    fetch_list_remove(&web->running, &r->queued);
    if (!fetch_exchange_done(x, result)) {
        if (wait_again(web, r))
            return;
        x->code = seen_fail(&x->why, SEEN_NOMEM, 0, "no memory to fetch");
    }
    finish_exchange(web, x);
}

static void read_messages(struct fetch *web)
{
    struct CURLMsg *message;
    int more;

    while ((message = curl_multi_info_read(web->shared.multi, &more))) {
        struct fetch_exchange *x = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &x);
        end_hop(web, x, message->data.result);
    }
}

/* Has it become too slow? If not, *next is when to look again. */
static bool is_slow(struct fetch_exchange *x, uint64_t now, uint64_t *next)
{
    *next = x->until ? x->until : fetch_exchange_pace(x, now);
    return (x->until && x->until <= now) || x->code != SEEN_OK ||
           x->raw.cut == FETCH_CUT_TIME;
}

/* End bodies that come too slowly, and unwanted ones that do not end. */
static void end_slow(struct fetch *web)
{
    struct fetch_pending *r = first_of(&web->running);
    uint64_t now, next;

    if (web->shared.look == UINT64_MAX)
        return;
    now = clock_ms();
    if (web->shared.look > now)
        return;
    web->shared.look = UINT64_MAX;
    while (r) {
        if (is_slow(r->exchange, now, &next)) {
            end_hop(web, r->exchange, CURLE_WRITE_ERROR);
            r = first_of(&web->running); /* end() may have changed the list */
            continue;
        }
        if (next < web->shared.look)
            web->shared.look = next;
        r = (struct fetch_pending *)r->queued.after;
    }
}

/* libcurl itself failed. */
static void end_all(struct fetch *web, CURLMcode fault)
{
    struct fetch_pending *r;

    while ((r = first_of(&web->running))) {
        fetch_list_remove(&web->running, &r->queued);
        fail(web, r, SEEN_IO, curl_multi_strerror(fault));
    }
}

/* libcurl was called, and returned this. */
static void handle(struct fetch *web, CURLMcode fault)
{
    if (fault != CURLM_OK)
        end_all(web, fault);
    read_messages(web);
    end_slow(web);
    end_cancelled(web);
}

/* For how long may a poll wait? */
static int shorten(const struct fetch *web, int milliseconds)
{
    uint64_t due = fetch_host_queue_due(&web->queue), now = clock_ms();
    uint64_t soonest = due < web->shared.look ? due : web->shared.look;

    if (web->queue.active < web->queue.parallel &&
        (web->queue.first || web->direct.first))
        return 0;
    if (soonest < now + (unsigned)milliseconds)
        return soonest > now ? (int)(soonest - now) : 0;
    return milliseconds;
}

size_t fetch_poll(struct fetch *web, int milliseconds)
{
    uint64_t before = web->ended;

    assert(!web->polling);
    web->polling = true;
    start_waiting(web);
    handle(web, fetch_loop_timer(&web->shared.loop));
    milliseconds = web->ended == before ? shorten(web, milliseconds) : 0;
    handle(web, fetch_loop_wait(&web->shared.loop, milliseconds));
    web->polling = false;
    return web->count;
}

void fetch_wakeup(struct fetch *web)
{
    fetch_loop_wake(&web->shared.loop);
}

uint64_t fetch_bytes(const struct fetch *web)
{
    return web->shared.bytes;
}

uint64_t fetch_refused(const struct fetch *web)
{
    return web->shared.refused;
}
