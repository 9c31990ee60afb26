/*
 * main.c - the program `seen`: one question, a command for each job.
 *
 *     seen COMMAND [OPTION...] [OPERAND...]
 *
 * It is two programs, because loading 48 libraries takes longer than most
 * small commands: 10 ms, of which `seen version` needs 2.
 *
 *     seen       main.c, core.c    commands on filters; 8 libraries
 *     seen-all   main.c, all.c     all commands; `seen` becomes it for the
 *                                  rest, and for help
 *
 * What the commands share is here: how they complain, and how they end.
 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/store.h>
#include <seen/version.h>

#include "output.h"
#include "progress.h"
#include "words.h"

const struct command *command_find(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

/* --- how commands complain and end --- */

static void say(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));

/* Threads of a server warn, too: one line after the other. A message may quote
   an address, and does not repeat its password. */
static void say(const char *format, va_list args)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    static char brief[1024]; /* without memory */
    va_list again;
    char *text;

    pthread_mutex_lock(&turn);
    output_flush(); /* what came before it is printed before it */
    cmd_progress_clear();
    va_copy(again, args);
    if (vasprintf(&text, format, args) < 0) {
        text = NULL;
        vsnprintf(brief, sizeof brief, format, again);
    }
    va_end(again);
    words_mask_text(text ? text : brief);
    /* The thing may have no name: an operand that is empty. */
    fprintf(stderr, "seen: %s%s\n", *(text ? text : brief) == ':' ? "''" : "",
            text ? text : brief);
    free(text);
    pthread_mutex_unlock(&turn);
}

enum outcome trouble(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    return TROUBLE;
}

enum outcome trouble_with(const char *thing, const struct seen_error *why)
{
    return trouble("%s: %s", thing, why->text);
}

void warning(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
}

enum outcome finish(enum outcome out)
{
    int error = output_flush();

    cmd_progress_clear();
    if (error && error != EPIPE)
        return trouble("standard output: %s", strerror(error));
    return out;
}

/* --- seen version --- */

static enum outcome version_run(void *settings, char **operand)
{
    (void)settings;
    (void)operand;
    output_format("seen %s\n", SEEN_VERSION);
    return YES;
}

static const struct option version_options[] = { { .name = NULL } };

const struct command cmd_version = {
    .name = "version",
    .summary = "print the version",
    .synopsis = "",
    .options = version_options,
    .about = "Prints the name and the version of the program.",
    .examples = "$ seen version\n"
                "seen " SEEN_VERSION "\n",
    .run = version_run,
};

/* --- files that are cut short --- */

static volatile sig_atomic_t lost; /* a part of a mapped file is missing */

/* What is done with that filter fails from now on, with a message of its
   own. */
static void on_bus(int signal, siginfo_t *it, void *unused)
{
    const struct sigaction none = { .sa_handler = SIG_DFL };

    (void)unused;
    if (it->si_code > 0 && seen_store_fault(it->si_addr)) {
        lost = 1;
        return;
    }
    sigaction(signal, &none, NULL); /* our own mistake: crash */
    if (it->si_code <= 0)
        raise(signal);
}

/* A fault for which the command had no message, such as one while a rate was
   read, gets its message here. */
static int run(const struct command *cmd, char **argv)
{
    const struct sigaction act = { .sa_sigaction = on_bus,
                                   .sa_flags = SA_SIGINFO };
    enum outcome out;

    sigaction(SIGBUS, &act, NULL);
    out = command_run(cmd, argv);
    if (lost && out != TROUBLE)
        out = trouble("a part of a filter's file is lost: it was cut short "
                      "while it was in use, or its disk is full or fails");
    return (int)out;
}

/* --- the door --- */

/*
 * Someone may start us with closed descriptors. The next file opened would
 * take the place of standard output, and answers would go into a filter. So
 * what is closed is opened on /dev/null, the wrong way round: using it fails.
 */
static void occupy_standard_descriptors(void)
{
    static const int wrong[] = { O_WRONLY, O_RDONLY, O_RDONLY };

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong[fd]) != fd)
            abort();
}

int main(int argc, char **argv)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    const struct command *cmd;

    occupy_standard_descriptors();
    sigaction(SIGPIPE, &ignore, NULL); /* writing then says EPIPE */
    if (argc < 2)
        return (int)trouble("no command; see seen help");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        cmd = command_find("help");
    else if (!strcmp(argv[1], "--version"))
        cmd = &cmd_version;
    else
        cmd = command_find(argv[1]);
    if (!cmd || command_is_elsewhere(argv + 1))
        return (int)command_other(argv);
    argv = words_take(argc, argv);
    return argv ? run(cmd, argv + 2)
                : (int)trouble("no memory for %d words", argc);
}
