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
    int status;      /* of the last answer, for the log */
    uint64_t length; /* of its body */
    struct seen_span head; /* of the request that is being answered */
    char host[64];         /* the last that was found to be ours; or none */
    size_t host_len;

    /* Requests that wait for a look at the crawls, with a job: crawls.c. */
    struct pending *watchers;

    /* The batch of lookups of this turn: see http_lookup.c. */
    struct archive *archive; /* the one that they are for */
    struct archive_keys keys;
    struct conn *conn[ARCHIVE_BATCH]; /* whom they are from */
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
    /* How many bytes it holds. Or NULL. */
    size_t (*memory)(const struct http_exchange *x);
};

/* To be the first member of a larger struct, with `kind` set. */
struct http_exchange {
    const struct http_exchange_kind *kind;
    struct conn *conn;
    struct http_request request;
    char *head; /* a copy, which the request points to */
    size_t head_len;
    int status;      /* of the answer, for the log */
    uint64_t length; /* of its body */
    bool whole;    /* all of the body is here */
    bool answered; /* the head of the answer was written */
    bool closes;   /* the head said that the connection ends with this answer */
    uint64_t left; /* bytes to come, of a body whose length is known */
    uint64_t got;  /* bytes of the body that came */
    struct http_chunks chunks;
    bool early;   /* answers begin before all of the body is here: set before
                     http_exchange_start() */
    bool held;    /* the body waits until it is whole: see hold_body() */
    size_t ahead; /* bytes of a held body that were looked at */
    struct http_chunks ahead_chunks; /* their chunks */
};

/* Refuse the body of a request: the connection ends with its answer. */
static inline void http_refuse_body(struct conn *c,
                                    const struct http_request *r)
{
    if (r->chunked || r->length)
        conn_finish(c);
}

#endif
