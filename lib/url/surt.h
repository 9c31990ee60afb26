/*
 * surt.h - what the files that make SURTs share.
 *
 * The parts of a URL are worked on in place: each function takes a text and
 * returns its new length, which is never more than before.
 */
#ifndef SEEN_URL_SURT_H
#define SEEN_URL_SURT_H

#include "text.h"

/* Where the host of a SURT ends, which is at its ")"; 0 if it is no SURT. */
size_t surt_host(const char *key, size_t len);

/* Take the session of an ASP.NET site out of a path in lower case. */
size_t session_strip_path(char *path, size_t len);

/* Take session ids out of a query in lower case. */
size_t session_strip_query(char *query, size_t len);

/* Sort the parameters of a query, by name and then by value. */
void query_sort(char *query, size_t len);

#endif
