/*
 * memory.h - say that there is no memory, and what it was for.
 *
 *     char *path = malloc(len);
 *
 *     if (!path)
 *         return no_memory_for(why, "a path");        "no memory for a path"
 *
 * What it was for tells users whether the machine is too small or the input
 * too large. It is a constant: formatting is for seen_fail().
 */
#ifndef SEEN_TEXT_MEMORY_H
#define SEEN_TEXT_MEMORY_H

#include <seen/error.h>

/* Returns SEEN_NOMEM. */
static inline enum seen_code no_memory_for(struct seen_error *why,
                                           const char *what)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for %s", what);
}

#endif
