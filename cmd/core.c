/*
 * core.c - the program seen: commands that need filters and nothing else.
 *
 * Libraries for the network, for databases and for HTML are loaded by
 * seen-all, which has all commands.
 */
#include "command.h"

#include "neighbour.h"

extern const struct command cmd_build, cmd_add, cmd_check, cmd_dedup,
    cmd_remove, cmd_count, cmd_key, cmd_info, cmd_meta, cmd_merge, cmd_convert,
    cmd_lab, cmd_bench, cmd_version;

const struct command *const commands[] = {
    &cmd_build,   &cmd_add, &cmd_check, &cmd_dedup,   &cmd_remove,
    &cmd_count,   &cmd_key, &cmd_info,  &cmd_meta,    &cmd_merge,
    &cmd_convert, &cmd_lab, &cmd_bench, &cmd_version, NULL
};

enum outcome command_other(char **argv)
{
    return neighbour_become("seen-all", argv, "it is installed with seen");
}
