/*
 * request.h - HTTP requests, for the functions that answer them.
 *
 * Most are answered as soon as their head is complete. Those with a body, and
 * those whose answer does not fit into memory, have an exchange that lives
 * until both are done.
 */
#ifndef SEEN_SERVE_HTTP_REQUEST_H
#define SEEN_SERVE_HTTP_REQUEST_H

#include "../archives/lookup.h"
#include "../conn.h"
#include "parse.h"
#include "reply.h"

/* What HTTP keeps per loop. */
struct http_loop {
    int status; /* of the last answer, and how long it was: for the log */
    uint64_t length;
    struct seen_span head; /* of the request that is being answered */

    /* Gathered lookups: see lookup.c. */
    struct archive *archive; /* that they are for */
    struct archive_keys keys;
    struct conn *conn[ARCHIVE_BATCH]; /* that they are from */
    struct buffer out;
};

/* --- requests that are not done --- */

struct http_exchange_kind {
    /* Some of the body; and all of it was given. */
    void (*body)(struct http_exchange *x, const char *bytes, size_t n);
    void (*end)(struct http_exchange *x);
    void (*free)(struct http_exchange *x);
};

/* To be the first member of a larger struct, with `kind` set. */
struct http_exchange {
    const struct http_exchange_kind *kind;
    struct conn *conn;
    struct http_request request;
    char *head; /* a copy, which the request points to */
    int status; /* of the answer, and how long it is, for the log */
    uint64_t length;
    bool whole;    /* the body is */
    bool answered; /* the head of the answer was written, */
    bool closes;   /* and said that the connection ends with it */
    uint64_t left; /* of a body whose length is known */
    uint64_t got;
    struct http_chunks chunks;
};

/*
 * Go on with the request after this call: its body, if there is one, is for
 * x, which is freed with it. False without memory: that is answered, and x
 * freed.
 */
bool http_exchange_start(struct conn *c, const struct http_request *r,
                         struct http_exchange *x);

/* The answer is written. Called by itself after kind->end(), unless that made
   the connection wait: then before conn_go_on(). */
void http_exchange_done(struct conn *c);

/* --- requests --- */

/* Refuse the body of a request: the connection ends with it. */
void http_refuse_body(struct conn *c, const struct http_request *r);

/* Decode the URL at the end of a target, once if it begins http%3A. False if
   it is badly encoded. `room` has HTTP_TARGET bytes. */
bool http_url(struct seen_span rest, char *room, struct seen_span *url);

/* Where others reach us: "https://haw.nsk.hr/bloom". */
void http_origin(struct conn *c, const struct http_request *r,
                 struct buffer *to);

/* The archive of that name, if it answers; otherwise that is answered. */
struct archive *http_archive(struct conn *c, const struct http_request *r,
                             struct seen_span name);

void http_log(struct conn *c, const struct http_request *r);

/* --- lookup.c --- */

/* Look up a URL, together with others of this turn if that can be. */
void http_lookup(struct conn *c, const struct http_request *r,
                 struct archive *a, struct seen_span rest);
void http_lookup_flush(struct loop *l);

/* Count what was looked up otherwise. */
void http_lookup_count(struct loop *l, const struct archive_counts *counts);

/* --- route.c --- */

/* Answer a request for `target`, which follows the --base and a slash. */
void http_route(struct conn *c, const struct http_request *r,
                struct seen_span target);

/* The first part of a path, what follows it, and what these stand for. */
struct http_path {
    struct seen_span name, rest;
    struct archive *archive; /* of routes of archives */
    struct seen_span url;    /* of routes that end with a URL */
};

typedef void http_handler(struct conn *c, const struct http_request *r,
                          const struct http_path *p);

http_handler http_agg, http_timemap, http_timegate; /* agg.c */
http_handler http_bulk, http_bulk_all;              /* bulk.c */
http_handler http_archives, http_info, http_metrics, http_health,
    http_robots;                              /* describe.c */
http_handler http_file;                       /* files.c */
http_handler http_sitemap, http_resourcesync; /* sitemap.c */
http_handler http_lookup_alone, http_prefix;  /* lookup.c */
http_handler http_page;                       /* webpage.c */
http_handler http_change, http_add_list;      /* write.c */

#endif
