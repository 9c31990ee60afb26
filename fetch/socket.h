/*
 * socket.h - the sockets of a client, and what waits in them.
 *
 * libcurl keeps connections, and uses one again although bytes wait in it. But
 * bytes that came before a request are not the answer to it (RFC 9112,
 * section 9.2): a server that sends two answers at once would have the second
 * one taken for the page that is asked for next. So it must be known, before a
 * request is sent, whether anything waits. libcurl does not say then which
 * socket it will use, only its local port; hence this list.
 *
 * Threads: as the client that it belongs to.
 */
#ifndef SEEN_FETCH_SOCKET_H
#define SEEN_FETCH_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins zeroed. */
struct fetch_sockets {
    uint16_t *ports; /* by descriptor; 0: not open, or not yet connected */
    size_t room;
};

/* A socket, or -1 with errno. */
int fetch_socket_open(struct fetch_sockets *s, int family, int type,
                      int protocol);
int fetch_socket_close(struct fetch_sockets *s, int fd);

/* Does this errno say that there is no descriptor, or no memory for one? */
bool fetch_socket_shortage(int fault);
/* How many sockets may there be, if descriptors below this one are taken? */
long fetch_socket_room(int taken);
/* Is there none now? */
bool fetch_socket_is_short(void);

/* If the socket is connected, and this is its local port, note it. */
void fetch_socket_connected(struct fetch_sockets *s, int fd, uint16_t port);

/* Are there bytes to read from a socket with this local port? True also if no
   such socket is known. Two sockets may have the same port, with different
   addresses; then both are asked. */
bool fetch_socket_waiting(const struct fetch_sockets *s, uint16_t port);

void fetch_sockets_clear(struct fetch_sockets *s);

#endif
