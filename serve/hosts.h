/*
 * hosts.h - the names by which a server on a loopback address is called.
 *
 * A page of evil.example can make its own name lead to 127.0.0.1 once the
 * browser has it ("DNS rebinding"). To the browser this server is then a part of
 * evil.example, whose scripts may read all that it answers. What such a page
 * cannot change is the Host header: so a name is answered to only if it is one
 * of ours.
 *
 *     struct hosts ours = { .name = names, .names = 2 };
 *
 *     if (!hosts_know(&ours, host))           "archive.example:8080"
 *         refuse();
 *
 * Numeric addresses and `localhost` are always known: no page can be loaded by
 * them from anywhere else. Nor is a request refused that names no host. Only
 * HTTP/1.0 allows that, and no browser speaks it.
 *
 * Threads: only read.
 */
#ifndef SEEN_SERVE_HOSTS_H
#define SEEN_SERVE_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/span.h>

struct hosts {
    const char *const *name; /* of --host; "*" is any */
    size_t names;
    const char *url; /* of --url, whose host is known, too; or NULL */
};

/* Is it the name of a host, without a port, or "*"? */
bool hosts_good(const char *name);

/* Is a host, with or without its port, one of ours? */
bool hosts_know(const struct hosts *h, struct seen_span host);

#endif
