/*
 * kind.h - what the text of a kind tells: "routed:16/growing/bloom".
 */
#ifndef SEEN_CMD_KIND_H
#define SEEN_CMD_KIND_H

#include <stdbool.h>

/* Is `name` among the names of the kind, whatever their arguments are? */
bool kind_has(const char *kind, const char *name);

/* Does it make parts as it needs them, so that it is never full? */
bool kind_grows(const char *kind);

/* The last of them, which has the cells, with its arguments. */
const char *kind_leaf(const char *kind);

#endif
