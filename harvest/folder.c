/* folder.c - paths, the lock, and room on the disk. */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char ending_of_records[] = ".json";

static enum seen_code make(const char *path, bool link, struct seen_error *why)
{
    struct stat it;

    if (!mkdir(path, 0777))
        return SEEN_OK;
    if (errno != EEXIST)
        return seen_fail(why, SEEN_IO, 0, "cannot be made");
    if (link ? stat(path, &it) : lstat(path, &it))
        return seen_fail(why, SEEN_IO, 0, "cannot be looked at");
    if (!S_ISDIR(it.st_mode))
        return seen_fail(why, SEEN_RANGE, 0,
                         link ? "is no folder"
                              : "its .harvest is no folder of its own");
    return SEEN_OK;
}

enum seen_code folder_open(struct folder *f, const char *path, bool only_look,
                           struct seen_error *why)
{
    char own[FOLDER_PATH];
    enum seen_code code = SEEN_OK;

    f->lock = -1;
    f->path = strdup(path);
    if (!f->path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    if (only_look)
        return SEEN_OK;
    code = make(path, true, why);
    if (code == SEEN_OK)
        code = folder_file(f, own, ".harvest", why);
    if (code == SEEN_OK)
        code = make(own, false, why);
    if (code == SEEN_OK)
        code = folder_own(f, own, "lock", "", why);
    if (code == SEEN_OK) {
        f->lock = open(own, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (f->lock < 0)
            code = seen_fail(why, SEEN_IO, 0, "cannot be locked");
        else if (flock(f->lock, LOCK_EX | LOCK_NB))
            code = errno == EWOULDBLOCK
                       ? seen_fail(why, SEEN_BUSY, 0,
                                   "another harvest is at work in it")
                       : seen_fail(why, SEEN_IO, 0, "cannot be locked");
    }
    if (code != SEEN_OK)
        folder_close(f);
    return code;
}

void folder_close(struct folder *f)
{
    int system = errno;

    if (f->lock >= 0)
        close(f->lock);
    free(f->path);
    f->path = NULL;
    f->lock = -1;
    errno = system;
}

enum seen_code folder_file(const struct folder *f, char out[FOLDER_PATH],
                           const char *name, struct seen_error *why)
{
    int n = snprintf(out, FOLDER_PATH, "%s/%s", f->path, name);

    return n > 0 && n < FOLDER_PATH
               ? SEEN_OK
               : seen_fail(why, SEEN_RANGE, 0, "a path is too long");
}

enum seen_code folder_own(const struct folder *f, char out[FOLDER_PATH],
                          const char *name, const char *ending,
                          struct seen_error *why)
{
    int n = snprintf(out, FOLDER_PATH, "%s/.harvest/%s%s", f->path, name,
                     ending);

    return n > 0 && n < FOLDER_PATH
               ? SEEN_OK
               : seen_fail(why, SEEN_RANGE, 0, "a path is too long");
}

void folder_drop(const struct folder *f, const char *name, const char *ending)
{
    char path[FOLDER_PATH];

    if (folder_own(f, path, name, ending, NULL) == SEEN_OK)
        unlink(path);
}

/* A disk that is full to its last byte stops others, and our own records. */
uint64_t folder_room(const struct folder *f)
{
    struct statvfs it;
    uint64_t free, reserve;

    if (statvfs(f->path, &it))
        return UINT64_MAX;
    free = (uint64_t)it.f_bavail * it.f_frsize;
    reserve = (uint64_t)it.f_blocks * it.f_frsize / 20;
    if (reserve > FOLDER_RESERVE)
        reserve = FOLDER_RESERVE;
    return free > reserve ? free - reserve : 0;
}

const char *folder_next(const struct folder *f, DIR **dir, char name[256])
{
    char own[FOLDER_PATH];
    struct dirent *e;

    if (!*dir && folder_own(f, own, "", "", NULL) == SEEN_OK)
        *dir = opendir(own);
    while (*dir && (e = readdir(*dir))) {
        size_t len = strlen(e->d_name), n = sizeof ending_of_records - 1;

        if (len <= n || strcmp(e->d_name + len - n, ending_of_records))
            continue;
        memcpy(name, e->d_name, len - n);
        name[len - n] = '\0';
        return name;
    }
    if (*dir)
        closedir(*dir);
    *dir = NULL;
    return NULL;
}
