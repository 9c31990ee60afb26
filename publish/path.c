/* path.c - names, folders, copies. */
#define _GNU_SOURCE /* vasprintf, copy_file_range */
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *path_format(const char *format, ...)
{
    va_list args;
    char *text;
    int len;

    va_start(args, format);
    len = vasprintf(&text, format, args);
    va_end(args);
    return len < 0 ? NULL : text;
}

enum seen_code path_read(FILE **out, const char *path, struct seen_error *why)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat it;

    *out = NULL;
    if (fd < 0 && errno == ENOENT && lstat(path, &it))
        return SEEN_OK;
    if (fd < 0 && errno == ENOENT)
        return seen_fail(why, SEEN_RANGE, 0, "is a link that leads nowhere");
    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    if (fstat(fd, &it) || !S_ISREG(it.st_mode)) {
        close(fd);
        return seen_fail(why, SEEN_RANGE, 0, "is not a regular file");
    }
    *out = fdopen(fd, "r");
    if (*out)
        return SEEN_OK;
    close(fd);
    return seen_fail(why, SEEN_NOMEM, 0, "no memory to read a file");
}

enum seen_code path_blame(const char *name, enum seen_code code,
                          struct seen_error *why)
{
    const size_t len = strlen(name), room = sizeof why->text;

    if (code == SEEN_OK || !why || len + 3 > room)
        return code;
    memmove(why->text + len + 2, why->text, room - len - 2);
    memcpy(why->text, name, len);
    memcpy(why->text + len, ": ", 2);
    why->text[room - 1] = '\0';
    return code;
}

enum seen_code path_prepare(const char *path, struct seen_error *why)
{
    char *folder = strdup(path);
    enum seen_code code = SEEN_OK;

    if (!folder)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    for (char *at = folder + 1; code == SEEN_OK && (at = strchr(at, '/'));
         *at++ = '/') {
        *at = '\0';
        if (mkdir(folder, 0777) && errno != EEXIST)
            code = seen_fail(why, SEEN_IO, 0, "no folder can be made for it");
        if (code != SEEN_OK)
            break;
    }
    free(folder);
    return code;
}

char *path_url(const char *base, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~/";
    size_t len = strlen(base);
    char *url = malloc(len + 3 * strlen(path) + 1);

    if (!url)
        return NULL;
    memcpy(url, base, len);
    for (; *path; path++)
        if (strchr(plain, *path))
            url[len++] = *path;
        else
            len += (size_t)sprintf(url + len, "%%%02X", (unsigned char)*path);
    url[len] = '\0';
    return url;
}

/* The system may share the blocks of both files, where it can; otherwise
   they are moved through memory. */
static int copy_bytes(int from, int to)
{
    char bytes[1 << 16];
    ssize_t n;

    while ((n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0)) > 0)
        ;
    if (!n)
        return 0;
    if (errno != EXDEV && errno != EINVAL && errno != ENOSYS &&
        errno != EOPNOTSUPP && errno != EPERM && errno != EBADF)
        return -1;
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        for (ssize_t done = 0, some; done < n; done += some) {
            some = write(to, bytes + done, (size_t)(n - done));
            if (some < 0)
                return -1;
        }
    return n < 0 ? -1 : 0;
}

enum seen_code path_copy(const char *from, const char *to,
                         struct seen_error *why)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), system;
    int out = in < 0 ? -1
                     : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool good = out >= 0 && !copy_bytes(in, out);

    system = errno;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    if (out >= 0 && !good)
        unlink(to);
    errno = system;
    return good ? SEEN_OK
                : seen_fail(why, SEEN_IO, 0, "cannot be copied to %s", to);
}
