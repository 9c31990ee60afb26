/*
 * collections.h - what a crawler would take if it knew of no filter.
 *
 * An array of strings that is searched from end to end, and an open-addressing
 * hash set of strings: the plain C counterparts of the ArrayList and the
 * HashSet that the thesis compares with. Both keep a copy of each string and
 * count the bytes that they allocate.
 *
 * Threads: one.
 */
#ifndef SEEN_LAB_THESIS_COLLECTIONS_H
#define SEEN_LAB_THESIS_COLLECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct string {
    char *text; /* NULL: an empty place of a set */
    size_t len;
};

struct strings {
    struct string *string;
    size_t n, room;
    uint64_t bytes; /* allocated and not freed */
};

/* Add whatever it is; look at one after the other. */
void array_add(struct strings *a, const char *text, size_t len);
bool array_has(const struct strings *a, const char *text, size_t len);

/* Add unless it is there; false if it is. */
bool set_add(struct strings *s, const char *text, size_t len);
bool set_has(const struct strings *s, const char *text, size_t len);

/* Of either: make room for n in one that is empty; free all of it. */
void strings_room(struct strings *s, size_t n);
void strings_clear(struct strings *s);

#endif
