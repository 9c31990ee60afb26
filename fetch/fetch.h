/*
 * fetch.h - the guarded HTTP client: what comes from the web is hostile.
 *
 * Many requests at once in one thread, on libcurl's multi interface. What it
 * guards against, whoever asks and whatever the other side sends:
 *
 *   - schemes other than http and https, on every hop;
 *   - addresses that are not public (private, loopback, link-local, ...),
 *     looked at when the socket is opened, so that no name, redirect or
 *     change of DNS gets around it;
 *   - redirects without end, and answers to them without end: they are
 *     followed here, not by libcurl, which reads their bodies in full;
 *   - bodies longer than asked for, also once unpacked; heads without end;
 *     peers that send nothing, or a byte a minute;
 *   - proxies, cookies, passwords and other things of the environment: none
 *     of them is used.
 *
 *     struct fetch_request r = { .url = url, .most = 50 << 20,
 *                                .taker = &sitemap, .owner = s };
 *
 *     if (fetch_new(&web, &rules, &why) == SEEN_OK &&
 *         fetch_start(web, &r, &why) == SEEN_OK)
 *         while (fetch_turn(web, 1000))
 *             show_progress();
 *     fetch_free(web);
 *
 * Threads: a client belongs to one thread. Several clients are independent.
 */
#ifndef SEEN_FETCH_H
#define SEEN_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

struct sockaddr;

#define FETCH_UNKNOWN UINT64_MAX

/* How a client behaves. What is 0 or NULL is as told in brackets. */
struct fetch_rules {
    const char *agent;       /* who we say that we are [seen/VERSION] */
    const char *authorities; /* file of CA certificates [the system's] */
    bool allow_private;      /* addresses that are not public, too */
    const char *allow;       /* only these of them, as numbers with ports:
                                "127.0.0.1:8080,[::1]:80" [none] */
    unsigned parallel;       /* requests at once [8] */
    unsigned per_host;       /* of them to one host and port [4] */
    unsigned redirects;      /* at most, for a request [5] */
    unsigned connect;        /* seconds until there is a connection [15] */
    unsigned stall;          /* seconds of less than 16 bytes/s [30];
                                of the body, and until the head is there */
    unsigned whole;          /* seconds for all of a request, with its
                                redirects, since its turn [no end] */
};

/* What an answer says of itself. Texts are "" where it says nothing; they
   live as long as the call that they are given to. */
struct fetch_head {
    int status;           /* 200, 206, 304, 404, ... */
    const char *url;      /* after redirects */
    const char *etag;     /* as sent, with its quotes, and W/ if weak */
    const char *modified; /* Last-Modified */
    const char *type;     /* Content-Type without parameters, lower case */
    uint64_t length;      /* Content-Length, or FETCH_UNKNOWN */
    unsigned after;       /* Retry-After in seconds; 0 if it is not told so */
    uint64_t from, total; /* of a 206: Content-Range; total may be unknown,
                             and is told by a 416, too */
};

/*
 * Who takes an answer. begin() and some() are for 200 and 206 only, may be
 * NULL, and stop the request by returning another code than SEEN_OK, with
 * `why` filled. The bodies of other answers are not read, or read over.
 * end() is called once for each request that was started, last of all, also
 * when it is cancelled, and may start others. SEEN_OK: there is an answer,
 * of which the status tells the rest. Otherwise:
 *
 *     SEEN_RANGE     the guards refused it (schemes, addresses, ports,
 *                    certificates, redirects), or a bound did
 *     SEEN_CORRUPT   the answer was cut short, is no HTTP or no gzip, or is
 *                    not what was asked for: another part, another encoding
 *     SEEN_IO        something failed on the way, and may do so no longer
 *     SEEN_UNABLE    it was cancelled
 *     or the code of begin() or some().
 *
 * `head` is never NULL, and as far as it came: status 0 if there is none.
 * All three may call fetch_start() and fetch_cancel(), but not fetch_turn()
 * or fetch_free().
 */
struct fetch_taker {
    enum seen_code (*begin)(void *owner, const struct fetch_head *head,
                            struct seen_error *why);
    enum seen_code (*some)(void *owner, const void *bytes, size_t n,
                           struct seen_error *why);
    void (*end)(void *owner, enum seen_code code,
                const struct fetch_head *head, const struct seen_error *why);
};

struct fetch_request {
    const char *url;      /* http or https, without password */
    const char *etag;     /* only if it is another one by now, or NULL */
    const char *modified; /* only if changed since, or NULL */
    uint64_t from;        /* the rest from this byte on; then etag and
                             modified say of which version (If-Range), and
                             200 means that it is another one */
    uint64_t most;        /* bytes of body, unpacked, of this part; 0: none */
    bool unpack;          /* undo gzip, once: of the transfer, or else of a
                             file that begins like it; not with `from` */
    const struct fetch_taker *taker;
    void *owner;
};

struct fetch;

/* NULL for rules means the usual ones. SEEN_RANGE, SEEN_NOMEM, or SEEN_IO if
   the authorities cannot be read. */
enum seen_code fetch_new(struct fetch **out, const struct fetch_rules *rules,
                         struct seen_error *why);

/* Cancels what is under way, and calls its end(). NULL is welcome. */
void fetch_free(struct fetch *web);

/*
 * Queue a request, whose texts are copied. SEEN_RANGE for a URL that cannot
 * be fetched at all, and for texts with control bytes; SEEN_NOMEM; then end()
 * is not called. Requests beyond `parallel` and `per_host` wait for their
 * turn: in order for each host, and the hosts one after the other. Nothing
 * is sent before fetch_turn().
 */
enum seen_code fetch_start(struct fetch *web,
                           const struct fetch_request *request,
                           struct seen_error *why);

/*
 * Stop the requests of this owner, calling end() with SEEN_UNABLE: at once,
 * or, if called from begin(), some() or end(), before fetch_turn() returns.
 */
void fetch_cancel(struct fetch *web, const void *owner);

/*
 * Wait until something happens, at most so many milliseconds, and deal with
 * it. Returns how many requests are not yet at their end.
 */
size_t fetch_turn(struct fetch *web, int milliseconds);

/* Bytes of bodies that arrived, as they came over the wire. */
uint64_t fetch_bytes(const struct fetch *web);

/* Sockets that were refused because of their address. */
uint64_t fetch_refused(const struct fetch *web);

/*
 * May a socket be opened to this address? The special-purpose ranges of
 * RFC 6890 and its registries are not public, nor is IPv6 outside 2000::/3,
 * nor what is not IP. Of IPv6 addresses that stand for an IPv4 address
 * (mapped, NAT64, 6to4), that one decides.
 */
bool fetch_public(const struct sockaddr *address);

#endif
