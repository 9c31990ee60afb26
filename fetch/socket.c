/*
 * socket.c - open, close and look into sockets.
 *
 * libcurl does not say two things that are needed here: the port that a
 * descriptor is connected to, which an array by descriptor has, and whether
 * enough descriptors are left for the files of the program. A socket that
 * would take the last ones is refused, as if the system had none.
 */
#include "socket.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/text/array.h"

static bool make_room(struct fetch_sockets *s, size_t fd)
{
    size_t room = s->room;
    uint16_t *ports = array_grow(s->ports, &room, fd + 1, sizeof *ports);

    if (!ports)
        return false;
    memset(ports + s->room, 0, (room - s->room) * sizeof *ports);
    s->ports = ports;
    s->room = room;
    return true;
}

long fetch_socket_room(int taken)
{
    enum { LEFT = 16 };
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &most) || most.rlim_cur > INT_MAX)
        return INT_MAX;
    return (long)most.rlim_cur - LEFT - taken;
}

/* A socket that leaves some descriptors for files to the rest of the program:
   a crawl that has none for its next commit ends. The lowest one that is free
   is taken, so few are left if it is a high one. */
static int open_socket(int family, int type, int protocol)
{
    int fd = socket(family, type | SOCK_CLOEXEC, protocol);

    if (fd < 0 || fetch_socket_room(fd) > 0)
        return fd;
    close(fd);
    errno = EMFILE;
    return -1;
}

int fetch_socket_open(struct fetch_sockets *s, int family, int type,
                      int protocol)
{
    int fd = open_socket(family, type, protocol);

    if (fd < 0)
        return -1;
    if (!make_room(s, (size_t)fd)) {
        close(fd);
        errno = ENOMEM;
        return -1;
    }
    s->ports[fd] = 0;
    return fd;
}

bool fetch_socket_shortage(int fault)
{
    return fault == EMFILE || fault == ENFILE || fault == ENOBUFS ||
           fault == ENOMEM;
}

bool fetch_socket_is_short(void)
{
    int fd = open_socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0)
        return fetch_socket_shortage(errno);
    close(fd);
    return false;
}

int fetch_socket_close(struct fetch_sockets *s, int fd)
{
    if (fd >= 0 && (size_t)fd < s->room)
        s->ports[fd] = 0;
    return close(fd);
}

void fetch_socket_connected(struct fetch_sockets *s, int fd, uint16_t port)
{
    struct sockaddr_storage at = { .ss_family = AF_UNSPEC };
    socklen_t len = sizeof at;
    uint16_t found = 0;

    if (fd < 0 || (size_t)fd >= s->room ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        return;
    if (at.ss_family == AF_INET)
        found = ((const struct sockaddr_in *)&at)->sin_port;
    else if (at.ss_family == AF_INET6)
        found = ((const struct sockaddr_in6 *)&at)->sin6_port;
    if (ntohs(found) == port)
        s->ports[fd] = port;
}

bool fetch_socket_waiting(const struct fetch_sockets *s, uint16_t port)
{
    bool known = false;
    char byte;

    for (size_t fd = 0; fd < s->room; fd++) {
        if (s->ports[fd] != port)
            continue;
        known = true;
        if (recv((int)fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
            return true;
    }
    return !known;
}

void fetch_sockets_clear(struct fetch_sockets *s)
{
    free(s->ports);
    *s = (struct fetch_sockets){ 0 };
}
