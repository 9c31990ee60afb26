/* listen_unix.h - Unix sockets: their files come and go with the server. */
#ifndef SEEN_SERVE_LISTEN_UNIX_H
#define SEEN_SERVE_LISTEN_UNIX_H

#include <sys/types.h>

#include <seen/error.h>

/*
 * A socket that listens at `path`, whose file has this mode and these numbers.
 * A file that a dead server left is replaced. SEEN_BUSY: a server listens
 * there. SEEN_EXISTS: the file is not a socket.
 */
enum seen_code listen_unix_open(int *fd, const char *path, mode_t mode,
                                dev_t *dev, ino_t *ino,
                                struct seen_error *why);

/* Remove the file if it still has these numbers. */
void listen_unix_remove(const char *path, dev_t dev, ino_t ino);

#endif
