/*
 * command.h - what a subcommand of `seen` is.
 *
 * A command is one file with one constant description, listed in all.c.
 * Parsing, --help, the man page and shell completion are all derived
 * from the description, so they cannot disagree with each other.
 */
#ifndef SEEN_COMMAND_H
#define SEEN_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

#include "../lib/text/option.h"

/* Exit codes follow grep, so that `seen` can stand in a shell's `if`. */
enum outcome {
    YES = 0,    /* done; or: the answer is yes */
    NO = 1,     /* done; the answer is no */
    TROUBLE = 2 /* something could not be done; stderr says what */
};

/* An option of another command that one may look for here, and why this one
   does not have it. A list of them ends with a NULL name. */
struct command_absent {
    const char *name, *why;
};

struct command {
    const char *name;
    const char *summary;          /* one line, no full stop */
    const char *synopsis;         /* after the name: "FILTER [URL...]" */
    int operands, most;           /* how many it takes; most -1: any */
    int filters;                  /* so many of the first are filters; -1: all */
    const struct option *options; /* ends with a NULL name */
    const struct command_absent *absent; /* or NULL */
    const char *about;            /* paragraphs, with an empty line between */
    const char *exits;            /* what the exit codes mean here; or NULL */
    const char *examples;         /* a session: "$ seen ...\n" */
    bool passes;                  /* its arguments are for someone else */
    enum outcome (*run)(char **argv);
};

/* All commands of this program, ending with NULL, in the order in which help
   lists them. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);

/* What to do about argv[1] if it is not one of these. */
enum outcome command_other(char **argv);

/* Whether these words need what only seen-all has, though it is one. */
bool command_is_elsewhere(char **argv);

/*
 * Fill the struct at `into` from argv as `cmd` describes and return the
 * operands, NULL-terminated and still owned by argv. If an option is wrong
 * or an operand missing, say so and return NULL.
 *
 * The password of an address in an option, or in an operand that is a filter,
 * is hidden, so that no message repeats it: remote/address.h. All other
 * operands stay as they are, since a URL to ask about is no address of ours.
 */
char **options_read(const struct command *cmd, void *into, char **argv);

/* The same for operands that turned out to be filters: the first `n`; -1:
   all. */
void options_hide(char **operand, int n);

/* Print "seen: " and the message on stderr. Returns TROUBLE, to be returned. */
enum outcome trouble(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The same for a thing and what is wrong with it: "crawl.seen: cut short". */
enum outcome trouble_with(const char *thing, const struct seen_error *why);

/* The same for what went less well than hoped, but went. */
void warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flush stdout; return `out`, or TROUBLE. A closed pipe is not trouble. */
enum outcome finish(enum outcome out);

/* Print the help of a command, or of the program for NULL, on stdout. */
void help_print(const struct command *cmd);
void help_man(const struct command *cmd);
void help_completion(const char *shell);

#endif
