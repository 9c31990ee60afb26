/*
 * reply.c - heads of answers, and small answers as a whole.
 *
 * Answers are appended to conn_out(). The status and the length are kept for
 * the access log: in the loop, or in the exchange of a request that is not done
 * when other clients have their turns.
 *
 * The heads of the two answers to a lookup, which are most of all answers, are
 * written once per archive, when it is loaded; a lookup copies one of them and
 * adds the date.
 */
#include "reply.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "../../lib/text/json.h"
#include "../../lib/text/percent.h"
#include "exchange.h"
#include "http.h"

#define CORS \
    "Access-Control-Allow-Origin: *\r\n" \
    "Access-Control-Expose-Headers: Seen-Answer, Seen-Archive, Seen-Rate, " \
    "Seen-As-Of, Seen-Profile, Seen-Asked, Seen-Spared, Seen-Failed, " \
    "Seen-Skipped, X-Memento-Count, Link, Location\r\n"

enum { FACTS = 1024 }; /* bytes of a header with a fact of each archive */

static const char *words_of(int status)
{
    static const struct {
        int status;
        const char *words;
    } all[] = {
        { 200, "OK" },
        { 201, "Created" },
        { 204, "No Content" },
        { 206, "Partial Content" },
        { 302, "Found" },
        { 304, "Not Modified" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 411, "Length Required" },
        { 413, "Content Too Large" },
        { 414, "URI Too Long" },
        { 421, "Misdirected Request" },
        { 416, "Range Not Satisfiable" },
        { 417, "Expectation Failed" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 505, "HTTP Version Not Supported" },
        { 507, "Insufficient Storage" },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].status == status)
            return all[i].words;
    return "Error";
}

/* --- heads --- */

static void begin(struct conn *c, int status, const char *cors)
{
    struct buffer *b = conn_out(c);

    buffer_format(b, "HTTP/1.1 %d %s\r\nServer: seen\r\n%s", status,
                  words_of(status), cors);
    buffer_bytes(b, c->loop->date, c->loop->date_len);
    if (status == 503)
        buffer_text(b, "Retry-After: 1\r\n");
    COUNT(c->loop, requests[status / 100], 1);
    c->loop->http->status = status;
    c->loop->http->length = 0;
    if (c->http) {
        c->http->status = status;
        c->http->answered = true;
        c->http->length = 0;
    }
}

void reply_begin(struct conn *c, const struct http_request *r, int status)
{
    (void)r;
    begin(c, status, CORS);
}

/* A request with an exchange is read to its end before the connection is
   closed. */
static void end_head(struct conn *c, const struct http_request *r)
{
    const bool last = c->state >= CONN_LAST;

    if (r->close || last || c->loop->draining ||
        (c->http && c->http->closes)) {
        if (c->http && !last)
            c->http->closes = true;
        else
            conn_finish(c);
        buffer_text(conn_out(c), "Connection: close\r\n\r\n");
    } else {
        buffer_text(conn_out(c),
                    r->minor ? "\r\n" : "Connection: keep-alive\r\n\r\n");
    }
}

void reply_end(struct conn *c, const struct http_request *r, const char *type,
               uint64_t len)
{
    struct buffer *b = conn_out(c);
    const int status = c->loop->http->status;

    if (type)
        buffer_format(b, "Content-Type: %s\r\n", type);
    /* These have no body, and no length either (RFC 9110, 8.6). */
    if (status != 204 && status != 304)
        buffer_format(b, "Content-Length: %" PRIu64 "\r\n", len);
    c->loop->http->length = len;
    if (c->http)
        c->http->length = len;
    end_head(c, r);
}

void reply_end_chunked(struct conn *c, const struct http_request *r,
                       const char *type)
{
    struct buffer *b = conn_out(c);

    buffer_format(b, "Content-Type: %s\r\n", type);
    if (r->minor)
        buffer_text(b, "Transfer-Encoding: chunked\r\n");
    else if (c->http)
        c->http->closes = true;
    end_head(c, r);
}

/* --- lookups --- */

/* No header can be forged by the name of an archive. The rate of a filter in
   another server may be unknown: then there is none. */
static void put_facts(struct buffer *b, const struct archive *a)
{
    buffer_text(b, "Seen-Archive: ");
    percent_encode(b, a->name, strlen(a->name), PERCENT_SPACE);
    if (isfinite(a->rate))
        buffer_format(b, "\r\nSeen-Rate: %.3g", a->rate);
    buffer_format(b, "\r\nSeen-Profile: %s\r\n",
                  seen_filter_plan(a->filter)->profile);
    if (a->as_of)
        buffer_format(b, "Seen-As-Of: %.64s\r\n", a->as_of);
}

static void put_head(struct buffer *b, const struct archive *a, int status)
{
    b->len = 0;
    buffer_format(b,
                  "HTTP/1.1 %d %s\r\nServer: seen\r\nContent-Length: 0\r\n"
                  "Seen-Answer: %s\r\n",
                  status, words_of(status), status == 200 ? "maybe" : "no");
    put_facts(b, a);
    buffer_text(b, CORS);
}

void reply_facts(struct conn *c, const struct archive *a)
{
    put_facts(conn_out(c), a);
}

