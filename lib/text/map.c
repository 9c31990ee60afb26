/*
 * map.c - an open hash table under a secret.
 *
 * Slots hold 32 bits of the hash, so that a comparison of keys is nearly always
 * one that succeeds, and growing needs no key. The table is at most three
 * quarters full, so that each run of probes ends at a free slot; a NULL value
 * is what "free" means, and so no value may be NULL.
 *
 * A secret is drawn with the first slots of a map and stays when it grows.
 */
#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { MAP_FIRST = 16 };

static uint32_t hash_of(const struct map *m, const void *key, size_t len)
{
    uint64_t lo, hi;

    sip_hash(m->secret, key, len, &lo, &hi);
    return (uint32_t)lo;
}

/* The slot of the key, or the free one where it would be. */
static size_t find(const struct map *m, const void *key, size_t len,
                   uint32_t hash)
{
    size_t i = hash & (m->slots - 1);

    for (; m->slot[i].value; i = (i + 1) & (m->slots - 1)) {
        const struct map_slot *s = &m->slot[i];

        if (s->hash == hash && s->len == len &&
            (!len || !memcmp(s->key, key, len)))
            break;
    }
    return i;
}

void *map_get(const struct map *m, const void *key, size_t len)
{
    if (!m->used)
        return NULL;
    return m->slot[find(m, key, len, hash_of(m, key, len))].value;
}

static bool grow(struct map *m)
{
    size_t slots = m->slots ? 2 * m->slots : MAP_FIRST;
    struct map larger = { .slots = slots, .used = m->used };

    if (slots > SIZE_MAX / 2 / sizeof *larger.slot)
        return false;
    larger.slot = calloc(slots, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    if (m->slots)
        memcpy(larger.secret, m->secret, SIP_SECRET);
    else
        random_fill(larger.secret, SIP_SECRET);
    for (size_t i = 0; i < m->slots; i++) {
        const struct map_slot *s = &m->slot[i];

        if (s->value)
            larger.slot[find(&larger, s->key, s->len, s->hash)] = *s;
    }
    free(m->slot);
    *m = larger;
    return true;
}

bool map_set(struct map *m, const void *key, size_t len, void *value)
{
    struct map_slot *s;
    uint32_t hash;

    if (len > UINT32_MAX)
        return false;
    if (m->used + 1 > m->slots / 4 * 3 && !grow(m))
        return false;
    hash = hash_of(m, key, len);
    s = &m->slot[find(m, key, len, hash)];
    m->used += !s->value;
    *s = (struct map_slot){ key, value, (uint32_t)len, hash };
    return true;
}

/*
 * Later entries of the same run are moved back into the gap, unless they
 * would then lie before the slot that their hash points to:
 *
 *     | a | gap | c | d |   c may move if its own slot is not between the gap
 *                           and c, seen cyclically
 */
void *map_remove(struct map *m, const void *key, size_t len)
{
    size_t mask = m->slots - 1, gap, i;
    void *value;

    if (!m->used)
        return NULL;
    gap = find(m, key, len, hash_of(m, key, len));
    value = m->slot[gap].value;
    if (!value)
        return NULL;
    for (i = (gap + 1) & mask; m->slot[i].value; i = (i + 1) & mask) {
        size_t own = m->slot[i].hash & mask;

        if (((i - own) & mask) >= ((i - gap) & mask)) {
            m->slot[gap] = m->slot[i];
            gap = i;
        }
    }
    m->slot[gap].value = NULL;
    m->used--;
    return value;
}

void *map_next(const struct map *m, size_t *at)
{
    while (*at < m->slots) {
        void *value = m->slot[(*at)++].value;

        if (value)
            return value;
    }
    return NULL;
}

void map_clear(struct map *m)
{
    free(m->slot);
    memset(m, 0, sizeof *m);
}
