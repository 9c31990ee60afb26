/*
 * serve_keep.c - no process and no file is left behind.
 *
 *     keeper ── bench ──┬── seen serve
 *                       ├── nginx ── its workers
 *                       └── wrk
 *
 * Everyone asks the kernel for SIGTERM when the one above dies, so there is
 * nothing to do on a signal but to die. Who loses the one above becomes a
 * child of the keeper (PR_SET_CHILD_SUBREAPER), which waits for all of them,
 * with less patience as time goes by, and then removes the folder.
 */
#define _GNU_SOURCE
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000, NAP_MS = 10 };

static volatile sig_atomic_t told; /* a signal that wants us to end */

static void on_signal(int number)
{
    told = number;
}

static void end_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it died before we asked */
        _exit(2);
}

static void nap(void)
{
    const struct timespec ms = { 0, NAP_MS * 1000000L };

    nanosleep(&ms, NULL);
}

/* Children that are left, or came to us; each is told to end, by its id. */
static void end_children(int signal_number)
{
    char path[64], text[4096];
    ssize_t len;
    int file;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    len = read(file, text, sizeof text - 1);
    close(file);
    text[len > 0 ? len : 0] = '\0';
    for (char *at = text, *end;; at = end) {
        long pid = strtol(at, &end, 10);

        if (end == at || pid <= 1)
            break;
        kill((pid_t)pid, signal_number);
    }
}

static void wait_for_all(void)
{
    for (int waited = 0;; waited += NAP_MS) {
        pid_t gone = waitpid(-1, NULL, WNOHANG);

        if (gone < 0 && errno == ECHILD)
            return;
        if (gone > 0)
            continue;
        if (waited == PATIENCE_MS)
            end_children(SIGTERM);
        if (waited >= 2 * PATIENCE_MS)
            end_children(SIGKILL);
        nap();
    }
}

static int drop(const char *path, const struct stat *about, int type,
                struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

int keep(int (*work)(struct settings *s), struct settings *s)
{
    static const int wanted[] = { SIGINT, SIGTERM, SIGHUP };
    const struct sigaction act = { .sa_handler = on_signal };
    const struct sigaction normal = { .sa_handler = SIG_DFL };
    const char *temp = getenv("TMPDIR");
    pid_t us = getpid(), child;
    int status = 0;

    snprintf(s->folder, sizeof s->folder, "%s/seen-bench-XXXXXX",
             temp && *temp ? temp : "/tmp");
    if (!mkdtemp(s->folder)) {
        perror("seen: bench");
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int i = 0; i < 3; i++)
        sigaction(wanted[i], &act, NULL);
    fflush(stdout);
    child = fork();
    if (!child) {
        for (int i = 0; i < 3; i++)
            sigaction(wanted[i], &normal, NULL);
        end_with_parent(us);
        status = work(s);
        fflush(stdout);
        _exit(status);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        kill(child, SIGTERM);
    wait_for_all();
    nftw(s->folder, drop, 16, FTW_DEPTH | FTW_PHYS);
    for (int i = 0; i < 3; i++)
        sigaction(wanted[i], &normal, NULL);
    if (told)
        raise(told);
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

pid_t keep_start(const struct settings *s, const char *const *argv,
                 const char *out, const char *err)
{
    union {
        const char *const *given;
        char *const *wanted;
    } both = { argv };
    const char *name[] = { out, err };
    pid_t us = getpid(), child = fork();

    if (child)
        return child > 0 ? child : 0;
    end_with_parent(us);
    for (int i = 0; i < 2; i++) {
        char path[PATH_ROOM];
        int file;

        snprintf(path, sizeof path, "%s/%s", s->folder, name[i]);
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (file < 0 || dup2(file, i + 1) < 0)
            _exit(127);
    }
    execv(argv[0], both.wanted);
    _exit(127);
}

const char *keep_tool(const char *name)
{
    static const char *const package[][2] = {
        { "nginx", "nginx-light" },
        { "redis-benchmark", "redis-tools" },
    };
    static char path[PATH_ROOM];
    const char *list = getenv("PATH"), *const more = "/usr/sbin:/sbin";
    const char *from = name;

    for (int i = 0; i < 2; i++, list = more)
        for (const char *at = list; at && *at;) {
            int len = (int)strcspn(at, ":");

            snprintf(path, sizeof path, "%.*s/%s", len, at, name);
            if (len && !access(path, X_OK))
                return path;
            at += len + (at[len] == ':');
        }
    for (int i = 0; i < 2; i++)
        if (!strcmp(name, package[i][0]))
            from = package[i][1];
    fprintf(stderr, "seen: bench: %s: not found; it is in Debian's %s\n", name,
            from);
    return NULL;
}
