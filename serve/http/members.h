/*
 * members.h - the pieces that descriptions are written of: members of JSON
 * objects, and heads of metrics.
 *
 *     http_member_text(o, "title", title);       , "title": "National..."
 *     http_metric(o, "crawls", "gauge", "...");  # HELP seen_crawls ...
 *
 * A member begins with a comma: the caller writes the first one of an object.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_SERVE_HTTP_MEMBERS_H
#define SEEN_SERVE_HTTP_MEMBERS_H

#include "../../lib/text/buffer.h"

/* The comma and the name, before any value. */
void http_member(struct buffer *o, const char *name);

/* A string; null if there is none. */
void http_member_text(struct buffer *o, const char *name, const char *text);

/* What Prometheus wants to know before the series of seen_NAME. */
void http_metric(struct buffer *o, const char *name, const char *type,
                 const char *help);

#endif
