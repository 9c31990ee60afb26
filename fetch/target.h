/*
 * target.h - the URL of a hop, resolved and checked, and its host.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_FETCH_TARGET_H
#define SEEN_FETCH_TARGET_H

#include <stdbool.h>

#include <seen/error.h>

struct fetch_target {
    char *url;  /* absolute, without fragment; to be freed */
    char *host; /* "haw.nsk.hr:443", in the same memory */
};

/*
 * Read a URL, relative to `base` unless that is NULL. SEEN_RANGE for schemes
 * other than http and https, for user names and passwords, and for ports of
 * other protocols; SEEN_NOMEM.
 */
enum seen_code fetch_target_init(struct fetch_target *t, const char *base,
                                 const char *text, struct seen_error *why);

/* A target of texts that were one before. SEEN_NOMEM. */
enum seen_code fetch_target_copy(struct fetch_target *t, const char *url,
                                 const char *host, struct seen_error *why);

/* By https? */
bool fetch_target_tls(const struct fetch_target *t);
/* The same scheme, host and port? */
bool fetch_target_same(const struct fetch_target *a,
                       const struct fetch_target *b);

void fetch_target_clear(struct fetch_target *t);

#endif
