/*
 * crawls.h - the forms in which crawls are shown: HTML, JSON, metrics.
 *
 * All three write what a view has (watch/watch.h). Names, URLs and errors in
 * it come from the web: they are escaped here, wherever they are written.
 */
#ifndef SEEN_SERVE_HTTP_CRAWLS_H
#define SEEN_SERVE_HTTP_CRAWLS_H

#include "../../lib/text/buffer.h"
#include "../watch/watch.h"

enum { CRAWLS_HOSTS = 50, CRAWLS_HOSTS_MOST = 1000 };

/* Which hosts of a crawl are asked for: ?from=100&most=50&host=example */
struct crawls_hosts {
    size_t from, most;
    char host[256]; /* a part of their names; "": all */
};

/* Does the host belong to those that are asked for? */
bool crawls_wanted(const struct crawls_hosts *hosts,
                   const struct watch_host *host);

void crawls_json(struct buffer *o, const struct watch_view *view);
void crawls_json_one(struct buffer *o, const struct watch_seen *seen,
                     const struct crawls_hosts *hosts);

/* `search`: the server has the page to search, too. */
void crawls_html(struct buffer *o, const struct watch_view *view, bool search);
void crawls_html_one(struct buffer *o, const struct watch_seen *seen,
                     const struct crawls_hosts *hosts, bool search);

void crawls_metrics(struct buffer *o, const struct watch_view *view);

#endif
