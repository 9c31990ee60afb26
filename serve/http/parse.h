/*
 * parse.h - HTTP/1.1 requests, read strictly.
 *
 * If a proxy and a server read a request differently, another request can be
 * smuggled in it. So everything in which RFC 9112 allows leniency is refused:
 * bare LF, whitespace before a colon, folded lines, two lengths, a length
 * beside a transfer coding. The parser keeps no state and allocates nothing;
 * an incomplete head is parsed again from its beginning when more bytes came.
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
    HTTP_OTHER /* any other token */
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
 * Read the head of a request: request line, headers, empty line. One empty
 * line before it is skipped, as RFC 9112 2.2 asks. HTTP_WHOLE: *used is the
 * length of the head. HTTP_PARTIAL: the head goes on beyond `len`. Any other
 * number is the status to refuse the request with. The connection cannot be
 * used any more then, and only `line` of the request is set: it is empty
 * unless the request line was good.
 *
 * The first error decides. A forbidden byte and an exceeded limit are errors
 * at once, other errors are found at the end of their line: a bad head that
 * arrives slowly is refused before it is complete.
 *
 * Refused with 400, besides what is not a request at all: control bytes and
 * NUL anywhere, bytes above 0x7f in names and in the request line (a target
 * may have them: URLs are looked up as they were found), bare LF or CR, space
 * before a colon, folding, an HTTP/1.1 request without Host, two Hosts, an
 * invalid Host, a user in an absolute target, or a query without a path;
 * Content-Length that is not a number below 2^63, or is given twice (even if
 * equal) or beside Transfer-Encoding; Transfer-Encoding in HTTP/1.0,
 * "chunked" twice or not last; a tab around the value of one of these three
 * headers, which other programs do not strip. 501: CONNECT, a method of more
 * than 32 bytes, another transfer coding. 505: another major version than 1.
 */
int http_parse(struct http_request *r, const char *text, size_t len,
               size_t *used);

/* The value of the first header of this name, in any case; false if there is
   none. */
bool http_find(const struct http_request *r, const char *name,
               struct seen_span *value);

/*
 * Does the Accept header prefer `type` ("text/html") over `other`? By
 * quality, then by how exact the range is; without a header, no. Invalid
 * ranges are ignored.
 */
bool http_prefers(const struct http_request *r, const char *type,
                  const char *other);

/*
 * Read a body in chunks, as it arrives. Begin with all zero. Each call reads
 * *used bytes of the text; *data is the part that belongs to the body, maybe
 * empty. Call it with the rest until there is none, or until it returns
 * something else than HTTP_PARTIAL. HTTP_WHOLE: the body and its trailers
 * have ended, and the next request follows. HTTP_PARTIAL: more must come.
 * 400: the syntax is wrong, or a chunk has 2^63 bytes, or there is much more
 * around the body (extensions and trailers, which are dropped) than in it.
 * After HTTP_WHOLE and 400, further calls return the same.
 */
struct http_chunks {
    uint64_t left;         /* of the chunk that is being read */
    unsigned state, count; /* count: bytes around the body, less credit */
};
int http_chunks(struct http_chunks *c, const char *text, size_t len,
                size_t *used, struct seen_span *data);

#endif
