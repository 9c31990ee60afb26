/* neighbour.c - become a program that is installed beside this one. */
#include "neighbour.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* From the folder of this program to that of those it starts. */
#ifndef SEEN_LIBEXEC
#define SEEN_LIBEXEC "../libexec/seen"
#endif

/* Where this program is. Without /proc, as in a bare chroot: as it was
   started. */
static bool here(char *path, size_t room)
{
    ssize_t len = readlink("/proc/self/exe", path, room - 1);
    const char *started = (const char *)getauxval(AT_EXECFN);

    if (len > 0)
        path[len] = '\0';
    return len > 0 || (started && realpath(started, path));
}

/* Become a file whose path is relative to the folder of this program, unless
   it is a link to this program, which would do so again. */
static void become(const char *file, char **argv)
{
    char path[PATH_MAX + 128], *slash;
    struct stat ours, other;

    if (!here(path, PATH_MAX) || stat(path, &ours))
        return;
    slash = strrchr(path, '/');
    if (!slash)
        return;
    snprintf(slash + 1, (size_t)(path + sizeof path - slash - 1), "%s", file);
    if (!stat(path, &other) && ours.st_dev == other.st_dev &&
        ours.st_ino == other.st_ino)
        errno = ELOOP;
    else
        execv(path, argv);
}

static void become_beside(const char *program, char **argv)
{
    char deeper[64];

    errno = ENOENT;
    become(program, argv);
    snprintf(deeper, sizeof deeper, SEEN_LIBEXEC "/%s", program);
    if (errno == ENOENT)
        become(deeper, argv);
}

static enum outcome fail(const char *program, const char *places,
                         const char *where)
{
    if (errno == ENOENT)
        return trouble("%s: not found %s; %s", program, places, where);
    return trouble("%s: %s", program, strerror(errno));
}

enum outcome neighbour_become(const char *program, char **argv,
                              const char *where)
{
    become_beside(program, argv);
    return fail(program, "beside seen", where);
}

enum outcome neighbour_run(const char *program, char **argv, const char *where)
{
    const struct sigaction normal = { .sa_handler = SIG_DFL };
    char name[32];

    snprintf(name, sizeof name, "%s", program);
    *--argv = name;
    sigaction(SIGPIPE, &normal, NULL);
    become_beside(program, argv);
    if (errno == ENOENT)
        execvp(program, argv);
    return fail(program, "beside seen nor in PATH", where);
}
