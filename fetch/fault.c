/*
 * fault.c - what libcurl's codes mean: whose fault it was, and in words.
 *
 * The words of libcurl are for those who use libcurl. What a reader of a
 * harvest's log must know is whether to try again (SEEN_IO), to complain to
 * the other side (SEEN_CORRUPT), or to look twice (SEEN_RANGE).
 */
#include "exchange.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* A fault on the way; `system` is errno, or 0 if it says nothing. */
#define FAILED(x, system, ...) \
    (errno = (system), seen_fail(&(x)->why, SEEN_IO, 0, __VA_ARGS__))

static bool is_connected(struct exchange *x)
{
    curl_off_t since = 0;

    curl_easy_getinfo(x->easy, CURLINFO_PRETRANSFER_TIME_T, &since);
    return since != 0;
}

static enum seen_code timed_out(struct exchange *x)
{
    const struct fetch_rules *rules = &x->ways->rules;

    /* libcurl's clock may be a little ahead of ours. */
    if (x->deadline != UINT64_MAX && fetch_clock() + 50 >= x->deadline)
        return FAILED(x, 0, "took longer than %u seconds", rules->whole);
    if (!is_connected(x))
        return FAILED(x, 0, "no connection within %u seconds", rules->connect);
    return FAILED(x, 0, "stalled for %u seconds", rules->stall);
}

static enum seen_code not_connected(struct exchange *x)
{
    long system = 0;

    if (*x->unreached)
        return seen_fail(&x->why, SEEN_RANGE, 0, "%s is not a public address",
                         x->unreached);
    curl_easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &system);
    return FAILED(x, (int)system, "no connection");
}

static enum seen_code closed(struct exchange *x)
{
    if (x->head.bytes)
        return seen_fail(&x->why, SEEN_CORRUPT, x->head.bytes,
                         "the head of the answer was cut short");
    return FAILED(x, 0, "the connection was closed without an answer");
}

/* So libcurl calls a line of more than 100 KiB, of which we see nothing. */
static enum seen_code no_memory(struct exchange *x)
{
    if (is_connected(x) && !x->head.whole)
        return seen_fail(&x->why, SEEN_RANGE, x->head.bytes,
                         "the head of the answer has a line without end");
    return seen_fail(&x->why, SEEN_NOMEM, 0, "no memory to fetch");
}

static enum seen_code told(struct exchange *x, CURLcode result)
{
    const char *words = *x->words ? x->words : curl_easy_strerror(result);

    switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return FAILED(x, 0, "the host is not found");
    case CURLE_COULDNT_CONNECT: return not_connected(x);
    case CURLE_OPERATION_TIMEDOUT: return timed_out(x);
    case CURLE_GOT_NOTHING: return closed(x);
    case CURLE_PARTIAL_FILE:
        return seen_fail(&x->why, SEEN_CORRUPT, x->raw,
                         "the answer was cut short");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        return seen_fail(&x->why, SEEN_CORRUPT, 0, "the answer is no HTTP: %s",
                         words);
    case CURLE_RECV_ERROR:
        if (!strstr(words, "chunk"))
            return FAILED(x, 0, "the connection broke");
        return seen_fail(&x->why, SEEN_CORRUPT, x->raw,
                         "the answer is damaged: %s", words);
    case CURLE_PEER_FAILED_VERIFICATION:
        return seen_fail(&x->why, SEEN_RANGE, 0,
                         "its certificate is not trusted: %s", words);
    case CURLE_OUT_OF_MEMORY: return no_memory(x);
    default: return FAILED(x, 0, "%s", words);
    }
}

void exchange_fault(struct exchange *x, CURLcode result)
{
    x->code = told(x, result);
}
