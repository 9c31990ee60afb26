/*
 * map.h - from byte strings to pointers.
 *
 * The hash is SipHash under a secret of each map, so that nobody who chooses
 * the keys (hosts, URLs, names from the web) can choose ones that collide.
 * Keys are not copied: they mostly are a part of what the map leads to, and
 * must live and stay unchanged as long as their entry does.
 *
 *     struct map hosts = { .slot = NULL };
 *
 *     host = map_get(&hosts, name, len);
 *     if (!host && (host = host_new(name, len)) &&
 *         !map_set(&hosts, host->name, host->len, host))
 *         no_memory();
 *
 *     for (size_t at = 0; (host = map_next(&hosts, &at));)
 *         host_free(host);
 *     map_clear(&hosts);
 *
 * An open table with linear probing, at most three quarters full; a removal
 * moves later entries back, so that it leaves no gravestones. An entry takes
 * 24 bytes and its share of the free slots.
 *
 * Threads: a map belongs to one thread at a time.
 */
#ifndef SEEN_TEXT_MAP_H
#define SEEN_TEXT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sip.h"

struct map_slot {
    const char *key;
    void *value; /* NULL: the slot is free */
    uint32_t len, hash;
};

/* Zeroed, it is an empty map. */
struct map {
    struct map_slot *slot;
    size_t slots, used; /* slots is a power of two */
    unsigned char secret[SIP_SECRET];
};

/* What the key leads to, or NULL. */
void *map_get(const struct map *m, const void *key, size_t len);

/*
 * Let the key lead to `value`, which is not NULL. If the key is there already
 * its value and the pointer to the key are replaced. False if there is no
 * memory, or if the key is longer than 4 GiB: the map is then as it was.
 */
bool map_set(struct map *m, const void *key, size_t len, void *value);

/* Remove the key; returns what it led to, or NULL. */
void *map_remove(struct map *m, const void *key, size_t len);

/* The values one after the other, in no order; begin with *at = 0. NULL at
   the end. The map must not change meanwhile. */
void *map_next(const struct map *m, size_t *at);

/* Free the table. The values are the caller's. */
void map_clear(struct map *m);

#endif
