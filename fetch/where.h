/*
 * where.h - the URL of a hop: resolved, checked, and whose turn it counts to.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_FETCH_WHERE_H
#define SEEN_FETCH_WHERE_H

#include <seen/error.h>

struct where {
    char *url;  /* absolute, without fragment */
    char *site; /* "haw.nsk.hr:443" */
};

/*
 * Read a URL; a `base` that is not NULL is where it was found, and may make
 * it whole. SEEN_RANGE for schemes other than http and https, for names and
 * passwords in it, and for ports that no web server has; SEEN_NOMEM.
 */
enum seen_code where_init(struct where *w, const char *base, const char *text,
                          struct seen_error *why);
void where_clear(struct where *w);

#endif
