/*
 * all.c - the program seen-all: all commands. `seen` starts it.
 */
#include "command.h"

#include <string.h>
#include <sys/prctl.h>

#include "../lib/text/nearest.h"
#include "../remote/reserve.h"
#include "access.h"
#include "web.h"

const struct command *const commands[] = {
    &cmd_build,    &cmd_add,      &cmd_check,   &cmd_dedup,   &cmd_remove,
    &cmd_count,    &cmd_key,      &cmd_info,    &cmd_meta,    &cmd_merge,
    &cmd_convert,  &cmd_serve,    &cmd_publish, &cmd_harvest, &cmd_crawl,
    &cmd_search,   &cmd_schedule, &cmd_enqueue, &cmd_queue,   &cmd_work,
    &cmd_classify, &cmd_template, &cmd_robots,  &cmd_links,   &cmd_sitemap,
    &cmd_warc,     &cmd_lab,      &cmd_bench,   &cmd_help,    &cmd_version,
    NULL
};

const struct access_remote *const access_remote = &(
    const struct access_remote){ remote_open,  remote_able_at, remote_save,
                                 remote_load,  remote_create,  remote_plan,
                                 remote_losses };

const struct access_distant *const access_distant = &cmd_web;

bool command_is_elsewhere(char **argv)
{
    (void)argv;
    return false;
}

/* In lists of processes it has the name under which it was started. */
__attribute__((constructor)) static void take_name(void)
{
    prctl(PR_SET_NAME, "seen");
}

enum outcome command_other(char **argv)
{
    enum { MOST = 64 };
    const char *name = argv[1], *word[MOST + 1] = { NULL }, *like;

    if (*name == '-')
        return trouble("%s: options follow a command; see seen help", name);
    for (int i = 0; commands[i] && i < MOST; i++)
        word[i] = commands[i]->name;
    like = nearest(name, word);
    if (like)
        return trouble("%s: no such command; did you mean %s?", name, like);
    return trouble("%s: no such command; see seen help", name);
}
