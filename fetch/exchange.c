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
 * A fault within such a body is ignored.
 */
#include "exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/disk/clock.h"

enum {
    SKIP = 1 << 14,     /* bytes of an unwanted body, at most, */
    SKIP_FOR = 1000,    /* and milliseconds */
    STALLED = 16,       /* bytes per second */
    SLOW = 1000,
    OVERHEAD = 1 << 12, /* of gzip, for small files */
};

/* --- what libcurl calls --- */

static curl_socket_t on_socket(void *owner, curlsocktype purpose,
                               struct curl_sockaddr *to)
{
    struct fetch_exchange *x = owner;

    if (purpose != CURLSOCKTYPE_IPCXN ||
        (to->family != AF_INET && to->family != AF_INET6) ||
        to->addr.sa_family != to->family ||
        (!x->shared->options.allow_private && !fetch_public(&to->addr) &&
         !fetch_places_have(&x->shared->allowed, &to->addr))) {
        x->shared->refused++;
        fetch_address_write(&to->addr, x->refused);
        return CURL_SOCKET_BAD;
    }
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

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
    const struct fetch_head *h = &x->head;

    if (!x->ranged)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "sends a part instead of the whole file");
    if (!h->ranged || h->says.from != x->request->asks.from)
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

/* The head is complete. False: leave this hop. */
static bool on_whole(struct fetch_exchange *x)
{
    const struct fetch_request *asks = &x->request->asks;
    struct fetch_head *h = &x->head;
    int status = h->says.status;

    if (status != 200 && status != 206) {
        x->until = clock_ms() + SKIP_FOR;
        return status == 204 || status == 304 || h->chunked ||
               h->says.length <= SKIP; /* and known */
    }
    x->wanted = true;
    x->slow_since = clock_ms();
    fetch_unpack_init(&x->unpack, !asks->unpack ? FETCH_NOT
                                  : h->coding == FETCH_CODED_GZIP
                                      ? FETCH_GZIP
                                      : FETCH_GUESS);
    x->code = check_answer(x, &x->why);
    if (x->code == SEEN_OK && asks->handler->begin) {
        x->code = asks->handler->begin(asks->owner, &h->says, &x->why);
        if (x->code != SEEN_OK)
            x->outcome = FETCH_STOPPED;
    }
    return x->code == SEEN_OK && !x->request->cancelled;
}

static size_t on_head(char *line, size_t one, size_t len, void *owner)
{
    struct fetch_exchange *x = owner;
    bool was_whole = x->head.whole;

    (void)one;
    if (x->request->cancelled)
        return CURL_WRITEFUNC_ERROR;
    x->code = fetch_head_line(&x->head, line, len, &x->why);
    if (x->code != SEEN_OK)
        return CURL_WRITEFUNC_ERROR;
    if (x->head.whole && !was_whole && !on_whole(x))
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

static size_t on_body(char *bytes, size_t one, size_t n, void *owner)
{
    struct fetch_exchange *x = owner;

    (void)one;
    if (x->request->cancelled)
        return CURL_WRITEFUNC_ERROR;
    x->shared->bytes += n;
    x->raw += n;
    if (!x->wanted) {
        return x->raw > SKIP ? CURL_WRITEFUNC_ERROR : n;
    }
    if (x->raw > most_raw(x))
        x->code = too_long(x, &x->why);
    else
        x->code = fetch_unpack_feed(&x->unpack, bytes, n, x->shared->piece,
                                    FETCH_PIECE, deliver, x, &x->why);
    return x->code == SEEN_OK && !x->request->cancelled ? n
                                                        : CURL_WRITEFUNC_ERROR;
}

/* --- libcurl's settings --- */

/* Add a line to those that are sent; a list that is NULL stays so. */
static void say(struct fetch_exchange *x, bool *good, const char *name,
                const char *value)
{
    size_t room = strlen(name) + strlen(value) + 3;
    struct curl_slist *longer = NULL;
    char *line = malloc(room);

    if (line) {
        snprintf(line, room, "%s: %s", name, value);
        longer = curl_slist_append(x->lines, line);
        free(line);
    }
    if (longer)
        x->lines = longer;
    *good = *good && longer;
}

/*
 * Which version do we have? A part is asked for only if this can be said of
 * which version it should be, and that takes a strong ETag or a date; if all
 * that is known is a weak ETag, all of the file is.
 */
static bool say_lines(struct fetch_exchange *x)
{
    const struct fetch_request *asks = &x->request->asks;
    bool strong = asks->etag && asks->etag[0] == '"';
    bool good = true;
    char from[40];

    say(x, &good, "Accept-Encoding", asks->unpack ? "gzip" : "identity");
    if (!asks->from) {
        if (asks->etag)
            say(x, &good, "If-None-Match", asks->etag);
        if (asks->modified)
            say(x, &good, "If-Modified-Since", asks->modified);
        return good;
    }
    x->ranged = strong || asks->modified || !asks->etag;
    if (!x->ranged)
        return good;
    snprintf(from, sizeof from, "bytes=%" PRIu64 "-", asks->from);
    say(x, &good, "Range", from);
    if (strong || asks->modified)
        say(x, &good, "If-Range", strong ? asks->etag : asks->modified);
    return good;
}

#define SET(option, value) \
    good = good && curl_easy_setopt(x->easy, option, value) == CURLE_OK

/* Nothing of the environment, and nothing that happens by itself. */
static bool set_guards(struct fetch_exchange *x)
{
    bool good = true;

    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);
    SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOPROXY, "*");
    SET(CURLOPT_NOSIGNAL, 1L);
    /* A name server that does not answer must not hold up the others: do
       not wait for the thread that asks it. */
    SET(CURLOPT_QUICK_EXIT, 1L);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_OPENSOCKETDATA, x);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (x->shared->options.authorities) {
        SET(CURLOPT_CAINFO, x->shared->options.authorities);
        SET(CURLOPT_CAPATH, NULL);
    }
    return good;
}

