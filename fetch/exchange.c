/*
 * exchange.c - one request, hop by hop.
 *
 * libcurl reads one answer at a time and is told to follow nothing, decode
 * nothing and take nothing from the environment. Here it is decided, once
 * the head of an answer is whole, what becomes of its body:
 *
 *     200, 206         begin(), then some() for each piece, counted
 *     anything else    nobody wants it. If it is short it is read over, which
 *                      keeps the connection; else the connection is closed.
 *
 * So the body of a redirect, or of an error, costs 16 KiB and a second at
 * most, whatever it is. A fault within such a body is no fault.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "exchange.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    OVER = 1 << 14,     /* bytes of a body that nobody wants */
    OVER_FOR = 1000,    /* milliseconds */
    LEAST_SPEED = 16,   /* bytes a second */
    OVERHEAD = 1 << 12, /* of gzip, for small files */
};

uint64_t fetch_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- what libcurl calls --- */

static curl_socket_t on_socket(void *owner, curlsocktype purpose,
                               struct curl_sockaddr *to)
{
    struct exchange *x = owner;

    if (purpose != CURLSOCKTYPE_IPCXN ||
        (to->family != AF_INET && to->family != AF_INET6) ||
        to->addr.sa_family != to->family ||
        (!x->ways->rules.allow_private && !fetch_public(&to->addr) &&
         !places_have(&x->ways->allowed, &to->addr))) {
        x->ways->refused++;
        address_write(&to->addr, x->unreached);
        return CURL_SOCKET_BAD;
    }
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* Bytes on the wire, at most. What cannot be packed grows a little: deflate
   adds five bytes to each 64 KiB. */
static uint64_t most_raw(const struct exchange *x)
{
    uint64_t most = x->request->asks.most;

    if (!x->request->asks.unpack)
        return most;
    return most > UINT64_MAX / 2 ? most : most + most / 1000 + OVERHEAD;
}

static enum seen_code too_long(const struct exchange *x,
                               struct seen_error *why)
{
    return seen_fail(why, SEEN_RANGE, x->request->asks.most,
                     "the body is longer than %" PRIu64 " bytes",
                     x->request->asks.most);
}

/* A range must be the one that was asked for, to its last byte. */
static enum seen_code check_range(const struct exchange *x,
                                  struct seen_error *why)
{
    const struct head *h = &x->head;

    if (!x->ranged)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "sends a part though all of it was asked for");
    if (!h->ranged || h->says.from != x->request->asks.from)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "sends another part than was asked for");
    if (h->says.length != FETCH_UNKNOWN &&
        h->says.length != h->last - h->says.from + 1)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "Content-Range and Content-Length differ");
    return SEEN_OK;
}

static enum seen_code check_answer(const struct exchange *x,
                                   struct seen_error *why)
{
    const struct fetch_request *asks = &x->request->asks;
    const struct head *h = &x->head;
    enum seen_code code = SEEN_OK;

    if (h->coding == CODED_OTHERWISE ||
        (h->coding != CODED_NOT && !asks->unpack))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "comes in a Content-Encoding that nobody asked for");
    if (h->says.status == 206)
        code = check_range(x, why);
    if (code == SEEN_OK && h->says.length != FETCH_UNKNOWN &&
        h->says.length > most_raw(x))
        code = too_long(x, why);
    return code;
}

/* The head is whole. False: nothing more is wanted of this hop. */
static bool on_whole(struct exchange *x)
{
    const struct fetch_request *asks = &x->request->asks;
    struct head *h = &x->head;
    int status = h->says.status;

    if (status != 200 && status != 206) {
        x->until = fetch_clock() + OVER_FOR;
        x->left = status != 204 && status != 304 && !h->chunked &&
                  h->says.length > OVER; /* or unknown */
        return !x->left;
    }
    x->taking = true;
    unpack_init(&x->unpack, !asks->unpack             ? UNPACK_NOT
                            : h->coding == CODED_GZIP ? UNPACK_GZIP
                                                      : UNPACK_GUESS);
    x->code = check_answer(x, &x->why);
    if (x->code == SEEN_OK && asks->taker->begin)
        x->code = asks->taker->begin(asks->owner, &h->says, &x->why);
    return x->code == SEEN_OK && !x->request->cancelled;
}

static size_t on_head(char *line, size_t one, size_t len, void *owner)
{
    struct exchange *x = owner;
    bool was_whole = x->head.whole;

    (void)one;
    if (x->request->cancelled)
        return CURL_WRITEFUNC_ERROR;
    x->code = head_line(&x->head, line, len, &x->why);
    if (x->code != SEEN_OK)
        return CURL_WRITEFUNC_ERROR;
    if (x->head.whole && !was_whole && !on_whole(x))
        return CURL_WRITEFUNC_ERROR;
    return len;
}

static enum seen_code take(void *owner, const void *bytes, size_t n,
                           struct seen_error *why)
{
    struct exchange *x = owner;
    const struct fetch_request *asks = &x->request->asks;

    if (n > asks->most - x->out)
        return too_long(x, why);
    x->out += n;
    if (x->request->cancelled)
        return seen_fail(why, SEEN_UNABLE, 0, "cancelled");
    return asks->taker->some ? asks->taker->some(asks->owner, bytes, n, why)
                             : SEEN_OK;
}

