/* reply.c - heads of answers, and small answers as a whole. */
#define _GNU_SOURCE
#include "reply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "request.h"

#define CORS \
    "Access-Control-Allow-Origin: *\r\n" \
    "Access-Control-Expose-Headers: Seen-Answer, Seen-Archive, Seen-Rate, " \
    "Seen-As-Of, Seen-Profile\r\n"

const char *reply_words(int status)
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
        { 416, "Range Not Satisfiable" },
        { 417, "Expectation Failed" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 503, "Service Unavailable" },
        { 505, "HTTP Version Not Supported" },
        { 507, "Insufficient Storage" },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].status == status)
            return all[i].words;
    return "Error";
}

void reply_lookup(struct out *o, int status, const struct archive *a)
{
    out_format(o,
               "HTTP/1.1 %d %s\r\nServer: seen\r\nContent-Length: 0\r\n"
               "Seen-Answer: %s\r\nSeen-Archive: ",
               status, reply_words(status), status == 200 ? "maybe" : "no");
    for (const char *at = a->name; *at; at++) /* no header can be forged */
        out_format(o, *at > 0x20 && *at < 0x7f ? "%c" : "%%%02X",
                   (unsigned char)*at);
    out_format(o, "\r\nSeen-Rate: %.3g\r\nSeen-Profile: %s\r\n", a->rate,
               seen_filter_plan(a->filter)->profile);
    if (a->as_of)
        out_format(o, "Seen-As-Of: %.64s\r\n", a->as_of);
    out_text(o, CORS);
}

void reply_begin(struct conn *c, const struct http_request *r, int status)
{
    struct out *o = conn_out(c);

    (void)r;
    out_format(o, "HTTP/1.1 %d %s\r\nServer: seen\r\n" CORS, status,
               reply_words(status));
    out_bytes(o, c->loop->date, c->loop->date_len);
    if (status == 503)
        out_text(o, "Retry-After: 1\r\n");
    COUNT(c->loop, requests[status / 100], 1);
    c->loop->status = status;
    c->loop->length = 0;
    if (c->web) {
        c->web->status = status;
        c->web->answered = true;
        c->web->length = 0;
    }
}

static void end_head(struct conn *c, const struct http_request *r)
{
    if (r->close || c->last || c->loop->draining ||
        (c->web && c->web->closes)) {
        if (c->web && !c->last)
            c->web->closes = true; /* but not before all of it was read */
        else
            c->last = true;
        out_text(conn_out(c), "Connection: close\r\n\r\n");
    } else {
        out_text(conn_out(c),
                 r->minor ? "\r\n" : "Connection: keep-alive\r\n\r\n");
    }
}

void reply_end(struct conn *c, const struct http_request *r, const char *type,
               uint64_t len)
{
    struct out *o = conn_out(c);

    if (type)
        out_format(o, "Content-Type: %s\r\n", type);
    /* These have no body, and no length either (RFC 9110, 8.6). */
    if (c->loop->status != 204 && c->loop->status != 304)
        out_format(o, "Content-Length: %" PRIu64 "\r\n", len);
    c->loop->length = len;
    if (c->web)
        c->web->length = len;
    end_head(c, r);
}

void reply_end_chunked(struct conn *c, const struct http_request *r,
                       const char *type)
{
    struct out *o = conn_out(c);

    out_format(o, "Content-Type: %s\r\n", type);
    if (r->minor)
        out_text(o, "Transfer-Encoding: chunked\r\n");
    else if (c->web)
        c->web->closes = true;
    end_head(c, r);
}

void reply_text(struct conn *c, const struct http_request *r, int status,
                const char *type, const char *body, size_t len)
{
    reply_begin(c, r, status);
    reply_end(c, r, type, len);
    if (r->method != HTTP_HEAD_ONLY)
        out_bytes(conn_out(c), body, len);
}

void reply_error(struct conn *c, const struct http_request *r, int status,
                 const char *answer, const char *format, ...)
{
    struct out body = { .bytes = NULL };
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    out_text(&body, "{\"error\": ");
    out_json(&body, text, strlen(text));
    out_text(&body, "}\n");
    reply_begin(c, r, status);
    if (answer)
        out_format(conn_out(c), "Seen-Answer: %s\r\n", answer);
    if (status == 401)
        out_text(conn_out(c), "WWW-Authenticate: Bearer\r\n");
    reply_end(c, r, "application/json", body.len);
    if (r->method != HTTP_HEAD_ONLY)
        out_bytes(conn_out(c), body.bytes, body.len);
    out_clear(&body);
}

void reply_refusal(struct conn *c, int status)
{
    static const struct http_request none = { .minor = 1, .close = true };

    c->last = true;
    reply_error(c, &none, status, NULL, "%s", reply_words(status));
}
