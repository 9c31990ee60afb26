/* listen.h - sockets that clients connect to. */
#ifndef SEEN_SERVE_LISTEN_H
#define SEEN_SERVE_LISTEN_H

#include <seen/error.h>

/*
 * Open n sockets that are bound to one address, "127.0.0.1:8080", and share
 * its port; if that is 0 they get one that is free. On failure none is open.
 */
enum seen_code listen_open(int *fd, unsigned n, const char *address, int *port,
                           struct seen_error *why);

#endif
