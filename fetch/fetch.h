/*
 * fetch.h - the guarded HTTP client: everything from the web may be hostile.
 *
 * Many requests at a time in one thread, on libcurl's multi interface. The
 * client guards every request against
 *
 *   - schemes other than http and https, on every hop;
 *   - addresses that are not public (private, loopback, link-local, ...),
 *     checked when the socket is opened, so that no name, redirect or change
 *     of DNS gets around it;
 *   - redirects without end, and endless answers to them: they are followed
 *     here, not by libcurl, which reads their bodies in full;
 *   - bodies longer than asked for, also after unpacking; heads without end;
 *     servers that send nothing, or a byte per minute;
 *   - proxies, cookies, passwords and other settings of the environment: none
 *     of them is used;
 *   - leaks of credentials, which go to the host that they are for, and to no
 *     other (credentials.h).
 *
 *     struct fetch_request r = { .url = url, .most = 50 << 20,
 *                                .handler = &sitemap, .owner = s };
 *
 *     if (fetch_new(&web, &options, &why) == SEEN_OK &&
 *         fetch_start(web, &r, &why) == SEEN_OK)
 *         while (fetch_poll(web, 1000))
 *             show_progress();
 *     fetch_free(web);
 *
 * A crawler wants answers as they came, whatever they are: `raw` requests hand
 * over heads and bodies byte by byte as they were on the wire, of any status,
 * follow no redirect, and wait for no other request to the same host unless
 * they are told to (`per_host`). decode.h undoes chunks and codings.
 *
 *     struct fetch_request r = { .url = url, .most = 10 << 20, .raw = true,
 *                                .handler = &page, .owner = p };
 *
 * retry.h decides whether a request that failed is repeated.
 *
 * Threads: a client belongs to one thread; only fetch_wakeup() may be called
 * from others. Several clients are independent.
 */
#ifndef SEEN_FETCH_H
#define SEEN_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

struct sockaddr;
struct fetch_credentials;

#define FETCH_UNKNOWN UINT64_MAX

/* Defaults, for members that are 0 or NULL, are in brackets. */
struct fetch_options {
    const char *agent;       /* the User-Agent header [seen/VERSION] */
    const char *authorities; /* file of CA certificates [the system's] */
    bool allow_private;      /* connect to addresses that are not public */
    const char *allow;       /* only to these of them, as numbers with ports:
                                "127.0.0.1:8080,[::1]:80" [none] */
    const struct fetch_credentials *credentials; /* for some hosts, and must
                                outlive the client [none] */
    unsigned parallel;       /* requests at a time, up to 1,000 [8], and */
    unsigned per_host;       /* to one host and port [4]; host_queue.h. Not
                                for raw requests */
    unsigned redirects;      /* per request [5] */
    unsigned connect;        /* seconds until there is a connection [15] */
    unsigned stall;          /* seconds with less than 16 bytes/s [30], of the
                                body and while waiting for the head */
    unsigned slow;           /* seconds with less than 1 kB/s of body, after
                                unpacking; measured again and again, since an
                                average from the beginning would let a body
                                end in a trickle [no limit] */
    unsigned timeout;        /* seconds for a request with its redirects, once
                                it has started [no limit] */
};

/* How a request ended. */
enum fetch_outcome {
    FETCH_DONE,     /* with an answer, whatever its status */
    FETCH_FAILED,   /* without one that could be used */
    FETCH_LATE,     /* it was too slow: `slow` or `timeout` */
    FETCH_STOPPED,  /* by begin() or body() */
    FETCH_CANCELLED /* by fetch_cancel() or fetch_free() */
};

/* Why the body of a raw answer is not whole. */
enum fetch_cut {
    FETCH_CUT_NOT,
    FETCH_CUT_LENGTH,     /* it is longer than `most` */
    FETCH_CUT_TIME,       /* it came too slowly: stall, slow, timeout */
    FETCH_CUT_DISCONNECT, /* the server closed the connection early */
    FETCH_CUT_DAMAGED     /* its chunks make no sense from here on */
};

/* An answer without its body. Texts are "" where it has no such header; they
   and the spans live as long as the call that they are given to. */
struct fetch_response {
    int status;           /* 200, 206, 304, 404, ...; 0: there is no answer */
    const char *url;      /* after redirects */
    const char *etag;     /* as sent, with its quotes, and W/ if weak */
    const char *modified; /* Last-Modified */
    const char *type;     /* Content-Type without parameters, lower case */
    const char *media;    /* the same with parameters, as sent */
    uint64_t length;      /* Content-Length, or FETCH_UNKNOWN */
    bool bounded;         /* a body that is cut short would be noticed: there
                             is a length, chunks or gzip */
    unsigned after;       /* Retry-After in seconds, or 0 */
    uint64_t from, total; /* Content-Range of a 206; `total` may be unknown,
                             and comes with a 416, too */
    enum fetch_outcome outcome; /* for end() */
    bool shortage; /* it failed because this process has no descriptor, or no
                      memory, for another connection: not the server's fault */

    /* For raw requests only. After a failure they have what is known. */
    bool http;              /* a status line was read; if not, and the code is
                               SEEN_CORRUPT, the answer was not HTTP */
    enum fetch_cut cut;     /* for end() */
    struct seen_span sent;  /* the head of the request, as it was sent */
    struct seen_span head;  /* of the answer, as received: from the status line
                               to the empty line; without those of 1xx */
    const char *address;    /* of the server: "127.0.0.1", "::1", and */
    unsigned port;
    const char *tls;        /* "TLSv1.3 TLS_AES_256_GCM_SHA384", or "" */
    uint64_t started;       /* Unix time in milliseconds; since then: */
    unsigned ms_connect;    /* the connection, with TLS; 0: it was kept */
    unsigned ms_first;      /* the first byte of the answer */
    unsigned ms_total;      /* now, or the end */
};

