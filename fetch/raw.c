/*
 * raw.c - heads, facts and bounds of answers that are handed over as they came.
 *
 * libcurl gives the chunks of a body without undoing them, and still finds its
 * end. But it gives whole packets, including what follows that end. So the
 * chunks are followed here, too, and the connection is closed if anything
 * follows. (If there is a length, libcurl itself counts, and closes.)
 */
#include "raw.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "exchange.h"

enum { KEPT = 1 << 14 }; /* bytes of memory that a buffer keeps */

/* --- what libcurl calls --- */

/* The request, as it is sent. It can be sent in pieces; and again, if a kept
   connection turns out to be closed. */
static int on_debug(CURL *easy, curl_infotype kind, char *bytes, size_t n,
                    void *owner)
{
    struct buffer *sent = &((struct fetch_exchange *)owner)->raw.sent;

    (void)easy;
    if (kind != CURLINFO_HEADER_OUT)
        return 0;
    if (sent->len >= 4 && !memcmp(sent->bytes + sent->len - 4, "\r\n\r\n", 4))
        sent->len = 0;
    buffer_bytes(sent, bytes, n);
    return 0;
}

#define SET(option, value) \
    good = good && curl_easy_setopt(x->easy, option, value) == CURLE_OK

bool fetch_raw_set(struct fetch_exchange *x, bool raw)
{
    bool good = true;

    SET(CURLOPT_HTTP_TRANSFER_DECODING, raw ? 0L : 1L);
    SET(CURLOPT_DEBUGFUNCTION, on_debug);
    SET(CURLOPT_DEBUGDATA, x);
    /* There may be a thousand of these, and a page is mostly shorter. */
    SET(CURLOPT_BUFFERSIZE, raw ? (long)FETCH_PIECE / 4 : (long)FETCH_PIECE);
    return good;
}

/* --- an answer --- */

/*
 * libcurl makes many texts for whoever listens to it, and only the one of the
 * request is wanted: it is listened to from when the request is about to be
 * sent to the first line of the answer.
 */
void fetch_raw_listen(struct fetch_exchange *x, bool listen)
{
    if (x->raw.listens != listen)
        curl_easy_setopt(x->easy, CURLOPT_VERBOSE, listen ? 1L : 0L);
    x->raw.listens = listen;
}

static void empty(struct buffer *b)
{
    if (b->room > KEPT || b->failed)
        buffer_clear(b);
    b->len = 0;
}

void fetch_raw_begin(struct fetch_exchange *x)
{
    struct fetch_raw *raw = &x->raw;
    struct timespec now;

    fetch_raw_listen(x, false);
    clock_gettime(CLOCK_REALTIME, &now);
    raw->started = (uint64_t)now.tv_sec * 1000 +
                   (uint64_t)now.tv_nsec / 1000000;
    empty(&raw->sent);
    empty(&raw->head);
    raw->chunks = (struct fetch_chunks){ 0 };
    raw->ended = false;
    raw->cut = FETCH_CUT_NOT;
    raw->address[0] = raw->tls[0] = '\0';
}

void fetch_raw_clear(struct fetch_raw *raw)
{
    buffer_clear(&raw->sent);
    buffer_clear(&raw->head);
}

