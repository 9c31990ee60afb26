/*
 * options.c - from argv to the struct of a command.
 *
 * Options and operands may come in any order; "--" ends the options.
 */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

char **options_read(const struct command *cmd, void *into, char **argv)
{
    char **operand = argv, **to = argv;
    char program[64], wrong[OPTION_WRONG];
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
        argv = option_read(cmd->options, program, into, argv, wrong);
        if (!argv) {
            trouble("%s", wrong);
            return NULL;
        }
    }
    *to = NULL;
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
