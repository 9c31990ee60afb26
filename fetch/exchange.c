/*
 * exchange.c - one request, hop by hop.
 *
 * libcurl reads one answer at a time; it is set to follow no redirect, decode
 * nothing and use nothing of the environment. When the head of an answer is
 * complete, its status decides about the body:
 *
 *     200, 206         begin(), then body() for each piece, counted
 *     anything else    unwanted. A short one is skipped, which keeps the
 *                      connection; otherwise the connection is closed.
 *
 * So the body of a redirect or of an error costs at most 16 KiB and a second.
 * A fault within such a body is ignored. A raw request wants them all, and
 * follows no redirect: raw.c.
 */
#include "exchange.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/disk/clock.h"

enum {
    SKIP = 1 << 14,     /* bytes of an unwanted body, at most, */
    SKIP_FOR = 1000,    /* and milliseconds */
    STALLED = 16,       /* bytes per second */
    SLOW = 1000,
    OVERHEAD = 1 << 12, /* of gzip, for small files */
};

/* --- what libcurl calls --- */

/* Bytes on the wire, at most. Data that cannot be compressed grows a little:
   deflate adds five bytes to each 64 KiB. */
static uint64_t most_raw(const struct fetch_exchange *x)
{
    uint64_t most = x->request->asks.most;

    if (!x->request->asks.unpack)
        return most;
    return most > UINT64_MAX / 2 ? most : most + most / 1000 + OVERHEAD;
}

static enum seen_code too_long(const struct fetch_exchange *x,
                               struct seen_error *why)
{
    return seen_fail(why, SEEN_RANGE, x->request->asks.most,
                     "the body is longer than %" PRIu64 " bytes",
                     x->request->asks.most);
}

/* A range must be the one that was asked for, to its last byte. */
static enum seen_code check_range(const struct fetch_exchange *x,
                                  struct seen_error *why)
{
    const struct fetch_request *asks = &x->request->asks;
    const struct fetch_head *h = &x->head;

    if (!x->ranged)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "sends a part instead of the whole file");
    if (!h->ranged || h->says.from != asks->from ||
        (asks->to && h->last + 1 != asks->to &&
         (h->last >= asks->to || h->last + 1 != h->says.total)))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "sends another part than was asked for");
    if (h->says.length != FETCH_UNKNOWN &&
        h->says.length != h->last - h->says.from + 1)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "Content-Range and Content-Length differ");
    return SEEN_OK;
}

static enum seen_code check_answer(const struct fetch_exchange *x,
                                   struct seen_error *why)
{
    const struct fetch_request *asks = &x->request->asks;
    const struct fetch_head *h = &x->head;
    enum seen_code code = SEEN_OK;

    if (h->coding == FETCH_CODED_OTHER ||
        (h->coding != FETCH_CODED_NOT && !asks->unpack))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "has a Content-Encoding that was not asked for");
    if (h->says.status == 206)
        code = check_range(x, why);
    if (code == SEEN_OK && h->says.length != FETCH_UNKNOWN &&
        h->says.length > most_raw(x))
        code = too_long(x, why);
    return code;
}

static bool begin(struct fetch_exchange *x)
{
    const struct fetch_request *asks = &x->request->asks;

    if (x->code == SEEN_OK && asks->handler->begin) {
        x->code = asks->handler->begin(asks->owner, &x->head.says, &x->why);
        if (x->code != SEEN_OK)
            x->outcome = FETCH_STOPPED;
    }
    return x->code == SEEN_OK && !x->request->cancelled;
}

/* The client must look at this exchange at that time. */
static void look_at(struct fetch_exchange *x, uint64_t when)
{
    if (when < x->shared->look)
        x->shared->look = when;
}

/* The body is wanted, and must not come too slowly. */
static void want(struct fetch_exchange *x)
{
    x->wanted = true;
    x->slow_since = clock_ms();
    look_at(x, fetch_exchange_pace(x, x->slow_since));
}

static bool on_whole_raw(struct fetch_exchange *x)
{
    struct fetch_head *h = &x->head;

    h->says.bounded = h->chunked || h->says.length != FETCH_UNKNOWN;
    want(x);
    fetch_raw_facts(x);
    return begin(x);
}

/* The head is complete. False: leave this hop. */
static bool on_whole(struct fetch_exchange *x)
{
    const struct fetch_request *asks = &x->request->asks;
    struct fetch_head *h = &x->head;
    int status = h->says.status;

    if (status != 200 && status != 206) {
        x->until = clock_ms() + SKIP_FOR;
        look_at(x, x->until);
        return status == 204 || status == 304 || h->chunked ||
               h->says.length <= SKIP; /* and known */
    }
    h->says.bounded = h->chunked || h->says.length != FETCH_UNKNOWN ||
                      h->coding == FETCH_CODED_GZIP;
    want(x);
    fetch_unpack_init(&x->unpack, !asks->unpack ? FETCH_NOT
                                  : h->coding == FETCH_CODED_GZIP
                                      ? FETCH_GZIP
                                      : FETCH_GUESS);
    x->code = check_answer(x, &x->why);
    return begin(x);
}

