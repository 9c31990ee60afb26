/*
 * wire.c - sockets and TLS below, Redis' protocol above.
 *
 * hiredis of Debian 12 has no TLS, so that sockets are ours and hiredis only
 * reads replies. Commands are written here: redisFormatCommandArgv() allocates
 * memory for each one.
 *
 * One loop, turn(), waits until the socket can be read or written, and does
 * what can be done. All else is built on it.
 */
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "../lib/disk/clock.h"
#include "../lib/text/memory.h"

enum {
    PIECE = 64 << 10, /* read at a time */
    LOW_WATER = 256 << 10,
    KEPT = 256 << 10, /* sent bytes are dropped from the buffer in steps */
    REPLY_MOST = 20 << 20, /* bytes: a chunk has 16 MiB, and plans far less */
    ITEMS_MOST = 1 << 20,  /* of an array */
};

/* --- words --- */

void remote_wire_count(struct buffer *to, unsigned words)
{
    buffer_byte(to, '*');
    buffer_number(to, words);
    buffer_bytes(to, "\r\n", 2);
}

void remote_wire_word(struct buffer *to, const void *word, size_t len)
{
    buffer_byte(to, '$');
    buffer_number(to, len);
    buffer_bytes(to, "\r\n", 2);
    buffer_bytes(to, word, len);
    buffer_bytes(to, "\r\n", 2);
}

void remote_wire_text(struct buffer *to, const char *word)
{
    remote_wire_word(to, word, strlen(word));
}

void remote_wire_number(struct buffer *to, uint64_t number)
{
    char digits[24], *at = digits + sizeof digits;

    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    remote_wire_word(to, at, (size_t)(digits + sizeof digits - at));
}

/* --- bytes in and out --- */

static enum seen_code lost(struct remote_wire *w, int system,
                           struct seen_error *why)
{
    errno = system;
    return seen_fail(why, SEEN_IO, 0, "%.90s: %s", w->peer,
                     system == ETIMEDOUT ? "no answer in time"
                     : system            ? "the connection is lost"
                                         : "the server closed the connection");
}

/* The result of an OpenSSL call: bytes, 0 for "not now", -1 with errno. */
static ssize_t tls_result(struct remote_wire *w, int n, short *wants)
{
    int error;

    if (n > 0)
        return n;
    error = SSL_get_error(w->ssl, n);
    if (error == SSL_ERROR_WANT_READ)
        *wants = POLLIN;
    else if (error == SSL_ERROR_WANT_WRITE)
        *wants = POLLOUT;
    else {
        errno = error == SSL_ERROR_SYSCALL && errno ? errno : ECONNRESET;
        ERR_clear_error();
        return -1;
    }
    return 0;
}

static ssize_t plain_result(ssize_t n, short *wants, short want)
{
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        *wants = want;
        return 0;
    }
    return n;
}

static ssize_t send_some(struct remote_wire *w, const void *bytes, size_t len,
                         short *wants)
{
    if (len > 1 << 30)
        len = 1 << 30;
    if (w->ssl) {
        ERR_clear_error(); /* of other connections: SSL_get_error() sees it */
        return tls_result(w, SSL_write(w->ssl, bytes, (int)len), wants);
    }
    return plain_result(send(w->fd, bytes, len, MSG_NOSIGNAL), wants, POLLOUT);
}

/* 0 is "not now" here; the end of the stream is -1 with errno 0. */
static ssize_t read_some(struct remote_wire *w, void *to, size_t len,
                         short *wants)
{
    ssize_t n;

    if (len > 1 << 30)
        len = 1 << 30;
    if (w->ssl) {
        ERR_clear_error();
        return tls_result(w, SSL_read(w->ssl, to, (int)len), wants);
    }
    n = recv(w->fd, to, len, 0);
    if (!n) {
        errno = 0;
        return -1;
    }
    return plain_result(n, wants, POLLIN);
}

