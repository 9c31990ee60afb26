/*
 * aggregate.h - what the parts of the aggregator's HTTP share.
 *
 *     aggregate.c           paths, and requests that wait
 *     aggregate_choice.c    which archives are asked
 *     aggregate_reply.c     answers
 *
 * Threads: belongs to one loop.
 */
#ifndef SEEN_SERVE_HTTP_AGGREGATE_H
#define SEEN_SERVE_HTTP_AGGREGATE_H

#include "../memento/gather.h"
#include "../memento/memento_write.h"
#include "request.h"

enum http_aggregate {
    AGGREGATE_TIMEMAP,
    AGGREGATE_TIMEGATE,
    AGGREGATE_REDIRECT,   /* /memento/<DATE>/ */
    AGGREGATE_DESCRIPTION, /* /memento/json/<DATE>/ */
    AGGREGATE_COPY         /* /memento/proxy/<DATE>/ */
};

/* A request to the aggregator, until its answer is written. */
struct http_aggregation {
    struct http_exchange exchange;
    enum http_aggregate task;
    enum memento_as as;
    int64_t when;
    struct archive_lookup lookup;
    size_t holds; /* bytes of the answer that is being written */
    char url[];
};

/* --- aggregate_choice.c --- */

/* Archives to ask about a URL. */
struct http_choice {
    struct memento_source *source;
    size_t n;           /* archives to ask */
    size_t spared;      /* archives whose filters say no */
    struct buffer text; /* what the sources point into */
};

/* Choose archives; answer[i] is what the filter of archive i of the loop's view
   has answered. False without memory: then there is nothing to clear. */
bool http_choice_make(struct http_choice *them, struct loop *l,
                      struct seen_span url, const unsigned char *answer);
void http_choice_clear(struct http_choice *them);

/* --- aggregate_reply.c --- */

/* Answer the request of c->http with what was found, and with the closest
   memento if that was asked for, whose body is taken from `copy`. If a job
   writes the answer, the request is pending again. */
void http_aggregate_answer(struct conn *c, struct memento_timemap *t,
                           size_t spared, bool cached,
                           struct memento_copy *copy);

#endif
