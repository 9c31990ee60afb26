/*
 * reply.h - answers of HTTP.
 *
 *     reply_text(c, r, 200, "application/json", body, len);
 *
 * Every answer says its length or comes in chunks, so that the connection
 * can be used again.
 */
#ifndef SEEN_SERVE_HTTP_REPLY_H
#define SEEN_SERVE_HTTP_REPLY_H

#include "parse.h"
#include "../out.h"

struct archive;
struct conn;

const char *reply_words(int status); /* "Not Found" */

/* The head of a lookup's answer, up to where Date goes. */
void reply_lookup(struct out *o, int status, const struct archive *a);

/* The first lines of a head: status, Server, Date, CORS. */
void reply_begin(struct conn *c, const struct http_request *r, int status);

/* End the head: how the connection goes on, what the body is and how long. */
void reply_end(struct conn *c, const struct http_request *r, const char *type,
               uint64_t len);

/* The same for a body that comes in chunks (or, for HTTP/1.0, until the
   connection is closed). */
void reply_end_chunked(struct conn *c, const struct http_request *r,
                       const char *type);

/* All of an answer; the body is left out for HEAD. */
void reply_text(struct conn *c, const struct http_request *r, int status,
                const char *type, const char *body, size_t len);

/* One that says what is wrong, as {"error": "..."}. `archive`, unless NULL,
   is told in the header Seen-Answer: "unknown-archive", "withdrawn". */
void reply_error(struct conn *c, const struct http_request *r, int status,
                 const char *answer, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* To bytes that are no request: the connection is closed after it. */
void reply_refusal(struct conn *c, int status);

#endif
