/*
 * process.c - processes and files of a benchmark: none is left behind.
 *
 *     guard ── benchmark ──┬── seen serve
 *                          ├── nginx ── its workers
 *                          └── redis-benchmark
 *
 * The benchmark and all that it starts are one process group, which the guard
 * ends. Each asks the kernel for SIGTERM when its parent dies, so that they
 * end without a guard, too. Orphans become children of the guard
 * (PR_SET_CHILD_SUBREAPER), which waits for all of them, with SIGKILL after
 * five seconds, and then removes the folder.
 */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "../lib/disk/walk.h"

enum { STOP_MS = 5000, NAP_MS = 2 };

static char folder[PATH_ROOM / 2];

void process_sleep(unsigned ms)
{
    const struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

    nanosleep(&t, NULL);
}

/* --- the guard --- */

/* Signals that end us, and that of a child that has ended. They stay blocked
   and are waited for: one that comes early is not lost. */
static void block_signals(sigset_t *wanted, sigset_t *before)
{
    sigemptyset(wanted);
    sigaddset(wanted, SIGINT);
    sigaddset(wanted, SIGTERM);
    sigaddset(wanted, SIGHUP);
    sigaddset(wanted, SIGCHLD);
    sigprocmask(SIG_BLOCK, wanted, before);
}

/* Wait for a child, and end it if we are to end. Its status; *signalled is the
   signal, or 0. */
static int wait_for_child(pid_t child, const sigset_t *wanted, int *signalled)
{
    int status = 0, number;

    *signalled = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        number = sigwaitinfo(wanted, NULL);
        if (number > 0 && number != SIGCHLD) {
            *signalled = number;
            kill(child, SIGTERM);
        }
    }
    return status;
}

static void end_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it died before we asked */
        _exit(2);
}

/* End what is left of the group of a process, and wait for all of it. */
static void end_group(pid_t group)
{
    kill(-group, SIGTERM);
    for (int waited = 0;; waited += NAP_MS) {
        pid_t gone = waitpid(-1, NULL, WNOHANG);

        if (gone < 0 && errno == ECHILD)
            return;
        if (gone > 0)
            continue;
        if (waited == STOP_MS)
            kill(-group, SIGKILL);
        process_sleep(NAP_MS);
    }
}

static bool make_folder(const char *temp)
{
    const char *given = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/seen-bench-XXXXXX",
             given && *given ? given : temp);
    if (mkdtemp(folder))
        return true;
    fprintf(stderr, "seen: bench: %s: %s\n", folder, strerror(errno));
    return false;
}

