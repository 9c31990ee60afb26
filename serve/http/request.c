/*
 * request.c - requests, one after the other.
 *
 * read_requests() is what a connection calls with bytes. Without an exchange
 * they are a head: it is parsed, its target routed, and most requests are
 * answered by that. A request that is not done then has made an exchange
 * (exchange.h), and the bytes that follow are its body, until that is whole.
 *
 * Before that come the exchanges themselves and the bodies; then what handlers
 * need of a request: the URL at its end, the archive that it names, the address
 * by which others reach us, the client for whom a proxy sends it.
 */
#include "request.h"

#include <stdlib.h>

#include "../../lib/text/percent.h"
#include "http.h"

enum {
    LOGGED = 200,      /* bytes of what is not a request */
    MOST_HELD = 1 << 24 /* bytes of a body that waits until it is whole */
};

/* --- exchanges --- */

/* Did a proxy that we know send this request? */
static bool is_passed_on(const struct conn *c)
{
    struct sockaddr_storage peer;

    conn_peer(c, &peer);
    return proxies_trust(&c->loop->server->options.proxies, &peer);
}

static void forget(struct conn *c)
{
    struct http_exchange *x = c->http;

    if (!x)
        return;
    c->http = NULL;
    free(x->head);
    x->kind->free(x);
}

static bool refuse_exchange(struct conn *c, const struct http_request *r,
                            struct http_exchange *x, int status,
                            const char *why)
{
    x->kind->free(x);
    http_refuse_body(c, r);
    reply_error(c, r, status, NULL, "%s", why);
    return false;
}

bool http_exchange_start(struct conn *c, const struct http_request *r,
                         struct http_exchange *x)
{
    struct seen_span head = c->loop->http->head;
    size_t used;

    x->held = x->early && (r->chunked || r->length) && is_passed_on(c);
    if (x->held && r->length > MOST_HELD)
        return refuse_exchange(c, r, x, 413,
                               "the list is too long for a proxy");
    x->conn = c;
    x->head = malloc(head.len);
    if (!x->head)
        return refuse_exchange(c, r, x, 503, "no memory");
    memcpy(x->head, head.text, head.len);
    x->head_len = head.len;
    http_parse(&x->request, x->head, head.len, &used); /* it was good */
    x->left = r->length;
    x->whole = !r->chunked && !r->length;
    x->closes = c->state == CONN_LAST;
    c->http = x;
    if (r->waits && !x->whole)
        buffer_text(conn_out(c), "HTTP/1.1 100 Continue\r\n\r\n");
    return true;
}

bool http_exchange_bare(struct conn *c, const struct http_request *r,
                        struct http_exchange *x)
{
    struct http_request bare = *r;

    bare.length = 0;
    bare.chunked = bare.waits = false;
    return http_exchange_start(c, &bare, x);
}

void http_exchange_done(struct conn *c)
{
    struct http_exchange *x = c->http;

    if (!x)
        return;
    c->loop->http->status = x->status;
    c->loop->http->length = x->length;
    http_log(c, &x->request);
    if (x->closes)
        conn_finish(c);
    forget(c);
}

void http_go_on(struct conn *c)
{
    if (c->pending)
        return;
    http_exchange_done(c);
    conn_go_on(c);
}

/* The body is badly formed, or too long. An answer that has begun is cut. */
static void break_off(struct conn *c, int status)
{
    struct http_exchange *x = c->http;

    if (x->answered) { /* the log has what was sent */
        c->loop->http->status = x->status;
        c->loop->http->length = x->length;
        http_log(c, &x->request);
        conn_drop(c);
        return;
    }
    reply_refusal(c, status);
    http_log(c, &x->request);
    forget(c);
}

/* Is all of a body here? `text` begins with it. What is badly formed ends
   there. */
