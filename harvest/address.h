/*
 * address.h - URLs that others name, before anything is done with them.
 *
 * An address is the canonical text of an absolute http or https URL: its
 * scheme and host in lower case, all that is not printable ASCII escaped, no
 * fragment. So it can be compared byte by byte, printed to a terminal, and is
 * the same to us as to the client that fetches it.
 *
 *     https://haw.nsk.hr/bloom-filter/haw.seen
 *             \________/\_____________________/
 *                host     path, never empty
 */
#ifndef SEEN_HARVEST_ADDRESS_H
#define SEEN_HARVEST_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>

enum { ADDRESS_MOST = 2048 };

/* SEEN_RANGE for what is too long, relative, of another scheme, or carries a
   user or password. Space around it is ignored. */
enum seen_code address_read(char out[ADDRESS_MOST + 1], const char *text,
                            size_t len, struct seen_error *why);

/* Where the host (with its port) and the path begin. */
const char *address_host(const char *url);
const char *address_path(const char *url);

/* The same host and port? Those of http and https count as one. */
bool address_same_host(const char *a, const char *b);

/* Bytes of the path, without what follows a "?". */
size_t address_path_len(const char *url);

/* Does the path end so? */
bool address_ends(const char *url, const char *ending);

/*
 * `name` under the folder that `url` is, or under the root of its host:
 * SEEN_RANGE if that is too long.
 */
enum seen_code address_under(char out[ADDRESS_MOST + 1], const char *url,
                             const char *name, struct seen_error *why);
enum seen_code address_rooted(char out[ADDRESS_MOST + 1], const char *url,
                              const char *name, struct seen_error *why);

#endif