static size_t on_head(char *line, size_t one, size_t len, void *owner)
{
    struct fetch_exchange *x = owner;
    bool was_whole = x->head.whole;

    (void)one;
    if (x->request->cancelled)
        return CURL_WRITEFUNC_ERROR;
    if (x->is_raw)
        x->code = fetch_raw_line(x, line, len, &x->why);
    if (x->code == SEEN_OK)
        x->code = fetch_head_line(&x->head, line, len, &x->why);
    if (x->code != SEEN_OK)
        return CURL_WRITEFUNC_ERROR;
    if (x->head.whole && !was_whole &&
        !(x->is_raw ? on_whole_raw(x) : on_whole(x)))
        return CURL_WRITEFUNC_ERROR;
    return len;
}

static enum seen_code deliver(void *owner, const void *bytes, size_t n,
                              struct seen_error *why)
{
    struct fetch_exchange *x = owner;
    const struct fetch_request *asks = &x->request->asks;
    enum seen_code code = SEEN_OK;

    if (n > asks->most - x->out)
        return too_long(x, why);
    x->out += n;
    if (x->request->cancelled)
        return seen_fail(why, SEEN_UNABLE, 0, "cancelled");
    if (asks->handler->body)
        code = asks->handler->body(asks->owner, bytes, n, why);
    if (code != SEEN_OK)
        x->outcome = FETCH_STOPPED;
    return code;
}

static size_t on_body_raw(struct fetch_exchange *x, const char *bytes,
                          size_t n)
{
    size_t ours = fetch_raw_body(x, bytes, n);

    if (ours)
        x->code = deliver(x, bytes, ours, &x->why);
    return ours == n && x->code == SEEN_OK && !x->request->cancelled
               ? n
               : CURL_WRITEFUNC_ERROR;
}

static size_t on_body(char *bytes, size_t one, size_t n, void *owner)
{
    struct fetch_exchange *x = owner;

    (void)one;
    if (x->request->cancelled)
        return CURL_WRITEFUNC_ERROR;
    x->shared->bytes += n;
    x->received += n;
    if (x->is_raw)
        return on_body_raw(x, bytes, n);
    if (!x->wanted)
        return x->received > SKIP ? CURL_WRITEFUNC_ERROR : n;
    if (x->received > most_raw(x))
        x->code = too_long(x, &x->why);
    else
        x->code = fetch_unpack_feed(&x->unpack, bytes, n, x->shared->piece,
                                    FETCH_PIECE, deliver, x, &x->why);
    return x->code == SEEN_OK && !x->request->cancelled ? n
                                                        : CURL_WRITEFUNC_ERROR;
}

/* --- libcurl's settings --- */

#define SET(option, value) \
    good = good && curl_easy_setopt(x->easy, option, value) == CURLE_OK

static bool set_rest(struct fetch_exchange *x)
{
    const struct fetch_options *options = &x->shared->options;
    bool good = true;

    SET(CURLOPT_PRIVATE, x);
    SET(CURLOPT_USERAGENT, options->agent);
    SET(CURLOPT_ERRORBUFFER, x->words);
    SET(CURLOPT_BUFFERSIZE, (long)FETCH_PIECE);
    SET(CURLOPT_CONNECTTIMEOUT, (long)options->connect);
    SET(CURLOPT_LOW_SPEED_LIMIT, (long)STALLED);
    SET(CURLOPT_LOW_SPEED_TIME, (long)options->stall);
    SET(CURLOPT_HEADERFUNCTION, on_head);
    SET(CURLOPT_HEADERDATA, x);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, x);
    return good;
}

/* --- from new to release --- */

static void destroy(struct fetch_exchange *x)
{
    curl_easy_cleanup(x->easy);
    curl_slist_free_all(x->lines);
    fetch_raw_clear(&x->raw);
    free(x->visited);
    free(x);
}

static struct fetch_exchange *make(struct fetch_shared *shared)
{
    struct fetch_exchange *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->shared = shared;
    x->visited = calloc(shared->options.redirects + 1, sizeof *x->visited);
    x->easy = curl_easy_init();
    if (x->visited && x->easy && fetch_exchange_guard(x) && set_rest(x))
        return x;
    destroy(x);
    return NULL;
}

