/*
 * core.c - the program seen: commands that need filters and nothing else.
 *
 * Libraries for the network, for databases and for HTML are loaded by
 * seen-all, which has all commands.
 */
#include "command.h"

#include "access.h"
#include "neighbour.h"

const struct command *const commands[] = {
    &cmd_build, &cmd_add,   &cmd_check,   &cmd_dedup, &cmd_remove,
    &cmd_count, &cmd_key,   &cmd_info,    &cmd_meta,  &cmd_merge,
    &cmd_lab,   &cmd_bench, &cmd_version, NULL
};

const struct access_remote *const access_remote = NULL;

/* An address may also be the end of a word, as in -oredis://h/n. Of a URL with
   such an end the answer is the same, and later. */
bool command_is_elsewhere(char **argv)
{
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
