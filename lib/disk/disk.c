/*
 * disk.c - bytes to and from files.
 *
 * From the bottom up: reading and writing at a place, holes, flushing, then
 * replacing a file in one step, which uses all of these, and at last whole
 * files, opening, folders and copies.
 *
 * What can fail either does all that was asked or says what failed: a read or
 * write that was interrupted or fell short goes on, and a clean-up after a
 * failure keeps its errno, because the message is about the failure and not
 * about the unlink() that follows it. pwrite(), fdatasync() and their like are
 * called through variables, so that a test can let them fail.
 */
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../text/memory.h"

int (*disk_fdatasync)(int fd) = fdatasync;
int (*disk_sync_range)(int fd, off_t at, off_t len,
                       unsigned how) = sync_file_range;
int (*disk_fsync)(int fd) = fsync;
int (*disk_fstat)(int fd, struct stat *it) = fstat;
ssize_t (*disk_pwrite)(int fd, const void *from, size_t len,
                       off_t at) = pwrite;

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

/* Return whether that is a change. */
static bool set_direct(int fd, bool direct)
{
    int system = errno, flags = fcntl(fd, F_GETFL);
    bool changed = flags >= 0 && !(flags & O_DIRECT) == direct &&
                   !fcntl(fd, F_SETFL, flags ^ O_DIRECT);

    errno = system;
    return changed;
}

void disk_direct(int fd, bool direct)
{
    set_direct(fd, direct);
}

enum seen_code disk_write(int fd, const void *from, size_t len, uint64_t at,
                          struct seen_error *why)
{
    const unsigned char *p = from;

    while (len) {
        ssize_t n = disk_pwrite(fd, p, len < PIECE ? len : PIECE, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EINVAL && set_direct(fd, false))
            continue; /* not like this: through the cache */
        if (n <= 0)
            return seen_fail(why, SEEN_IO, at, "cannot be written");
        p += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return SEEN_OK;
}

enum seen_code disk_named(enum seen_code code, const char *name,
                          struct seen_error *why)
{
    enum { MOST = 80 }; /* the words need room, too */
    char words[sizeof why->text];
    size_t len = strlen(name);
    bool cut = len > MOST;

    if (code == SEEN_OK || !why)
        return code;
    memcpy(words, why->text, sizeof words);
    len = (size_t)snprintf(why->text, sizeof why->text,
                           "%s%.80s: ", cut ? "..." : "",
                           cut ? name + len - MOST : name);
    snprintf(why->text + len, sizeof why->text - len, "%.*s",
             (int)(sizeof why->text - len - 1), words);
    return code;
}

static enum seen_code fill(int fd, uint64_t at, uint64_t end,
                           struct seen_error *why)
{
    static const unsigned char zeros[1 << 16];
    enum seen_code code = SEEN_OK;

    for (uint64_t some; at < end && code == SEEN_OK; at += some) {
        some = end - at < sizeof zeros ? end - at : sizeof zeros;
        code = disk_write(fd, zeros, (size_t)some, at, NULL);
    }
    return code == SEEN_OK
               ? code
               : seen_fail(why, code, at, "has holes that cannot be filled");
}

/*
 * Why not compare st_blocks with the length, and call posix_fallocate()? The
 * number includes blocks of the file system's own, such as those of a tree of
 * extents: a file with one hole and one of them seems to have none. And a
 * page is larger than a block of some file systems, so the pages of a mapping
 * reach beyond its first and last byte.
 */
enum seen_code disk_fill_holes(int fd, uint64_t at, uint64_t len,
                               struct seen_error *why)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t end = (at + len + page - 1) / page * page;
    enum seen_code code = SEEN_OK;
    int system = errno;
    struct stat it;

    if (!len || fstat(fd, &it))
        return SEEN_OK;
    if (end > (uint64_t)it.st_size)
        end = (uint64_t)it.st_size;
    at = at / page * page;
    while (at < end && code == SEEN_OK) {
        off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);
        off_t next = hole < 0 ? -1 : lseek(fd, hole, SEEK_DATA);

        if (hole < 0 || (uint64_t)hole >= end)
            break;
        at = next < 0 || (uint64_t)next > end ? end : (uint64_t)next;
        code = fill(fd, (uint64_t)hole, at, why);
    }
    if (code == SEEN_OK)
        errno = system;
    return code;
}

enum seen_code disk_reserve(int fd, uint64_t len, struct seen_error *why)
{
    if (ftruncate(fd, (off_t)len))
        return seen_fail(why, SEEN_IO, 0, "cannot be made longer");
    if (!len || !fallocate(fd, 0, 0, (off_t)len))
        return SEEN_OK;
    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
        return seen_fail(why, SEEN_IO, 0, "there is no room for it");
    return disk_fill_holes(fd, 0, len, why);
}

enum seen_code disk_flush(int fd, struct seen_error *why)
{
    if (disk_fdatasync(fd))
        return seen_fail(why, SEEN_IO, 0, "cannot be flushed to the disk");
    return SEEN_OK;
}

void disk_flush_begin(int fd)
{
    int system = errno;

    /* A hint: what goes wrong is found by disk_flush(). */
    sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    errno = system;
}

