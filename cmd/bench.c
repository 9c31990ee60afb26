/*
 * bench.c - seen bench: run the program seen-bench.
 *
 * It is a program of its own so that `seen` depends on none of the peers
 * that it measures.
 */
#include "command.h"

#include "neighbour.h"

static enum outcome run(void *settings, char **argv)
{
    (void)settings;
    return neighbour_run("seen-bench", argv,
                         "it is built where libbloom is installed");
}

static const struct option options[] = { { .name = NULL } };

const struct command cmd_bench = {
    .name = "bench",
    .summary = "measure the speed on this machine",
    .synopsis = "[NAME...]",
    .most = -1,
    .options = options,
    .about = "Runs the program seen-bench with all that follows. It measures "
             "every kind of filter, beside peers and the limits of the "
             "machine.",
    .examples = "$ seen bench\n",
    .passes = true,
    .run = run,
};
