/* disk.c - bytes to and from files. */
#define _POSIX_C_SOURCE 200809L /* pread, fdatasync, O_DIRECTORY */
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int (*disk_fdatasync)(int fd) = fdatasync;
int (*disk_fsync)(int fd) = fsync;
ssize_t (*disk_pwrite)(int fd, const void *from, size_t len,
                       off_t at) = pwrite;
int (*disk_fallocate)(int fd, off_t at, off_t len) = posix_fallocate;

enum { PIECE = 1 << 30 }; /* the system moves less than 2 GiB a call */

enum seen_code disk_read(int fd, void *to, size_t len, uint64_t at,
                         struct seen_error *why)
{
    unsigned char *p = to;

    while (len) {
        ssize_t n = pread(fd, p, len < PIECE ? len : PIECE, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return seen_fail(why, SEEN_IO, at, "cannot be read");
        if (n == 0)
            return seen_fail(why, SEEN_CORRUPT, at,
                             "ends at byte %llu; the file was cut short",
                             (unsigned long long)at);
        p += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return SEEN_OK;
}

enum seen_code disk_write(int fd, const void *from, size_t len, uint64_t at,
                          struct seen_error *why)
{
    const unsigned char *p = from;

    while (len) {
        ssize_t n = disk_pwrite(fd, p, len < PIECE ? len : PIECE, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return seen_fail(why, SEEN_IO, at, "cannot be written");
        p += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return SEEN_OK;
}

enum seen_code disk_reserve(int fd, uint64_t at, uint64_t len,
                            struct seen_error *why)
{
    struct stat it;
    int failed = 0;

    if (!len || (!fstat(fd, &it) && it.st_blocks >= (it.st_size + 511) / 512))
        return SEEN_OK; /* it has no holes */
    do
        failed = disk_fallocate(fd, (off_t)at, (off_t)len);
    while (failed == EINTR);
    errno = failed;
    if (failed && failed != EOPNOTSUPP && failed != ENOSYS && failed != EINVAL)
        return seen_fail(why, SEEN_IO, at,
                         "has holes, and there is no room to fill them");
    return SEEN_OK;
}

enum seen_code disk_flush(int fd, struct seen_error *why)
{
    if (disk_fdatasync(fd))
        return seen_fail(why, SEEN_IO, 0, "cannot be flushed to the disk");
    return SEEN_OK;
}

enum seen_code disk_flush_folder(const char *folder, struct seen_error *why)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || disk_fsync(fd), system = errno;

    if (fd >= 0)
        close(fd);
    errno = system;
    if (failed)
        return seen_fail(why, SEEN_IO, 0,
                         "its folder cannot be flushed to the disk");
    return SEEN_OK;
}

enum seen_code disk_begin(const char *next, int *fd, struct seen_error *why)
{
    *fd = -1;
    if (unlink(next) && errno != ENOENT)
        return seen_fail(why, SEEN_IO, 0,
                         "what a killed writer left cannot be removed");
    *fd = open(next, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*fd < 0)
        return seen_fail(why, SEEN_IO, 0, "no file can be made beside it");
    return SEEN_OK;
}

static enum seen_code flush_names(const char *path, struct seen_error *why)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1)
                         : strdup(".");
    enum seen_code code;

    if (!folder)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    code = disk_flush_folder(folder, why);
    free(folder);
    return code;
}

enum seen_code disk_swap(int fd, const char *next, const char *path,
                         bool *swapped, struct seen_error *why)
{
    enum seen_code code = disk_flush(fd, why);

    if (swapped)
        *swapped = false;
    if (code == SEEN_OK && rename(next, path))
        code = seen_fail(why, SEEN_IO, 0, "cannot be replaced");
    if (code != SEEN_OK) {
        int system = errno;

        unlink(next);
        errno = system;
        return code;
    }
    if (swapped)
        *swapped = true;
    return flush_names(path, why);
}