static bool is_here(struct http_exchange *x, const char *text, size_t len)
{
    int status = HTTP_PARTIAL;

    if (!x->request.chunked)
        return len >= x->left;
    while (x->ahead < len && status == HTTP_PARTIAL) {
        struct seen_span data;
        size_t used;

        status = http_chunks(&x->ahead_chunks, text + x->ahead, len - x->ahead,
                             &used, &data);
        x->ahead += used;
    }
    return status != HTTP_PARTIAL;
}

/*
 * Proxies do not send and receive at the same time: nginx sends no more of a
 * body when its answer begins, and Apache takes no answer before it has sent
 * all of it. Both would wait for us as we wait for them. So the connection
 * keeps what they send, and nothing is answered until all of it is here. False
 * if it is, or is refused since it is too long.
 */
static bool hold_body(struct conn *c, const char *text, size_t len)
{
    struct http_exchange *x = c->http;

    if (!x->held)
        return false;
    x->held = !is_here(x, text, len);
    if (x->held && len > MOST_HELD) {
        break_off(c, 413);
        return false;
    }
    return x->held;
}

/* Give the exchange some of its body; returns how much was used. */
static size_t read_body(struct conn *c, const char *text, size_t len)
{
    struct http_exchange *x = c->http;
    struct seen_span data = { text, len };
    size_t used;

    if (len > LOOP_INPUT) /* a body that was held */
        len = data.len = LOOP_INPUT;
    used = len;
    if (x->request.chunked) {
        int status = http_chunks(&x->chunks, text, len, &used, &data);

        if (status > HTTP_WHOLE) {
            break_off(c, status);
            return len;
        }
        x->whole = status == HTTP_WHOLE;
    } else {
        if (used > x->left)
            used = data.len = (size_t)x->left;
        x->left -= used;
        x->whole = !x->left;
    }
    x->got += data.len;
    if (x->got > c->loop->server->options.body) {
        break_off(c, 413);
        return len;
    }
    if (data.len && x->kind->body)
        x->kind->body(x, data.text, data.len);
    return used;
}

static void end_body(struct conn *c)
{
    c->http->kind->end(c->http);
    if (c->state != CONN_WAITING)
        http_exchange_done(c);
}

/* --- requests --- */

/* The client for whom a trusted proxy sends the request. */
static void find_client(const struct proxies *p, const struct http_request *r,
                        struct sockaddr_storage *client)
{
    for (unsigned i = r->headers; i--;)
        if (span_like(r->header[i].name, "X-Forwarded-For") &&
            !proxies_forwarded(p, r->header[i].value, client))
            return;
}

void http_log(struct conn *c, const struct http_request *r)
{
    const struct proxies *proxies = &c->loop->server->options.proxies;
    struct sockaddr_storage client, peer;
    struct log_entry entry = { .request = r->line,
                               .status = c->loop->http->status,
                               .bytes = c->loop->http->length,
                               .from = { "-", 1 },
                               .with = { "-", 1 } };

    if (!c->loop->log.file)
        return;
    conn_peer(c, &client);
    if (proxies_trust(proxies, &client)) {
        peer = client;
        find_client(proxies, r, &client);
        if (memcmp(&peer, &client, sizeof peer))
            entry.proxy = &peer;
    }
    http_find(r, "Referer", &entry.from);
    http_find(r, "User-Agent", &entry.with);
    log_write(&c->loop->log, &client, &entry);
}

static bool begins(struct seen_span text, const char *with)
{
    const size_t n = strlen(with);

    return text.len > n && !strncasecmp(text.text, with, n);
}

/*
 * Proxies that merge slashes, as nginx does if proxy_pass has a path, make
 * "http:/a.example/" of "http://a.example/". No URL of the web begins so, and
 * pywb repairs it in the same way. Slashes that were merged later in the URL
 * are lost.
 */