/* One that is kept, or a new one. */
static struct fetch_exchange *find(struct fetch_shared *shared)
{
    struct fetch_exchange *x = shared->idle;

    if (!x)
        return make(shared);
    shared->idle = x->next;
    shared->idle_count--;
    return x;
}

/* GET, or POST with the lines of this request. */
static bool set_method(struct fetch_exchange *x)
{
    const struct seen_span post = x->request->asks.post;
    bool good = true;

    if (!post.len && !x->posts)
        return true;
    if (post.len) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDS, post.text);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post.len);
    } else {
        SET(CURLOPT_POSTFIELDS, NULL);
        SET(CURLOPT_HTTPGET, 1L);
    }
    x->posts = post.len > 0;
    return good;
}

/* Say what this request says, and what those before it did not. */
static bool prepare(struct fetch_exchange *x)
{
    const struct fetch_request *asks = &x->request->asks;
    bool usual = asks->raw && !asks->etag && !asks->modified &&
                 !asks->datetime;

    if (x->is_raw != asks->raw && !fetch_raw_set(x, asks->raw))
        return false;
    x->is_raw = asks->raw;
    x->ranged = false;
    if (!set_method(x))
        return false;
    if (usual && x->usual)
        return true;
    curl_slist_free_all(x->lines);
    x->lines = NULL;
    x->usual = false;
    if (!fetch_exchange_say(x))
        return false;
    x->usual = usual;
    return true;
}

struct fetch_exchange *fetch_exchange_new(struct fetch_shared *shared,
                                          struct fetch_pending *request)
{
    struct fetch_exchange *x = find(shared);

    if (!x)
        return NULL;
    x->request = request;
    fetch_head_init(&x->head);
    x->spent = x->strayed = x->again = false;
    x->hops = 0;
    x->code = SEEN_OK;
    x->outcome = FETCH_FAILED;
    x->timeout = shared->options.timeout;
    if (request->asks.timeout &&
        (!x->timeout || x->timeout > request->asks.timeout))
        x->timeout = request->asks.timeout;
    x->deadline = x->timeout ? clock_ms() + (uint64_t)x->timeout * 1000
                             : UINT64_MAX;
    if (prepare(x) && fetch_target_copy(&x->target, request->asks.url,
                                        request->host, NULL) == SEEN_OK)
        return x;
    x->spent = true;
    fetch_exchange_release(x);
    return NULL;
}

void fetch_exchange_release(struct fetch_exchange *x)
{
    struct fetch_shared *shared;

    if (!x)
        return;
    shared = x->shared;
    if (x->added)
        curl_multi_remove_handle(shared->multi, x->easy);
    x->added = false;
    for (unsigned i = 0; i < x->hops; i++)
        free(x->visited[i]);
    x->hops = 0;
    fetch_target_clear(&x->target);
    fetch_unpack_clear(&x->unpack);
    if (x->spent || shared->idle_count >= shared->options.parallel) {
        destroy(x);
        return;
    }
    x->request = NULL;
    x->next = shared->idle;
    shared->idle = x;
    shared->idle_count++;
}

void fetch_exchange_free_idle(struct fetch_shared *shared)
{
    struct fetch_exchange *x;

    while ((x = shared->idle)) {
        shared->idle = x->next;
        destroy(x);
    }
    shared->idle_count = 0;
}

/* --- hops --- */

/*
 * libcurl before 8.2 keeps a pointer to the last header of an answer when it
 * frees it for the next one. If that begins with a line that is folded, it
 * writes there: any server could damage our memory (curl issue 11101). A
 * duplicate has the same settings and no answer. It takes 5 us.
 */
static bool renew(struct fetch_exchange *x)
{
    enum { REPAIRED = 0x080200 };
    CURL *fresh;

    if (!x->used ||
        curl_version_info(CURLVERSION_NOW)->version_num >= REPAIRED)
        return true;
    fresh = curl_easy_duphandle(x->easy);
    if (!fresh)
        return false;
    curl_easy_cleanup(x->easy);
    x->easy = fresh;
    x->used = false;
    return true;
}

bool fetch_exchange_hop(struct fetch_exchange *x)
{
    uint64_t at = clock_ms();
    bool good = true;

    fetch_unpack_clear(&x->unpack);
    fetch_head_init(&x->head);
    x->head.raw = x->is_raw;
    x->head.says.url = x->target.url;
    x->wanted = x->stale = x->shortage = false;
    x->tries = 0;
    x->until = x->received = x->out = x->slow_out = 0;
    fetch_raw_begin(x);
    x->refused[0] = x->words[0] = '\0';
    if (at >= x->deadline) {
        fetch_exchange_fault(x, CURLE_OPERATION_TIMEDOUT);
        return false;
    }
    good = renew(x);
    SET(CURLOPT_TIMEOUT_MS,
        x->deadline != UINT64_MAX ? (long)(x->deadline - at) : 0L);
    SET(CURLOPT_FRESH_CONNECT, x->again ? 1L : 0L);
    SET(CURLOPT_URL, x->target.url);
    good = good && fetch_exchange_identify(x);
    x->added = good && !curl_multi_add_handle(x->shared->multi, x->easy);
    x->used = x->used || x->added;
    if (!x->added)
        fetch_exchange_fault(x, CURLE_OUT_OF_MEMORY);
    return x->added;
}

