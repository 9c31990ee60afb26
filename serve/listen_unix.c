/*
 * listen_unix.c - Unix sockets.
 *
 * A server that was killed leaves the file of its socket behind, and bind()
 * refuses to replace it. Connecting tells whether a server is alive: nobody
 * listens if that is refused. Two servers that start at the same time would
 * both find the old file dead, and the second would remove the socket of the
 * first. So all of this happens under a lock of the folder, up to listen().
 */
#include "listen_unix.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* The lock goes with its descriptor. Without one, for lack of permission to
   read the folder, there is only the race. */
static int lock_folder(const char *path)
{
    char *copy = strdup(path);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                  : -1;

    free(copy);
    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

static void unlock(int fd)
{
    const int system = errno;

    if (fd >= 0)
        close(fd);
    errno = system;
}

/* Is the file at the path a socket on which nobody listens? */
static enum seen_code check_dead(const struct sockaddr_un *to,
                                 struct seen_error *why)
{
    struct stat it;
    int fd, failed;

    if (lstat(to->sun_path, &it))
        return errno == ENOENT ? SEEN_OK
                               : seen_fail(why, SEEN_IO, 0,
                                           "cannot look at %s", to->sun_path);
    if (!S_ISSOCK(it.st_mode))
        return seen_fail(why, SEEN_EXISTS, 0,
                         "%s is there and is not a socket", to->sun_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot make a socket");
    failed = connect(fd, (const struct sockaddr *)to, sizeof *to) ? errno : 0;
    close(fd);
    if (failed != ECONNREFUSED && failed != ENOENT)
        return seen_fail(why, SEEN_BUSY, 0, "another server listens on %s",
                         to->sun_path);
    return SEEN_OK;
}

static enum seen_code bind_file(int fd, const struct sockaddr_un *to,
                                struct seen_error *why)
{
    const struct sockaddr *address = (const struct sockaddr *)to;
    enum seen_code code;

    if (!bind(fd, address, sizeof *to))
        return SEEN_OK;
    if (errno == EADDRINUSE) {
        code = check_dead(to, why);
        if (code != SEEN_OK)
            return code;
        unlink(to->sun_path);
        if (!bind(fd, address, sizeof *to))
            return SEEN_OK;
    }
    return seen_fail(why, SEEN_IO, 0, "cannot listen on unix:%s",
                     to->sun_path);
}

enum seen_code listen_unix_open(int *fd, const char *path, mode_t mode,
                                dev_t *dev, ino_t *ino, struct seen_error *why)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    enum seen_code code;
    struct stat it;
    int lock;

    if (!*path || strlen(path) >= sizeof to.sun_path)
        return seen_fail(why, SEEN_RANGE, 0,
                         "unix:%s: the path of a Unix socket has 1 to %zu "
                         "bytes",
                         path, sizeof to.sun_path - 1);
    strcpy(to.sun_path, path);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot make a socket");
    /* The file gets this mode without the bits of the umask, and all of it
       below: it never has more. */
    fchmod(*fd, mode);
    lock = lock_folder(path);
    code = bind_file(*fd, &to, why);
    if (code == SEEN_OK &&
        (listen(*fd, SOMAXCONN) || lstat(path, &it) || chmod(path, mode))) {
        code = seen_fail(why, SEEN_IO, 0, "cannot listen on unix:%s", path);
        unlink(path);
    }
    unlock(lock);
    if (code != SEEN_OK) {
        close(*fd);
        *fd = -1;
        return code;
    }
    *dev = it.st_dev;
    *ino = it.st_ino;
    return SEEN_OK;
}

void listen_unix_remove(const char *path, dev_t dev, ino_t ino)
{
    int lock = lock_folder(path);
    struct stat it;

    if (!lstat(path, &it) && it.st_dev == dev && it.st_ino == ino)
        unlink(path);
    unlock(lock);
}
