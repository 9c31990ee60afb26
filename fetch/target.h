/*
 * target.h - the URL of a hop, resolved and checked, and its host.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_FETCH_TARGET_H
#define SEEN_FETCH_TARGET_H

#include <seen/error.h>

struct fetch_target {
    char *url;  /* absolute, without fragment */
    char *host; /* "haw.nsk.hr:443" */
};

/*
 * Read a URL, relative to `base` unless that is NULL. SEEN_RANGE for schemes
 * other than http and https, for user names and passwords, and for ports of
 * other protocols; SEEN_NOMEM.
 */
enum seen_code fetch_target_init(struct fetch_target *t, const char *base,
                                 const char *text, struct seen_error *why);
void fetch_target_clear(struct fetch_target *t);

#endif