/* Wait for the socket; until the clock shows `deadline`. */
static enum seen_code wait_for(struct remote_wire *w, short events,
                               uint64_t deadline, struct seen_error *why)
{
    struct pollfd p = { .fd = w->fd, .events = events };

    for (;;) {
        uint64_t now = clock_ms();
        int n = now >= deadline ? 0 : poll(&p, 1, (int)(deadline - now));

        if (n > 0)
            return SEEN_OK;
        if (!n)
            return lost(w, ETIMEDOUT, why);
        if (errno != EINTR)
            return lost(w, errno, why);
    }
}

enum seen_code remote_wire_push(struct remote_wire *w, struct seen_error *why)
{
    short wants = 0;

    if (w->out.failed)
        return no_memory_for(why, "a connection");
    while (w->sent < w->out.len && !wants) {
        ssize_t n = send_some(w, w->out.bytes + w->sent, w->out.len - w->sent,
                              &wants);

        if (n < 0)
            return lost(w, errno, why);
        w->sent += (size_t)n;
    }
    if (w->sent == w->out.len)
        w->sent = w->out.len = 0;
    else if (w->sent > KEPT) {
        buffer_drop(&w->out, w->sent);
        w->sent = 0;
    }
    return SEEN_OK;
}

static enum seen_code nonsense(const struct remote_wire *w,
                               struct seen_error *why)
{
    errno = 0;
    return seen_fail(why, SEEN_CORRUPT, 0, "%.90s: not the protocol of Redis",
                     w->peer);
}

/* hiredis allocates an array before its items are there. */
static redisReplyObjectFunctions functions;
static void *(*create_array)(const redisReadTask *, int);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *create_short_array(const redisReadTask *task, int items)
{
    return items > ITEMS_MOST ? NULL : create_array(task, items);
}

static void take_functions(void)
{
    redisReader *any = redisReaderCreate();

    if (!any)
        return;
    functions = *any->fn;
    create_array = functions.createArray;
    functions.createArray = create_short_array;
    redisReaderFree(any);
}

static redisReader *new_reader(void)
{
    pthread_once(&once, take_functions);
    return create_array ? redisReaderCreateWithFunctions(&functions) : NULL;
}

/* Read what is there into the reader; *any: there was something. */
static enum seen_code pull(struct remote_wire *w, bool *any,
                           struct seen_error *why)
{
    char piece[PIECE];
    short wants = 0;
    ssize_t n = read_some(w, piece, sizeof piece, &wants);

    if (n < 0)
        return lost(w, errno, why);
    *any = n > 0;
    if (n > 0 && redisReaderFeed(w->reader, piece, (size_t)n) != REDIS_OK)
        return no_memory_for(why, "a connection");
    w->read += (size_t)n;
    return w->read > REPLY_MOST ? nonsense(w, why) : SEEN_OK;
}

/* Send and read what is possible, waiting for either if neither is. */
static enum seen_code turn(struct remote_wire *w, uint64_t deadline,
                           struct seen_error *why)
{
    enum seen_code code = remote_wire_push(w, why);
    bool any = false;

    if (code == SEEN_OK)
        code = pull(w, &any, why);
    if (code != SEEN_OK || any)
        return code;
    return wait_for(w, (short)(w->out.len ? POLLIN | POLLOUT : POLLIN),
                    deadline, why);
}

enum seen_code remote_wire_reply(struct remote_wire *w, redisReply **reply,
                                 struct seen_error *why)
{
    uint64_t deadline = clock_ms() + w->timeout_ms;
    enum seen_code code = SEEN_OK;
    void *got = NULL;
    bool late = false; /* bytes come, but no reply in time */

    *reply = NULL;
    for (;;) {
        size_t before = w->read;

        if (redisReaderGetReply(w->reader, &got) != REDIS_OK)
            return nonsense(w, why);
        if (got) {
            w->read = 0;
            *reply = got;
            return SEEN_OK;
        }
        if (late)
            return lost(w, ETIMEDOUT, why);
        code = turn(w, deadline, why);
        if (code != SEEN_OK)
            return code;
        late = w->read > before && clock_ms() >= deadline;
    }
}