static bool set_rest(struct fetch_exchange *x)
{
    const struct fetch_options *options = &x->shared->options;
    bool good = true;

    SET(CURLOPT_PRIVATE, x);
    SET(CURLOPT_USERAGENT, options->agent);
    SET(CURLOPT_HTTPHEADER, x->lines);
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

struct fetch_exchange *fetch_exchange_new(struct fetch_shared *shared,
                                          struct fetch_pending *request)
{
    struct fetch_exchange *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->shared = shared;
    x->request = request;
    fetch_head_init(&x->head);
    x->outcome = FETCH_FAILED;
    x->timeout = shared->options.timeout;
    if (request->asks.timeout &&
        (!x->timeout || x->timeout > request->asks.timeout))
        x->timeout = request->asks.timeout;
    x->deadline = x->timeout ? clock_ms() + (uint64_t)x->timeout * 1000
                             : UINT64_MAX;
    x->visited = calloc(shared->options.redirects + 1, sizeof *x->visited);
    x->easy = curl_easy_init();
    if (x->visited && x->easy && say_lines(x) && set_guards(x) &&
        set_rest(x) &&
        fetch_target_init(&x->target, NULL, request->asks.url, NULL) ==
            SEEN_OK)
        return x;
    fetch_exchange_free(x);
    return NULL;
}

void fetch_exchange_free(struct fetch_exchange *x)
{
    if (!x)
        return;
    if (x->added)
        curl_multi_remove_handle(x->shared->multi, x->easy);
    curl_easy_cleanup(x->easy);
    curl_slist_free_all(x->lines);
    for (unsigned i = 0; x->visited && i < x->hops; i++)
        curl_free(x->visited[i]);
    free(x->visited);
    fetch_target_clear(&x->target);
    fetch_unpack_clear(&x->unpack);
    free(x);
}

/* --- hops --- */

bool fetch_exchange_hop(struct fetch_exchange *x)
{
    uint64_t at = clock_ms();
    bool good = true;

    fetch_unpack_clear(&x->unpack);
    fetch_head_init(&x->head);
    x->head.says.url = x->target.url;
    x->wanted = false;
    x->until = x->raw = x->out = x->slow_out = 0;
    x->refused[0] = x->words[0] = '\0';
    if (at >= x->deadline) {
        fetch_exchange_fault(x, CURLE_OPERATION_TIMEDOUT);
        return false;
    }
    if (x->deadline != UINT64_MAX)
        SET(CURLOPT_TIMEOUT_MS, (long)(x->deadline - at));
    SET(CURLOPT_URL, x->target.url);
    x->added = good && !curl_multi_add_handle(x->shared->multi, x->easy);
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

    if (x->hops == x->shared->options.redirects)
        return seen_fail(why, SEEN_RANGE, x->hops, "more than %u redirects",
                         x->hops);
    code = fetch_target_init(&to, x->target.url, x->head.location, why);
    if (code != SEEN_OK)
        return code;
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

bool fetch_exchange_done(struct fetch_exchange *x, CURLcode result)
{
    curl_multi_remove_handle(x->shared->multi, x->easy);
    x->added = false;
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
    if ((x->out - x->slow_out) * 1000 < SLOW * took) {
        x->outcome = FETCH_LATE;
        errno = 0;
        x->code = seen_fail(&x->why, SEEN_IO, 0, "comes too slowly");
    }
    x->slow_since = now;
    x->slow_out = x->out;
    return now + window + 1;
}
