/* systemd.c - sockets from a service manager, and states for it. */
#include "systemd.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../lib/text/span.h"

/* A number and nothing else. */
static bool read_number(const char *text, unsigned long most, unsigned long *n)
{
    char *end;

    errno = 0;
    *n = strtoul(text, &end, 10);
    return !errno && *text >= '0' && *text <= '9' && !*end && *n <= most;
}

/* One name per socket, with colons between them. */
static bool read_names(const char *names, unsigned n, uint32_t *redis)
{
    struct seen_span rest = span_of(names), name;
    unsigned i = 0;

    for (bool more = true; more; i++) {
        more = memchr(rest.text, ':', rest.len);
        if (!more)
            name = rest;
        else if (!span_cut(&rest, ':', &name))
            return false;
        if (i < n && span_is(name, "redis"))
            *redis |= UINT32_C(1) << i;
    }
    return i == n;
}

static enum seen_code read_environment(unsigned *n, uint32_t *redis,
                                       struct seen_error *why)
{
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    const char *names = getenv("LISTEN_FDNAMES");
    unsigned long whose, count;

    if (!pid || !fds)
        return SEEN_OK;
    if (!read_number(pid, INT32_MAX, &whose))
        return seen_fail(why, SEEN_RANGE, 0,
                         "LISTEN_PID=%.40s is not the number of a process",
                         pid);
    if (whose != (unsigned long)getpid())
        return SEEN_OK; /* they are another's, who did not unset it */
    if (!read_number(fds, SYSTEMD_SOCKETS, &count))
        return seen_fail(why, SEEN_RANGE, 0,
                         "LISTEN_FDS=%.40s is not a number of sockets up to "
                         "%d",
                         fds, SYSTEMD_SOCKETS);
    if (count && names && !read_names(names, (unsigned)count, redis))
        return seen_fail(why, SEEN_RANGE, 0,
                         "LISTEN_FDNAMES=%.40s is not a name for each of %lu "
                         "sockets",
                         names, count);
    *n = (unsigned)count;
    return SEEN_OK;
}

enum seen_code systemd_sockets(unsigned *n, uint32_t *redis,
                               struct seen_error *why)
{
    enum seen_code code;

    *n = 0;
    *redis = 0;
    code = read_environment(n, redis, why);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return code;
}

void systemd_notify(const char *format, ...)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    const size_t len = path ? strlen(path) : 0;
    char text[256];
    va_list args;
    int fd, n;

    if (!len || len >= sizeof to.sun_path || (*path != '/' && *path != '@'))
        return;
    memcpy(to.sun_path, path, len);
    if (*path == '@')
        to.sun_path[0] = '\0'; /* an abstract one */
    va_start(args, format);
    n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (n > 0)
        sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    close(fd);
}