/*
 * What is done with an answer. begin() and body() are called for 200 and 206
 * only (raw: for any status), may be NULL, and stop the request by returning a code other than
 * SEEN_OK, with `why` filled. The bodies of other answers are skipped. end()
 * is called once per started request, last of all, also if it is cancelled,
 * and may start others. SEEN_OK: there is an answer, see its status.
 * Otherwise:
 *
 *     SEEN_RANGE     a guard refused it (schemes, addresses, ports,
 *                    certificates, redirects), or a limit did
 *     SEEN_CORRUPT   the answer was cut short, is not HTTP or not gzip, or is
 *                    not what was asked for: another part, another encoding
 *     SEEN_IO        the connection failed, or was too slow
 *     SEEN_UNABLE    it was cancelled
 *     or the code of begin() or body().
 *
 * A raw request whose answer has a whole head ends with SEEN_OK, unless begin()
 * or body() stop it or memory runs out; `cut` says whether its body is whole.
 * But an answer whose end cannot be known for certain (a Content-Length that
 * is not one number, a Transfer-Encoding other than chunked) is SEEN_CORRUPT.
 *
 * `response` is never NULL and has what was received before a failure. All
 * three may call fetch_start() and fetch_cancel(), but not fetch_poll() or
 * fetch_free().
 */
struct fetch_handler {
    enum seen_code (*begin)(void *owner, const struct fetch_response *response,
                            struct seen_error *why);
    enum seen_code (*body)(void *owner, const void *bytes, size_t n,
                           struct seen_error *why);
    void (*end)(void *owner, enum seen_code code,
                const struct fetch_response *response,
                const struct seen_error *why);
};

struct fetch_request {
    const char *url;      /* http or https, without password */
    const char *etag;     /* only if it is another one by now, or NULL */
    const char *modified; /* only if changed since, or NULL */
    const char *datetime; /* as it was then, of a Memento TimeGate
                             (Accept-Datetime), or NULL */
    uint64_t from;        /* the rest from this byte on; then etag and
                             modified say of which version (If-Range), and
                             200 means that it is another one */
    uint64_t to;          /* only up to this byte, which is not part of it; the
                             answer may end before it only where the file does.
                             With from 0, too: the beginning. 0: to the end */
    uint64_t most;        /* bytes of body, unpacked, of this part; 0: none.
                             More of them are an error; raw: they are cut off,
                             and chunks count as they came */
    bool unpack;          /* undo gzip, once: of the transfer, or else of a
                             file that begins like it; not with `from` */
    bool raw;             /* the answer as it came: any status, no redirects,
                             chunks and codings not undone; not with `from`,
                             `to`, `unpack` and `due` */
    bool per_host;        /* raw: it waits for its turn at its host, as
                             requests that are not raw always do */
    const char *accept_encoding; /* raw: what is asked for; NULL: gzip, br */
    struct seen_span
        post;         /* lines of text to ask about, or empty: then it is a
                             POST. They are not copied and must live until
                             end(); no redirect is followed; not with `from`
                             and `raw` */
    uint64_t due;         /* not before clock_ms() is this */
    unsigned timeout;     /* seconds, if less than the client's [as that] */
    const struct fetch_handler *handler;
    void *owner;
};

struct fetch;

/* NULL for options means the defaults. SEEN_RANGE, SEEN_NOMEM, or SEEN_IO if
   the authorities cannot be read. */
enum seen_code fetch_new(struct fetch **out,
                         const struct fetch_options *options,
                         struct seen_error *why);

/* Cancels all requests, and calls their end(). NULL is welcome. */
void fetch_free(struct fetch *web);

/*
 * Queue a request; its texts are copied. SEEN_RANGE for a URL that cannot be
 * fetched at all, and for texts with control bytes; SEEN_NOMEM; then end() is
 * not called. Requests beyond the limits wait, in order for each host, and
 * hosts take turns. Raw requests without `per_host` know no hosts: they begin in
 * the order in which they were started, before the others, as long as fewer
 * than `parallel` run. Nothing is sent before fetch_poll().
 */
enum seen_code fetch_start(struct fetch *web,
                           const struct fetch_request *request,
                           struct seen_error *why);

/*
 * Stop the requests of this owner, calling end() with SEEN_UNABLE: at once,
 * or, if called from begin(), body() or end(), before fetch_poll() returns.
 */
void fetch_cancel(struct fetch *web, const void *owner);

/*
 * Wait until something happens, for at most this many milliseconds, and
 * handle it. Returns the number of requests that have not ended.
 */
size_t fetch_poll(struct fetch *web, int milliseconds);

/* End a fetch_poll() that waits, or else the next one as soon as it would.
   From any thread, while the client exists; and from signal handlers. */
void fetch_wakeup(struct fetch *web);

/* For WARC-Truncated: "length", "time", "disconnect", "unspecified" (damaged);
   NULL if the body is whole. */
const char *fetch_cut_name(enum fetch_cut cut);

/* Bytes of bodies received, before unpacking. */
uint64_t fetch_bytes(const struct fetch *web);

/* Sockets that were refused because of their address. */
uint64_t fetch_refused(const struct fetch *web);

/*
 * May a socket be opened to this address? The special-purpose ranges of
 * RFC 6890 and its registries are not public; nor is IPv6 outside 2000::/3,
 * nor any address that is not IP. An IPv6 address that stands for an IPv4
 * address (mapped, NAT64, 6to4) is judged as that one.
 */
bool fetch_public(const struct sockaddr *address);

#endif