enum seen_code remote_wire_send(struct remote_wire *w, const void *bytes,
                                size_t len, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t done = 0;

    while (code == SEEN_OK && (w->out.len || done < len)) {
        uint64_t deadline = clock_ms() + w->timeout_ms;
        short wants = 0;
        ssize_t n = 0;

        code = remote_wire_push(w, why);
        if (code == SEEN_OK && !w->out.len && done < len) {
            n = send_some(w, (const char *)bytes + done, len - done, &wants);
            if (n < 0)
                return lost(w, errno, why);
            done += (size_t)n;
        }
        if (code == SEEN_OK && !n && (w->out.len || done < len)) {
            bool any = false;

            code = pull(w, &any, why);
            if (code == SEEN_OK && !any)
                code = wait_for(w, POLLIN | POLLOUT, deadline, why);
        }
    }
    return code;
}

/* Wake up only when this many bytes are there: a chunk comes in thousands of
   packets. */
static void wait_for_bytes(struct remote_wire *w, size_t len)
{
    int least = len < LOW_WATER ? 1 : LOW_WATER;

    if (!w->ssl)
        setsockopt(w->fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
}

/* Bytes from the reader's buffer first, then from the socket. */
static enum seen_code take(struct remote_wire *w, char *to, size_t len,
                           struct seen_error *why)
{
    redisReader *r = w->reader;
    uint64_t deadline = clock_ms() + w->timeout_ms;
    size_t some = r->len - r->pos < len ? r->len - r->pos : len;
    bool low = len - some >= 2 * LOW_WATER;
    enum seen_code code = SEEN_OK;

    memcpy(to, r->buf + r->pos, some);
    r->pos += some;
    if (low)
        wait_for_bytes(w, len);
    while (some < len && code == SEEN_OK) {
        short wants = 0;
        ssize_t n;

        code = remote_wire_push(w, why);
        if (code != SEEN_OK)
            break;
        n = read_some(w, to + some, len - some, &wants);
        if (n < 0)
            return lost(w, errno, why);
        some += (size_t)n;
        if (n)
            deadline = clock_ms() + w->timeout_ms;
        if (low && len - some < LOW_WATER)
            wait_for_bytes(w, (low = false));
        if (!n)
            code = wait_for(w, (short)(w->out.len ? POLLIN | POLLOUT : POLLIN),
                            deadline, why);
    }
    return code;
}

enum seen_code remote_wire_bytes(struct remote_wire *w, void *head,
                                 size_t head_len, void *to, size_t len,
                                 redisReply **other, struct seen_error *why)
{
    uint64_t deadline = clock_ms() + w->timeout_ms;
    redisReader *r = w->reader;
    enum seen_code code = SEEN_OK;
    char begin[32], end[2];
    size_t n = (size_t)snprintf(begin, sizeof begin, "$%zu\r\n",
                                head_len + len);

    *other = NULL;
    while (
        code == SEEN_OK && r->len - r->pos < n &&
        !(r->len > r->pos && memcmp(r->buf + r->pos, begin, r->len - r->pos)))
        code = turn(w, deadline, why);
    if (code != SEEN_OK)
        return code;
    if (memcmp(r->buf + r->pos, begin,
               r->len - r->pos < n ? r->len - r->pos : n))
        return remote_wire_reply(w, other, why);
    r->pos += n;
    code = take(w, head, head_len, why);
    if (code == SEEN_OK)
        code = take(w, to, len, why);
    if (code == SEEN_OK)
        code = take(w, end, sizeof end, why);
    w->read = 0;
    return code == SEEN_OK && memcmp(end, "\r\n", 2) ? nonsense(w, why) : code;
}

/* --- TLS --- */

static bool is_number(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, bytes) == 1 ||
           inet_pton(AF_INET6, host, bytes) == 1;
}

