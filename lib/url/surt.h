/*
 * surt.h - what the files that make SURTs share.
 *
 *     URL --> pieces -----> host, port --> path --> query
 *     surt_pieces.c         surt_host.c    surt.c   surt.c, query.c, session.c
 */
#ifndef SEEN_URL_SURT_H
#define SEEN_URL_SURT_H

#include <stdint.h>

#include <seen/span.h>

#include "text.h"

/* Where the host of a SURT ends, which is at its ")"; 0 if it is not a SURT. */
size_t surt_host(const char *key, size_t len);

/*
 * How many bytes of a canonical SURT have the host and the first `segments`
 * segments of the path: 0 of "com,example)/a/b?c" leaves "com,example)/", 1
 * leaves "com,example)/a". What has no host ("dns:a.example") stays whole.
 */
size_t surt_cut(const char *surt, size_t len, unsigned segments);

/* --- surt_pieces.c --- */

/* A URL in pieces, each of which may be empty. */
struct surt_pieces {
    struct seen_span scheme, host, port, path, query;
    bool brackets; /* around the host */
};

/* Cut a URL up, leniently: archives hold whatever was once linked to. */
void surt_split(struct surt_pieces *u, const char *p, const char *end);

/* Is the scheme http, https, or begins like it? */
bool surt_web(const struct surt_pieces *u);

/* --- surt_host.c: each returns NULL, or what is wrong with the URL --- */

/* Write "com,example": canonical, reversed, without www. */
const char *surt_put_host(struct sink *to, const struct surt_pieces *u);

/* Write ":8080", unless it is the port of the scheme, or none. */
const char *surt_put_port(struct sink *to, const struct surt_pieces *u);

/* Write %xx, whose digits are in lower case as all else. */
void surt_put_escape(struct sink *to, char c);

/*
 * --- session.c, query.c ---
 *
 * These work in place: each takes a text and returns its new length, which
 * is never more than before.
 */

/* Take the session of an ASP.NET site out of a path in lower case. */
size_t surt_strip_path(char *path, size_t len);

/* Take session ids out of a query in lower case. */
size_t surt_strip_query(char *query, size_t len);

/* Sort the parameters of a query, by name and then by value. Is there nothing
   to do? */
void surt_sort_query(char *query, size_t len);
bool surt_query_sorted(const char *query, size_t len);

/* Where the "&" and "=" of a short query are, one bit per byte. Bits past its
   end are not set. */
enum { SURT_QUERY = 256 };
struct surt_marks {
    uint64_t amp[SURT_QUERY / 64], equal[SURT_QUERY / 64];
};

/* Both of the above, of a query of less than SURT_QUERY bytes of visible ASCII
   in lower case. There are SURT_QUERY more bytes that may be read and written.
   The marks are changed. */
size_t surt_tidy_query(char *query, size_t len, struct surt_marks *m);

#endif
