/*
 * classify_notify.c - start programs, wait for them, and end those that hang.
 *
 * What a program reads is in a file in memory, so that one that does not read
 * blocks nobody and can be as slow as its time limit allows. Each program
 * leads a process group of its own, which is what is killed.
 */
#include "classify_notify.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "../lib/disk/disk.h"
#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "command.h"
#include "output.h"

extern char **environ;

enum { PARALLEL_MOST = 64 };

struct classify_notify {
    struct classify_notify_options options;
    bool wanted[CHANGE_CLASSES];
    struct {
        pid_t pid; /* 0: the slot is free */
        double until;
    } running[PARALLEL_MOST];
    size_t active;
    double next; /* when the next program may start, monotonic, in s */
    uint64_t started, failed, killed, unable;
};

/* --- options --- */

static bool choose_classes(struct classify_notify *n)
{
    const char *text = n->options.classes ? n->options.classes
                                          : "new,updated,reverted,removed,"
                                            "duplicate,broken";
    struct seen_span rest = span_of(text), name;
    enum change_class class;

    while (rest.len) {
        if (!span_cut(&rest, ',', &name)) {
            name = rest;
            rest.len = 0;
        }
        if (!change_class_find(&class, name) || class == CHANGE_END) {
            trouble("--notify-classes %s: %.*s is not a class", text,
                    (int)name.len, name.text);
            return false;
        }
        n->wanted[class] = true;
    }
    return true;
}

static bool can_run(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && !access(path, X_OK);
}

/* As posix_spawnp() will look for it. A wrong name must not be found out after
   answers were noted as notified. */
static bool is_there(const char *program)
{
    const char *at = getenv("PATH");

    if (strchr(program, '/') || !at)
        return can_run(program);
    for (;; at++) {
        size_t len = strcspn(at, ":");
        char path[4096];

        if (snprintf(path, sizeof path, "%.*s/%s", len ? (int)len : 1,
                     len ? at : ".", program) < (int)sizeof path &&
            can_run(path))
            return true;
        at += len;
        if (!*at)
            return false;
    }
}

struct classify_notify *classify_notify_open(
    const struct classify_notify_options *options)
{
    struct classify_notify *n = calloc(1, sizeof *n);

    if (!n) {
        trouble("no memory for notifications");
        return NULL;
    }
    if (!is_there(options->program)) {
        trouble("--notify %s: there is no such program", options->program);
        free(n);
        return NULL;
    }
    n->options = *options;
    if (!(n->options.rate > 0))
        n->options.rate = 10;
    if (!n->options.parallel)
        n->options.parallel = 4;
    if (n->options.parallel > PARALLEL_MOST)
        n->options.parallel = PARALLEL_MOST;
    if (!n->options.timeout)
        n->options.timeout = 30;
    if (choose_classes(n))
        return n;
    free(n);
    return NULL;
}

/* --- programs that run --- */

static void note_end(struct classify_notify *n, size_t i, int status,
                     bool killed)
{
    n->running[i].pid = 0;
    n->active--;
    if (killed)
        n->killed++;
    else if (!WIFEXITED(status) || WEXITSTATUS(status))
        n->failed++;
}

