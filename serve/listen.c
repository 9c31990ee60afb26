/*
 * listen.c - addresses, ports and sockets.
 *
 * A text becomes an address (resolve()), and an address n sockets, one for each
 * loop (open_tcp()). They share a port by SO_REUSEPORT, by which two servers
 * could share one, too, and each would get half of the clients. So the port is
 * bound without it first. A socket that another program has opened is asked
 * what it is (describe()), and all loops get copies of it.
 */
#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "listen_unix.h"

/* --- texts --- */

/* The system would take 99999 for 34463. */
static bool is_port(const char *text)
{
    const size_t len = strspn(text, "0123456789");

    return len && len <= 5 && !text[len] && atoi(text) <= 65535;
}

/* Host and port of an address; the host is "" for all addresses. NULL if it is
   not an address. */
static const char *split(const char *text, char *host, size_t room)
{
    const char *colon = strrchr(text, ':'), *from = text;
    size_t len;

    if (is_port(text)) {
        snprintf(host, room, "127.0.0.1");
        return text;
    }
    if (!colon || !is_port(colon + 1))
        return NULL;
    len = (size_t)(colon - text);
    if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
        from++;
        len -= 2;
    } else if (strcspn(text, ":[]") < len) {
        return NULL; /* "::1:80": where does the port begin? */
    } else if (len == 1 && text[0] == '*') {
        len = 0;
    }
    if (len >= room)
        return NULL;
    snprintf(host, room, "%.*s", (int)len, from);
    return colon + 1;
}

/* All addresses are those of IPv6, which has those of IPv4 in it; or those of
   IPv4, where there is no IPv6. */
static const char *all_addresses(void)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return "0.0.0.0";
    close(fd);
    return "::";
}

static enum seen_code resolve(const char *text, char *host, size_t room,
                              bool *all, struct addrinfo **out,
                              struct seen_error *why)
{
    struct addrinfo want = { .ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    const char *port = split(text, host, room);
    int code;

    if (!port)
        return seen_fail(why, SEEN_RANGE, 0,
                         "%.40s is not ADDRESS:PORT, such as 127.0.0.1:8080, "
                         "[::1]:8080, :8080 or unix:/PATH",
                         text);
    *all = !*host;
    if (*all)
        snprintf(host, room, "%s", all_addresses());
    code = getaddrinfo(host, port, &want, out);
    if (code)
        return seen_fail(why, SEEN_RANGE, 0, "%s: %s", text,
                         gai_strerror(code));
    return SEEN_OK;
}

/* --- what an address is --- */

static int port_of(const struct sockaddr_storage *s)
{
    return ntohs(s->ss_family == AF_INET6
                     ? ((const struct sockaddr_in6 *)s)->sin6_port
                     : ((const struct sockaddr_in *)s)->sin_port);
}

static bool is_loopback(const struct sockaddr_storage *s)
{
    if (s->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)s)->sin_addr.s_addr) >> 24 ==
               127;
    if (s->ss_family == AF_INET6) {
        const struct in6_addr *six =
            &((const struct sockaddr_in6 *)s)->sin6_addr;

        return IN6_IS_ADDR_LOOPBACK(six) ||
               (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
    }
    return s->ss_family == AF_UNIX;
}

/* --- TCP --- */

static int open_socket(int family, bool all)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1, off = 0;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (all && family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    return fd;
}

static void close_quietly(int fd)
{
    const int system = errno;

    if (fd >= 0)
        close(fd);
    errno = system;
}

/* Is the port free? SO_REUSEPORT would let two servers share it, and half of
   the clients go to the other. */
static bool is_free(const struct addrinfo *at, bool all)
{
    int fd = open_socket(at->ai_family, all);
    bool good = fd >= 0 && !bind(fd, at->ai_addr, at->ai_addrlen) &&
                !listen(fd, 1);

    close_quietly(fd);
    return good;
}

/* The first socket of an address finds the port if that is 0; the others get
   the same. */
static int listen_at(struct sockaddr_storage *to, socklen_t len, bool all)
{
    const bool any = !port_of(to);
    int on = 1, fd = open_socket(to->ss_family, all);

    if (fd < 0)
        return -1;
    /* Alone, or it would share another server's port. */
    if (any && bind(fd, (struct sockaddr *)to, len))
        goto fail;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) ||
        (!any && bind(fd, (struct sockaddr *)to, len)) ||
        getsockname(fd, (struct sockaddr *)to, &len))
        goto fail;
    return fd;
fail:
    close_quietly(fd);
    return -1;
}

