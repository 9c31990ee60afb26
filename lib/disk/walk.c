/*
 * walk.c - lists of names, sorted, and the removal of trees.
 *
 * Names are sorted by their bytes, so that what is made from a folder is the
 * same on every disk and in every locale.
 */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../text/array.h"

enum seen_code walk_add(struct walk_names *names, const char *name,
                        struct seen_error *why)
{
    char **more = array_grow(names->name, &names->room, names->n + 1,
                             sizeof *more);
    char *copy = strdup(name);

    if (more)
        names->name = more;
    if (!more || !copy) {
        free(copy);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for names");
    }
    names->name[names->n++] = copy;
    return SEEN_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void walk_sort(struct walk_names *names)
{
    if (names->n)
        qsort(names->name, names->n, sizeof *names->name, by_bytes);
}

void walk_clear(struct walk_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->name[i]);
    free(names->name);
    memset(names, 0, sizeof *names);
}

/*
 * As opendir() does, in two steps: ThreadSanitizer knows descriptors that come
 * from open(). libuv closes its own by a system call that is not seen, and one
 * that opendir() got again would look as if it was shared with another thread.
 */
static DIR *open_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int system = errno;

    if (fd >= 0 && !dir)
        close(fd);
    errno = system;
    return dir;
}

enum seen_code walk_folder(struct walk_names *names, const char *folder,
                           bool hidden, struct seen_error *why)
{
    DIR *dir = open_folder(folder);
    enum seen_code code = SEEN_OK;
    struct dirent *entry;

    memset(names, 0, sizeof *names);
    if (!dir)
        return seen_fail(why, SEEN_IO, 0, "cannot be read");
    errno = 0;
    while (code == SEEN_OK && (entry = readdir(dir))) {
        const char *name = entry->d_name;

        if (hidden ? strcmp(name, ".") && strcmp(name, "..") : *name != '.')
            code = walk_add(names, name, why);
        errno = 0;
    }
    if (code == SEEN_OK && errno)
        code = seen_fail(why, SEEN_IO, 0, "cannot be read");
    closedir(dir);
    if (code == SEEN_OK)
        walk_sort(names);
    else
        walk_clear(names);
    return code;
}

char *walk_path(const char *folder, const char *name)
{
    size_t len = strlen(folder), room = len + strlen(name) + 2;
    char *path = malloc(room);

    if (path)
        snprintf(path, room, "%s%s%s", folder,
                 len && folder[len - 1] != '/' ? "/" : "", name);
    return path;
}

static int remove_one(const char *path, const struct stat *it, int type,
                      struct FTW *where)
{
    (void)it;
    (void)type;
    (void)where;
    remove(path);
    return 0;
}

bool walk_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return access(folder, F_OK) != 0;
}
