/*
 * request.h - HTTP requests, for the functions that answer them.
 *
 * A handler answers a request with the functions of reply.h, or starts an
 * exchange.
 */
#ifndef SEEN_SERVE_HTTP_REQUEST_H
#define SEEN_SERVE_HTTP_REQUEST_H

#include "../archives/archive_question.h"
#include "exchange.h"
#include "reply.h"

/*
 * Go on with the request after this call: its body, if there is one, is for
 * x, which is freed with it. False without memory: that is answered, and x
 * freed.
 */
bool http_exchange_start(struct conn *c, const struct http_request *r,
                         struct http_exchange *x);

/* The same without a body: if the request has one, it is not read. */
bool http_exchange_bare(struct conn *c, const struct http_request *r,
                        struct http_exchange *x);

/* The answer is written. Called by itself after kind->end(), unless that made
   the connection wait. */
void http_exchange_done(struct conn *c);

/* For done() of a pending request, when the answer is written: go on with the
   client, unless the request is pending again. */
void http_go_on(struct conn *c);

/* --- requests --- */

/* The URL at the end of a target: decoded, once, if it begins http%3A, and
   with the second slash of http:// that a proxy may have dropped. False if it
   is badly encoded. `room` has HTTP_TARGET bytes. */
bool http_url(struct seen_span rest, char *room, struct seen_span *url);

/* Where others reach us: "https://haw.nsk.hr/bloom". */
void http_origin(struct conn *c, const struct http_request *r,
                 struct buffer *to);

/* The archive of that name, if it answers; otherwise that is answered. */
struct archive *http_archive(struct conn *c, const struct http_request *r,
                             struct seen_span name);

void http_log(struct conn *c, const struct http_request *r);

/* --- aggregate.c --- */

/* Answer /timemap/ and /timegate/ of a server that aggregates; `rest` is what
   follows. */
void http_aggregate_timemap(struct conn *c, const struct http_request *r,
                            struct seen_span rest);
void http_aggregate_timegate(struct conn *c, const struct http_request *r,
                             struct seen_span rest);

/* --- http_asking.c --- */

/* The answers to a URL that was asked off the loop. */
typedef void http_answered(struct conn *c, const struct http_request *r,
                           const struct archive_question *q);

/* Ask the archive of this name, or all if it is NULL, off the loop. */
void http_ask_aside(struct conn *c, const struct http_request *r,
                    const char *archive, bool prefix, struct seen_span url,
                    http_answered *answered);

/* --- describe.c --- */

struct watch_view;

/* Answer /metrics. With a view it has the metrics of the crawls, too. */
void http_metrics_of(struct conn *c, const struct http_request *r,
                     const struct watch_view *view);

/* --- http_lookup.c --- */

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
http_handler http_memento;                          /* aggregate.c */
http_handler http_bulk, http_bulk_all;              /* bulk.c */
http_handler http_archives, http_info, http_health,
    http_robots;                              /* describe.c */
http_handler http_crawls, http_crawl, http_metrics; /* crawls.c */
http_handler http_file;                       /* files.c */
http_handler http_sitemap, http_resourcesync; /* sitemap.c */
http_handler http_lookup_alone, http_prefix;  /* http_lookup.c */
http_handler http_search;                     /* searches.c */
http_handler http_page;                       /* webpage.c */
http_handler http_change, http_add_list;      /* http_write.c */

#endif
