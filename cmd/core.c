/*
 * core.c - the program seen: commands that need filters and nothing else.
 *
 * Libraries for the network, for databases and for HTML are loaded by
 * seen-all, which has all commands.
 */
#include "command.h"

#include <string.h>

#include "../distant/distant.h"
#include "access.h"
#include "neighbour.h"

const struct command *const commands[] = {
    &cmd_build, &cmd_add,   &cmd_check,   &cmd_dedup, &cmd_remove,
    &cmd_count, &cmd_key,   &cmd_info,    &cmd_meta,  &cmd_merge,
    &cmd_lab,   &cmd_bench, &cmd_version, NULL
};

const struct access_remote *const access_remote = NULL;
const struct access_distant *const access_distant = NULL;

static bool takes_value(const struct command *c, const char *word)
{
    for (const struct option *o = c->options; o->name; o++)
        if (word[1] == '-' ? !strcmp(word + 2, o->name)
                           : word[1] == o->letter && !word[2])
            return o->takes != FLAG;
    return false;
}

/* X, NAME=X, -fX, --filter=X */
static bool ends_with_url(const char *word)
{
    const char *at = strstr(word, "http");

    return at && distant_is_url(at);
}

/*
 * Is a filter on a web server asked? URLs that are asked about look like its
 * own, so that of seen check only what -f names counts, or else the first
 * operand.
 */
static bool asks_web(char **argv)
{
    const struct command *c = command_find(argv[0]);
    bool named = false, only_operands = false, first = true, asks = false;

    if (c != &cmd_check && c != &cmd_info)
        return false;
    for (argv++; *argv; argv++) {
        const bool filter = !strncmp(*argv, "-f", 2) ||
                            !strncmp(*argv, "--filter", 8);

        if (only_operands || **argv != '-') {
            if (first || c == &cmd_info)
                asks = asks || distant_is_url(*argv);
            first = false;
        } else if (!strcmp(*argv, "--")) {
            only_operands = true;
        } else {
            if (filter && ends_with_url(*argv))
                return true;
            if (takes_value(c, *argv) && argv[1])
                argv++;
            if (filter && ends_with_url(*argv))
                return true;
            named = named || filter;
        }
    }
    return asks && !named;
}

/* An address may also be the end of a word, as in -oredis://h/n. Of a URL with
   such an end the answer is the same, and later. */
bool command_is_elsewhere(char **argv)
{
    if (asks_web(argv))
        return true;
    for (; *argv; argv++)
        for (const char *c = *argv; *c; c++)
            if (remote_is_address(c))
                return true;
    return false;
}

enum outcome command_other(char **argv)
{
    return neighbour_become("seen-all", argv, "it is installed with seen");
}
