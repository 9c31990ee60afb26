/*
 * url.h - URLs from the web, checked before anything is done with them.
 *
 * Here a URL is the canonical text of an absolute http or https URL: scheme
 * and host in lower case, everything that is not printable ASCII escaped, no
 * fragment. So URLs can be compared byte by byte and printed to a terminal,
 * and mean the same to us as to the client that fetches them.
 *
 *     https://haw.nsk.hr/bloom-filter/haw.seen
 *             \________/\_____________________/
 *                host     path, never empty
 */
#ifndef SEEN_HARVEST_URL_H
#define SEEN_HARVEST_URL_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>
#include <seen/span.h>

enum { HARVEST_URL = 2048 }; /* bytes, at most */

/* SEEN_BAD_URL for a text that is too long, relative, of another scheme, or has
   a user or password. White space around it is ignored. */
enum seen_code harvest_url_read(char out[HARVEST_URL + 1],
                                struct seen_span text, struct seen_error *why);

/* Where the host (with its port) and the path begin. */
const char *harvest_url_host(const char *url);
const char *harvest_url_path(const char *url);

/* The same host and port? http and https count as one. */
bool harvest_url_same_host(const char *a, const char *b);

/* Bytes of the path, without the query. */
size_t harvest_url_path_len(const char *url);

/* Does the path end like this? */
bool harvest_url_ends(const char *url, const char *ending);

/* `name` in the folder at `url`, or in the root of its host: SEEN_BAD_URL if
   that is too long. */
enum seen_code harvest_url_under(char out[HARVEST_URL + 1], const char *url,
                                 const char *name, struct seen_error *why);
enum seen_code harvest_url_rooted(char out[HARVEST_URL + 1], const char *url,
                                  const char *name, struct seen_error *why);

#endif
