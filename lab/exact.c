/*
 * exact.c - linear search, binary search, a hash set.
 *
 * Texts are copied one after the other into one block, and items say where;
 * so all three ways have the same memory but for the slots, and what a paper
 * compares is the way to search and not the way to allocate. A slot is the
 * number of an item, 4 bytes; at most two thirds are taken, with linear
 * probing, which takes 2 looks for a text that is there and 5 for one that is
 * not when the table is fullest.
 */
#include "exact.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "lab.h"

static int compare(const struct exact *e, const struct exact_item *a,
                   const char *text, size_t len)
{
    int order = memcmp(e->memory + a->at, text, a->len < len ? a->len : len);

    return order ? order : (a->len > len) - (a->len < len);
}

int exact_order(const void *a, const void *b, void *of)
{
    const struct exact *e = of;
    const struct exact_item *y = b;

    return compare(e, a, e->memory + y->at, y->len);
}

static bool same(const struct exact *e, const struct exact_item *a,
                 const struct seen_key *key)
{
    return a->len == key->len &&
           !memcmp(e->memory + a->at, key->text, key->len);
}

/* --- the hash table --- */

/* The slot of a text, or the free one that it would have. */
static uint32_t *find(const struct exact *e, const struct seen_key *key)
{
    size_t i = key->lo & (e->slots - 1);

    while (e->slot[i] && !same(e, &e->item[e->slot[i] - 1], key))
        i = (i + 1) & (e->slots - 1);
    return &e->slot[i];
}

uint64_t exact_places(uint64_t n, unsigned taken, unsigned of)
{
    uint64_t places = 16;

    while (taken * places < of * n)
        places *= 2;
    return places;
}

/* A table for n texts, filled with the present ones. */
static void make_slots(struct exact *e, size_t n)
{
    struct seen_key key;

    if (n > UINT32_MAX - 1)
        lab_fail("%zu texts are more than a hash table has room for", n);
    free(e->slot);
    e->slots = exact_places(n, 2, 3);
    e->slot = lab_memory(e->slots, sizeof *e->slot);
    for (size_t i = 0; i < e->n; i++) {
        seen_key_hash(&key, exact_text(e, i), e->item[i].len);
        *find(e, &key) = (uint32_t)i + 1;
    }
}

/* --- adding --- */

/* Make room for n texts and this many bytes. */
static void grow(struct exact *e, size_t n, size_t bytes)
{
    void *item = array_grow(e->item, &e->room, n, sizeof *e->item);
    void *memory = item ? array_grow(e->memory, &e->memory_room, bytes, 1)
                        : NULL;

    if (!item || !memory)
        lab_fail("no memory for %zu texts", n);
    e->item = item;
    e->memory = memory;
}

void exact_reserve(struct exact *e, size_t n, size_t bytes)
{
    grow(e, n + 1, bytes + 1);
    if (e->way == HASHED)
        make_slots(e, n);
}

void exact_clear(struct exact *e)
{
    free(e->item);
    free(e->memory);
    free(e->slot);
    *e = (struct exact){ .way = e->way };
}

/* The first item that is not smaller. */
static size_t bisect(const struct exact *e, const char *text, size_t len)
{
    size_t low = 0, high = e->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(e, &e->item[middle], text, len) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Copy the text, and make it item i. */
static void insert(struct exact *e, size_t i, const struct seen_key *key)
{
    if (e->n == e->room || e->used + key->len > e->memory_room)
        grow(e, e->n + 1, e->used + key->len + 1);
    memcpy(e->memory + e->used, key->text, key->len);
    memmove(&e->item[i + 1], &e->item[i], (e->n - i) * sizeof *e->item);
    e->item[i] = (struct exact_item){ e->used, (uint32_t)key->len, 1 };
    e->used += key->len;
    e->n++;
}

bool exact_add_key(struct exact *e, const struct seen_key *key)
{
    uint32_t *slot;

    if (e->way != HASHED) {
        insert(e, e->way == SORTED ? bisect(e, key->text, key->len) : e->n,
               key);
        return true;
    }
    if (3 * (e->n + 1) > 2 * e->slots)
        make_slots(e, e->n + 1);
    slot = find(e, key);
    if (*slot) {
        e->item[*slot - 1].count++;
        return false;
    }
    insert(e, e->n, key);
    *slot = (uint32_t)e->n;
    return true;
}

size_t exact_number(const struct exact *e, const struct seen_key *key)
{
    uint32_t at = e->slots ? *find(e, key) : 0;

    return at ? at - 1 : e->n;
}

static struct seen_key key_of(const struct exact *e, const char *text,
                              size_t len)
{
    struct seen_key key = { .text = text, .len = len };

    if (e->way == HASHED)
        seen_key_hash(&key, text, len);
    return key;
}

bool exact_add(struct exact *e, const char *text, size_t len)
{
    struct seen_key key = key_of(e, text, len);

    return exact_add_key(e, &key);
}

void exact_fill(struct exact *e, const struct seen_key *key, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e->way == SORTED)
            insert(e, e->n, &key[i]);
        else
            exact_add_key(e, &key[i]);
    if (e->way == SORTED)
        qsort_r(e->item, e->n, sizeof *e->item, exact_order, e);
}

/* --- asking --- */

bool exact_has_key(const struct exact *e, const struct seen_key *key)
{
    size_t i = 0;

    if (e->way == HASHED)
        return e->slots && *find(e, key);
    if (e->way == SORTED)
        i = bisect(e, key->text, key->len);
    else
        while (i < e->n && !same(e, &e->item[i], key))
            i++;
    return i < e->n && same(e, &e->item[i], key);
}

bool exact_has(const struct exact *e, const char *text, size_t len)
{
    struct seen_key key = key_of(e, text, len);

    return exact_has_key(e, &key);
}
