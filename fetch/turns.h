/*
 * turns.h - requests that wait for their turn, by site.
 *
 *     ready: haw.nsk.hr:443 ──> archive.org:443 ──> ...      sites in turns
 *              │ running 2        │ running 0
 *              a, b, c            d                           in order
 *
 * A site is a host and a port. It is ready while it has requests that wait
 * and fewer than `per_site` that run; ready sites take turns, so that a site
 * with ten thousand requests, or one that never answers, delays no other.
 * Sites come and go with their requests.
 *
 * Threads: they belong to one.
 */
#ifndef SEEN_FETCH_TURNS_H
#define SEEN_FETCH_TURNS_H

#include <stdbool.h>
#include <stddef.h>

#include "fetch.h"

struct exchange;

/* A request is in one list at a time: of a site, of what runs, of what is to
   be cancelled. */
struct request {
    struct request *before, *after;
    struct site *site;
    struct exchange *exchange; /* since its first turn */
    bool running;
    bool cancelled;
    struct fetch_request asks; /* its texts are these: */
    char text[];
};

struct requests {
    struct request *first, *last;
};

void requests_append(struct requests *l, struct request *r);
void requests_remove(struct requests *l, struct request *r);

struct site;
enum { SITE_BUCKETS = 1024 };

struct turns {
    struct site *bucket[SITE_BUCKETS];
    struct site *first, *last; /* ready */
    unsigned per_site;
};

/* Let r wait for the site of this name, behind the others or before them. */
enum seen_code turns_put(struct turns *t, struct request *r, const char *site,
                         bool first, struct seen_error *why);

/* Whose turn is it? NULL if nobody's. It counts as running from now on. */
struct request *turns_take(struct turns *t);

/* r runs no longer, or waits no longer. Its site may go, and is forgotten. */
void turns_leave(struct turns *t, struct request *r);

/* Move those that wait and have this owner, or all, to a list. */
void turns_move(struct turns *t, const void *owner, bool all,
                struct requests *to);

#endif
