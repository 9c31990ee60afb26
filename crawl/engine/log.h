/*
 * log.h - crawl.log: one line per URL, in the columns of Heritrix.
 *
 *     2026-01-02T03:04:05.678Z   200  10301 http://a.example/b LL
 *     http://a.example/ text/html #001 20260102030405678+12 sha1:... - -
 *
 *     time, status, bytes, URL, how it was found, where it was found, type,
 *     thread, when it was fetched and how long that took (ms), digest, source,
 *     notes: an error, the outcome, cut:WHY, trap:WHY of a link on the page
 *
 * A status below 0 means that there is no answer: -1 no address, -2 no
 * connection, -3 the connection broke, -4 too slow, -404 not HTTP, -61 no
 * robots.txt, -9998 robots.txt forbids it, -5002 skipped, -5000 refused.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_CRAWL_LOG_H
#define SEEN_CRAWL_LOG_H

#include "page.h"

/* The status for the log and the state. */
int crawl_log_status(const struct crawl_page *page);

/* Append the line. `via` is the URL that it was found on, or "". */
void crawl_log_line(struct buffer *log, const struct crawl_page *page,
                    const char *via, int64_t now);

#endif
