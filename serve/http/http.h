/*
 * http.h - HTTP, as the server sees it.
 *
 *     request.c      requests, one after the other
 *     parse.c, accept.c, chunks.c    their heads and bodies
 *     route.c        which function answers them
 *     http_lookup.c agg.c bulk.c    lookups: one, in all archives, in lists
 *     http_asking.c  one URL in archives that are asked off the loop
 *     aggregate*.c   mementos from other archives
 *     http_write.c   adds and removals
 *     describe.c files.c webpage.c   archives, files, the page
 *     crawls*.c      the page for operators
 *     searches*.c    the page to search crawls
 *     html.c         what these two have in common
 *     reply.c        heads of answers
 *     members.c      members of JSON objects, heads of metrics
 */
#ifndef SEEN_SERVE_HTTP_HTTP_H
#define SEEN_SERVE_HTTP_HTTP_H

#include "../loop.h"

extern const struct protocol http_protocol;

/* Write the heads of lookups' answers into a->head. */
void http_describe(struct archive *a);

/* Is this the first part of a path of ours? Then no archive has that name. */
bool http_reserves(struct seen_span name);

#endif