int process_guard(int (*run)(void *with), void *with, const char *temp)
{
    pid_t us = getpid(), child;
    int status = 0, signalled = 0;
    sigset_t wanted, before;

    block_signals(&wanted, &before);
    if (!make_folder(temp)) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(stdout);
    child = fork();
    if (!child) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        setpgid(0, 0);
        end_with_parent(us);
        status = run(with);
        fflush(stdout);
        _exit(status);
    }
    if (child > 0) {
        status = wait_for_child(child, &wanted, &signalled);
        end_group(child);
    }
    walk_remove(folder);
    if (signalled) {
        signal(signalled, SIG_DFL);
        raise(signalled);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

/* --- files --- */

const char *process_folder(void)
{
    return folder;
}

void process_path(char path[PATH_ROOM], const char *name)
{
    snprintf(path, PATH_ROOM, "%s/%s", folder, name);
}

bool process_room(uint64_t bytes)
{
    struct statvfs disk;

    if (statvfs(folder, &disk) || disk.f_bavail * disk.f_frsize > bytes)
        return true;
    fprintf(stderr, "seen: bench: %s has no room for %llu MB; set TMPDIR\n",
            folder, (unsigned long long)bytes / 1000000);
    return false;
}

void process_show(const char *err)
{
    char path[PATH_ROOM], line[256];
    FILE *file;

    process_path(path, err);
    file = fopen(path, "re");
    for (int i = 0; file && i < 5 && fgets(line, sizeof line, file); i++)
        fprintf(stderr, "  %s", line);
    if (file)
        fclose(file);
}

/* --- programs --- */

const char *process_find(const char *name)
{
    static const char *const package[][2] = {
        { "nginx", "nginx-light" },
        { "redis-benchmark", "redis-tools" },
        { "scrapy", "python3-scrapy" },
        { "perf", "linux-perf" },
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
    for (size_t i = 0; i < sizeof package / sizeof *package; i++)
        if (!strcmp(name, package[i][0]))
            from = package[i][1];
    fprintf(stderr, "seen: bench: %s: not found; it is in Debian's %s\n", name,
            from);
    return NULL;
}

bool process_seen(char path[PATH_ROOM])
{
    const char *given = getenv("SEEN");
    ssize_t len;
    char *slash;

    if (given && *given) {
        snprintf(path, PATH_ROOM, "%s", given);
    } else {
        len = readlink("/proc/self/exe", path, PATH_ROOM - 8);
        path[len > 0 ? len : 0] = '\0';
        slash = strrchr(path, '/');
        if (slash)
            strcpy(slash + 1, "seen");
    }
    if (!access(path, X_OK))
        return true;
    fprintf(stderr, "seen: bench: %s: not found; set SEEN\n", path);
    return false;
}

static bool redirect(int to, const char *name)
{
    char path[PATH_ROOM] = "/dev/null";
    int file;

    if (name)
        process_path(path, name);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return file >= 0 && dup2(file, to) >= 0;
}

pid_t process_start(const char *const *argv, const char *out, const char *err)
{
    union {
        const char *const *given;
        char *const *wanted;
    } both = { argv };
    pid_t us = getpid(), child = fork();

    if (child)
        return child > 0 ? child : 0;
    end_with_parent(us);
    if (redirect(STDOUT_FILENO, out) && redirect(STDERR_FILENO, err))
        execvp(argv[0], both.wanted);
    _exit(127);
}

pid_t process_fork(void (*run)(void *with), void *with)
{
    pid_t us = getpid(), child = fork();

    if (child)
        return child > 0 ? child : 0;
    end_with_parent(us);
    run(with);
    _exit(127);
}

static double time_value(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

bool process_wait(pid_t *pid, struct process_cost *cost)
{
    struct rusage used = { .ru_maxrss = 0 };
    int status = -1;

    while (*pid && wait4(*pid, &status, 0, &used) < 0 && errno == EINTR)
        ;
    *pid = 0;
    cost->cpu = time_value(used.ru_utime) + time_value(used.ru_stime);
    cost->memory = 1024 * (double)used.ru_maxrss;
    return !status;
}

bool process_measure(const char *const *argv, const char *out, const char *err,
                     struct process_cost *cost)
{
    double begun = clock_seconds();
    pid_t child = process_start(argv, out, err);
    bool good = process_wait(&child, cost);

    cost->seconds = clock_seconds() - begun;
    return good;
}

bool process_run(const char *const *argv, const char *out, const char *err,
                 double *seconds)
{
    struct process_cost cost;
    bool good = process_measure(argv, out, err, &cost);

    *seconds = cost.seconds;
    return good;
}

void process_stop(pid_t *pid)
{
    if (!*pid)
        return;
    kill(*pid, SIGTERM);
    for (int waited = 0; !waitpid(*pid, NULL, WNOHANG); waited += NAP_MS) {
        if (waited == STOP_MS)
            kill(*pid, SIGKILL);
        process_sleep(NAP_MS);
    }
    *pid = 0;
}

/* --- what they use --- */

/* Field `wanted` and the next of /proc/PID/stat, counted from the state,
   which is 3 as in proc(5); the name before it may hold anything. */
static bool stat_fields(long pid, int wanted, double *a, double *b)
{
    char path[64], text[1024], *at;
    FILE *file;
    size_t len;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    at = strrchr(text, ')');
    for (int field = 2; at && field < wanted; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return false;
    *a = strtod(at, &at);
    *b = strtod(at, NULL);
    return true;
}

/* In nanoseconds; /proc has ticks of 10 ms, which is enough for children that
   have ended. */
static double time_of(long pid)
{
    double user = 0, system = 0;
    struct timespec own = { 0, 0 };
    clockid_t clock;

    if (!clock_getcpuclockid((pid_t)pid, &clock))
        clock_gettime(clock, &own);
    stat_fields(pid, 16, &user, &system);
    return (double)own.tv_sec + (double)own.tv_nsec / 1e9 +
           (user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double memory_of(long pid)
{
    double pages = 0, limit;

    stat_fields(pid, 24, &pages, &limit);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

static double sum(pid_t pid, double (*of)(long pid))
{
    double all = of(pid), parent, group;
    DIR *proc = opendir("/proc");
    struct dirent *it;

    while (proc && (it = readdir(proc))) {
        long child = strtol(it->d_name, NULL, 10);

        if (child > 0 && stat_fields(child, 4, &parent, &group) &&
            (pid_t)parent == pid)
            all += of(child);
    }
    if (proc)
        closedir(proc);
    return all;
}

double process_cpu(pid_t pid)
{
    return sum(pid, time_of);
}

double process_memory(pid_t pid)
{
    return sum(pid, memory_of);
}
