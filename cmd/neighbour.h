/*
 * neighbour.h - become a program that is installed beside this one.
 *
 * `seen bench` and `seen lab` are programs of their own, as git-foo is of
 * git: `seen` then depends on nothing that only they need.
 */
#ifndef SEEN_NEIGHBOUR_H
#define SEEN_NEIGHBOUR_H

#include "command.h"

/*
 * Run `program` in our place, with argv, of which argv[-1] is ours to take
 * for its name. It is looked for beside this program, in the folder for
 * programs that only other programs start, and in PATH. Returns only if it
 * could not be run, after a message that ends with `where`, a clause on when
 * it is built.
 */
enum outcome neighbour_run(const char *program, char **argv,
                           const char *where);

/* The same with all of argv, which begins with the name. PATH is left out: a
   part of seen must be of the same version, and nobody else may put one into a
   folder of PATH. */
enum outcome neighbour_become(const char *program, char **argv,
                              const char *where);

#endif