/* Follow a redirect: SEEN_OK if x->target is the next hop. */
static enum seen_code redirect(struct fetch_exchange *x,
                               struct seen_error *why)
{
    enum seen_code code;
    struct fetch_target to;

    if (x->request->asks.post.len)
        return seen_fail(why, SEEN_RANGE, x->hops,
                         "redirects what was posted to it");
    if (x->hops == x->shared->options.redirects)
        return seen_fail(why, SEEN_RANGE, x->hops, "more than %u redirects",
                         x->hops);
    code = fetch_target_init(&to, x->target.url, x->head.location, why);
    if (code != SEEN_OK)
        return code;
    x->again = false;
    x->strayed = x->strayed || !fetch_target_same(&x->target, &to);
    x->visited[x->hops++] = x->target.url;
    x->target.url = NULL;
    fetch_target_clear(&x->target);
    x->target = to;
    x->head.says.url = to.url;
    for (unsigned i = 0; i < x->hops; i++)
        if (!strcmp(x->visited[i], to.url))
            return seen_fail(why, SEEN_RANGE, x->hops,
                             "its redirects lead in a circle");
    return SEEN_OK;
}

/* The body has ended: is it complete? */
static enum seen_code end_body(struct fetch_exchange *x,
                               struct seen_error *why)
{
    const struct fetch_head *h = &x->head;

    if (h->says.status == 206 && x->out != h->last - h->says.from + 1)
        return seen_fail(why, SEEN_CORRUPT, x->out,
                         "the part is not as long as announced");
    return fetch_unpack_end(&x->unpack, deliver, x, why);
}

/*
 * Was the request not answered because its connection had been kept too long?
 * The server may have closed it at the very moment. libcurl repeats such
 * requests, too, but only five times in the life of an easy handle.
 */
static bool is_lost(const struct fetch_exchange *x, CURLcode result)
{
    long made = 0;

    if (x->stale)
        return true;
    curl_easy_getinfo(x->easy, CURLINFO_NUM_CONNECTS, &made);
    return !made && !x->head.bytes &&
           (result == CURLE_RECV_ERROR || result == CURLE_SEND_ERROR ||
            result == CURLE_GOT_NOTHING);
}

bool fetch_exchange_done(struct fetch_exchange *x, CURLcode result)
{
    curl_multi_remove_handle(x->shared->multi, x->easy);
    x->added = false;
    if (x->code == SEEN_OK && result != CURLE_OK && !x->again &&
        is_lost(x, result)) {
        x->again = true;
        return false;
    }
    if (x->is_raw) {
        fetch_raw_end(x, result);
        fetch_raw_facts(x);
        return true;
    }
    if (x->code != SEEN_OK)
        return true;
    if (result != CURLE_OK && (x->wanted || !x->head.whole)) {
        fetch_exchange_fault(x, result);
        return true;
    }
    if (!x->head.whole) {
        fetch_exchange_fault(x, CURLE_GOT_NOTHING);
        return true;
    }
    if (fetch_head_redirects(&x->head)) {
        x->code = redirect(x, &x->why);
        return x->code != SEEN_OK;
    }
    if (x->wanted)
        x->code = end_body(x, &x->why);
    return true;
}

uint64_t fetch_exchange_pace(struct fetch_exchange *x, uint64_t now)
{
    uint64_t window = (uint64_t)x->shared->options.slow * 1000;
    uint64_t took = now - x->slow_since;

    if (!window || !x->wanted || x->code != SEEN_OK)
        return UINT64_MAX;
    if (took <= window)
        return x->slow_since + window + 1;
    if ((x->out - x->slow_out) * 1000 < SLOW * took && x->is_raw) {
        x->raw.cut = FETCH_CUT_TIME;
    } else if ((x->out - x->slow_out) * 1000 < SLOW * took) {
        x->outcome = FETCH_LATE;
        errno = 0;
        x->code = seen_fail(&x->why, SEEN_IO, 0, "comes too slowly");
    }
    x->slow_since = now;
    x->slow_out = x->out;
    return now + window + 1;
}