static enum seen_code open_tcp(struct listen_address *at, int *fd, unsigned n,
                               const char *address, struct seen_error *why)
{
    struct sockaddr_storage to;
    struct addrinfo *found;
    char host[256];
    bool all = false;
    enum seen_code code = resolve(address, host, sizeof host, &all, &found,
                                  why);
    unsigned opened = 0;

    if (code != SEEN_OK)
        return code;
    memset(&to, 0, sizeof to);
    memcpy(&to, found->ai_addr, found->ai_addrlen);
    if (!port_of(&to) || is_free(found, all))
        while (opened < n &&
               (fd[opened] = listen_at(&to, found->ai_addrlen, all)) >= 0)
            opened++;
    if (opened < n) {
        code = seen_fail(why, SEEN_IO, 0, "cannot listen on %s", address);
        while (opened)
            close(fd[--opened]);
    }
    freeaddrinfo(found);
    at->local = is_loopback(&to);
    snprintf(at->text, sizeof at->text,
             strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port_of(&to));
    return code;
}

/* --- one socket for all loops --- */

static enum seen_code share(int *fd, unsigned n, int socket,
                            struct seen_error *why)
{
    fd[0] = socket;
    for (unsigned i = 1; i < n; i++) {
        fd[i] = fcntl(socket, F_DUPFD_CLOEXEC, 0);
        if (fd[i] >= 0)
            continue;
        seen_fail(why, SEEN_IO, 0, "cannot share a socket");
        while (i)
            close(fd[--i]);
        return SEEN_IO;
    }
    return SEEN_OK;
}

/* What a socket is that another program has bound. */
static void describe(struct listen_address *at,
                     const struct sockaddr_storage *s, socklen_t len)
{
    const struct sockaddr_un *local = (const struct sockaddr_un *)s;
    const size_t path = len - offsetof(struct sockaddr_un, sun_path);
    char host[NI_MAXHOST];

    at->local = is_loopback(s);
    at->is_unix = s->ss_family == AF_UNIX;
    if (at->is_unix)
        snprintf(at->text, sizeof at->text, "unix:%s%.*s",
                 *local->sun_path ? "" : "@", (int)path - !*local->sun_path,
                 local->sun_path + !*local->sun_path);
    else if (!getnameinfo((const struct sockaddr *)s, len, host, sizeof host,
                          NULL, 0, NI_NUMERICHOST))
        snprintf(at->text, sizeof at->text,
                 s->ss_family == AF_INET6 ? "[%.255s]:%d" : "%.255s:%d", host,
                 port_of(s));
}

enum seen_code listen_adopt(struct listen_address *at, int *fd, unsigned n,
                            int given, struct seen_error *why)
{
    struct sockaddr_storage to = { .ss_family = AF_UNSPEC };
    socklen_t len = sizeof to, size = sizeof(int);
    int type = 0, listens = 0;

    memset(at, 0, sizeof *at);
    if (getsockname(given, (struct sockaddr *)&to, &len) ||
        getsockopt(given, SOL_SOCKET, SO_TYPE, &type, &size))
        return seen_fail(why, SEEN_IO, 0, "descriptor %d is not a socket",
                         given);
    size = sizeof listens;
    getsockopt(given, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
    if (type != SOCK_STREAM || !listens ||
        (to.ss_family != AF_INET && to.ss_family != AF_INET6 &&
         to.ss_family != AF_UNIX))
        return seen_fail(why, SEEN_RANGE, 0,
                         "socket %d does not listen for streams; a socket "
                         "unit needs ListenStream= and Accept=no",
                         given);
    if (fcntl(given, F_SETFL, fcntl(given, F_GETFL) | O_NONBLOCK) < 0 ||
        fcntl(given, F_SETFD, FD_CLOEXEC) < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot use socket %d", given);
    describe(at, &to, len);
    at->passed = true;
    return share(fd, n, given, why);
}

/* --- all of them --- */

enum seen_code listen_open(struct listen_address *at, int *fd, unsigned n,
                           const char *address, mode_t mode,
                           struct seen_error *why)
{
    enum seen_code code;
    int socket;

    memset(at, 0, sizeof *at);
    if (strncmp(address, "unix:", 5))
        return open_tcp(at, fd, n, address, why);
    code = listen_unix_open(&socket, address + 5, mode, &at->dev, &at->ino,
                            why);
    if (code != SEEN_OK)
        return code;
    at->made = at->local = at->is_unix = true;
    snprintf(at->text, sizeof at->text, "%s", address);
    code = share(fd, n, socket, why);
    if (code != SEEN_OK)
        listen_remove(at);
    return code;
}

void listen_remove(struct listen_address *at)
{
    if (at->made)
        listen_unix_remove(at->text + 5, at->dev, at->ino);
    at->made = false;
}
