/*
 * exchange.h - HTTP requests that are not done.
 *
 * Most requests are answered as soon as their head is complete. Those with a
 * body, and those whose answer does not fit into memory, have an exchange that
 * lives until both are done.
 */
#ifndef SEEN_SERVE_HTTP_EXCHANGE_H
#define SEEN_SERVE_HTTP_EXCHANGE_H

#include "../conn.h"
#include "parse.h"

/* What HTTP keeps per loop. */
struct http_loop {
    int status; /* of the last answer, and how long it was: for the log */
    uint64_t length;
    struct seen_span head; /* of the request that is being answered */

    /* Requests that wait for a look at the crawls, with a job: crawls.c. */
    struct pending *watchers;

    /* The batch of lookups of this turn: see http_lookup.c. */
    struct archive *archive; /* that they are for */
    struct archive_keys keys;
    struct conn *conn[ARCHIVE_BATCH]; /* that they are from */
    struct buffer out;
};

struct http_exchange_kind {
    /* Some of the body, or NULL if it has no meaning; and all of it was
       given. */
    void (*body)(struct http_exchange *x, const char *bytes, size_t n);
    void (*end)(struct http_exchange *x);
    /* The client takes more: conn_send_more(). Or NULL. */
    void (*more)(struct http_exchange *x);
    void (*free)(struct http_exchange *x);
    size_t (*memory)(const struct http_exchange *x); /* that it has; or NULL */
};

/* To be the first member of a larger struct, with `kind` set. */
struct http_exchange {
    const struct http_exchange_kind *kind;
    struct conn *conn;
    struct http_request request;
    char *head; /* a copy, which the request points to */
    size_t head_len;
    int status; /* of the answer, and how long it is, for the log */
    uint64_t length;
    bool whole;    /* the body is */
    bool answered; /* the head of the answer was written, */
    bool closes;   /* and said that the connection ends with it */
    uint64_t left; /* of a body whose length is known */
    uint64_t got;
    struct http_chunks chunks;
    bool early;   /* it answers before it has all of the body: set before
                     http_exchange_start() */
    bool held;    /* the body waits until it is whole: see hold_body() */
    size_t ahead; /* bytes of it that were looked at, */
    struct http_chunks ahead_chunks; /* and what comes after them */
};

/* Refuse the body of a request: the connection ends with its answer. */
static inline void http_refuse_body(struct conn *c,
                                    const struct http_request *r)
{
    if (r->chunked || r->length)
        conn_finish(c);
}

#endif
