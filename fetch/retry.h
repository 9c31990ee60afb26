/*
 * retry.h - after a request that failed: try again, when, or not at all.
 *
 * Two things are remembered. Of each thing to fetch, how often it was tried:
 *
 *     struct fetch_retry retry = { 0 };
 *
 *     in end():
 *     if (fetch_retry_again(&retry, &policy, code, response, &request.due))
 *         fetch_start(web, &request, &why);
 *     else
 *         fetch_health_note(&health, group, url, code, response);
 *
 * And of each host, how many requests in a row failed for good: after
 * FETCH_FAILURES the host counts as down, and further requests are a waste of
 * time. A caller that fetches on behalf of several publishers gives each a
 * group: failures of one group do not make the host down for another, unless
 * there was no answer at all.
 *
 * Threads: plain functions; a health belongs to one thread at a time.
 */
#ifndef SEEN_FETCH_RETRY_H
#define SEEN_FETCH_RETRY_H

#include "../lib/text/map.h"
#include "fetch.h"

struct fetch_retry_policy {
    unsigned attempts; /* in all */
    unsigned pause;    /* milliseconds after the first; after the n-th, n*n
                          times as long */
    unsigned patience; /* seconds; a longer Retry-After is not waited for */
};

struct fetch_retry {
    unsigned attempts; /* how many failed; 0 begins anew */
};

/*
 * The request ended: did it fail in a way that may pass? The connection or
 * the answer broke, or the server answers 429 or 5xx. Not if it was too slow,
 * or the handler stopped it.
 */
bool fetch_retry_helps(enum seen_code code,
                       const struct fetch_response *response);

/* Count the attempt that ended so. True if there should be another one; then
 * *due is when, for fetch_request. */
bool fetch_retry_again(struct fetch_retry *r,
                       const struct fetch_retry_policy *policy,
                       enum seen_code code,
                       const struct fetch_response *response, uint64_t *due);

/* The same for an attempt that the caller counts as failed; `after` is the
   server's Retry-After. */
bool fetch_retry_pause(struct fetch_retry *r,
                       const struct fetch_retry_policy *policy, unsigned after,
                       uint64_t *due);

/* Hosts that are remembered at a time, per group and host; those beyond are
   not counted, and asked more often. */
enum { FETCH_FAILURES = 3, FETCH_HEALTH_MOST = 8192 };

/* Begin with zeros. */
struct fetch_health {
    struct map failures;
};

void fetch_health_clear(struct fetch_health *h);

/* The last attempt to fetch `url` ended. Groups are numbered from 1. */
void fetch_health_note(struct fetch_health *h, unsigned group, const char *url,
                       enum seen_code code,
                       const struct fetch_response *response);

/* Is the host of `url` down, for this group? */
bool fetch_health_down(const struct fetch_health *h, unsigned group,
                       const char *url);

/* What a status other than success means, in words: "is answered with 404:
   not found". SEEN_IO if it may pass (429, 5xx), else SEEN_UNABLE. */
enum seen_code fetch_status_fault(int status, struct seen_error *why);

#endif
