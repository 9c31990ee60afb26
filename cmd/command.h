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

/* Options that mean the same in every command. */
/* clang-format off */
#define JSON_OPTION(type, field, help)                                      \
    { "json", 'j', FLAG, NULL, offsetof(type, field), help }
#define QUIET_OPTION(type, field)                                           \
    { "quiet", 'q', FLAG, NULL, offsetof(type, field),                      \
      "print only what went wrong" }
#define OUTPUT_OPTION(type, field, arg, help)                               \
    { "output", 'o', PATH, arg, offsetof(type, field), help }
/* clang-format on */

/* An option of another command that one may look for here, and why this one
   does not have it. A list of them ends with a NULL name. */
struct command_absent {
    const char *name, *why;
};

/* One of the things that a command does, by its first operand: "seen queue dead
   NAME". A table of them ends with a NULL name. */
struct command_part {
    const char *name, *synopsis;
    int least, most;   /* operands behind the name; most -1: any */
    const char *takes; /* options that it has: " json most "; NULL: all */
    enum outcome (*run)(void *settings, char **operand);
};

/*
 * A run begins with `settings` bytes of zeros, which begin() may change; the
 * options are read into them. Then the part is run that the first operand
 * names, or else run(). What options and operands get wrong is reported before
 * that. The settings are freed afterwards.
 */
struct command {
    const char *name;
    const char *summary;          /* one line, no full stop */
    const char *synopsis;         /* after the name: "FILTER [URL...]" */
    int operands, most;           /* how many it takes; most -1: any */
    int filters;                  /* so many of the first are filters; -1: all */
    const struct option *options; /* ends with a NULL name */
    const struct command_absent *absent; /* or NULL */
    const struct command_part *parts;    /* or NULL */
    size_t settings;
    const char *about;            /* paragraphs, with an empty line between */
    const char *exits;            /* what the exit codes mean here; or NULL */
    const char *examples;         /* a session: "$ seen ...\n" */
    bool passes;                  /* its arguments are for someone else */
    void (*begin)(void *settings); /* or NULL */
    enum outcome (*run)(void *settings, char **operand); /* NULL: parts only */
};

/* Each in a file of its name. */
extern const struct command cmd_build, cmd_add, cmd_check, cmd_dedup,
    cmd_remove, cmd_count, cmd_key, cmd_info, cmd_meta, cmd_merge, cmd_convert,
    cmd_serve, cmd_publish, cmd_harvest, cmd_crawl, cmd_enqueue, cmd_schedule,
    cmd_queue, cmd_work, cmd_classify, cmd_search, cmd_template, cmd_robots,
    cmd_links, cmd_sitemap, cmd_warc, cmd_lab, cmd_bench, cmd_help,
    cmd_version;

/* All commands of this program, ending with NULL, in the order in which help
   lists them. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);

/* What to do about argv[1] if it is not one of these. */
enum outcome command_other(char **argv);

/* Whether these words need what only seen-all has, though it is one. */
bool command_is_elsewhere(char **argv);

/*
 * Run it with the arguments that follow its name.
 *
 * The password of an address in an option, or in an operand that is a filter,
 * is hidden, so that no message repeats it: remote/address.h. All other
 * operands stay as they are, since a URL to ask about is no address of ours.
 */
enum outcome command_run(const struct command *cmd, char **argv);

/* Hide them in operands that turned out to be filters: the first `n`; -1:
   all. */
void options_hide(char **operand, int n);

/* Print "seen: " and the message on stderr. Returns TROUBLE, to be returned. */
enum outcome trouble(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The same for a thing and what is wrong with it: "crawl.seen: cut short". */
enum outcome trouble_with(const char *thing, const struct seen_error *why);

/* The same for what went less well than hoped, but went. */
void warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flush stdout; return `out`, or TROUBLE. A closed pipe is not trouble.
   command_run() does it. */
enum outcome finish(enum outcome out);

/* Print the help of a command, or of the program for NULL, on stdout. */
void help_print(const struct command *cmd);
void help_man(const struct command *cmd);
void help_completion(const char *shell);

#endif
