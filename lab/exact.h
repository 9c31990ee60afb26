/*
 * exact.h - distinct texts, and three ways to find one.
 *
 *     LINEAR   in the order they were added; a search looks at all
 *     SORTED   by binary search; adding moves all texts after the new one
 *     HASHED   by a table of slots, at most two thirds full
 *
 * What papers compare filters with: never wrong, and many times as large.
 * HASHED is also what the lab itself uses to know which texts are distinct
 * and how often each was added.
 *
 *     struct exact e = { .way = HASHED };
 *
 *     exact_add(&e, text, len);
 *     exact_clear(&e);
 *
 * Running out of memory ends the experiment.
 *
 * Threads: any number may ask, one may add.
 */
#ifndef SEEN_LAB_EXACT_H
#define SEEN_LAB_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/key.h>

enum exact_way { LINEAR, SORTED, HASHED };

struct exact_item {
    uint64_t at; /* in the memory of texts */
    uint32_t len;
    uint32_t count; /* how often it was added; HASHED only */
};

struct exact {
    enum exact_way way;
    struct exact_item *item; /* in the order they were added, or SORTED */
    size_t n, room;
    char *memory; /* copies of the texts */
    size_t used, memory_room;
    uint32_t *slot; /* of a hash table: number of an item, plus 1 */
    size_t slots;
};

/* Make room in an empty one for n texts of `bytes` bytes in all. */
void exact_reserve(struct exact *e, size_t n, size_t bytes);
void exact_clear(struct exact *e);

/*
 * Add a text; true if it is new. HASHED counts one that it has; the others do
 * not look and add it again. Or add many keys: SORTED then sorts once.
 */
bool exact_add(struct exact *e, const char *text, size_t len);
void exact_fill(struct exact *e, const struct seen_key *key, size_t n);
bool exact_has(const struct exact *e, const char *text, size_t len);

/* The same for a text that is hashed already. */
bool exact_add_key(struct exact *e, const struct seen_key *key);
bool exact_has_key(const struct exact *e, const struct seen_key *key);

/* The number of the item with this text, HASHED only; n if there is none. */
size_t exact_number(const struct exact *e, const struct seen_key *key);

/* The text of item i; it stays in place until another is added. */
static inline const char *exact_text(const struct exact *e, size_t i)
{
    return e->memory + e->item[i].at;
}

/* Order of texts by their bytes, the shorter first where one begins the
   other; for qsort_r() of items, with the struct exact. */
int exact_order(const void *a, const void *b, void *of);

/*
 * How many places a table has that doubles from 16 on, if n texts may fill
 * `taken` in every `of` places: experiments count memory with it.
 */
uint64_t exact_places(uint64_t n, unsigned taken, unsigned of);

#endif
