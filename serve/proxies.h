/*
 * proxies.h - web servers in front of this one, whose word is taken for where
 * a request comes from.
 *
 *     struct proxies trusted = { .n = 0 };
 *
 *     proxies_add(&trusted, "127.0.0.1");        or "10.0.0.0/8", "unix"
 *     if (proxies_trust(&trusted, &peer))
 *         proxies_forwarded(&trusted, value, &client);
 *
 * A proxy appends the address of its client to X-Forwarded-For, behind what
 * that client has sent, so the list is read from its end: addresses of trusted
 * proxies are skipped, and the first other one is the client. What stands
 * before it may be forged. The header Forwarded (RFC 7239) is not read: nginx
 * and Apache pass it on as the client has sent it.
 *
 * Threads: a list that is complete is only read.
 */
#ifndef SEEN_SERVE_PROXIES_H
#define SEEN_SERVE_PROXIES_H

#include <stdbool.h>
#include <sys/socket.h>

#include "../lib/text/span.h"

enum { PROXIES_MOST = 64 };

struct proxies {
    size_t n;
    bool unix_sockets; /* peers of Unix sockets are proxies */
    struct proxy_net {
        unsigned char address[16]; /* IPv4 as ::ffff:1.2.3.4 */
        unsigned bits;             /* that count */
    } net[PROXIES_MOST];
};

/* Add an address, a net, or "unix". False if it is none, or there are too
   many. */
bool proxies_add(struct proxies *p, const char *text);

bool proxies_trust(const struct proxies *p, const struct sockaddr_storage *s);

/*
 * Go on with one header X-Forwarded-For, the last one first. *client is the
 * address that was found, unchanged if there is none. True if it is that of a
 * trusted proxy, so that an earlier header may say more.
 */
bool proxies_forwarded(const struct proxies *p, struct seen_span value,
                       struct sockaddr_storage *client);

#endif
