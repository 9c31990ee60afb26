/*
 * exact.c - the texts themselves: a sorted array and a hash set of them.
 *
 *     texts    | length, 2 bytes | text | length | text | ...
 *     array    | where text 0 begins | text 1 | ...        sorted by text
 *     slots    | where a text begins, + 1 |  0: empty  | ...
 *
 * Places are of 4 bytes, so there are 4 GiB of texts at most. A set has 2^x
 * slots, of which three quarters at most are taken. Array and set share the
 * texts here, but each is told with them.
 */
#define _GNU_SOURCE /* qsort_r */
#include "exact.h"

#include <stdlib.h>
#include <string.h>

#include <seen/key.h>

#include "spectral.h"

enum { LENGTH = 2 };

struct exact {
    char *text;
    uint64_t used, n;
    uint32_t *array, *slot;
    uint64_t slots;
};

struct exact *exact_new(uint64_t n, uint64_t bytes)
{
    struct exact *e = notes_room(1, sizeof *e);

    if (bytes + LENGTH * n >= UINT32_MAX)
        lab_fail("%llu bytes of texts are more than a list has room for",
                 (unsigned long long)bytes);
    e->text = notes_room(bytes + LENGTH * n, 1);
    e->array = notes_room(n, sizeof *e->array);
    for (e->slots = 1; 3 * e->slots < 4 * n;)
        e->slots *= 2;
    e->slot = notes_room(e->slots, sizeof *e->slot);
    return e;
}

void exact_free(struct exact *e)
{
    free(e->text);
    free(e->array);
    free(e->slot);
    free(e);
}

static size_t length_at(const struct exact *e, uint32_t at)
{
    uint16_t len;

    memcpy(&len, e->text + at, LENGTH);
    return len;
}

/* Order of texts, the shorter first where one begins the other. */
static int order(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int c = memcmp(a, b, a_len < b_len ? a_len : b_len);

    return c ? c : (a_len > b_len) - (a_len < b_len);
}

static int order_at(const void *a, const void *b, void *of)
{
    const struct exact *e = of;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

    return order(e->text + i + LENGTH, length_at(e, i), e->text + j + LENGTH,
                 length_at(e, j));
}

/* The slot of a text, or the empty one that it would have. */
static uint32_t *find(const struct exact *e, const char *text, size_t len)
{
    struct seen_key key;
    uint64_t i;

    seen_key_hash(&key, text, len);
    for (i = key.lo & (e->slots - 1); e->slot[i];
         i = (i + 1) & (e->slots - 1)) {
        uint32_t at = e->slot[i] - 1;

        if (!order(e->text + at + LENGTH, length_at(e, at), text, len))
            break;
    }
    return &e->slot[i];
}

void exact_add(struct exact *e, const char *text, size_t len)
{
    uint16_t length = (uint16_t)len;
    uint32_t at = (uint32_t)e->used;

    memcpy(e->text + at, &length, LENGTH);
    memcpy(e->text + at + LENGTH, text, len);
    e->used += LENGTH + len;
    e->array[e->n++] = at;
    *find(e, text, len) = at + 1;
}

void exact_finish(struct exact *e)
{
    qsort_r(e->array, (size_t)e->n, sizeof *e->array, order_at, e);
}

bool exact_in_array(const struct exact *e, const char *text, size_t len)
{
    uint64_t low = 0, high = e->n;

    while (low < high) {
        uint64_t middle = (low + high) / 2;
        uint32_t at = e->array[middle];
        int c = order(e->text + at + LENGTH, length_at(e, at), text, len);

        if (!c)
            return true;
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool exact_in_set(const struct exact *e, const char *text, size_t len)
{
    return *find(e, text, len);
}

uint64_t exact_array_bytes(const struct exact *e)
{
    return e->used + e->n * sizeof *e->array;
}

uint64_t exact_set_bytes(const struct exact *e)
{
    return e->used + e->slots * sizeof *e->slot;
}