static enum seen_code tls_settings(struct remote_wire *w,
                                   const struct remote_address *a,
                                   struct seen_error *why)
{
    SSL_CTX *ctx = w->context = SSL_CTX_new(TLS_client_method());

    if (!ctx)
        return no_memory_for(why, "a connection");
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_AUTO_RETRY);
    if (a->verify != REMOTE_VERIFY_NONE) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
        if (a->cacert
                ? SSL_CTX_load_verify_locations(ctx, a->cacert, NULL) != 1
                : SSL_CTX_set_default_verify_paths(ctx) != 1)
            return seen_fail(why, SEEN_UNABLE, 0,
                             "%.90s: not CA certificates in PEM",
                             a->cacert ? a->cacert : "the system's store");
    }
    if (a->cert && (SSL_CTX_use_certificate_chain_file(ctx, a->cert) != 1 ||
                    SSL_CTX_use_PrivateKey_file(ctx, a->key ? a->key : a->cert,
                                                SSL_FILETYPE_PEM) != 1))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%.50s, %.50s: not a certificate and its key in PEM",
                         a->cert, a->key ? a->key : a->cert);
    return SEEN_OK;
}

/* No password is sent to a server whose certificate was not checked. */
static enum seen_code tls_open(struct remote_wire *w,
                               const struct remote_address *a,
                               const char *host, struct seen_error *why)
{
    uint64_t deadline = clock_ms() + w->timeout_ms;
    enum seen_code code = tls_settings(w, a, why);
    X509_VERIFY_PARAM *param;
    int n;

    if (code != SEEN_OK)
        return code;
    w->ssl = SSL_new(w->context);
    if (!w->ssl || SSL_set_fd(w->ssl, w->fd) != 1)
        return no_memory_for(why, "a connection");
    param = SSL_get0_param(w->ssl);
    if (a->verify == REMOTE_VERIFY_FULL &&
        (is_number(host) ? X509_VERIFY_PARAM_set1_ip_asc(param, host)
                         : X509_VERIFY_PARAM_set1_host(param, host, 0)) != 1)
        return seen_fail(why, SEEN_RANGE, 0, "%.90s: not a host name for TLS",
                         host);
    if (!is_number(host)) {
        char name[256]; /* OpenSSL takes it without const */

        snprintf(name, sizeof name, "%s", host);
        SSL_set_tlsext_host_name(w->ssl, name);
    }
    while ((n = SSL_connect(w->ssl)) != 1 && code == SEEN_OK) {
        int error = SSL_get_error(w->ssl, n);
        long verified = SSL_get_verify_result(w->ssl);

        if (error == SSL_ERROR_WANT_READ)
            code = wait_for(w, POLLIN, deadline, why);
        else if (error == SSL_ERROR_WANT_WRITE)
            code = wait_for(w, POLLOUT, deadline, why);
        else if (verified != X509_V_OK)
            return seen_fail(why, SEEN_UNABLE, 0,
                             "%.60s: its certificate is refused: %.80s",
                             w->peer, X509_verify_cert_error_string(verified));
        else
            return seen_fail(
                why, SEEN_UNABLE, 0, "%.60s: no TLS connection: %.80s",
                w->peer,
                ERR_reason_error_string(ERR_peek_last_error())
                    ? ERR_reason_error_string(ERR_peek_last_error())
                    : "the server closed it");
    }
    return code;
}

/* --- opening --- */

static enum seen_code connect_to(struct remote_wire *w,
                                 const struct addrinfo *to,
                                 struct seen_error *why)
{
    const int one = 1;
    int error = 0;
    socklen_t len = sizeof error;
    enum seen_code code = SEEN_OK;