enum seen_code fetch_raw_line(struct fetch_exchange *x, const char *line,
                              size_t len, struct seen_error *why)
{
    struct buffer *head = &x->raw.head;

    fetch_raw_listen(x, false);
    if (x->head.whole)
        return SEEN_OK;
    if (!x->head.inside) /* a status line: what was before it is a 1xx */
        head->len = 0;
    if (head->len + len <= FETCH_HEAD_BYTES)
        buffer_bytes(head, line, len);
    if (head->failed || x->raw.sent.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to fetch");
    return SEEN_OK;
}

static unsigned milliseconds(CURL *easy, CURLINFO what)
{
    curl_off_t micro = 0;

    curl_easy_getinfo(easy, what, &micro);
    return micro > 0 ? (unsigned)(micro / 1000) : 0;
}

/* Only while the transfer runs is it known which connection it has. */
static void find_server(struct fetch_exchange *x)
{
    char *address = NULL;
    struct ssl_st *tls;

    curl_easy_getinfo(x->easy, CURLINFO_PRIMARY_IP, &address);
    snprintf(x->raw.address, sizeof x->raw.address, "%s",
             address ? address : "");
    if (fetch_target_tls(&x->target) && !*x->raw.tls &&
        (tls = fetch_exchange_tls(x)))
        snprintf(x->raw.tls, sizeof x->raw.tls, "%s %s", SSL_get_version(tls),
                 SSL_get_cipher_name(tls));
}

void fetch_raw_facts(struct fetch_exchange *x)
{
    const struct fetch_raw *raw = &x->raw;
    struct fetch_response *says = &x->head.says;
    unsigned tls = milliseconds(x->easy, CURLINFO_APPCONNECT_TIME_T);
    long port = 0;

    find_server(x);
    curl_easy_getinfo(x->easy, CURLINFO_PRIMARY_PORT, &port);
    says->sent = (struct seen_span){ raw->sent.bytes, raw->sent.len };
    says->head = (struct seen_span){ raw->head.bytes, raw->head.len };
    says->cut = raw->cut;
    says->address = raw->address;
    says->port = *raw->address ? (unsigned)port : 0;
    says->tls = raw->tls;
    says->started = raw->started;
    says->ms_connect = tls ? tls
                           : milliseconds(x->easy, CURLINFO_CONNECT_TIME_T);
    says->ms_first = milliseconds(x->easy, CURLINFO_STARTTRANSFER_TIME_T);
    says->ms_total = milliseconds(x->easy, CURLINFO_TOTAL_TIME_T);
}

/* --- its body --- */

/* How many of the bytes are chunks of this answer? */
static size_t follow_chunks(struct fetch_raw *raw, const char *bytes, size_t n)
{
    struct seen_span rest = { bytes, n }, piece;
    enum fetch_chunks_result at;

    do
        at = fetch_chunks_next(&raw->chunks, &rest, &piece);
    while (at == FETCH_CHUNKS_PIECE);
    raw->ended = at == FETCH_CHUNKS_END;
    if (at == FETCH_CHUNKS_DAMAGE)
        raw->cut = FETCH_CUT_DAMAGED;
    return n - rest.len;
}

size_t fetch_raw_body(struct fetch_exchange *x, const char *bytes, size_t n)
{
    uint64_t room = x->request->asks.most - x->out;

    if (x->head.chunked)
        n = follow_chunks(&x->raw, bytes, n);
    if (n > room) {
        n = (size_t)room;
        x->raw.ended = false;
        x->raw.cut = FETCH_CUT_LENGTH;
    }
    return n;
}

/* --- its end --- */

static enum fetch_cut why_cut(const struct fetch_exchange *x, CURLcode result)
{
    if (result == CURLE_OPERATION_TIMEDOUT)
        return FETCH_CUT_TIME;
    if (result == CURLE_OK ||
        (result == CURLE_RECV_ERROR && strstr(x->words, "chunk")))
        return FETCH_CUT_DAMAGED;
    return FETCH_CUT_DISCONNECT;
}

void fetch_raw_end(struct fetch_exchange *x, CURLcode result)
{
    struct fetch_raw *raw = &x->raw;

    if (x->code != SEEN_OK)
        return;
    if (!x->head.whole || result == CURLE_OUT_OF_MEMORY) {
        fetch_exchange_fault(x,
                             result == CURLE_OK ? CURLE_GOT_NOTHING : result);
        return;
    }
    if (raw->cut != FETCH_CUT_NOT || raw->ended)
        return;
    if (result != CURLE_OK || (x->head.chunked && x->head.says.status != 204 &&
                               x->head.says.status != 304))
        raw->cut = why_cut(x, result);
}

const char *fetch_cut_name(enum fetch_cut cut)
{
    static const char *const names[] = { NULL, "length", "time", "disconnect",
                                         "unspecified" };

    return names[cut];
}