static void restore_slash(struct seen_span *url, char *room)
{
    const size_t at = begins(*url, "http:/")    ? 6
                      : begins(*url, "https:/") ? 7
                                                : 0;

    if (!at || url->text[at] == '/')
        return;
    memmove(room + at + 1, url->text + at, url->len - at);
    memmove(room, url->text, at);
    room[at] = '/';
    url->text = room;
    url->len++;
}

bool http_url(struct seen_span rest, char *room, struct seen_span *url)
{
    *url = rest;
    if (span_begins(rest, "http://") || span_begins(rest, "https://"))
        return true; /* as most are */
    if (begins(rest, "http%3a") || begins(rest, "https%3a")) {
        url->text = room;
        if (!percent_decode(room, &url->len, rest.text, rest.len))
            return false;
    }
    restore_slash(url, room);
    return true;
}

/* Without a Host, which HTTP/1.0 allows, it is the address that was reached. */
static void put_address(struct conn *c, struct buffer *to)
{
    struct sockaddr_storage us;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&us;
    char text[64];

    conn_reached(c, &us);
    if ((us.ss_family != AF_INET && us.ss_family != AF_INET6) ||
        uv_ip_name((const struct sockaddr *)&us, text, sizeof text))
        buffer_text(to, "localhost");
    else /* the ports of both are at the same place */
        buffer_format(to, us.ss_family == AF_INET6 ? "[%s]:%u" : "%s:%u", text,
                      (unsigned)ntohs(six->sin6_port));
}

void http_origin(struct conn *c, const struct http_request *r,
                 struct buffer *to)
{
    const struct serve_options *options = &c->loop->server->options;

    if (options->url) {
        buffer_text(to, options->url);
    } else {
        buffer_text(to, "http://");
        if (r->host.len)
            buffer_span(to, r->host);
        else
            put_address(c, to);
    }
    buffer_text(to, options->base);
}

/* The archive of a name as it stands in a path, with %41 for bytes. */
static struct archive *find_archive(struct conn *c, struct seen_span name)
{
    char room[3 * ARCHIVE_NAME];

    if (name.len <= sizeof room && memchr(name.text, '%', name.len)) {
        name.len = percent_decode_lenient(room, name.text, name.len);
        name.text = room;
    }
    return archive_view_find(c->loop->view, name);
}

struct archive *http_archive(struct conn *c, const struct http_request *r,
                             struct seen_span name)
{
    struct archive *a = find_archive(c, name);

    if (a && a->filter)
        return a;
    http_refuse_body(c, r);
    if (!a)
        reply_error(c, r, 404, "unknown-archive",
                    "there is no archive %.*s here; /archives lists them",
                    (int)(name.len < 200 ? name.len : 200), name.text);
    else
        reply_withdrawn(c, r, a, a->why.text);
    return NULL;
}

/* Take --base and a slash off a target; false if it is not below them. */
static bool below_base(const struct conn *c, struct seen_span *target)
{
    const char *base = c->loop->server->options.base;
    size_t n = strlen(base);

    if (!span_begins(*target, base) || target->len <= n ||
        target->text[n] != '/')
        return false;
    target->text += n + 1;
    target->len -= n + 1;
    return true;
}

static struct seen_span last_host(const struct http_loop *h)
{
    return (struct seen_span){ h->host, h->host_len };
}

/* Is it for us? On a loopback address another name is that of a page which
   wants to read what only this machine may (hosts.h). */
static bool is_for_us(struct conn *c, const struct http_request *r)
{
    struct seen_span rest = r->host, name = { "", 0 };
    struct http_loop *h = c->loop->http;

    if (!c->loopback || (h->host_len && span_equal(r->host, last_host(h))))
        return true;
    if (hosts_know(&c->loop->server->options.hosts, r->host)) {
        h->host_len = r->host.len <= sizeof h->host ? r->host.len : 0;
        memcpy(h->host, r->host.text, h->host_len);
        return true;
    }
    span_cut(&rest, ':', &name);
    http_refuse_body(c, r);
    reply_error(c, r, 421, NULL,
                "this server listens on a loopback address and answers to "
                "numeric addresses and localhost; start it with --host %.*s "
                "if it has this name",
                (int)name.len, name.text);
    return false;
}

