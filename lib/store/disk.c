/* disk.c - bytes to and from files. */
#define _POSIX_C_SOURCE 200809L         /* pread, fdatasync, O_DIRECTORY */
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int (*disk_fdatasync)(int fd) = fdatasync;
int (*disk_fsync)(int fd) = fsync;
ssize_t (*disk_pwrite)(int fd, const void *from, size_t len,
                       off_t at) = pwrite;

enum { PIECE = 1 << 30 };       /* the system moves less than 2 GiB a call */

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
