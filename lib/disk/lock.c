/*
 * lock.c - locks that are files.
 *
 * The lock is of the open file, and the name only leads to it. Since a holder
 * may remove the file, the name can lead to another one by the time that a
 * lock is had: so the name is looked up again under the lock (disk_same()), and
 * a lock without its name counts for nothing.
 */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "disk.h"

/* lock_held() has a lock for a few microseconds. A process that has it
   longer than these tries of 2 ms has taken it. */
enum { TRIES = 5 };

/*
 * One try. A holder removes the file before it lets go, so whoever opened it
 * in between holds the lock of a file that no longer has a name: *fd is then
 * -1 and the next try makes a new one.
 */
static enum seen_code try_lock(int *fd, const char *path, const char *busy,
                               struct seen_error *why)
{
    /* Open for reading only: the file may belong to another user. */
    int lock = disk_open(path, O_RDONLY | O_CREAT | O_NOFOLLOW, 0666), system;

    *fd = -1;
    if (lock < 0 && errno == EINVAL)
        return seen_fail(why, SEEN_RANGE, 0, "its lock is not a regular file");
    if (lock < 0)
        return seen_fail(why, SEEN_IO, 0, "its lock cannot be opened");
    while (flock(lock, LOCK_EX | LOCK_NB)) {
        if (errno == EINTR)
            continue;
        system = errno;
        close(lock);
        errno = system;
        if (system == EWOULDBLOCK)
            return seen_fail(why, SEEN_BUSY, 0, "%s", busy);
        return seen_fail(why, SEEN_IO, 0, "cannot be locked");
    }
    if (disk_same(lock, path))
        *fd = lock;
    else
        close(lock);
    return SEEN_OK;
}

bool lock_held(const char *path)
{
    int lock = disk_open(path, O_RDONLY | O_NOFOLLOW, 0), result;

    if (lock < 0)
        return false;
    do
        result = flock(lock, LOCK_SH | LOCK_NB);
    while (result && errno == EINTR);
    result = result && errno == EWOULDBLOCK;
    close(lock);
    return result;
}

enum seen_code lock_take(int *fd, const char *path, const char *busy,
                         struct seen_error *why)
{
    const struct timespec instant = { .tv_nsec = 2000000 };
    enum seen_code code;
    int tries = 0;

    for (;;) {
        code = try_lock(fd, path, busy, why);
        if (code == SEEN_BUSY && tries++ < TRIES)
            nanosleep(&instant, NULL);
        else if (code != SEEN_OK || *fd >= 0)
            return code;
    }
}

void lock_release(int fd, const char *path)
{
    int system = errno;

    if (fd < 0)
        return;
    if (path)
        unlink(path);
    close(fd);
    errno = system;
}