static void answer(struct conn *c, const struct http_request *r)
{
    struct seen_span target = r->target, rest, name;
    struct archive *a;

    if (!is_for_us(c, r)) {
        http_log(c, r);
        return;
    }
    if (below_base(c, &target)) {
        rest = target;
        if ((r->method == HTTP_GET || r->method == HTTP_HEAD_ONLY) &&
            !r->length && !r->chunked && memchr(rest.text, '/', rest.len) &&
            span_cut(&rest, '/', &name) && (a = find_archive(c, name))) {
            http_lookup(c, r, a, rest);
            if (c->http && c->http->whole)
                end_body(c);
            return;
        }
        http_route(c, r, target);
    } else if (r->method == HTTP_OPTIONS) {
        reply_options(c, r);
    } else {
        http_refuse_body(c, r);
        reply_error(c, r, 404, NULL, "not found");
    }
    if (c->http && c->http->whole)
        end_body(c);
    else if (!c->http)
        http_log(c, r);
}

/* Refuse bytes that are not a request. The log has their beginning in place
   of a request line. */
static void refuse(struct conn *c, struct http_request *r, int status,
                   const char *text, size_t len)
{
    if (!r->line.len) {
        len = len < LOGGED ? len : LOGGED;
        for (r->line.text = text; r->line.len < len; r->line.len++)
            if (text[r->line.len] == '\r' || text[r->line.len] == '\n')
                break;
    }
    r->headers = 0;
    reply_refusal(c, status);
    http_log(c, r);
}

static size_t read_requests(struct conn *c, char *text, size_t len)
{
    struct http_request r;
    size_t used = 0, n;
    int status;

    while (used < len && c->state == CONN_OPEN && !conn_full(c)) {
        if (c->http) {
            if (hold_body(c, text + used, len - used))
                break;
            if (!c->http)
                return len;
            used += read_body(c, text + used, len - used);
            if (c->http && c->http->whole)
                end_body(c);
            continue;
        }
        status = http_parse(&r, text + used, len - used, &n);
        if (status == HTTP_PARTIAL)
            break;
        if (status != HTTP_WHOLE) {
            refuse(c, &r, status, text + used, len - used);
            return len;
        }
        c->loop->http->head = (struct seen_span){ text + used, n };
        used += n;
        answer(c, &r);
    }
    return used;
}

/* --- the protocol --- */

static bool start(struct loop *l)
{
    l->http = calloc(1, sizeof *l->http);
    return l->http;
}

static void stop(struct loop *l)
{
    if (l->http)
        buffer_clear(&l->http->out);
    free(l->http);
}

static enum protocol_guess guess(const char *text, size_t len)
{
    (void)text, (void)len; /* the other protocol was asked first */
    return GUESS_YES;
}

static void more(struct conn *c)
{
    if (c->http && c->http->kind->more)
        c->http->kind->more(c->http);
}

static bool busy(const struct conn *c)
{
    return c->http;
}

static size_t memory(const struct conn *c)
{
    const struct http_exchange *x = c->http;

    return !x ? 0 : x->head_len + (x->kind->memory ? x->kind->memory(x) : 0);
}

static void overload(struct conn *c)
{
    struct http_request none = { .line = { "", 0 } };

    if (c->http)
        break_off(c, 503);
    else
        refuse(c, &none, 503, c->in.bytes, c->in.len);
}

const struct protocol http_protocol = { .start = start,
                                        .stop = stop,
                                        .flush = http_lookup_flush,
                                        .guess = guess,
                                        .read = read_requests,
                                        .more = more,
                                        .busy = busy,
                                        .memory = memory,
                                        .overload = overload,
                                        .forget = forget };
