/*
 * fault.c - libcurl's errors as our codes and words.
 *
 * The words of libcurl are for programmers who use libcurl. A reader of a log
 * needs to know whether to try again (SEEN_IO), to complain to the server's
 * operator (SEEN_CORRUPT), or to look twice (SEEN_RANGE).
 */
#include "exchange.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "../lib/disk/clock.h"

/* The connection failed; `system` is errno, or 0 if there is none. */
#define FAILED(x, system, ...) \
    (errno = (system), seen_fail(&(x)->why, SEEN_IO, 0, __VA_ARGS__))

static bool is_connected(struct fetch_exchange *x)
{
    curl_off_t since = 0;

    curl_easy_getinfo(x->easy, CURLINFO_PRETRANSFER_TIME_T, &since);
    return since != 0;
}

static enum seen_code timed_out(struct fetch_exchange *x)
{
    const struct fetch_options *options = &x->shared->options;

    /* libcurl's clock may be a little ahead of ours. */
    if (x->deadline != UINT64_MAX && clock_ms() + 50 >= x->deadline) {
        x->outcome = FETCH_LATE;
        return FAILED(x, 0, "took longer than %u seconds", x->timeout);
    }
    if (!is_connected(x))
        return FAILED(x, 0, "no connection within %u seconds",
                      options->connect);
    return FAILED(x, 0, "stalled for %u seconds", options->stall);
}

static enum seen_code not_connected(struct fetch_exchange *x)
{
    long system = 0;

    if (*x->refused)
        return seen_fail(&x->why, SEEN_RANGE, 0, "%s is not a public address",
                         x->refused);
    curl_easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &system);
    return FAILED(x, (int)system, "no connection");
}

static enum seen_code closed(struct fetch_exchange *x)
{
    if (x->head.bytes)
        return seen_fail(&x->why, SEEN_CORRUPT, x->head.bytes,
                         "the head of the answer was cut short");
    return FAILED(x, 0, "the connection was closed without an answer");
}

/* No memory; or a line of more than 100 KiB, for which libcurl has the same
   code, and which never gets here. */
static enum seen_code no_memory(struct fetch_exchange *x)
{
    if (is_connected(x) && !x->head.whole)
        return seen_fail(&x->why, SEEN_RANGE, x->head.bytes,
                         "the head of the answer has a line without end");
    return seen_fail(&x->why, SEEN_NOMEM, 0, "no memory to fetch");
}

static enum seen_code translate(struct fetch_exchange *x, CURLcode result)
{
    const char *words = *x->words ? x->words : curl_easy_strerror(result);

    switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
        if (strstr(words, "thread")) /* of libcurl's resolver */
            return FAILED(x, 0, "no memory to look up the host");
        return FAILED(x, 0, "the host is not found");
    case CURLE_COULDNT_CONNECT: return not_connected(x);
    case CURLE_OPERATION_TIMEDOUT: return timed_out(x);
    case CURLE_GOT_NOTHING: return closed(x);
    case CURLE_PARTIAL_FILE:
        return seen_fail(&x->why, SEEN_CORRUPT, x->received,
                         "the answer was cut short");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        return seen_fail(&x->why, SEEN_CORRUPT, 0,
                         "the answer is not HTTP: %s", words);
    case CURLE_BAD_FUNCTION_ARGUMENT: /* of libcurl's own list of headers */
        return seen_fail(&x->why, SEEN_CORRUPT, 0,
                         "the answer is not HTTP: its head begins with a "
                         "folded line");
    case CURLE_RECV_ERROR:
        if (!strstr(words, "chunk"))
            return FAILED(x, 0, "the connection broke");
        return seen_fail(&x->why, SEEN_CORRUPT, x->received,
                         "the answer is damaged: %s", words);
    case CURLE_PEER_FAILED_VERIFICATION:
        return seen_fail(&x->why, SEEN_RANGE, 0,
                         "its certificate is not trusted: %s", words);
    case CURLE_OUT_OF_MEMORY: return no_memory(x);
    default: return FAILED(x, 0, "%s", words);
    }
}

/* The lookup of a name, and the reading of certificates, fail for a lack of
   descriptors without saying so. */
void fetch_exchange_fault(struct fetch_exchange *x, CURLcode result)
{
    x->shortage = x->shortage ||
                  (result == CURLE_COULDNT_RESOLVE_HOST &&
                   strstr(x->words, "thread")) ||
                  (!is_connected(x) && result != CURLE_OPERATION_TIMEDOUT &&
                   fetch_socket_is_short());
    x->code = translate(x, result);
}
