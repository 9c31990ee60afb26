/*
 * options.c - from argv to the struct of a command, and to its run.
 *
 * Options and operands may come in any order; "--" ends the options.
 */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/nearest.h"
#include "../remote/address.h"

/* The first word of the synopsis that has no operand. */
static void missing(const struct command *cmd, int given)
{
    const char *at = cmd->synopsis;

    /* "-o FILTER INPUT...": the value of an option is not an operand. */
    while (*at == '-') {
        at += strcspn(at, " ") + 1;
        at += strcspn(at, " ") + 1;
    }
    while (given--)
        at += strcspn(at, " ") + 1;
    trouble("%.*s is missing; usage: seen %s %s", (int)strcspn(at, " ."), at,
            cmd->name, cmd->synopsis);
}

/* "check, try or convert" */
static const char *part_names(const struct command *cmd)
{
    static char names[256];
    size_t len = 0;

    for (const struct command_part *p = cmd->parts; p->name; p++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s",
                                p == cmd->parts ? ""
                                : p[1].name     ? ", "
                                                : " or ",
                                p->name);
    return names;
}

void options_hide(char **operand, int n)
{
    for (int i = 0; operand[i] && (n < 0 || i < n); i++)
        remote_address_hide(operand[i]);
}

/* The words of an option, from the first to the last that it used. */
static char **read_one(const struct command *cmd, const char *program,
                       void *into, char **argv)
{
    char wrong[OPTION_WRONG];
    char **last = option_read(cmd->options, program, into, argv, wrong);

    if (last) {
        options_hide(argv, (int)(last - argv) + 1);
    } else {
        remote_address_hide(wrong);
        trouble("%s", wrong);
    }
    return last;
}

/* Why there is no such option; NULL: nobody looks for it here. */
static const char *why_absent(const struct command *cmd, const char *typed)
{
    size_t len = strcspn(typed, "=");

    for (const struct command_absent *a = cmd->absent; a && a->name; a++)
        if (len == strlen(a->name) + 2 && !strncmp(typed, "--", 2) &&
            !strncmp(typed + 2, a->name, len - 2))
            return a->why;
    return NULL;
}

/* Fill the struct at `into` and return the operands, NULL-terminated and still
   owned by argv; NULL after a message. */
static char **read_all(const struct command *cmd, void *into, char **argv)
{
    const char *why;
    char **operand = argv, **to = argv;
    char program[64];
    bool ended = false;

    snprintf(program, sizeof program, "seen %s", cmd->name);
    for (; *argv; argv++) {
        if (ended || argv[0][0] != '-' || !argv[0][1]) {
            *to++ = *argv;
            continue;
        }
        if (!strcmp(*argv, "--")) {
            ended = true;
            continue;
        }
        if (!strcmp(*argv, "--help") || !strcmp(*argv, "-h")) {
            help_print(command_find(cmd->name));
            exit((int)finish(YES));
        }
        why = why_absent(cmd, *argv);
        if (why) {
            trouble("%.*s: not with %s: %s", (int)strcspn(*argv, "="), *argv,
                    program, why);
            return NULL;
        }
        argv = read_one(cmd, program, into, argv);
        if (!argv)
            return NULL;
    }
    *to = NULL;
    options_hide(operand, cmd->filters);
    if (to == operand && cmd->operands && cmd->parts) {
        trouble("expected %s; see seen %s --help", part_names(cmd), cmd->name);
        return NULL;
    }
    if (to - operand < cmd->operands) {
        missing(cmd, (int)(to - operand));
        return NULL;
    }
    if (cmd->most >= 0 && to - operand > cmd->most) {
        trouble("%s: one operand too many; usage: seen %s%s%s",
                operand[cmd->most], cmd->name, *cmd->synopsis ? " " : "",
                cmd->synopsis);
        return NULL;
    }
    return operand;
}

/* --- run it --- */

/* Is the word in a list with spaces on both sides of each? */
static bool listed(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += len)
        if (at != list && at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}

static enum outcome run_part(const struct command *cmd,
                             const struct command_part *part, void *settings,
                             char **operand)
{
    int n = 0;

    while (operand[n])
        n++;
    if (n < part->least || (part->most >= 0 && n > part->most))
        return trouble("usage: seen %s %s %s", cmd->name, part->name,
                       part->synopsis);
    for (const struct option *o = cmd->options; part->takes && o->name; o++)
        if (option_given(o, settings) && !listed(part->takes, o->name))
            return trouble("--%s: no such option of seen %s %s", o->name,
                           cmd->name, part->name);
    return part->run(settings, operand);
}

/* The part that a word is meant for. A file or a URL is no such word. */
static const char *meant_part(const struct command *cmd, const char *typed)
{
    enum { MOST = 15 };
    const char *word[MOST + 1] = { NULL };
    int n = 0;

    for (const struct command_part *p = cmd->parts; p && p->name && n < MOST;
         p++)
        word[n++] = p->name;
    return typed[strspn(typed, "abcdefghijklmnopqrstuvwxyz")]
               ? NULL
               : nearest(typed, word);
}

static enum outcome run(const struct command *cmd, void *settings,
                        char **operand)
{
    const char *like;

    for (const struct command_part *p = cmd->parts; p && p->name; p++)
        if (*operand && !strcmp(*operand, p->name))
            return run_part(cmd, p, settings, operand + 1);
    like = *operand ? meant_part(cmd, *operand) : NULL;
    if (like)
        return trouble("%s: no such part of seen %s; did you mean %s?",
                       *operand, cmd->name, like);
    return cmd->run ? cmd->run(settings, operand)
                    : trouble("%s: expected %s", *operand, part_names(cmd));
}

enum outcome command_run(const struct command *cmd, char **argv)
{
    void *settings = calloc(1, cmd->settings + 1);
    enum outcome out = TROUBLE;

    if (!settings)
        return trouble("no memory for %zu bytes", cmd->settings);
    if (cmd->begin)
        cmd->begin(settings);
    if (!cmd->passes)
        argv = read_all(cmd, settings, argv);
    if (argv)
        out = run(cmd, settings, argv);
    free(settings);
    return finish(out);
}
