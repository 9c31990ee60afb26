/*
 * lab.c - seen lab: run the program seen-lab.
 *
 * It is a program of its own, since it carries hash functions that nobody
 * should use and tables that only readers of the papers need.
 */
#include "command.h"

#include "neighbour.h"

static enum outcome run(char **argv)
{
    return neighbour_run("seen-lab", argv,
                         "it is built and installed with it");
}

static const struct option options[] = { { .name = NULL } };

const struct command cmd_lab = {
    .name = "lab",
    .summary = "reproduce what was published about such filters",
    .synopsis = "[NAME...]",
    .most = -1,
    .options = options,
    .about =
        "Runs the program seen-lab with all that follows. It repeats the "
        "experiments of the papers that this program stands on, and tells for "
        "each number what was published, what theory says, what is measured "
        "here, and whether they agree. Without a NAME it lists them; seen lab "
        "--help tells the options.\n"
        "\n"
        "With --report DIR it writes a page, DIR/index.html, with every table "
        "and every figure; gnuplot draws them.",
    .exits = "0 all that is measured lies where theory says, 1 something does "
             "not, 2 trouble",
    .examples = "$ seen lab\n"
                "$ seen lab table-5.9 --quick\n"
                "$ seen lab all --quick --report lab\n",
    .passes = true,
    .run = run,
};
