/* lists.c - linear search, binary search, a hash set. */
#include "lists.h"

#include <stdlib.h>
#include <string.h>

static int compare(const struct item *a, const char *text, size_t len)
{
    int order = memcmp(a->text, text, a->len < len ? a->len : len);

    return order ? order : (a->len > len) - (a->len < len);
}

static int by_text(const void *a, const void *b)
{
    const struct item *y = b;

    return compare(a, y->text, y->len);
}

/* Where a hash set has an item, or a free slot for it. */
static uint32_t *place(const struct list *l, const char *text, size_t len)
{
    struct seen_key key;
    size_t i;

    seen_key_hash(&key, text, len);
    for (i = key.lo & (l->slots - 1); l->slot[i]; i = (i + 1) & (l->slots - 1))
        if (!compare(&l->item[l->slot[i] - 1], text, len))
            break;
    return &l->slot[i];
}

/* The first item that is not smaller. */
static size_t bisect(const struct list *l, const char *text, size_t len)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(&l->item[middle], text, len) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Keep the text, and put it in place i. */
static void put(struct list *l, size_t i, const char *text, size_t len)
{
    if (l->n == l->room || l->used + len > l->text_room)
        lab_fail("a list has no room for more than %zu URLs", l->n);
    memcpy(l->text + l->used, text, len);
    memmove(&l->item[i + 1], &l->item[i], (l->n - i) * sizeof *l->item);
    l->item[i] = (struct item){ l->text + l->used, len };
    l->used += len;
    l->n++;
}

void list_init(struct list *l, enum way way, const struct texts *t,
               size_t more)
{
    *l = (struct list){ .way = way, .room = t->n + more };
    l->text_room = (t->n ? t->end[t->n - 1] : 0) + more * URL_MOST;
    l->item = malloc((l->room + 1) * sizeof *l->item);
    l->text = malloc(l->text_room + 1);
    if (way == HASHED) {
        for (l->slots = 16; 2 * l->slots < 3 * l->room;)
            l->slots *= 2;
        l->slot = calloc(l->slots, sizeof *l->slot);
    }
    if (!l->item || !l->text || (way == HASHED && !l->slot))
        lab_fail("no memory for a list of %zu URLs", l->room);
    for (size_t i = 0; i < t->n; i++) {
        size_t len;
        const char *text = texts_get(t, i, &len);

        if (way == HASHED)
            list_add(l, text, len);
        else
            put(l, l->n, text, len);
    }
    if (way == BINARY)
        qsort(l->item, l->n, sizeof *l->item, by_text);
}

void list_clear(struct list *l)
{
    free(l->item);
    free(l->text);
    free(l->slot);
    *l = (struct list){ .n = 0 };
}

void list_add(struct list *l, const char *text, size_t len)
{
    if (l->way == BINARY) {
        put(l, bisect(l, text, len), text, len);
    } else if (l->way == LINEAR) {
        put(l, l->n, text, len);
    } else {
        uint32_t *slot = place(l, text, len);

        if (*slot)
            return;
        put(l, l->n, text, len);
        *slot = (uint32_t)l->n;
    }
}

bool list_has(const struct list *l, const char *text, size_t len)
{
    size_t i = 0;

    if (l->way == HASHED)
        return *place(l, text, len);
    if (l->way == BINARY)
        i = bisect(l, text, len);
    else
        while (i < l->n &&
               (l->item[i].len != len || memcmp(l->item[i].text, text, len)))
            i++;
    return i < l->n && !compare(&l->item[i], text, len);
}

uint64_t list_bytes(const struct list *l)
{
    return l->used + l->n * sizeof *l->item + l->slots * sizeof *l->slot;
}
