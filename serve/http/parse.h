/*
 * parse.h - HTTP/1.1 requests, read strictly.
 *
 * What two programs on one way read differently lets requests be smuggled,
 * so what RFC 9112 leaves to leniency is refused: bare LF, whitespace before
 * a colon, folded lines, two lengths, a length beside a transfer coding.
 * The parser keeps no state and allocates nothing; a head that is not whole
 * is parsed again from its beginning when more of it came.
 *
 *     struct http_request r;
 *     size_t used;
 *     int status = http_parse(&r, text, len, &used);
 *
 *     if (status == HTTP_PARTIAL)
 *         read_more();
 *     else if (status != HTTP_WHOLE)
 *         refuse_and_close(status);          (400, 414, 431, 501, 505)
 *
 * Threads: everything here is free of state.
 */
#ifndef SEEN_SERVE_HTTP_PARSE_H
#define SEEN_SERVE_HTTP_PARSE_H

#include <stdint.h>

#include "../../lib/text/span.h"

enum {
    HTTP_TARGET = 8192 + 512, /* bytes of a target, at most (414) */
    HTTP_HEAD = 16384,        /* bytes of all of a head, at most (431) */
    HTTP_HEADERS = 64         /* at most (431) */
};

enum http_method {
    HTTP_GET,
    HTTP_HEAD_ONLY,
    HTTP_POST,
    HTTP_PUT,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_OTHER /* a token that is none of these */
};

struct http_header {
    struct seen_span name, value; /* the value without the space around it */
};

/* All spans point into the text that was parsed. */
struct http_request {
    enum http_method method;
    struct seen_span
        target;            /* begins with "/", or is the "*" of OPTIONS; of an
                           absolute one ("http://host/a?b") what follows the
                           authority, which is then `host` */
    struct seen_span host; /* with its port; empty in HTTP/1.0 without Host */
    struct seen_span line; /* the request line, for a log */
    unsigned minor;        /* 0 of HTTP/1.0, or 1 of 1.1 and above */
    bool close;      /* the client wants no more answers after this one */
    bool waits;      /* with its body, for us to say 100 Continue */
    bool chunked;    /* a body in chunks */
    bool sized;      /* there was a Content-Length */
    uint64_t length; /* of the body; 0 if there is none, or chunked */
    unsigned headers;
    struct http_header header[HTTP_HEADERS];
};

enum { HTTP_PARTIAL = 0, HTTP_WHOLE = 1 }; /* or the status of a refusal */

/*
 * Read the head of a request: request line, headers, empty line. An empty
 * line before it is skipped (one CRLF, as RFC 9112 2.2 asks). HTTP_WHOLE:
 * *used is its length, body not included. HTTP_PARTIAL: it goes on beyond
 * `len`. Any other number is the status to refuse it with; the connection
 * cannot be used any more, and of the request only `line` can: it is empty
 * unless the request line was good.
 *
 * The first thing that is wrong decides. A byte that cannot stand where it
 * does and a limit exceeded are told at once, what a line says is told at
 * its end: who sends a bad head slowly is refused before it is whole.
 *
 * Refused with 400, besides what is no request at all: control bytes and NUL
 * anywhere, bytes above 0x7f in names and in the request line (a target may
 * have them: URLs are asked for as they were found), bare LF or CR, space
 * before a colon, folding, an HTTP/1.1 request without Host, two Hosts, a
 * Host that cannot be one, a user in an absolute target, or a query without
 * a path; Content-Length that is no number below 2^63 or given twice (even
 * if equal) or beside Transfer-Encoding, Transfer-Encoding in HTTP/1.0,
 * "chunked" twice or not last; a tab around the value of one of these three
 * headers, which others do not take away. 501: CONNECT, a method of more than 32 bytes,
 * another transfer coding. 505: another major version than 1.
 */
int http_parse(struct http_request *r, const char *text, size_t len,
               size_t *used);

/* The value of a header, by its name in any case; false if there is none.
   Of several the first. */
bool http_find(const struct http_request *r, const char *name,
               struct seen_span *value);

/*
 * Does the Accept header prefer `type` ("text/html") over `other`? By
 * quality, then by how exact the range is; without a header, no. Ranges that
 * cannot be read count for nothing.
 */
bool http_prefers(const struct http_request *r, const char *type,
                  const char *other);

/*
 * A body in chunks, as it comes in. Begin with all zero. Takes some of the
 * text: *used bytes of it, of which *data is what belongs to the body (maybe
 * nothing). To be called with the rest until there is none or the answer is
 * another than HTTP_PARTIAL. HTTP_WHOLE: the body ended, trailers and all,
 * and what is not used is the next request; HTTP_PARTIAL: it did not yet;
 * 400: it is none, or a chunk has 2^63 bytes, or there is much more around
 * the body (extensions, trailers, which are dropped) than in it. Both last
 * answers stay, should it be called again.
 */
struct http_chunks {
    uint64_t left;         /* of the chunk that is being read */
    unsigned state, count; /* of bytes around the body, less some credit */
};
int http_chunks(struct http_chunks *c, const char *text, size_t len,
                size_t *used, struct seen_span *data);

#endif