    w->fd = socket(to->ai_family,
                   to->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                   to->ai_protocol);
    if (w->fd < 0)
        return lost(w, errno, why);
    setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(w->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    if (connect(w->fd, to->ai_addr, to->ai_addrlen) < 0) {
        if (errno == EINPROGRESS)
            code = wait_for(w, POLLOUT, clock_ms() + w->timeout_ms, why);
        else
            error = errno;
        if (code == SEEN_OK && !error &&
            getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
            error = errno;
        if (code == SEEN_OK && error) {
            errno = error;
            code = seen_fail(why, SEEN_IO, 0, "%.90s: no connection", w->peer);
        }
    }
    if (code != SEEN_OK) {
        close(w->fd);
        w->fd = -1;
    }
    return code;
}

static enum seen_code connect_any(struct remote_wire *w, const char *host,
                                  unsigned port, struct seen_error *why)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    enum seen_code code = SEEN_IO;
    char service[8];
    int n;

    snprintf(service, sizeof service, "%u", port % 65536);
    n = getaddrinfo(host, service, &hints, &list);
    if (n) {
        errno = 0;
        return seen_fail(why, SEEN_IO, 0, "%.90s: %s", w->peer,
                         gai_strerror(n));
    }
    for (const struct addrinfo *at = list; at && code != SEEN_OK;
         at = at->ai_next)
        code = connect_to(w, at, why);
    freeaddrinfo(list);
    return code;
}

/* One command at opening, whose reply must not be an error. */
static enum seen_code expect_ok(struct remote_wire *w, struct seen_error *why)
{
    redisReply *reply;
    enum seen_code code = remote_wire_reply(w, &reply, why);

    if (code == SEEN_OK && reply->type == REDIS_REPLY_ERROR)
        code = seen_fail(why, SEEN_UNABLE, 0, "%.60s: %.90s", w->peer,
                         reply->str);
    freeReplyObject(reply);
    return code;
}

static enum seen_code log_in(struct remote_wire *w,
                             const struct remote_address *a,
                             struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (a->password) {
        remote_wire_count(&w->out, a->user ? 3 : 2);
        remote_wire_text(&w->out, "AUTH");
        if (a->user)
            remote_wire_text(&w->out, a->user);
        remote_wire_text(&w->out, a->password);
        code = expect_ok(w, why);
    }
    if (code == SEEN_OK && a->db) {
        remote_wire_count(&w->out, 2);
        remote_wire_text(&w->out, "SELECT");
        remote_wire_number(&w->out, a->db);
        code = expect_ok(w, why);
    }
    return code;
}

enum seen_code remote_wire_open(struct remote_wire **out,
                                const struct remote_address *a,
                                const char *host, unsigned port,
                                struct seen_error *why)
{
    struct remote_wire *w = calloc(1, sizeof *w);
    enum seen_code code;

    *out = NULL;
    if (!w)
        return no_memory_for(why, "a connection");
    w->fd = -1;
    w->timeout_ms = a->timeout_ms;
    snprintf(w->peer, sizeof w->peer, strchr(host, ':') ? "[%s]:%u" : "%s:%u",
             host, port);
    w->reader = new_reader();
    code = w->reader ? connect_any(w, host, port, why)
                     : no_memory_for(why, "a connection");
    if (code == SEEN_OK) {
        w->reader->maxbuf = 0; /* keep the buffer between replies */
        if (a->tls)
            code = tls_open(w, a, host, why);
    }
    if (code == SEEN_OK)
        code = log_in(w, a, why);
    if (code != SEEN_OK) {
        int system = errno;

        remote_wire_close(w);
        errno = system;
        return code;
    }
    *out = w;
    return SEEN_OK;
}

void remote_wire_close(struct remote_wire *w)
{
    if (!w)
        return;
    SSL_free(w->ssl);
    SSL_CTX_free(w->context);
    if (w->fd >= 0)
        close(w->fd);
    if (w->reader)
        redisReaderFree(w->reader);
    if (w->out.bytes)
        explicit_bzero(w->out.bytes, w->out.room);
    buffer_clear(&w->out);
    free(w);
}
