/* listen.c - addresses and ports. */
#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The system would take 99999 for 34463. */
static bool is_port(const char *text)
{
    const size_t len = strspn(text, "0123456789");

    return len && len <= 5 && !text[len] && atoi(text) <= 65535;
}

/* "127.0.0.1:8080", "[::1]:8080", "localhost:8080" */
static enum seen_code resolve(const char *text, struct addrinfo **out,
                              struct seen_error *why)
{
    const char *colon = strrchr(text, ':');
    struct addrinfo want = { .ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    char host[256];
    size_t len = colon ? (size_t)(colon - text) : 0;
    int code;

    if (!colon || !len || len >= sizeof host || !is_port(colon + 1))
        return seen_fail(why, SEEN_RANGE, 0,
                         "%s is not ADDRESS:PORT, such as 127.0.0.1:8080",
                         text);
    if (text[0] == '[' && text[len - 1] == ']')
        snprintf(host, sizeof host, "%.*s", (int)len - 2, text + 1);
    else
        snprintf(host, sizeof host, "%.*s", (int)len, text);
    code = getaddrinfo(host, colon + 1, &want, out);
    if (code)
        return seen_fail(why, SEEN_RANGE, 0, "%s: %s", text,
                         gai_strerror(code));
    return SEEN_OK;
}

/* Is the port free? SO_REUSEPORT would let two servers share it, and half of
   the clients go to the other. */
static bool is_free(const struct addrinfo *at)
{
    int on = 1, fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    good = good && !bind(fd, at->ai_addr, at->ai_addrlen) && !listen(fd, 1);
    if (fd >= 0)
        close(fd);
    return good;
}

/* The first socket of an address finds the port if that is 0; the others get
   the same. */
static int listen_at(const struct addrinfo *at, int *port)
{
    struct sockaddr_storage address;
    socklen_t len = at->ai_addrlen;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    0);
    int on = 1;

    memcpy(&address, at->ai_addr, len);
    if (*port && at->ai_family == AF_INET)
        ((struct sockaddr_in *)&address)->sin_port = htons((uint16_t)*port);
    else if (*port && at->ai_family == AF_INET6)
        ((struct sockaddr_in6 *)&address)->sin6_port = htons((uint16_t)*port);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!*port) { /* alone, or it would share another server's port */
        if (bind(fd, (struct sockaddr *)&address, len))
            goto fail;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) ||
        (*port && bind(fd, (struct sockaddr *)&address, len)) ||
        getsockname(fd, (struct sockaddr *)&address, &len))
        goto fail;
    *port = ntohs(address.ss_family == AF_INET6
                      ? ((struct sockaddr_in6 *)&address)->sin6_port
                      : ((struct sockaddr_in *)&address)->sin_port);
    return fd;
fail:
    on = errno;
    close(fd);
    errno = on;
    return -1;
}

enum seen_code listen_open(int *fd, unsigned n, const char *address, int *port,
                           struct seen_error *why)
{
    struct addrinfo *at;
    enum seen_code code = resolve(address, &at, why);
    unsigned opened = 0;

    if (code != SEEN_OK)
        return code;
    *port = atoi(strrchr(address, ':') + 1);
    if (!*port || is_free(at))
        while (opened < n && (fd[opened] = listen_at(at, port)) >= 0)
            opened++;
    if (opened < n) {
        code = seen_fail(why, SEEN_IO, 0, "cannot listen on %s", address);
        while (opened)
            close(fd[--opened]);
    }
    freeaddrinfo(at);
    return code;
}
