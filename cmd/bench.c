/*
 * bench.c - seen bench: run the program seen-bench, as git runs git-foo.
 *
 * It is a program of its own so that `seen` depends on none of the peers
 * that it measures. It is looked for beside this program, then in PATH.
 */
#define _POSIX_C_SOURCE 200809L         /* readlink, execvp */
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char program[] = "seen-bench";

/* The path of our neighbour; false if we do not know where we are. */
static bool beside(char *path, size_t room)
{
    ssize_t len = readlink("/proc/self/exe", path, room - sizeof program);
    char *slash;

    if (len <= 0)
        return false;
    path[len] = '\0';
    slash = strrchr(path, '/');
    if (!slash)
        return false;
    memcpy(slash + 1, program, sizeof program);
    return true;
}

static enum outcome run(char **argv)
{
    const struct sigaction normal = { .sa_handler = SIG_DFL };
    char path[PATH_MAX], name[sizeof program];

    /* argv[-1] is "bench", whose place its own name takes. */
    memcpy(name, program, sizeof program);
    *--argv = name;
    sigaction(SIGPIPE, &normal, NULL);
    if (beside(path, sizeof path))
        execv(path, argv);
    execvp(program, argv);
    if (errno == ENOENT)
        return trouble("%s: not found beside seen nor in PATH; it is built "
                       "where libbloom is installed",
                       program);
    return trouble("%s: %s", program, strerror(errno));
}

static const struct option options[] = { { .name = NULL } };

const struct command cmd_bench = {
    .name = "bench",
    .summary = "measure the speed on this machine",
    .synopsis = "[NAME...]",
    .most = -1,
    .options = options,
    .about = "Runs the program seen-bench with all that follows. It measures "
             "every kind of filter, beside peers and the limits of the "
             "machine.",
    .examples = "$ seen bench\n",
    .passes = true,
    .run = run,
};
