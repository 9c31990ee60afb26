/*
 * place.c - names beside a file, its lock, and how it is replaced.
 *
 * The lock is an flock() on a file of its own: the filter's file changes
 * when it is replaced, and a lock on the old one would lock nothing. Who is
 * done removes the lock file while holding it, so none is left lying about;
 * who then gets the lock on a file that has no name any more notices, since
 * the name leads to another file or to none, and tries again:
 *
 *     A has the lock     B opens the file, waits its turn
 *     A removes it       C makes a new one and locks that
 *     A lets go          B gets the lock on the old one: not the name's
 *
 * Since the lock is held, there is one writer of the next file too, so its
 * name is fixed, and what a killed writer left of it is removed by the next.
 */
#define _DEFAULT_SOURCE /* flock, realpath */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../disk/disk.h"

enum { LINKS = 40 }; /* one after another, as many as the system follows */

static char *join(const char *folder, const char *name)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    char *whole = malloc(room);

    if (whole)
        snprintf(whole, room, "%s/%s", folder, name);
    return whole;
}

static char *read_link(const char *path)
{
    struct stat it;
    size_t room = 4096; /* PATH_MAX, where there is one */
    char *target;
    ssize_t len;

    if (lstat(path, &it) || !S_ISLNK(it.st_mode))
        return NULL;
    target = malloc(room);
    len = target ? readlink(path, target, room) : -1;
    if (len < 0 || (size_t)len == room) {
        free(target);
        return NULL;
    }
    target[len] = '\0';
    return target;
}

/*
 * The path without links; of what does not exist yet, that of its folder.
 * A link to what does not exist leads to where that will be.
 */
static char *resolve(const char *path, int links)
{
    char *real = realpath(path, NULL), *folder, *whole = NULL, *target;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    if (real || errno != ENOENT || !*name)
        return real;
    folder = slash ? strndup(path, (size_t)(name - path)) : strdup(".");
    real = folder ? realpath(folder, NULL) : NULL;
    free(folder);
    if (real)
        whole = join(real, name);
    target = whole ? read_link(whole) : NULL;
    if (target) {
        free(whole);
        whole = *target == '/' ? strdup(target) : join(real, target);
        free(target);
        target = whole;
        whole = target && links ? resolve(target, links - 1) : NULL;
        free(target);
    }
    free(real);
    return whole;
}

static char *beside(const char *path, const char *suffix)
{
    size_t room = strlen(path) + strlen(suffix) + 1;
    char *name = malloc(room);

    if (name)
        snprintf(name, room, "%s%s", path, suffix);
    return name;
}

enum seen_code place_init(struct place *p, const char *path,
                          struct seen_error *why)
{
    struct stat it;

    memset(p, 0, sizeof *p);
    p->path = resolve(path, LINKS);
    if (!p->path)
        return seen_fail(why, SEEN_IO, 0, "cannot be found");
    if (!stat(p->path, &it) && !S_ISREG(it.st_mode)) {
        place_clear(p); /* a rename would replace /dev/null, too */
        return seen_fail(why, SEEN_RANGE, 0, "is not a regular file");
    }
    p->journal = beside(p->path, ".journal");
    p->lock = beside(p->path, ".lock");
    p->next = beside(p->path, ".new");
    p->folder = strndup(p->path,
                        (size_t)(strrchr(p->path, '/') - p->path) + 1);
    if (!p->journal || !p->lock || !p->next || !p->folder) {
        place_clear(p);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    }
    return SEEN_OK;
}

void place_clear(struct place *p)
{
    free(p->path);
    free(p->journal);
    free(p->lock);
    free(p->next);
    free(p->folder);
    memset(p, 0, sizeof *p);
}

/* Does the name still lead to the open file? */
static bool same_file(int fd, const char *path)
{
    struct stat open, named;

    return !fstat(fd, &open) && !stat(path, &named) &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/* Who may read or write the filter may do so with what lies beside it,
   whatever the umask of the one who made that. */
static void give_mode(int fd, const char *path, mode_t most)
{
    struct stat it;
    int system = errno;

    if (stat(path, &it))
        return; /* then it is as umask says */
    if (fchown(fd, it.st_uid, it.st_gid)) {
        most &= 0777;
        if (fchown(fd, (uid_t)-1, it.st_gid))
            errno = system; /* not of that group, either */
    }
    fchmod(fd, it.st_mode & most); /* fails where it is another's */
    errno = system;
}

/* A FIFO of that name would have us wait for someone to write to it. */
static bool regular(int fd)
{
    struct stat it;

    return !fstat(fd, &it) && S_ISREG(it.st_mode);
}

int place_open(const char *path, int flags, mode_t mode)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode);

    if (fd >= 0 && !regular(fd)) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* One try: *lock is -1 if it turned out to be no lock any more. */
static enum seen_code lock_once(const struct place *p, int *lock,
                                struct seen_error *why)
{
    int fd = place_open(p->lock, O_RDONLY | O_CREAT, 0666), system;

    *lock = -1; /* to read: it may be another user's */
    if (fd < 0 && errno == EINVAL)
        return seen_fail(why, SEEN_RANGE, 0, "its lock is not a regular file");
    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "its lock cannot be opened");
    while (flock(fd, LOCK_EX | LOCK_NB)) {
        if (errno == EINTR)
            continue;
        system = errno;
        close(fd);
        errno = system;
        if (system == EWOULDBLOCK)
            return seen_fail(why, SEEN_BUSY, 0, "another writer has it open");
        return seen_fail(why, SEEN_IO, 0, "cannot be locked");
    }
    if (same_file(fd, p->lock))
        *lock = fd;
    else
        close(fd);
    return SEEN_OK;
}

enum seen_code place_lock(const struct place *p, int *lock,
                          struct seen_error *why)
{
    enum seen_code code;

    do
        code = lock_once(p, lock, why);
    while (code == SEEN_OK && *lock < 0);
    if (code == SEEN_OK) {
        give_mode(*lock, p->path, 0666); /* should we be killed */
        unlink(p->next); /* a killed writer's, if it is there */
    }
    return code;
}

void place_unlock(const struct place *p, int lock)
{
    int system = errno;

    unlink(p->lock);
    close(lock);
    errno = system;
}

enum seen_code place_begin(const struct place *p, int *fd,
                           struct seen_error *why)
{
    enum seen_code code = disk_begin(p->next, fd, why);

    if (code == SEEN_OK)
        give_mode(*fd, p->path, 07777);
    return code;
}

enum seen_code place_swap(const struct place *p, int fd, const char *over,
                          bool *swapped, struct seen_error *why)
{
    return disk_swap(fd, p->next, over, swapped, why);
}