enum seen_code disk_flush_part(int fd, uint64_t at, uint64_t len,
                               struct seen_error *why)
{
    const unsigned int how = SYNC_FILE_RANGE_WAIT_BEFORE |
                             SYNC_FILE_RANGE_WRITE |
                             SYNC_FILE_RANGE_WAIT_AFTER;

    if (disk_sync_range(fd, (off_t)at, (off_t)len, how) && errno != ENOSYS &&
        errno != EINVAL && errno != ESPIPE)
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

enum seen_code disk_flush_name(const char *path, struct seen_error *why)
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
    return disk_flush_name(path, why);
}

enum seen_code disk_replace(const char *path, const void *bytes, size_t len,
                            struct seen_error *why)
{
    size_t room = strlen(path) + sizeof ".new";
    char *next = malloc(room);
    enum seen_code code;
    int fd = -1;

    if (!next)
        return no_memory_for(why, "a file");
    snprintf(next, room, "%s.new", path);
    code = disk_begin(next, &fd, why);
    if (code == SEEN_OK) {
        code = disk_write(fd, bytes, len, 0, why);
        if (code == SEEN_OK) {
            code = disk_swap(fd, next, path, NULL, why);
        } else {
            int system = errno;

            unlink(next);
            errno = system;
        }
    }
    if (fd >= 0)
        close(fd);
    free(next);
    return code;
}

enum seen_code disk_update(const char *path, const void *bytes, size_t len,
                           bool *changed, struct seen_error *why)
{
    char *old = NULL;
    size_t old_len = 0;
    bool same = disk_load(&old, &old_len, path, len, NULL) == SEEN_OK &&
                old_len == len && (!len || !memcmp(old, bytes, len));

    free(old);
    if (changed)
        *changed = !same;
    return same ? SEEN_OK : disk_replace(path, bytes, len, why);
}

int disk_open(const char *path, int flags, mode_t mode)
{
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, mode), system;
    struct stat it;

    if (fd < 0)
        return -1;
    system = disk_fstat(fd, &it) ? errno : S_ISREG(it.st_mode) ? 0 : EINVAL;
    if (!system)
        return fd;
    close(fd);
    errno = system;
    return -1;
}

enum seen_code disk_load(char **bytes, size_t *len, const char *path,
                         size_t most, struct seen_error *why)
{
    int fd = disk_open(path, O_RDONLY, 0);
    enum seen_code code = SEEN_OK;
    struct stat it;

    *bytes = NULL;
    *len = 0;
    if (fd < 0 && errno == EINVAL)
        return seen_fail(why, SEEN_RANGE, 0, "is not a regular file");
    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    if (fstat(fd, &it))
        code = seen_fail(why, SEEN_IO, 0, "cannot be read");
    else if ((uint64_t)it.st_size > most)
        code = seen_fail(why, SEEN_RANGE, 0, "has more than %zu bytes", most);
    else if (!(*bytes = malloc((size_t)it.st_size + 1)))
        code = no_memory_for(why, "a file");
    else
        code = disk_read(fd, *bytes, (size_t)it.st_size, 0, why);
    if (code == SEEN_OK) {
        *len = (size_t)it.st_size;
        (*bytes)[*len] = '\0';
    } else {
        free(*bytes);
        *bytes = NULL;
    }
    close(fd);
    return code;
}

enum seen_code disk_password(char **password, const char *path,
                             struct seen_error *why)
{
    enum { MOST = 4096 };
    char *bytes = NULL;
    size_t len = 0, line;
    bool whole;
    enum seen_code code = disk_load(&bytes, &len, path, MOST, why);

    *password = NULL;
    if (code != SEEN_OK)
        return code;
    line = strcspn(bytes, "\n");
    whole = line == len || bytes[line];
    if (line && bytes[line - 1] == '\r')
        line--;
    if (!line || !whole)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "the first line of the password file is empty");
    else if (!(*password = strndup(bytes, line)))
        code = no_memory_for(why, "a file");
    explicit_bzero(bytes, len);
    free(bytes);
    return code;
}

int disk_temporary(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    char *name;

    if (fd >= 0 || asprintf(&name, "%s/.temporary-XXXXXX", folder) < 0)
        return fd;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    free(name);
    return fd;
}

bool disk_same(int fd, const char *path)
{
    struct stat open, named;

    return !fstat(fd, &open) && !stat(path, &named) &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

bool disk_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

enum seen_code disk_make_folders(const char *path, struct seen_error *why)
{
    char *folder = strdup(path);
    enum seen_code code = SEEN_OK;

    if (!folder)
        return no_memory_for(why, "a file");
    for (char *at = folder; code == SEEN_OK && (at = strchr(at + 1, '/'));) {
        *at = '\0';
        if (!mkdir(folder, 0777))
            code = disk_flush_name(folder, why);
        else if (errno != EEXIST)
            code = seen_fail(why, SEEN_IO, 0, "no folder can be made for it");
        *at = '/';
    }
    free(folder);
    return code;
}

/* The system may share the blocks of both files, where it can; otherwise
   they are moved through memory. */
static int copy_bytes(int from, int to)
{
    char bytes[1 << 16];
    ssize_t n;

    while ((n = copy_file_range(from, NULL, to, NULL, PIECE, 0)) > 0)
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

enum seen_code disk_copy(const char *from, const char *to,
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
