/*
 * lists.h - URLs themselves, and three ways to find one.
 *
 *     LINEAR   in the order they came; all are looked at
 *     BINARY   sorted; a new one moves those behind it
 *     HASHED   a table of places, two thirds full at most
 *
 * What the paper compares filters with: exact, and many times as large.
 *
 * Threads: any number may ask, one may add.
 */
#ifndef SEEN_LAB_LISTS_H
#define SEEN_LAB_LISTS_H

#include "../texts.h"

enum way { LINEAR, BINARY, HASHED };

struct item {
    const char *text;
    size_t len;
};

struct list {
    enum way way;
    struct item *item;
    size_t n, room;
    char *text;
    uint64_t used, text_room;
    uint32_t *slot; /* number of an item, plus 1 */
    size_t slots;
};

/* The URLs of t, with room for `more` of URL_MOST bytes. What cannot be had
   for lack of memory ends the lab. */
void list_init(struct list *l, enum way way, const struct texts *t,
               size_t more);
void list_clear(struct list *l);

/* Add a URL that is not there; ask for one. */
void list_add(struct list *l, const char *text, size_t len);
bool list_has(const struct list *l, const char *text, size_t len);

/* The bytes that are in use. */
uint64_t list_bytes(const struct list *l);

#endif
