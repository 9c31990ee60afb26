/*
 * filters.h - several filters that a command was given, by name.
 *
 *     struct cmd_filters list = { .n = 0 };
 *
 *     if (cmd_filters_add(&list, "ia.seen") && cmd_filters_add(&list, "mirror/"))
 *         use list.filter[0].name and .path;
 *     cmd_filters_clear(&list);
 *
 * Names are those that `seen serve` gives: haw.seen is "haw", and NAME=FILTER
 * gives another one. A folder stands for all its files *.seen.
 */
#ifndef SEEN_CMD_FILTERS_H
#define SEEN_CMD_FILTERS_H

#include <stdbool.h>
#include <stddef.h>

struct cmd_filters {
    struct cmd_filter {
        char *name, *path;
        bool found; /* in a folder */
    } * filter;
    size_t n, room;
};

/* Is this the path of a folder? */
bool cmd_filters_folder(const char *path);

/* Append FILTER, NAME=FILTER, or all filters of a folder, in the order of
   their names. False after a message: a folder has none or cannot be read. */
bool cmd_filters_add(struct cmd_filters *list, const char *operand);

/* False after a message if two filters have the same name. */
bool cmd_filters_distinct(const struct cmd_filters *list);

void cmd_filters_clear(struct cmd_filters *list);

#endif
