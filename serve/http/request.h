/*
 * request.h - what is done with requests of HTTP.
 *
 * Most are answered as soon as their head is whole. Those with a body, and
 * those whose answer does not fit into memory, have an exchange that lives
 * until both are done.
 */
#ifndef SEEN_SERVE_HTTP_REQUEST_H
#define SEEN_SERVE_HTTP_REQUEST_H

#include "../conn.h"
#include "parse.h"
#include "reply.h"

struct exchange;

struct exchange_kind {
    /* Some of the body; and all of it was given. */
    void (*body)(struct exchange *x, const char *bytes, size_t n);
    void (*end)(struct exchange *x);
    void (*free)(struct exchange *x);
};

/* To be the first member of a larger struct. */
struct exchange {
    const struct exchange_kind *kind;
    struct conn *conn;
};

/* An HTTP request that is not done, with a copy of its head. */
struct web {
    char *head;
    struct http_request request;
    struct exchange *exchange;
    int status; /* of the answer, and how long it is, for the log: others are
                   answered before this one is done */
    uint64_t length;
    bool whole;    /* the body is */
    bool answered; /* the head of the answer was written, */
    bool closes;   /* and said that the connection ends with it */
    uint64_t left; /* of a body whose length is known */
    uint64_t got;
    struct http_chunks chunks;
};

/* Take requests from `text`; as redis_drive() does. */
size_t web_drive(struct conn *c, char *text, size_t len);

/* Ask for what was put off to be asked together, and answer. */
void web_flush(struct loop *l);

/* Free c->web. */
void web_forget(struct conn *c);

/*
 * Go on with the request after this call: its body, if there is one, is for
 * x, which is freed with it. x->conn->web->request is the request from then
 * on. False without memory; that is answered, and x freed.
 */
bool web_exchange(struct conn *c, const struct http_request *r,
                  struct exchange *x);

/* The answer is written. Called by itself after kind->end(), unless that
   said conn_wait(): then before conn_go_on(). */
void web_done(struct conn *c);

/* Refuse a request whose body is not wanted: the connection ends with it. */
void web_unwanted(struct conn *c, const struct http_request *r);

/* A URL as the rest of a target: decoded once if it begins http%3A. False
   if it does and is badly encoded. `room` has HTTP_TARGET bytes. */
bool web_url(struct span rest, char *room, struct span *url);

/* Does the request bear the token? If not it is answered so. */
bool web_allowed(struct conn *c, const struct http_request *r);

/* Where others reach us: "https://haw.nsk.hr/bloom". */
void web_origin(struct conn *c, const struct http_request *r, struct out *to);

/* The archive of that name, if it answers; else that is answered. */
struct archive *web_archive(struct conn *c, const struct http_request *r,
                            struct span name);

/* --- the paths, one file each --- */

typedef void web_handler(struct conn *c, const struct http_request *r,
                         struct span rest);

web_handler agg_get, agg_timemap, agg_timegate; /* agg.c */
web_handler bulk_agg;                           /* bulk.c */
void bulk_archive(struct conn *c, const struct http_request *r,
                  struct archive *a);
web_handler describe_archives, describe_info, describe_metrics,
    describe_health;                               /* describe.c */
web_handler files_get, files_sitemap, files_known; /* files.c */
web_handler write_list; /* write.c: POST /add/NAME */
void write_one(struct conn *c, const struct http_request *r, struct archive *a,
               struct span url);
web_handler lookup_prefix; /* prefix.c */

/* The row of an archive, as JSON, for /archives and /info. */
void describe_archive(struct out *o, struct archive *a, bool files);

/* A template of the metadata ("https://a.example/timemap/{url}") for a URL;
   false if there is none. A template without {url} gets it appended. */
bool archive_link(struct out *o, const struct archive *a, const char *name,
                  struct span url);

#endif