/* Note those that have ended, and end those whose time is over. */
static void look(struct classify_notify *n)
{
    for (size_t i = 0; i < PARALLEL_MOST; i++) {
        pid_t pid = n->running[i].pid;
        int status = 0;

        if (!pid)
            continue;
        if (waitpid(pid, &status, WNOHANG) == pid) {
            kill(-pid, SIGKILL); /* what it left behind */
            note_end(n, i, status, false);
        } else if (clock_seconds() > n->running[i].until) {
            kill(-pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
            note_end(n, i, status, true);
        }
    }
}

static void nap(void)
{
    const struct timespec ms = { .tv_nsec = 2000000 };

    nanosleep(&ms, NULL);
}

void classify_notify_wait(struct classify_notify *n)
{
    for (look(n); n->active; look(n))
        nap();
}

void classify_notify_close(struct classify_notify *n)
{
    if (n)
        classify_notify_wait(n);
    free(n);
}

static bool is_stopped(const struct classify_notify *n)
{
    return n->options.stopped && *n->options.stopped;
}

/* Until one more may start. False: it was stopped. */
static bool wait_for_turn(struct classify_notify *n)
{
    for (;;) {
        look(n);
        if (is_stopped(n))
            return false;
        if (n->active < n->options.parallel && clock_seconds() >= n->next)
            return true;
        nap();
    }
}

/* --- one program --- */

/* A file in memory with the answer and the record, at its beginning. */
static int make_input(const struct change_answer *a, struct seen_span record)
{
    int fd = memfd_create("seen-notify", MFD_CLOEXEC);
    bool good = fd >= 0;
    size_t at = 0;
    const struct seen_span piece[] = {
        a->json, { "\n", 1 }, record, { "\n", 1 }
    };

    if (record.len && record.text[record.len - 1] == '\n')
        record.len--;
    for (size_t i = 0; good && i < (record.len ? 4 : 2); i++) {
        struct seen_span p = i == 2 ? record : piece[i];

        good = disk_write(fd, p.text, p.len, at, NULL) == SEEN_OK;
        at += p.len;
    }
    if (good)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* What programs do not get: the passwords of our servers, which they need not
   know, and might print or hand on. --password-file puts them here, too.
   PGPASSFILE names a file, which says itself who may read it. */
static const char *const kept_back[] = { "PGPASSWORD", "SEEN_AMQP_PASSWORD",
                                         "SEEN_REDIS_PASSWORD" };
/* What they get instead of ours. */
static const char *const told[] = { "SEEN_CLASS", "SEEN_URL", "SEEN_ID" };

enum {
    KEPT_BACK = sizeof kept_back / sizeof *kept_back,
    TOLD = sizeof told / sizeof *told
};

static bool is_one_of(const char *variable, const char *const *name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(name[i]);

        if (!strncmp(variable, name[i], len) && variable[len] == '=')
            return true;
    }
    return false;
}

static void free_environment(char **list)
{
    for (int i = 0; list && i < TOLD; i++)
        free(list[i]);
    free(list);
}

/* Our environment, without passwords, and three more; NULL without memory.
   Free the three and the list. A zero byte would end a value; texts of answers
   have none. */
static char **make_environment(const struct change_answer *a)
{
    const struct seen_span value[TOLD] = {
        span_of(change_class_name(a->class)), a->url, a->id
    };
    size_t n = 0, kept = 0;
    char **list;

    while (environ[n])
        n++;
    list = calloc(n + TOLD + 1, sizeof *list);
    if (!list)
        return NULL;
    for (int i = 0; i < TOLD; i++)
        if (asprintf(&list[i], "%s=%.*s", told[i], (int)value[i].len,
                     value[i].text) < 0) {
            list[i] = NULL;
            free_environment(list);
            return NULL;
        }
    for (size_t i = 0; i < n; i++)
        if (!is_one_of(environ[i], told, TOLD) &&
            !is_one_of(environ[i], kept_back, KEPT_BACK))
            list[TOLD + kept++] = environ[i];
    return list;
}

static int spawn(pid_t *pid, const char *program, int input,
                 char **environment)
{
    char *argv[] = { strdupa(program), NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int fault;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                              POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    fault = posix_spawnp(pid, program, &actions, &attributes, argv,
                         environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return fault;
}

static void start(struct classify_notify *n, const struct change_answer *a,
                  struct seen_span record)
{
    char **environment = make_environment(a);
    int input = environment ? make_input(a, record) : -1;
    int fault = input < 0 ? ENOMEM : 0;
    size_t slot = 0;
    pid_t pid = 0;

    if (!fault)
        fault = spawn(&pid, n->options.program, input, environment);
    if (input >= 0)
        close(input);
    free_environment(environment);
    n->next = clock_seconds() + 1 / n->options.rate;
    if (fault) {
        if (!n->unable++)
            warning("%s cannot be started: %s", n->options.program,
                    strerror(fault));
        return;
    }
    n->started++;
    while (n->running[slot].pid)
        slot++;
    n->running[slot].pid = pid;
    n->running[slot].until = clock_seconds() + (double)n->options.timeout;
    n->active++;
}

bool classify_notify_one(struct classify_notify *n,
                         const struct change_answer *a,
                         struct seen_span record)
{
    if (!n->wanted[a->class])
        return true;
    if (!wait_for_turn(n))
        return false;
    start(n, a, record);
    return true;
}

bool classify_notify_put(struct classify_notify *n,
                         const struct change_answers *answers,
                         const struct change_record *record, size_t records)
{
    for (size_t i = 0; i < answers->n; i++) {
        struct seen_span line = { "", 0 };

        if (answers->answer[i].again)
            continue;
        if (i < records)
            line = record[i].line;
        if (!classify_notify_one(n, &answers->answer[i], line))
            return false;
    }
    return true;
}

void classify_notify_report(const struct classify_notify *n)
{
    output_format("notified      %s", show_count(n->started));
    if (n->failed)
        output_format(", of which %s failed", show_count(n->failed));
    if (n->killed)
        output_format(", %s killed after %llus", show_count(n->killed),
                      (unsigned long long)n->options.timeout);
    if (n->unable)
        output_format("; %s could not be started", show_count(n->unable));
    output_text("\n");
}
