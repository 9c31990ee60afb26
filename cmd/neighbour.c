/* neighbour.c - become a program that is installed beside this one. */
#include "neighbour.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* From the folder of this program to that of those it starts. */
#ifndef SEEN_LIBEXEC
#define SEEN_LIBEXEC "../libexec/seen"
#endif

/* The path of a file in the folder of this program, or relative to it; false
   if we do not know where we are. */
static bool beside(const char *file, char *path, size_t room)
{
    size_t n = strlen(file) + 1;
    ssize_t len = readlink("/proc/self/exe", path, room - n);
    char *slash;

    if (len <= 0)
        return false;
    path[len] = '\0';
    slash = strrchr(path, '/');
    if (!slash)
        return false;
    memcpy(slash + 1, file, n);
    return true;
}

enum outcome neighbour_become(const char *program, char **argv,
                              const char *where)
{
    char path[PATH_MAX], deeper[64];

    if (beside(program, path, sizeof path))
        execv(path, argv);
    snprintf(deeper, sizeof deeper, SEEN_LIBEXEC "/%s", program);
    if (beside(deeper, path, sizeof path))
        execv(path, argv);
    execvp(program, argv);
    if (errno == ENOENT)
        return trouble("%s: not found beside seen nor in PATH; %s", program,
                       where);
    return trouble("%s: %s", program, strerror(errno));
}

enum outcome neighbour_run(const char *program, char **argv, const char *where)
{
    const struct sigaction normal = { .sa_handler = SIG_DFL };
    char name[32];

    snprintf(name, sizeof name, "%s", program);
    *--argv = name;
    sigaction(SIGPIPE, &normal, NULL);
    return neighbour_become(program, argv, where);
}
