/*
 * lab.c - seen lab: run the program seen-lab.
 *
 * It is a separate program, because it contains hash functions that should not
 * be used and tables that only readers of the papers need.
 */
#include "command.h"

#include "neighbour.h"

static enum outcome run(void *settings, char **argv)
{
    (void)settings;
    return neighbour_run("seen-lab", argv,
                         "it is built and installed with it");
}

/* For help, man page and completion: seen-lab reads them itself. A test
   compares the two lists. */
static const struct option options[] = {
    { "quick", 0, FLAG, NULL, 0,
      "small sizes: all experiments in ten minutes" },
    { "full", 0, FLAG, NULL, 0, "the papers' sizes: hours" },
    { "n", 0, COUNT, "N", 0, "URLs per filter, in all experiments" },
    { "runs", 0, COUNT, "N", 0, "repetitions; results are averaged" },
    { "seed", 0, SEED, "N", 0,
      "other seeds make other URLs and other filters; default 1" },
    { "threads", 0, COUNT, "N", 0, "number of threads; default: one per CPU" },
    { "urls", 0, PATH, "FILE", 0,
      "use the URLs of this file, in any format that build reads, or the last "
      "column of a CSV file; repeated ones are left out" },
    { "json", 'j', FLAG, NULL, 0, "print JSON" },
    { "report", 0, PATH, "DIR", 0,
      "write DIR/index.html, with figures and tables" },
    { "help", 'h', FLAG, NULL, 0, "print the options" },
    { .name = NULL },
};

const struct command cmd_lab = {
    .name = "lab",
    .summary = "reproduce what was published about such filters",
    .synopsis = "[NAME|PAPER|all...] [OPTION...]",
    .most = -1,
    .options = options,
    .about =
        "Runs the program seen-lab with these arguments. It repeats the "
        "experiments of the papers that this program is based on, and prints "
        "for each number the published value, the theoretical one and the "
        "measured one; whether the measurement agrees with theory, or keeps the "
        "bound that theory gives; and whether it agrees with what was "
        "published. Without a name it lists the experiments.\n"
        "\n"
        "With --report DIR it writes a page, DIR/index.html, with every table "
        "and every figure, drawn by gnuplot.",
    .exits = "0 all measurements agree with theory or keep their bound, 1 one "
             "does not, 2 trouble",
    .examples = "$ seen lab\n"
                "$ seen lab table-5.9 --quick\n"
                "$ seen lab all --quick --report lab\n",
    .passes = true,
    .run = run,
};
