/*
 * options.c - from argv to the struct of a command.
 *
 *     --name VALUE   --name=VALUE   -n VALUE   -nVALUE   --flag   --
 *
 * Options and operands may come in any order. Names are never abbreviated:
 * a script that says --cap must not change its meaning when a second option
 * begins that way.
 */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/nearest.h"
#include "../lib/text/number.h"
#include "output.h"

/* --- one option --- */

static const struct option *find_long(const struct command *cmd,
                                      const char *name, size_t len)
{
    for (const struct option *o = cmd->options; o->name; o++)
        if (strlen(o->name) == len && !strncmp(o->name, name, len))
            return o;
    return NULL;
}

static const struct option *find_letter(const struct command *cmd, char letter)
{
    for (const struct option *o = cmd->options; o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static void unknown(const struct command *cmd, const char *typed, size_t len)
{
    enum { MOST = 64 };
    const char *word[MOST + 1] = { NULL }, *like;
    char name[64];
    int n = 0;

    for (const struct option *o = cmd->options; o->name && n < MOST; o++)
        word[n++] = o->name;
    snprintf(name, sizeof name, "%.*s", (int)len, typed);
    like = nearest(name, word);
    if (like)
        trouble("--%s: no such option of seen %s; did you mean --%s?", name,
                cmd->name, like);
    else
        trouble("--%s: no such option of seen %s; see seen %s --help", name,
                cmd->name, cmd->name);
}

/* "new|seen" allows "new" and "seen". */
static bool among(const char *choice, const char *value)
{
    size_t len = strlen(value);

    for (const char *at = choice; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (len && !strncmp(at, value, len) && strchr("|", at[len]))
            return true;
    }
    return false;
}

static const char *store_text(const struct option *o, char *at,
                              const char *value)
{
    if (strchr(o->arg, '|') && !among(o->arg, value))
        return "is none of the choices";
    if (o->takes == PATH && !*value)
        return "is no name of a file";
    *(const char **)(void *)at = value;
    return NULL;
}

static const char *store_texts(char *at, const char *value)
{
    struct texts *t = (void *)at;

    if (t->n == TEXTS_MOST)
        return "is one too many";
    t->text[t->n++] = value;
    return NULL;
}

/* Put the value where it belongs; false, with a word, if it is wrong. */
static bool store(const struct option *o, void *into, const char *value)
{
    char *at = (char *)into + o->at;
    const char *wrong = NULL;

    switch (o->takes) {
    case FLAG: *(bool *)at = true; break;
    case TEXT:
    case PATH: wrong = store_text(o, at, value); break;
    case TEXTS:
    case PATHS: wrong = store_texts(at, value); break;
    case COUNT: wrong = number_count(value, (void *)at); break;
    case SEED: wrong = number_seed(value, (void *)at); break;
    case RATE: wrong = number_rate(value, (void *)at); break;
    case FACTOR: wrong = number_factor(value, (void *)at); break;
    case DURATION: wrong = number_seconds(value, (void *)at); break;
    }
    if (wrong && o->takes == TEXT)
        trouble("--%s: %s %s: %s", o->name, *value ? value : "''", wrong,
                o->arg);
    else if (wrong)
        trouble("--%s: %s %s", o->name, *value ? value : "''", wrong);
    return !wrong;
}

/*
 * Read the option at *argv, and its value, which may be the next argument;
 * return the last argument that was used, or NULL if something is wrong.
 */
static char **read_long(const struct command *cmd, void *into, char **argv)
{
    const char *name = *argv + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct option *o = find_long(cmd, name, len);
    const char *value = equals ? equals + 1 : NULL;

    if (!o) {
        unknown(cmd, name, len);
        return NULL;
    }
    if (o->takes == FLAG && value) {
        trouble("--%s: takes no value", o->name);
        return NULL;
    }
    if (o->takes != FLAG && !value && !(value = *++argv)) {
        trouble("--%s: %s is missing", o->name, o->arg);
        return NULL;
    }
    return store(o, into, value) ? argv : NULL;
}

static char **read_letter(const struct command *cmd, void *into, char **argv)
{
    const struct option *o = find_letter(cmd, argv[0][1]);
    const char *value = argv[0][2] ? *argv + 2 : NULL;

    if (!o) {
        trouble("%s: no such option of seen %s; see seen %s --help", *argv,
                cmd->name, cmd->name);
        return NULL;
    }
    if (o->takes == FLAG && value) {
        trouble("%s: -%c takes no value", *argv, o->letter);
        return NULL;
    }
    if (o->takes != FLAG && !value && !(value = *++argv)) {
        trouble("-%c: %s is missing", o->letter, o->arg);
        return NULL;
    }
    return store(o, into, value) ? argv : NULL;
}

/* The first word of the synopsis that there is no operand for. */
static void missing(const struct command *cmd, int given)
{
    const char *at = cmd->synopsis;

    /* "-o FILTER INPUT...": the value of an option is no operand. */
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
    bool ended = false;

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
        argv = argv[0][1] == '-' ? read_long(cmd, into, argv)
                                 : read_letter(cmd, into, argv);
        if (!argv)
            return NULL;
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
