/* holdings.c - prefixes and their counts, in a hash table. */
#include "holdings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "../lab.h"

static struct holding *find(const struct holdings *h,
                            const struct seen_key *key)
{
    size_t i = key->lo & (h->slots - 1);

    while (h->slot[i].count &&
           (h->slot[i].lo != key->lo || h->slot[i].hi != key->hi))
        i = (i + 1) & (h->slots - 1);
    return &h->slot[i];
}

/* Room for one more, with a third of the slots free. */
static void grow(struct holdings *h)
{
    struct holdings larger = *h;

    if (h->used * 3 < h->slots * 2)
        return;
    larger.slots = h->slots ? h->slots * 2 : 1024;
    larger.slot = calloc(larger.slots, sizeof *larger.slot);
    if (!larger.slot)
        lab_fail("no memory for %zu prefixes", larger.slots);
    for (size_t i = 0; i < h->slots; i++) {
        struct seen_key key = { .lo = h->slot[i].lo, .hi = h->slot[i].hi };

        if (h->slot[i].count)
            *find(&larger, &key) = h->slot[i];
    }
    free(h->slot);
    *h = larger;
}

static uint64_t keep(struct holdings *h, const char *text, size_t len)
{
    uint64_t at = h->text_used;

    if (at + len > h->text_room) {
        h->text_room = h->text_room * 2 + (1 << 16);
        h->text = realloc(h->text, h->text_room);
        if (!h->text)
            lab_fail("no memory for prefixes");
    }
    memcpy(h->text + at, text, len);
    h->text_used += len;
    return at;
}

/* Memory is taken as prefixes come, so that it would be found out late. */
void holdings_fit(uint64_t n)
{
    uint64_t each = 2 * sizeof(struct holding);
    void *room = n < SIZE_MAX / each ? malloc(n * each) : NULL;

    if (!room)
        lab_fail("no memory for the prefixes of %llu URLs",
                 (unsigned long long)n);
    free(room);
}

bool holdings_add(struct holdings *h, const struct seen_key *prefix)
{
    struct holding *slot;

    grow(h);
    slot = find(h, prefix);
    if (slot->count++)
        return false;
    slot->lo = prefix->lo;
    slot->hi = prefix->hi;
    slot->at = keep(h, prefix->text, prefix->len);
    slot->len = (uint32_t)prefix->len;
    h->used++;
    return true;
}

bool holdings_has(const struct holdings *h, const struct seen_key *prefix)
{
    return h->slots && find(h, prefix)->count;
}

void holdings_clear(struct holdings *h)
{
    free(h->slot);
    free(h->text);
    *h = (struct holdings){ .slots = 0 };
}

/* A line of the profile, to sort. */
struct line {
    const char *text;
    uint32_t len, count;
};

static int by_text(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static struct line *sorted(const struct holdings *h)
{
    struct line *line = calloc(h->used ? h->used : 1, sizeof *line);
    size_t n = 0;

    if (!line)
        lab_fail("no memory for %zu lines", h->used);
    for (size_t i = 0; i < h->slots; i++)
        if (h->slot[i].count)
            line[n++] = (struct line){ h->text + h->slot[i].at, h->slot[i].len,
                                       h->slot[i].count };
    qsort(line, n, sizeof *line, by_text);
    return line;
}

void holdings_write(struct holdings *h, uint64_t *bytes, uint64_t *packed)
{
    struct line *line = sorted(h);
    size_t n = h->used, used = 0, room = h->text_used + 12 * n + 1, size;
    char *out = malloc(room), *zip;

    if (!out)
        lab_fail("no memory for a profile of %zu lines", n);
    for (size_t i = 0; i < n; i++) {
        memcpy(out + used, line[i].text, line[i].len);
        used += line[i].len;
        used += (size_t)snprintf(out + used, room - used, " %u\n",
                                 line[i].count);
    }
    free(line);
    holdings_clear(h);
    *bytes = used;
    zip = malloc(ZSTD_compressBound(used));
    if (!zip)
        lab_fail("no memory to pack a profile");
    size = ZSTD_compress(zip, ZSTD_compressBound(used), out, used, 3);
    if (ZSTD_isError(size))
        lab_fail("zstd: %s", ZSTD_getErrorName(size));
    *packed = size;
    free(zip);
    free(out);
}
