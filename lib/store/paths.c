/*
 * paths.c - the names beside a file, its lock, and replacing it.
 *
 * The lock is a file of its own (lib/disk/lock.h): replacing a filter makes a
 * new file, and a lock on the old one would lock nothing. The holder of the
 * lock is the only writer of the next file, so the name of that is fixed. If
 * a writer is killed, the next one removes what it left.
 */
#include "paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "../disk/lock.h"
#include "../disk/walk.h"

enum { LINKS = 40 }; /* in a chain, as many as the system follows */

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
 * The path without links. If the file does not exist yet, the links of its
 * folder are resolved; a dangling link leads to where its target will be.
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
        whole = walk_path(real, name);
    target = whole ? read_link(whole) : NULL;
    if (target) {
        free(whole);
        whole = *target == '/' ? strdup(target) : walk_path(real, target);
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

enum seen_code store_paths_init(struct store_paths *p, const char *path,
                                struct seen_error *why)
{
    struct stat it;

    memset(p, 0, sizeof *p);
    p->path = resolve(path, LINKS);
    if (!p->path)
        return seen_fail(why, SEEN_IO, 0, "cannot be found");
    if (!stat(p->path, &it) && !S_ISREG(it.st_mode)) {
        store_paths_clear(p); /* a rename would replace /dev/null, too */
        return seen_fail(why, SEEN_RANGE, 0, "is not a regular file");
    }
    p->journal = beside(p->path, ".journal");
    p->keys = beside(p->path, ".keys");
    p->lock = beside(p->path, ".lock");
    p->next = beside(p->path, ".new");
    p->grow = beside(p->path, ".grow");
    p->folder = strndup(p->path,
                        (size_t)(strrchr(p->path, '/') - p->path) + 1);
    if (!p->journal || !p->keys || !p->lock || !p->next || !p->grow ||
        !p->folder) {
        store_paths_clear(p);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    }
    return SEEN_OK;
}

void store_paths_clear(struct store_paths *p)
{
    free(p->path);
    free(p->journal);
    free(p->keys);
    free(p->lock);
    free(p->next);
    free(p->grow);
    free(p->folder);
    memset(p, 0, sizeof *p);
}

/* Users who may read or write the filter may do so with the files beside it,
   whatever the umask of the user who made them. */
static void give_mode(int fd, const char *path, mode_t most)
{
    struct stat it;
    int system = errno;

    if (stat(path, &it))
        return; /* then the umask decides */
    if (fchown(fd, it.st_uid, it.st_gid)) {
        most &= 0777;
        if (fchown(fd, (uid_t)-1, it.st_gid))
            errno = system; /* not a member of that group, either */
    }
    fchmod(fd, it.st_mode & most); /* fails if another user owns it */
    errno = system;
}

enum seen_code store_lock(const struct store_paths *p, int *lock,
                          struct seen_error *why)
{
    enum seen_code code = lock_take(lock, p->lock,
                                    "another writer has it open", why);

    if (code == SEEN_OK) {
        give_mode(*lock, p->path, 0666); /* if we are killed, others need it */
        unlink(p->next); /* of a killed writer */
        unlink(p->grow);
    }
    return code;
}

enum seen_code store_beside(const struct store_paths *p, const char *name,
                            int *fd, struct seen_error *why)
{
    enum seen_code code = disk_begin(name, fd, why);

    if (code == SEEN_OK)
        give_mode(*fd, p->path, 07777);
    return code;
}

enum seen_code store_replace(const struct store_paths *p, const char *over,
                             store_write *write, void *whose, int *fd,
                             struct seen_error *why)
{
    bool swapped = false;
    int next, system;
    enum seen_code code = store_beside(p, p->next, &next, why);

    if (code == SEEN_OK)
        code = write(whose, next, why);
    if (code == SEEN_OK)
        code = disk_swap(next, p->next, over, &swapped, why);
    system = errno;
    if (next >= 0 && !swapped)
        unlink(p->next);
    if (next >= 0 && !(swapped && fd)) {
        close(next);
        next = -1;
    }
    if (fd)
        *fd = next;
    errno = system;
    return code;
}
