/*
 * access.h - how a command has the filter that it was given.
 */
#ifndef SEEN_ACCESS_H
#define SEEN_ACCESS_H

#include <seen/store.h>

#include "command.h"
#include "wait.h"

/* The options of every command that asks or changes a filter. */
struct access_options {
    const char *profile, *keyed;
};

/* clang-format off */
#define ACCESS_OPTIONS(type, how)                                           \
    { "profile", 0, TEXT, "P", offsetof(type, how.profile),                 \
      "refuse the filter unless its keys were made under this profile" },   \
    { "keyed", 0, PATH, "KEYFILE", offsetof(type, how.keyed),               \
      "the key of a keyed filter: a file of 16 bytes or 32 hexadecimal "    \
      "digits" }
/* clang-format on */

/*
 * Have the filter at `path` for reading: mapped, or loaded if it will be
 * asked `often`. NULL after a message. All cells are verified.
 */
struct seen_filter *access_read(const char *path,
                                const struct access_options *how, bool often);

/* Have it for writing; the message names the way out if it is taken, and
   still is after that wait. */
struct seen_filter *access_write(const char *path,
                                 const struct access_options *how,
                                 enum seen_sync sync, bool over,
                                 struct wait wait);

/* The value of --sync, which NULL stands for `always`. */
enum seen_sync access_sync(const char *word);

#endif
