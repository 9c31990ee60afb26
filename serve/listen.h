/*
 * listen.h - sockets that clients connect to.
 *
 *     127.0.0.1:8080, [::1]:8080, localhost:8080     an address and a port
 *     8080                                           127.0.0.1:8080
 *     :8080, *:8080                                  all addresses
 *     unix:/run/seen/serve.sock                      a Unix socket
 *
 * Each loop has a socket of its own per address, and the kernel spreads the
 * clients over them (SO_REUSEPORT). Unix sockets, and those that systemd
 * passes, are one socket that all loops accept from.
 *
 * Threads: called before the loops start, and by one thread at the end.
 */
#ifndef SEEN_SERVE_LISTEN_H
#define SEEN_SERVE_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include <seen/error.h>

enum { LISTEN_TEXT = 288, LISTEN_BACKLOG = 1024 };

struct listen_address {
    char text[LISTEN_TEXT]; /* "127.0.0.1:8080", "unix:/run/seen/serve.sock" */
    bool redis;             /* for the Redis protocol alone */
    bool local;             /* other machines cannot reach it */
    bool is_unix;
    bool passed; /* another program has opened it, and may have clients */
    bool shut;   /* another program has shut it down */
    bool made; /* the file of a Unix socket, which these identify */
    dev_t dev;
    ino_t ino;
};

/*
 * Open n descriptors of sockets that listen on an address, for n loops. Port 0
 * is any free one, which at->text has then. `mode` is that of the file of a
 * Unix socket. The file that a dead server left is replaced. SEEN_BUSY:
 * another server listens there; SEEN_EXISTS: the path is another kind of file.
 * On failure none is open.
 */
enum seen_code listen_open(struct listen_address *at, int *fd, unsigned n,
                           const char *address, mode_t mode,
                           struct seen_error *why);

/* The same for a socket that another program has opened and passed. It is
   closed. */
enum seen_code listen_adopt(struct listen_address *at, int *fd, unsigned n,
                            int given, struct seen_error *why);

/* Remove the file of a Unix socket that listen_open() made, if it is still
   there. To be called while its descriptors are open: then no other file has
   its number. */
void listen_remove(struct listen_address *at);

#endif
