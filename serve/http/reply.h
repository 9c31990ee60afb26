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

#include "../../lib/text/buffer.h"
#include "parse.h"

struct archive;
struct conn;

/* The first lines of a head: status, Server, Date, CORS. */
void reply_begin(struct conn *c, const struct http_request *r, int status);

/* End the head: whether the connection goes on, the type and the length of
   the body. */
void reply_end(struct conn *c, const struct http_request *r, const char *type,
               uint64_t len);

/* The same for a body that comes in chunks (or, for HTTP/1.0, until the
   connection is closed). */
void reply_end_chunked(struct conn *c, const struct http_request *r,
                       const char *type);

/* All of an answer, and then clear `body`, which is left out for HEAD.
   `headers` are further lines, each with its CR LF; or NULL. */
void reply_body(struct conn *c, const struct http_request *r, int status,
                const char *headers, const char *type, struct buffer *body);

/* The same without CORS: pages of other origins, which a browser that reaches
   this server has open, may not read it. */
void reply_private(struct conn *c, const struct http_request *r, int status,
                   const char *headers, const char *type, struct buffer *body);

/* The answer to a lookup, from the heads that http_describe() wrote. */
void reply_lookup(struct conn *c, const struct http_request *r,
                  const struct archive *a, bool seen);

/* What every answer of an archive says about it, as headers: its name, rate,
   profile and date. */
void reply_facts(struct conn *c, const struct archive *a);

/* The rates and dates of all archives that answer, if they fit into headers
   that every proxy accepts; /archives has them, too. */
void reply_facts_all(struct conn *c);

/* An error, as {"error": "..."}. `answer`, unless NULL, is the value of the
   header Seen-Answer. */
void reply_error(struct conn *c, const struct http_request *r, int status,
                 const char *answer, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The archive does not answer. */
void reply_withdrawn(struct conn *c, const struct http_request *r,
                     const struct archive *a, const char *why);

/* Answer OPTIONS; and 405, with those methods whose bits are set. A body is
   refused. */
void reply_options(struct conn *c, const struct http_request *r);
void reply_not_allowed(struct conn *c, const struct http_request *r,
                       unsigned methods);

/* Refuse bytes that are not a request: the connection is closed then. */
void reply_refusal(struct conn *c, int status);

#endif
