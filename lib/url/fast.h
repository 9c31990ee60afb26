/*
 * fast.h - a fast path: most URLs are canonical already, or nearly.
 *
 * It comes in one version for each width of SIMD. fast.c has the portable one,
 * which is the reference; fast_x86.c has the others. All return the same.
 */
#ifndef SEEN_URL_FAST_H
#define SEEN_URL_FAST_H

#include <stddef.h>

#include "surt.h"

enum { FAST_HOST = 63 }; /* bytes of a host that is looked at here */

struct fast_way {
    const char *name;
    /* How much of the URL is its canonical text under whatwg (all but the
       fragment), or one byte more than all of it if a slash is to follow its
       host; 0 if that is not certain at one look. */
    size_t (*whatwg)(const char *url, size_t len);
    /* Write the SURT of an ordinary http or https URL to `text`, which has
       room for SEEN_KEY_TEXT bytes, and return its length; 0 if the URL is not
       that ordinary, or longer than SEEN_KEY_TEXT. */
    size_t (*surt)(char *text, const char *url, size_t len);
};

extern const struct fast_way fast_portable;
#if defined __x86_64__ && !defined SEEN_PORTABLE
extern const struct fast_way fast_avx2, fast_sse2;
#endif

/* Version i of those that this CPU supports, the widest first; NULL past the
   last, which is the portable one. */
const struct fast_way *fast_ways(unsigned i);

/* By the widest version. */
size_t fast_whatwg(const char *url, size_t len);
size_t fast_surt(char *text, const char *url, size_t len);

/* --- what the versions share --- */

/* Past "http://" or "https://", or NULL. */
const char *fast_past_scheme(const char *url, size_t len);

/* What follows the host, byte by byte. p is its first slash. */
size_t fast_whatwg_rest(const char *url, const char *p, const char *end);

/*
 * Write the path and the query of a SURT to `path`, as they are but in lower
 * case and escaped as a SURT is; p is the first slash. Returns the length, or
 * 0 if this is not ordinary. *query is where the query begins, past the "?";
 * 0: there is none.
 */
size_t fast_surt_rest(char *path, size_t *query, const char *p,
                      const char *end);

/*
 * The length of a SURT whose path and query have n bytes, and begin at byte
 * `host`: without the slash at the end of the path, without sessions, with
 * parameters in order. `find` sets the marks of a query.
 */
typedef void fast_marks(struct surt_marks *m, const char *query, size_t len);
size_t fast_finish(char *text, size_t host, size_t n, size_t query,
                   fast_marks *find);

#endif