/* "Seen-Rate: haw=0.01, ia=0.001" */
void reply_facts_all(struct conn *c)
{
    struct buffer rate = { .bytes = NULL }, as_of = { .bytes = NULL };
    const struct archive *a;

    for (size_t i = 0; (a = archive_view_at(c->loop->view, i)); i++) {
        const size_t len = strlen(a->name);

        if (!a->filter)
            continue;
        if (isfinite(a->rate)) {
            buffer_text(&rate, rate.len ? ", " : "Seen-Rate: ");
            percent_encode(&rate, a->name, len, PERCENT_NAME);
            buffer_format(&rate, "=%.3g", a->rate);
        }
        if (!a->as_of)
            continue;
        buffer_text(&as_of, as_of.len ? ", " : "Seen-As-Of: ");
        percent_encode(&as_of, a->name, len, PERCENT_NAME);
        buffer_format(&as_of, "=%.64s", a->as_of);
    }
    if (rate.len <= FACTS && as_of.len <= FACTS) {
        buffer_text(&rate, rate.len ? "\r\n" : "");
        buffer_text(&as_of, as_of.len ? "\r\n" : "");
        buffer_append(conn_out(c), &rate);
        buffer_append(conn_out(c), &as_of);
    }
    buffer_clear(&rate);
    buffer_clear(&as_of);
}

void http_describe(struct archive *a)
{
    put_head(&a->head[0], a, 404);
    put_head(&a->head[1], a, 200);
}

void reply_lookup(struct conn *c, const struct http_request *r,
                  const struct archive *a, bool seen)
{
    struct buffer *b = conn_out(c);

    c->loop->http->status = seen ? 200 : 404;
    c->loop->http->length = 0;
    COUNT(c->loop, requests[seen ? 2 : 4], 1);
    buffer_append(b, &a->head[seen]);
    buffer_bytes(b, c->loop->date, c->loop->date_len);
    end_head(c, r);
}

/* --- whole answers --- */

/* After the first lines of the head. */
static void finish_body(struct conn *c, const struct http_request *r,
                        const char *headers, const char *type,
                        struct buffer *body)
{
    if (headers)
        buffer_text(conn_out(c), headers);
    reply_end(c, r, type, body->len);
    if (r->method != HTTP_HEAD_ONLY)
        buffer_append(conn_out(c), body);
    buffer_clear(body);
}

void reply_body(struct conn *c, const struct http_request *r, int status,
                const char *headers, const char *type, struct buffer *body)
{
    begin(c, status, CORS);
    finish_body(c, r, headers, type, body);
}

void reply_private(struct conn *c, const struct http_request *r, int status,
                   const char *headers, const char *type, struct buffer *body)
{
    begin(c, status, "");
    finish_body(c, r, headers, type, body);
}

void reply_error(struct conn *c, const struct http_request *r, int status,
                 const char *answer, const char *format, ...)
{
    struct buffer body = { .bytes = NULL };
    char text[512], headers[128] = "";
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buffer_text(&body, "{\"error\": ");
    buffer_json(&body, text, strlen(text));
    buffer_text(&body, "}\n");
    if (answer)
        snprintf(headers, sizeof headers, "Seen-Answer: %s\r\n", answer);
    else if (status == 401)
        snprintf(headers, sizeof headers, "WWW-Authenticate: Bearer\r\n");
    reply_body(c, r, status, headers, "application/json", &body);
}

void reply_withdrawn(struct conn *c, const struct http_request *r,
                     const struct archive *a, const char *why)
{
    reply_error(
        c, r, 503,
        archive_state_names[a->state == ARCHIVE_AWAY ? ARCHIVE_AWAY
                                                     : ARCHIVE_WITHDRAWN],
        "%s: %s", a->name, why);
}

/* Preflight: reading is for everyone; writing from a page is not. */
void reply_options(struct conn *c, const struct http_request *r)
{
    http_refuse_body(c, r);
    reply_begin(c, r, 204);
    buffer_text(conn_out(c),
                "Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS\r\n"
                "Access-Control-Allow-Methods: GET, HEAD, POST\r\n"
                "Access-Control-Allow-Headers: Content-Type, Accept, "
                "Accept-Datetime\r\n"
                "Access-Control-Max-Age: 86400\r\n");
    reply_end(c, r, NULL, 0);
}

void reply_not_allowed(struct conn *c, const struct http_request *r,
                       unsigned methods)
{
    static const char *const name[] = { "GET", "HEAD",   "POST",
                                        "PUT", "DELETE", "OPTIONS" };
    const char *before = "Allow: ";

    http_refuse_body(c, r);
    reply_begin(c, r, 405);
    for (unsigned i = HTTP_GET; i <= HTTP_OPTIONS; i++)
        if (methods & 1u << i) {
            buffer_format(conn_out(c), "%s%s", before, name[i]);
            before = ", ";
        }
    buffer_text(conn_out(c), "\r\n");
    reply_end(c, r, NULL, 0);
}

void reply_refusal(struct conn *c, int status)
{
    static const struct http_request none = { .minor = 1, .close = true };

    conn_finish(c);
    reply_error(c, &none, status, NULL, "%s", words_of(status));
}
