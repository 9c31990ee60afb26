/*
 * array.h - the one way to grow an array.
 *
 *     struct part *more = array_grow(part, &room, parts + 1, sizeof *part);
 *
 *     if (!more)
 *         return no_memory_for(why, "parts");      memory.h
 *     part = more;
 */
#ifndef SEEN_TEXT_ARRAY_H
#define SEEN_TEXT_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Room for at least `need` elements of `each` bytes; *room is how many there
 * are now. It at least doubles, so that appending costs constant time. NULL
 * if there is no memory: the array and *room are then as they were.
 */
static inline void *array_grow(void *array, size_t *room, size_t need,
                               size_t each)
{
    size_t larger = *room ? *room : 8;
    void *more;

    if (need <= *room)
        return array;
    if (need > SIZE_MAX / 4 / each)
        return NULL;
    while (larger < need)
        larger *= 2;
    more = realloc(array, larger * each);
    if (more)
        *room = larger;
    return more;
}

#endif