static size_t on_body(char *bytes, size_t one, size_t n, void *owner)
{
    struct exchange *x = owner;

    (void)one;
    if (x->request->cancelled)
        return CURL_WRITEFUNC_ERROR;
    x->ways->bytes += n;
    x->raw += n;
    if (!x->taking) {
        x->left = x->raw > OVER;
        return x->left ? CURL_WRITEFUNC_ERROR : n;
    }
    if (x->raw > most_raw(x))
        x->code = too_long(x, &x->why);
    else
        x->code = unpack_feed(&x->unpack, bytes, n, x->ways->piece, PIECE,
                              take, x, &x->why);
    return x->code == SEEN_OK && !x->request->cancelled ? n
                                                        : CURL_WRITEFUNC_ERROR;
}

/* --- what libcurl is told --- */

/* Add a line to those that are sent; a list that is NULL stays so. */
static void say(struct exchange *x, bool *good, const char *name,
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
static bool say_lines(struct exchange *x)
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
static bool set_guards(struct exchange *x)
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
    if (x->ways->rules.authorities) {
        SET(CURLOPT_CAINFO, x->ways->rules.authorities);
        SET(CURLOPT_CAPATH, NULL);
    }
    return good;
}

static bool set_rest(struct exchange *x)
{
    const struct fetch_rules *rules = &x->ways->rules;
    bool good = true;

    SET(CURLOPT_PRIVATE, x);
    SET(CURLOPT_USERAGENT, rules->agent);
    SET(CURLOPT_HTTPHEADER, x->lines);
    SET(CURLOPT_ERRORBUFFER, x->words);
    SET(CURLOPT_BUFFERSIZE, (long)PIECE);
    SET(CURLOPT_CONNECTTIMEOUT, (long)rules->connect);
    SET(CURLOPT_LOW_SPEED_LIMIT, (long)LEAST_SPEED);
    SET(CURLOPT_LOW_SPEED_TIME, (long)rules->stall);
    SET(CURLOPT_HEADERFUNCTION, on_head);
    SET(CURLOPT_HEADERDATA, x);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, x);
    return good;
}

struct exchange *exchange_new(struct ways *ways, struct request *request)
{
    struct exchange *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->ways = ways;
    x->request = request;
    head_init(&x->head);
    x->deadline = ways->rules.whole
                      ? fetch_clock() + (uint64_t)ways->rules.whole * 1000
                      : UINT64_MAX;
    x->been = calloc(ways->rules.redirects + 1, sizeof *x->been);
    x->easy = curl_easy_init();
    if (x->been && x->easy && say_lines(x) && set_guards(x) && set_rest(x) &&
        where_init(&x->where, NULL, request->asks.url, NULL) == SEEN_OK)
        return x;
    exchange_free(x);
    return NULL;
}

void exchange_free(struct exchange *x)
{
    if (!x)
        return;
    if (x->added)
        curl_multi_remove_handle(x->ways->multi, x->easy);
    curl_easy_cleanup(x->easy);
    curl_slist_free_all(x->lines);
    for (unsigned i = 0; x->been && i < x->hops; i++)
        curl_free(x->been[i]);
    free(x->been);
    where_clear(&x->where);
    unpack_clear(&x->unpack);
    free(x);
}

/* --- hops --- */

bool exchange_hop(struct exchange *x)
{
    uint64_t at = fetch_clock();
    bool good = true;

    unpack_clear(&x->unpack);
    head_init(&x->head);
    x->head.says.url = x->where.url;
    x->taking = x->left = false;
    x->until = x->raw = x->out = 0;
    x->unreached[0] = x->words[0] = '\0';
    if (at >= x->deadline) {
        exchange_fault(x, CURLE_OPERATION_TIMEDOUT);
        return false;
    }
    if (x->deadline != UINT64_MAX)
        SET(CURLOPT_TIMEOUT_MS, (long)(x->deadline - at));
    SET(CURLOPT_URL, x->where.url);
    x->added = good && !curl_multi_add_handle(x->ways->multi, x->easy);
    if (!x->added)
        exchange_fault(x, CURLE_OUT_OF_MEMORY);
    return x->added;
}

/* Where to now? SEEN_OK if x->where is the next hop. */
static enum seen_code lead_on(struct exchange *x, struct seen_error *why)
{
    enum seen_code code;
    struct where to;

    if (x->hops == x->ways->rules.redirects)
        return seen_fail(why, SEEN_RANGE, x->hops, "more than %u redirects",
                         x->hops);
    code = where_init(&to, x->where.url, x->head.location, why);
    if (code != SEEN_OK)
        return code;
    x->been[x->hops++] = x->where.url;
    x->where.url = NULL;
    where_clear(&x->where);
    x->where = to;
    x->head.says.url = to.url;
    for (unsigned i = 0; i < x->hops; i++)
        if (!strcmp(x->been[i], to.url))
            return seen_fail(why, SEEN_RANGE, x->hops,
                             "its redirects lead in a circle");
    return SEEN_OK;
}

/* The body has ended; has it, really? */
static enum seen_code end_body(struct exchange *x, struct seen_error *why)
{
    const struct head *h = &x->head;

    if (h->says.status == 206 && x->out != h->last - h->says.from + 1)
        return seen_fail(why, SEEN_CORRUPT, x->out,
                         "the part is not as long as announced");
    return unpack_end(&x->unpack, take, x, why);
}

bool exchange_done(struct exchange *x, CURLcode result)
{
    curl_multi_remove_handle(x->ways->multi, x->easy);
    x->added = false;
    if (x->code != SEEN_OK)
        return true;
    if (result != CURLE_OK && (x->taking || !x->head.whole)) {
        exchange_fault(x, result);
        return true;
    }
    if (!x->head.whole) {
        exchange_fault(x, CURLE_GOT_NOTHING);
        return true;
    }
    if (head_leads_on(&x->head)) {
        x->code = lead_on(x, &x->why);
        return x->code != SEEN_OK;
    }
    if (x->taking)
        x->code = end_body(x, &x->why);
    return true;
}
